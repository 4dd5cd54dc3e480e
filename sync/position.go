package sync

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pglogrepl"
	"github.com/jackc/pgx/v5"
)

// storedPosition is the row of kproxy_store.position that belongs to the slot.
type storedPosition struct {
	epoch    int64
	lsn      pglogrepl.LSN
	system   string
	timeline int64
	home     storeServer
}

// storedPosition reads the position up to which the store shows the source. The
// second result is false when nothing has been stored yet.
func (s *store) storedPosition(ctx context.Context) (p storedPosition, stored bool, err error) {
	err = s.conn.QueryRow(ctx, "SELECT epoch, lsn::text, system_identifier, timeline, coalesce(store_system, ''), coalesce(store_timeline, 0) FROM kproxy_store.position WHERE slot = $1", s.slot).
		Scan(&p.epoch, &p.lsn, &p.system, &p.timeline, &p.home.system, &p.home.timeline)
	if errors.Is(err, pgx.ErrNoRows) {
		return p, false, nil
	}
	if err != nil {
		return p, false, fmt.Errorf("reading the stored position: %w", err)
	}
	return p, true, nil
}

// checkPublished refuses a publication that holds kproxy's own tables.
func (s *store) checkPublished(ctx context.Context) error {
	var own bool
	err := s.source.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_catalog.pg_publication_tables WHERE pubname = $1 AND schemaname = 'kproxy_store')",
		s.publication).Scan(&own)
	if err != nil {
		return fmt.Errorf("looking at the publication: %w", err)
	}
	if own {
		return &StopError{
			What: fmt.Sprintf("publication %s holds kproxy's own tables: what is written there would come back", s.publication),
			Fix:  "make it FOR TABLE with the protected tables alone; 'kproxy setup --print' shows how",
		}
	}
	return nil
}

// checkOwnership refuses a store that another slot feeds: publishing into it
// would take the other's release away, and leave its slot behind to hold WAL.
func (s *store) checkOwnership(ctx context.Context) error {
	var other string
	err := s.conn.QueryRow(ctx, "SELECT slot FROM kproxy_store.position WHERE slot <> $1 LIMIT 1", s.slot).Scan(&other)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the stored positions: %w", err)
	}
	return &StopError{
		What: fmt.Sprintf("the private store is fed by replication slot %q, but the configuration names %q", other, s.slot),
		Fix: fmt.Sprintf("set slot: %s; or stop every kproxy of that slot, drop it (SELECT pg_drop_replication_slot('%s')) "+
			"and run: DELETE FROM kproxy_store.position", other, other),
	}
}

// findPosition makes slot and stored position agree, and takes the position over.
func (s *session) findPosition(ctx context.Context) error {
	// The slot first: a process that applies meanwhile moves the position ahead.
	slot, err := s.store.slotState(ctx)
	if err != nil {
		return err
	}
	stored, known, err := s.store.storedPosition(ctx)
	if err != nil {
		return err
	}
	if err := slot.checkForeign(s.store.slot, s.store.source.Config().Database); err != nil {
		return err
	}
	if known && s.store.isApart() && stored.system == s.store.system && stored.timeline != s.store.timeline {
		if s.store.history, err = readHistory(ctx, s.replication, s.store.timeline); err != nil {
			return err
		}
	}
	if known && s.store.isApart() && !s.store.standby {
		if s.store.end, err = s.store.logEnd(ctx); err != nil {
			return err
		}
	}
	loss := s.store.assess(slot, stored, known, s.syncer.unreadable())
	if known && (loss == nil || !loss.moved) {
		if err := s.store.awaitReplay(ctx, stored); err != nil {
			return err
		}
	}
	if loss != nil {
		return s.recover(ctx, slot, stored, loss)
	}
	if !known {
		if slot, err = s.ensureSlot(ctx, slot); err != nil {
			return err
		}
		// Whatever the store holds, it was not followed from there.
		if _, err := s.store.conn.Exec(ctx, "UPDATE kproxy_store.generation SET lsn = '0/0'"); err != nil {
			return fmt.Errorf("recording that nothing is applied: %w", err)
		}
		if err := s.store.storePosition(ctx, s.store.conn, slot.confirmed); err != nil {
			return err
		}
		s.position = slot.confirmed
		s.syncer.config.Failpoint(FailPositionStored)
		return nil
	}
	s.store.epoch, s.position = stored.epoch, stored.lsn
	return s.store.takeOver(ctx)
}

// logEnd is how far the log of the source is.
func (s *store) logEnd(ctx context.Context) (end pglogrepl.LSN, err error) {
	if err := s.source.QueryRow(ctx, "SELECT ("+sourceEnd+")::text").Scan(&end); err != nil {
		return 0, fmt.Errorf("asking how far the log of the source is: %w", err)
	}
	return end, nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryRow(ctx context.Context, sql string, arguments ...any) pgx.Row
}

// storePosition writes where the stream begins, in a new epoch.
func (s *store) storePosition(ctx context.Context, on querier, position pglogrepl.LSN) error {
	err := on.QueryRow(ctx, `INSERT INTO kproxy_store.position AS p (slot, epoch, lsn, system_identifier, timeline, store_system, store_timeline)
		VALUES ($1, 1, $2::text::pg_lsn, $3, $4, nullif($5, ''), nullif($6, 0))
		ON CONFLICT (slot) DO UPDATE SET epoch = p.epoch + 1, lsn = excluded.lsn, system_identifier = excluded.system_identifier,
		timeline = excluded.timeline, store_system = excluded.store_system, store_timeline = excluded.store_timeline, updated_at = now()
		RETURNING epoch`, s.slot, position.String(), s.system, s.timeline, s.home.system, s.home.timeline).Scan(&s.epoch)
	if err != nil {
		return fmt.Errorf("storing the position: %w", err)
	}
	return nil
}

// takeOver raises the epoch, so that a process that still believes it applies
// cannot move the position any more.
func (s *store) takeOver(ctx context.Context) error {
	tag, err := s.conn.Exec(ctx, `UPDATE kproxy_store.position SET epoch = epoch + 1, store_system = nullif($3, ''), store_timeline = nullif($4::bigint, 0), timeline = $5
		WHERE slot = $1 AND epoch = $2`, s.slot, s.epoch, s.home.system, s.home.timeline, s.timeline)
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
func (s *store) movePosition(ctx context.Context, tx pgx.Tx, from, to pglogrepl.LSN) error {
	tag, err := tx.Exec(ctx, `UPDATE kproxy_store.position SET lsn = $4::text::pg_lsn, updated_at = now()
		WHERE slot = $1 AND epoch = $2 AND lsn = $3::text::pg_lsn`, s.slot, s.epoch, from.String(), to.String())
	if err != nil {
		return fmt.Errorf("moving the position: %w", err)
	}
	if tag.RowsAffected() != 1 {
		return errFenced
	}
	return nil
}
