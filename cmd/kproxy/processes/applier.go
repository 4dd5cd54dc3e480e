package processes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
)

// Applier is the session by which a kproxy applies.
type Applier struct {
	PID     int32  `json:"pid"`     // of the server's process
	Address string `json:"address"` // of the kproxy, empty for the server's own machine
	// Since is when it connected; it may have followed another one at first.
	Since time.Time `json:"since"`
}

// ReadApplier looks for the session by which a kproxy applies, nil for none. It may be
// gone a moment later.
func ReadApplier(ctx context.Context, on upstream.Querier, slot string) (*Applier, error) {
	var a Applier
	err := on.QueryRow(ctx, `SELECT pid, coalesce(host(client_addr), ''), backend_start FROM pg_catalog.pg_stat_activity
		WHERE application_name = $1 AND usename = current_user AND datname = pg_catalog.current_database()
		ORDER BY backend_type <> 'walsender', pid LIMIT 1`, applierName(slot)).Scan(&a.PID, &a.Address, &a.Since)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("looking for the kproxy that applies: %w", err)
	}
	return &a, nil
}
