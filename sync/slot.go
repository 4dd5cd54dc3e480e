package sync

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// outputPlugin decodes the WAL; it is part of PostgreSQL.
const outputPlugin = "pgoutput"

// slotState is the slot as pg_replication_slots shows it.
type slotState struct {
	exists    bool
	active    bool
	lost      bool
	plugin    string
	database  string
	confirmed pglogrepl.LSN
}

func (s *session) slotState(ctx context.Context) (slotState, error) {
	state := slotState{exists: true}
	err := s.control.QueryRow(ctx, `SELECT active, coalesce(wal_status = 'lost', false), plugin, database,
			coalesce(confirmed_flush_lsn, '0/0')::text
		FROM pg_catalog.pg_replication_slots WHERE slot_name = $1`, s.Slot).
		Scan(&state.active, &state.lost, &state.plugin, &state.database, &state.confirmed)
	if errors.Is(err, pgx.ErrNoRows) {
		return slotState{}, nil
	}
	if err != nil {
		return slotState{}, fmt.Errorf("reading the replication slot: %w", err)
	}
	return state, nil
}

// checkSlot refuses to go on with a slot that cannot continue from the stored
// position: PostgreSQL would silently skip what lies between.
func (s *session) checkSlot(state slotState) error {
	switch {
	case !state.exists:
		return &StopError{What: fmt.Sprintf("replication slot %q is gone, and changes since %s with it", s.Slot, s.position), Fix: fixRebuild}
	case state.lost:
		return &StopError{
			What: fmt.Sprintf("replication slot %q lost the WAL it needs", s.Slot),
			Fix:  fixRebuild + "; raise max_slot_wal_keep_size",
		}
	case state.confirmed > s.position:
		return &StopError{What: fmt.Sprintf("replication slot %q is at %s, ahead of the stored position %s: changes in between would be lost",
			s.Slot, state.confirmed, s.position), Fix: fixRebuild}
	}
	return nil
}

// dropSlot removes a slot that an unfinished start, or an earlier policy, left
// behind. A walsender that is still dying is waited for.
func (s *session) dropSlot(ctx context.Context, state slotState) error {
	if !state.exists {
		return nil
	}
	if state.plugin != outputPlugin || state.database != s.Owner.Database {
		return &StopError{
			What: fmt.Sprintf("replication slot %q belongs to something else (plugin %s, database %s)", s.Slot, state.plugin, state.database),
			Fix:  "set another slot name in the configuration",
		}
	}
	for range 50 {
		_, err := s.control.Exec(ctx, "SELECT pg_catalog.pg_drop_replication_slot($1)", s.Slot)
		if err == nil {
			return nil
		}
		if !objectInUse(err) {
			return fmt.Errorf("dropping the replication slot: %w", err)
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	return &StopError{
		What: fmt.Sprintf("replication slot %q is in use by another process", s.Slot),
		Fix:  "stop the other consumer, or set another slot name in the configuration",
	}
}

// createSlot makes the slot and exports the snapshot from which the changes
// follow. The snapshot lives until the replication connection's next command.
func (s *session) createSlot(ctx context.Context) (pglogrepl.CreateReplicationSlotResult, error) {
	result, err := pglogrepl.CreateReplicationSlot(ctx, s.replication, s.Slot, outputPlugin,
		pglogrepl.CreateReplicationSlotOptions{SnapshotAction: "EXPORT_SNAPSHOT", Mode: pglogrepl.LogicalReplication})
	if err != nil {
		return result, fmt.Errorf("creating replication slot %q: %w", s.Slot, err)
	}
	s.Failpoint(FailSlotCreated)
	return result, nil
}
