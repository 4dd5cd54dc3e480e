package demo

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// staffTable makes the hospital's second protected table: its staff, who are other people
// than its patients.
//
//go:embed staff.sql
var staffTable string

// staffPolicy protects the staff with the other mode of updates than the patients.
//
//go:embed staff.yaml
var staffPolicy []byte

// employ adds the staff to a policy.
func employ(policy *catalog.Policy) error {
	staff, err := config.ParsePolicy("staff.yaml", staffPolicy)
	if err != nil {
		return fmt.Errorf("reading the policy of the staff: %w", err)
	}
	policy.Tables = append(policy.Tables, staff.Table)
	return nil
}

func loadStaff(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, staffTable); err != nil {
		return fmt.Errorf("loading the staff: %w", err)
	}
	return nil
}
