package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"

	"github.com/kproxy/kproxy/catalog"
)

// loss is why the stream cannot go on from the stored position.
type loss struct {
	what string
	// moved says that a server is another one than before, or another copy of the store: readers may
	// have seen releases that this one never had.
	moved bool
	// drop says that the slot is of no use.
	drop bool
	// continuous says that the slot goes on from the stored position all the same: it
	// was carried over to the server that took over.
	continuous bool
}

// assess tells whether changes may have been lost; nil for no.
func (s *store) assess(slot slotState, stored storedPosition, known, unreadable bool) *loss {
	if !known {
		if slot.lost {
			return &loss{what: fmt.Sprintf("replication slot %q is invalidated", s.slot), drop: true}
		}
		return nil
	}
	var l loss
	switch {
	case unreadable:
		l.what, l.drop = fmt.Sprintf("the server cannot decode what replication slot %q holds; publication %s may have been made anew", s.slot, s.publication), true
	case !slot.exists:
		l.what = fmt.Sprintf("replication slot %q is gone, and changes since %s with it", s.slot, stored.lsn)
	case slot.lost:
		l.what, l.drop = slot.lossOfSlot(s.slot), true
	case slot.confirmed > stored.lsn:
		l.what = fmt.Sprintf("replication slot %q is at %s, ahead of the stored position %s: changes in between would be lost", s.slot, slot.confirmed, stored.lsn)
		if s.isApart() {
			l.what += "; the database of the release may be a restored backup"
			l.moved = true
		}
	default:
		l.continuous = true
	}
	switch {
	case stored.system != s.system:
		l.moved, l.continuous = true, false
		l.what = "the store was written on another server: this database is a copy or a restored backup"
		if s.isApart() {
			l.what = "the source is on another server than before: it is a copy or a restored backup"
		}
	case s.endsBefore(stored):
		l.moved, l.continuous = true, false
		l.what = fmt.Sprintf("the log of the source ends at %s, before the stored position %s: an earlier state of its disk was put back", s.end, stored.lsn)
	case stored.timeline != 0 && stored.timeline != s.timeline && s.isApart() && l.continuous && isPast(s.history, stored, slot.confirmed):
		// The server has had all that the store shows, and the slot has what follows.
	case stored.timeline != 0 && stored.timeline != s.timeline:
		l.moved = true
		// What this server wrote before the position of another history was never read.
		l.continuous = l.continuous && (!s.isApart() || isPast(s.history, stored, slot.confirmed))
		moved := fmt.Sprintf("this server took over on timeline %d, the store was written on %d: a standby was promoted or a backup restored", s.timeline, max(stored.timeline, -stored.timeline))
		if l.what != "" {
			moved += "; " + l.what
		}
		l.what = moved
	}
	if s.home.wentBack(stored.home) {
		l.moved = true
		moved := fmt.Sprintf("the server of the release took over on timeline %d, the store was written on %d: a standby was promoted or a backup restored", s.home.timeline, stored.home.timeline)
		if l.what != "" {
			moved += "; " + l.what
		}
		l.what = moved
	}
	if l.what == "" {
		return nil
	}
	return &l
}

// endsBefore reports whether the log of the source, on the timeline of the stored position, is not as long as it was: a server
// sends nothing that a crash could take back.
func (s *store) endsBefore(stored storedPosition) bool {
	return s.end != 0 && s.end < stored.lsn && stored.timeline == s.timeline
}

// recover makes the slot anew where it has to be, and has the tables compared with
// their sources.
func (s *session) recover(ctx context.Context, slot slotState, stored storedPosition, l *loss) error {
	if s.syncer.config.Recovery == StopOnLoss && !l.continuous {
		consent, err := s.store.allAsked(ctx)
		if err != nil {
			return err
		}
		if !consent {
			return &StopError{What: l.what, Fix: fixResync}
		}
	}
	s.syncer.config.Logger.Warn("changes may have been lost; the tables are compared with their sources", "reason", l.what)
	if l.drop || !slot.exists {
		if err := s.store.leaveTimeline(ctx, stored); err != nil {
			return err
		}
	}
	if l.drop && slot.exists {
		if err := s.store.checkPublication(ctx); err != nil {
			return err
		}
		if err := s.store.dropSlot(ctx); err != nil {
			return err
		}
		slot = slotState{}
	}
	slot, err := s.ensureSlot(ctx, slot)
	if err != nil {
		return err
	}
	position := slot.confirmed
	if l.continuous {
		position = stored.lsn
	}
	if err := s.recordLoss(ctx, l, position); err != nil {
		return err
	}
	s.syncer.setUnreadable(false)
	return nil
}

