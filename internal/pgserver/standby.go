package pgserver

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// promoteLimit is the patience with a promotion, in seconds.
	promoteLimit = 60
	// replayPoll is the pause between two looks at a standby's progress.
	replayPoll = 10 * time.Millisecond
	// syncSlotsSince is the first major version with failover slots.
	syncSlotsSince = 17
)

// StandbyOptions says how a standby follows its primary.
type StandbyOptions struct {
	// Options are those of the standby's own server. Binaries, Settings and
	// Durable are the primary's where they are not given, Superuser and
	// Password always; Backup is not used.
	Options
	// Slot is the physical replication slot that has the primary keep the log
	// for the standby. It is made where there is none, and outlives the
	// standby. Empty means no slot: a standby that falls too far behind is
	// lost.
	Slot string
	// SyncSlots has the standby keep a copy of each logical slot that was made
	// with failover = true (PostgreSQL 17 and later, section "Logical
	// Replication Failover"), and needs Slot. A copy lasts from the moment that
	// the slot's consumer has moved it. For a primary that decodes nothing
	// before the standby has it, set its synchronized_standby_slots to Slot.
	SyncSlots bool
}

// Standby makes a copy of a running server, as Backup does, and starts it as a
// hot standby that streams from it. It returns when the standby serves
// readers; the caller stops it.
func (s *Server) Standby(ctx context.Context, opts StandbyOptions) (*Server, error) {
	if err := s.readyStandby(ctx, &opts); err != nil {
		return nil, fmt.Errorf("making a standby: %w", err)
	}
	standby, err := prepare(ctx, opts.Options)
	if err != nil {
		return nil, err
	}
	standby.primary = s
	if err := standby.start(ctx); err != nil {
		return nil, errors.Join(err, standby.folder.release())
	}
	return standby, nil
}

// readyStandby completes the options and makes the slot.
func (s *Server) readyStandby(ctx context.Context, opts *StandbyOptions) error {
	opts.Options = opts.inherit(s.heritage())
	opts.Backup = nil
	opts.Settings["primary_conninfo"] = conninfo(
		[2]string{"host", "127.0.0.1"},
		[2]string{"port", strconv.Itoa(s.port)},
		[2]string{"user", s.opts.Superuser},
		[2]string{"password", s.opts.Password},
		[2]string{"dbname", "postgres"}, // for the copies of slots
		[2]string{"sslmode", "disable"},
	)
	if opts.SyncSlots {
		switch {
		case s.Version().Major < syncSlotsSince:
			return fmt.Errorf("PostgreSQL %s has no failover slots", s.Version())
		case opts.Slot == "":
			return errors.New("copies of slots need a physical slot of the standby's own")
		}
		opts.Settings["sync_replication_slots"] = "on"
		opts.Settings["hot_standby_feedback"] = "on"
	}
	if opts.Slot == "" {
		return nil
	}
	opts.Settings["primary_slot_name"] = opts.Slot
	return s.session(ctx, func(conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, `SELECT pg_create_physical_replication_slot($1, true)
			WHERE NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = $1)`, opts.Slot)
		return err
	})
}

// conninfo writes a libpq connection string (PostgreSQL, chapter "Connection
// Strings"): within quotes, a quote and a backslash are led by a backslash.
func conninfo(parameters ...[2]string) string {
	var words []string
	for _, p := range parameters {
		value := strings.NewReplacer(`'`, `\'`, `\`, `\\`).Replace(p[1])
		words = append(words, p[0]+"='"+value+"'")
	}
	return strings.Join(words, " ")
}

// follow fills the data folder from the primary's.
func (s *Server) follow(ctx context.Context) error {
	if s.folder.initialized() {
		return fmt.Errorf("making a standby: there is a cluster in %s", s.folder.data)
	}
	err := s.primary.snapshot(ctx, s.folder.data)
	if err == nil {
		err = errors.Join(dropSlots(s.folder.data), s.signal(standbySignal), s.owner.ownAll(s.folder.data))
	}
	if err != nil {
		return fmt.Errorf("making a standby: %w", err)
	}
	return nil
}

// Promote makes a standby a primary, on a new timeline, and returns when it
// accepts writes. It does not touch the old primary, which the caller stops or
// kills before.
func (s *Server) Promote(ctx context.Context) error {
	err := s.session(ctx, func(conn *pgx.Conn) error {
		var done bool
		err := conn.QueryRow(ctx, "SELECT pg_promote(true, $1)", promoteLimit).Scan(&done)
		if err == nil && !done {
			err = fmt.Errorf("it was not done after %d s", promoteLimit)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("promoting a standby: %w", err)
	}
	return nil
}

// CatchUp returns when a standby has replayed all that its primary has written
// by the time of the call. The primary must run.
func (s *Server) CatchUp(ctx context.Context) error {
	if s.primary == nil {
		return errors.New("catching up: the server is not a standby")
	}
	var written string
	err := s.primary.session(ctx, func(conn *pgx.Conn) error {
		return conn.QueryRow(ctx, "SELECT pg_current_wal_insert_lsn()::text").Scan(&written)
	})
	if err == nil {
		err = s.session(ctx, func(conn *pgx.Conn) error { return awaitReplay(ctx, conn, written) })
	}
	if err != nil {
		return fmt.Errorf("catching up: %w", err)
	}
	return nil
}

// awaitReplay polls a standby until it has replayed a position of the log.
func awaitReplay(ctx context.Context, conn *pgx.Conn, position string) error {
	for {
		var done bool
		err := conn.QueryRow(ctx, "SELECT pg_last_wal_replay_lsn() >= $1::text::pg_lsn", position).Scan(&done)
		if err != nil || done {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(replayPoll):
		}
	}
}
