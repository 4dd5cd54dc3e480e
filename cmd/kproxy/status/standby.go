package status

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/state"
	"github.com/kproxy/kproxy/internal/units"
)

// readStandby asks a source that is a standby how it stands to its primary, and whether that answers kproxy.
func (s *Status) readStandby(ctx context.Context, source *pgx.Conn, c *config.Config) error {
	if source == nil || !c.HasPrimary() {
		return nil
	}
	on := &state.Standby{}
	// Who may not see more of the receiver sees that it is there.
	err := source.QueryRow(ctx, "SELECT NOT pg_is_in_recovery(), EXISTS (SELECT FROM pg_stat_wal_receiver), pg_last_xact_replay_timestamp()").
		Scan(&on.Promoted, &on.Receives, &on.Replayed)
	if err != nil {
		return fmt.Errorf("asking the source how it stands to its primary: %w", err)
	}
	if s.Replication.Standby = on; on.Promoted {
		return nil
	}
	primary, err := upstream.ConnectPrimary(ctx, c)
	if err != nil {
		on.Primary = err.Error()
		return nil
	}
	_ = primary.Close(context.WithoutCancel(ctx))
	return nil
}

// standbyText is a line that says what the source is, at the time at.
func standbyText(on state.Standby, at time.Time) string {
	switch {
	case on.Promoted:
		return "the source was a standby, and is a primary by now\n"
	case !on.Receives:
		return "the source is a standby that receives nothing from its primary\n"
	case on.Replayed == nil:
		return "the source is a standby, which has replayed no commit yet\n"
	}
	return fmt.Sprintf("the source is a standby; what it has replayed last was committed %s ago\n", units.Age(at.Sub(*on.Replayed)))
}
