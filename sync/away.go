package sync

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// A process can start while a source in a database of its own is away, and serve what is published.
// It then knows of the protected tables what the store has of them: the publications, as the process
// that applied last has proved them at the source. The rows of a release are what they were whatever
// happens at the source, so that serving them needs no proof of the present; applying does, and there
// is none before the source was examined (Config.Unproved).

// keepPublication keeps what the release of a table is made of under the whole policy.
func (s *session) keepPublication(ctx context.Context, on executor, p catalog.Publication) error {
	if !s.store.isApart() {
		return nil // nobody serves while that is away
	}
	text, err := json.Marshal(p)
	if err == nil {
		_, err = on.Exec(ctx, `UPDATE kproxy_store.generation SET publication = $3, followed = $4 WHERE table_schema = $1 AND table_name = $2
			AND (publication, followed) IS DISTINCT FROM ($3, $4)`, p.Policy.Table.Schema, p.Policy.Table.Relation, string(text), s.syncer.Policy().Fingerprint)
	}
	if err != nil {
		return fmt.Errorf("keeping what the release of %s is made of: %w", p.Policy.Table, err)
	}
	return nil
}

// KeptPublications returns the publications of a whole policy of which the store has releases, as they
// were when these were made; none unless the policy is in force. The connection is the owner's.
func KeptPublications(ctx context.Context, on *pgx.Conn, whole Policy) (kept []catalog.Publication, err error) {
	standing, err := StandingOf(ctx, on, whole)
	if err != nil || !standing.IsInForce() {
		return nil, err
	}
	rows, err := on.Query(ctx, "SELECT publication, policy_digest FROM kproxy_store.generation WHERE followed = $1 AND publication IS NOT NULL ORDER BY table_schema, table_name", whole.Fingerprint)
	var text, made string
	if err == nil {
		_, err = pgx.ForEachRow(rows, []any{&text, &made}, func() error {
			var p catalog.Publication
			if err := json.Unmarshal([]byte(text), &p); err != nil {
				return nil //nolint:nilerr // of another version
			}
			if t, err := newTable(p); err == nil && t.layout.fits(generation{digest: made}) {
				kept = append(kept, p)
			}
			return nil
		})
	}
	if err != nil {
		return nil, fmt.Errorf("reading what the releases are made of: %w", err)
	}
	return catalog.Rejoin(kept), nil
}

// Since is when the store was last brought up to date. The connection is the owner's.
func Since(ctx context.Context, on querier, slot string) (at time.Time, err error) {
	if err = on.QueryRow(ctx, "SELECT updated_at FROM kproxy_store.position WHERE slot = $1", slot).Scan(&at); errors.Is(err, pgx.ErrNoRows) {
		return at, nil
	}
	if err != nil {
		err = fmt.Errorf("reading since when the store stands: %w", err)
	}
	return at, err
}

const (
	// awayReason is why nothing is applied before the source was examined.
	awayReason = "the source does not answer; readers have what was applied before"
	fixAway    = "have the server of the source answer: kproxy examines it and goes on by itself"
)

// staleSince is since when changes are not applied, given since when they were not before.
func staleSince(before time.Time, now State) time.Time {
	switch {
	case now == Streaming || now == Following:
		return time.Time{}
	case before.IsZero() && (now == Reconnecting || now == Stopped):
		return time.Now()
	default:
		return before
	}
}

// isUnproved reports whether the source was not examined yet.
func (s *Syncer) isUnproved() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unproved
}

// standBy tells what the store has until the source was examined. It connects to the store alone.
func (s *Syncer) standBy(ctx context.Context) error {
	conn, err := s.open(ctx, followerName)
	if err != nil {
		return err
	}
	defer closeConn(conn)
	ses := &session{syncer: s, store: store{conn: conn, source: conn, slot: s.config.Slot}}
	if err := ses.addPolicy(); err != nil {
		return err
	}
	for {
		if err := ses.tellAway(ctx); err != nil {
			return err
		}
		if err := sleep(ctx, followInterval); err != nil {
			return err
		}
	}
}

// tellAway tells what the store says of the tables.
func (s *session) tellAway(ctx context.Context) error {
	if _, err := s.syncer.mayApply(ctx, s.store.conn); err != nil {
		return err
	}
	found, err := s.store.generations(ctx)
	if err != nil {
		return err
	}
	position, _, err := s.store.storedPosition(ctx)
	if err != nil {
		return err
	}
	since, err := Since(ctx, s.store.conn, s.store.slot)
	if err != nil {
		return err
	}
	s.syncer.mu.Lock()
	entered := s.syncer.status.State != Reconnecting
	s.syncer.status.State, s.syncer.status.Reason, s.syncer.status.Fix = Reconnecting, awayReason, fixAway
	s.syncer.status.Position, s.syncer.status.Stale = position.lsn, since
	s.tellStored(found)
	for _, p := range s.syncer.tables {
		name := p.Policy.Table
		switch status := s.syncer.status.Tables[name]; {
		case p.Relation.OID == 0:
			s.syncer.status.Tables[name] = TableStatus{State: Halted, Problem: "what it is made of is not known while the source is away", Fix: fixAway}
		case status.State == Unpublished:
			s.syncer.status.Tables[name] = TableStatus{State: Halted, Problem: "nothing of it is published, and the source is away", Fix: fixAway}
		}
	}
	s.syncer.mu.Unlock()
	if entered {
		s.syncer.config.Logger.Warn(awayReason, "since", since, "fix", fixAway)
	}
	s.syncer.notify()
	return nil
}
