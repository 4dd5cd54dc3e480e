package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// loadPosition reads the position up to which the store shows the source. The
// second result is false when nothing has been published yet.
func (s *session) loadPosition(ctx context.Context) (bool, error) {
	var system string
	err := s.control.QueryRow(ctx, "SELECT epoch, lsn::text, system_identifier FROM kproxy_store.position WHERE slot = $1", s.Slot).
		Scan(&s.epoch, &s.position, &system)
	if errors.Is(err, pgx.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("reading the stored position: %w", err)
	}
	if system != s.system {
		return false, &StopError{What: "the store was written on another server: this database is a copy or a restored backup", Fix: fixRebuild}
	}
	return true, nil
}

// checkOwnership refuses a store that another slot feeds: publishing into it
// would take the other's release away, and leave its slot behind to hold WAL.
func (s *session) checkOwnership(ctx context.Context) error {
	var other string
	err := s.control.QueryRow(ctx, "SELECT slot FROM kproxy_store.position WHERE slot <> $1 LIMIT 1", s.Slot).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the stored positions: %w", err)
	}
	return &StopError{
		What: fmt.Sprintf("the private store is fed by replication slot %q, but the configuration names %q", other, s.Slot),
		Fix:  fmt.Sprintf("set slot: %s; or run 'kproxy rebuild' with that name first, which drops it", other),
	}
}

// storePosition writes the first position of a publication, in a new epoch.
func (s *session) storePosition(ctx context.Context, tx pgx.Tx, position pglogrepl.LSN) error {
	err := tx.QueryRow(ctx, `INSERT INTO kproxy_store.position AS p (slot, epoch, lsn, system_identifier) VALUES ($1, 1, $2::text::pg_lsn, $3)
		ON CONFLICT (slot) DO UPDATE SET epoch = p.epoch + 1, lsn = excluded.lsn, system_identifier = excluded.system_identifier, updated_at = now()
		RETURNING epoch`, s.Slot, position.String(), s.system).Scan(&s.epoch)
	if err != nil {
		return fmt.Errorf("storing the position: %w", err)
	}
	return nil
}

// takeOver raises the epoch, so that a process that still believes it applies
// cannot move the position any more.
func (s *session) takeOver(ctx context.Context) error {
	tag, err := s.control.Exec(ctx, "UPDATE kproxy_store.position SET epoch = epoch + 1 WHERE slot = $1 AND epoch = $2", s.Slot, s.epoch)
	if err != nil {
		return fmt.Errorf("taking over the position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	s.epoch++
	return nil
}

// errFenced means that another process has taken over. It is not a StopError:
// the next attempt waits for the lock like any other process.
var errFenced = errors.New("another process has taken over applying")

// movePosition moves the position inside the transaction that writes what lies
// between. It must hit exactly one row: the fence against a second applier.
func (s *session) movePosition(ctx context.Context, tx pgx.Tx, to pglogrepl.LSN) error {
	tag, err := tx.Exec(ctx, `UPDATE kproxy_store.position SET lsn = $4::text::pg_lsn, updated_at = now()
		WHERE slot = $1 AND epoch = $2 AND lsn = $3::text::pg_lsn`, s.Slot, s.epoch, s.position.String(), to.String())
	if err != nil {
		return fmt.Errorf("moving the position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	return nil
}
