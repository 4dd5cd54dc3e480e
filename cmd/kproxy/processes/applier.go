package processes

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/state"
)

// ReadApplier returns the session by which a kproxy applies changes, nil if there is none. It
// may be gone a moment later.
func ReadApplier(ctx context.Context, on upstream.Querier, slot string) (*state.Applier, error) {
	var a state.Applier
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
