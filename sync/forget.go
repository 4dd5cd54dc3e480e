package sync

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// Forget drops the slot and the stored position, so that the next Run
// publishes every table afresh. The last release stays readable until then. It
// does nothing when there is nothing to forget, and refuses while another
// process applies.
func Forget(ctx context.Context, owner *pgx.ConnConfig, slot string) error {
	s := &session{Syncer: &Syncer{Config: Config{Owner: owner, Slot: slot}}}
	defer s.close()
	var err error
	if s.control, err = pgx.ConnectConfig(ctx, owner); err != nil {
		return fmt.Errorf("connecting as the owner: %w", err)
	}
	if err := s.lockSoon(ctx); err != nil {
		return err
	}
	state, err := s.slotState(ctx)
	if err != nil {
		return err
	}
	if err := s.dropSlot(ctx, state); err != nil {
		return err
	}
	if _, err := s.control.Exec(ctx, "DELETE FROM kproxy_store.position WHERE slot = $1", slot); err != nil {
		return fmt.Errorf("forgetting the position: %w", err)
	}
	return nil
}

// lockSoon locks the store, waiting a little for the connection of a process that
// has just ended.
func (s *session) lockSoon(ctx context.Context) error {
	for range 25 {
		locked, err := s.tryLock(ctx)
		if err != nil || locked {
			return err
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return &StopError{What: "another kproxy applies in this database", Fix: "stop kproxy first"}
}