// leaveTimeline notes, before a slot is made, that the position is of a timeline that this server's history does not have up to
// there: by its negative number. To isPast the slot would look like one whose stream has outlived the change, if whoever makes it
// ended before the loss is recorded.
func (s *store) leaveTimeline(ctx context.Context, stored storedPosition) error {
	if !s.isApart() || stored.timeline <= 0 || stored.timeline == s.timeline {
		return nil
	}
	tag, err := s.conn.Exec(ctx, "UPDATE kproxy_store.position SET timeline = -timeline WHERE slot = $1 AND epoch = $2", s.slot, stored.epoch)
	if err != nil {
		return fmt.Errorf("noting another history of the source: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	return nil
}

// recordLoss notes in one transaction where the stream goes on and what that means for
// each table.
func (s *session) recordLoss(ctx context.Context, l *loss, position pglogrepl.LSN) error {
	tx, err := s.store.conn.Begin(ctx)
	if err != nil {
		return fmt.Errorf("recording a loss: %w", err)
	}
	defer tx.Rollback(context.WithoutCancel(ctx)) //nolint:errcheck // after Commit it has nothing to do
	guarded := catalog.Guarded.String()
	if !l.continuous {
		// None of them may be applied as it is: its position becomes none.
		if _, err := tx.Exec(ctx, "UPDATE kproxy_store.generation SET lsn = '0/0'"); err != nil {
			return fmt.Errorf("recording a loss: %w", err)
		}
		_, err := tx.Exec(ctx, `UPDATE kproxy_store.generation SET noted = CASE WHEN shows IS NULL THEN 'resync' ELSE 'rebuild' END
			WHERE NOT needs_consent AND NOT (coalesce(updates, '') = $1 AND $2)`, guarded, l.moved)
		if err != nil {
			return fmt.Errorf("recording a loss: %w", err)
		}
	}
	if l.moved {
		_, err := tx.Exec(ctx, `UPDATE kproxy_store.generation SET halted = $2, halted_fix = replace($3, 'TABLE', format('%I.%I', table_schema, table_name)), needs_consent = true
			WHERE updates = $1 AND asked IS NULL AND generation <> $4`, guarded,
			l.what+"; readers may have seen versions of this guarded table that this server never had",
			"run 'kproxy resync' for the table if nothing that was published is lost, or to accept that; or 'kproxy rebuild TABLE --new-lineage' to start a new lineage", markNumber)
		if err != nil {
			return fmt.Errorf("recording a loss: %w", err)
		}
	}
	if err := s.store.storePosition(ctx, tx, position); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return fmt.Errorf("recording a loss: %w", err)
	}
	s.position = position
	s.syncer.config.Failpoint(FailPositionStored)
	return nil
}

// allAsked tells whether the operator has asked for every table.
func (s *store) allAsked(ctx context.Context) (all bool, err error) {
	err = s.conn.QueryRow(ctx, "SELECT coalesce(bool_and(asked IS NOT NULL), true) FROM kproxy_store.generation WHERE generation <> $1", markNumber).Scan(&all)
	if err != nil {
		return false, fmt.Errorf("looking for the operator's wish: %w", err)
	}
	return all, nil
}

// errUnreadable means that the server cannot decode what the slot holds: the publication
// is not there, or was not there when it was written, or the log makes no sense.
var errUnreadable = errors.New("the server cannot decode what the slot holds")

// checkPublication makes sure that a new slot can be read.
func (s *store) checkPublication(ctx context.Context) error {
	var exists bool
	err := s.source.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = $1)", s.publication).Scan(&exists)
	if err != nil {
		return fmt.Errorf("looking for the publication: %w", err)
	}
	if !exists {
		return &StopError{What: fmt.Sprintf("there is no publication %s", s.publication), Fix: "run 'kproxy setup', which makes it, and 'kproxy reload'"}
	}
	return nil
}
