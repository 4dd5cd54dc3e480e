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
	lost      bool
	why       string // it was invalidated, as the server says; empty where it does not
	plugin    string
	database  string
	confirmed pglogrepl.LSN
}

func (s *store) slotState(ctx context.Context) (slotState, error) {
	state := slotState{exists: true}
	// A slot that has no confirmed position is still being made. The other signs of an
	// invalidated one differ between versions: to_jsonb takes those that there are.
	err := s.source.QueryRow(ctx, `SELECT coalesce(wal_status = 'lost', false) OR coalesce((to_jsonb(s) ->> 'conflicting')::boolean, false)
			OR to_jsonb(s) ->> 'invalidation_reason' IS NOT NULL,
			coalesce(to_jsonb(s) ->> 'invalidation_reason', CASE WHEN (to_jsonb(s) ->> 'conflicting')::boolean THEN 'conflicting' END, ''),
			coalesce(plugin::text, ''), coalesce(database::text, ''), coalesce(confirmed_flush_lsn, '0/0')::text
		FROM pg_catalog.pg_replication_slots s WHERE slot_name = $1`, s.slot).
		Scan(&state.lost, &state.why, &state.plugin, &state.database, &state.confirmed)
	if errors.Is(err, pgx.ErrNoRows) {
		return slotState{}, nil
	}
	if err != nil {
		return slotState{}, fmt.Errorf("reading the replication slot: %w", err)
	}
	return state, nil
}

// checkForeign refuses a slot that something else reads.
func (slot slotState) checkForeign(name, database string) error {
	if !slot.exists || (slot.plugin == outputPlugin && slot.database == database) {
		return nil
	}
	return &StopError{
		What: fmt.Sprintf("replication slot %q belongs to something else (plugin %s, database %s)", name, slot.plugin, slot.database),
		Fix:  "set another slot name in the configuration",
	}
}

// checkSlotStayed makes sure that the stream which has just started leaves nothing out: the
// server starts where the slot is if that is past what it was asked for, and anybody may have
// moved the slot since it was looked at. While it is in use, nobody can.
func (s *session) checkSlotStayed(ctx context.Context) error {
	slot, err := s.store.slotState(ctx)
	if err != nil {
		return err
	}
	if slot.confirmed > s.position {
		return fmt.Errorf("replication slot %q was moved to %s, past %s, before the stream started", s.store.slot, slot.confirmed, s.position)
	}
	return nil
}

// ensureSlot makes the slot where there is none.
func (s *session) ensureSlot(ctx context.Context, slot slotState) (slotState, error) {
	if slot.exists {
		return slot, nil
	}
	wait, cancel := s.syncer.awaitWriters(ctx, s.replication.PID(), func(b *BlockedError) { s.syncer.setState(Reconnecting, b.Error(), b.End) })
	defer cancel()
	options := "NOEXPORT_SNAPSHOT"
	if serverMajor(s.replication) >= failoverSince && !s.store.standby {
		options = "(SNAPSHOT 'nothing', FAILOVER)"
	}
	_, err := pglogrepl.ParseCreateReplicationSlot(s.replication.Exec(wait, fmt.Sprintf("CREATE_REPLICATION_SLOT %s LOGICAL %s %s", s.store.slot, outputPlugin, options)))
	if err != nil {
		return slot, fmt.Errorf("creating replication slot %q: %w", s.store.slot, blockedBy(wait, err))
	}
	s.syncer.config.Failpoint(FailSlotCreated)
	return s.store.slotState(ctx)
}

// lossOfSlot says why a slot is of no use, and what would have kept it.
func (slot slotState) lossOfSlot(name string) string {
	told := fmt.Sprintf("replication slot %q was invalidated", name)
	switch slot.why {
	case "rows_removed":
		return told + ": the primary removed rows of catalogs that decoding on the standby needs (set hot_standby_feedback = on there, and a physical slot by primary_slot_name)"
	case "wal_level_insufficient":
		return told + ": wal_level of the primary is no longer logical (set it back, and restart the primary)"
	case "conflicting":
		return told + " by a conflict with recovery: the primary removed rows of catalogs that decoding on the standby needs (hot_standby_feedback = on there, and primary_slot_name), or its wal_level is no longer logical"
	case "idle_timeout":
		return told + ": nobody read it for longer than idle_replication_slot_timeout"
	}
	return fmt.Sprintf("replication slot %q lost the WAL it needs, or was invalidated; see max_slot_wal_keep_size", name)
}

// failoverSince is the first server of which standbys can keep copies of slots: those that are set to do it
// (sync_replication_slots) keep the ones that are made for failover. A slot on a standby cannot be.
const failoverSince = 17

// dropSlot removes a slot that cannot go on. A walsender that is still dying is
// waited for.
func (s *store) dropSlot(ctx context.Context) error {
	for range 50 {
		_, err := s.source.Exec(ctx, "SELECT pg_catalog.pg_drop_replication_slot($1)", s.slot)
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
		What: fmt.Sprintf("replication slot %q is in use by another process", s.slot),
		Fix:  "stop the other consumer, or set another slot name in the configuration",
	}
}
