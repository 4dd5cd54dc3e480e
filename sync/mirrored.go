package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// mirror is the mode of a table that is not protected. The records of the store are what readers
// see: release_<n> is a view of them that shows the listed columns. They are written in the transaction
// that writes the releases of the same source commits, so that a join with a protected table is of one
// commit. There are no classes. In memory it needs nothing of a record; the table has the keys.
type mirror struct {
	t       *table
	records int
	changed bool // since the store was last written
}

func (s *mirror) insert(incremental.RecordID, []byte, coded, time.Time) (returned bool, err error) {
	s.records++
	s.changed = true
	return false, nil
}

func (s *mirror) modify(incremental.RecordID, coded, time.Time) error {
	s.changed = true
	return nil
}

func (s *mirror) hash([]byte) keyHash { return keyHash{} }

func (s *mirror) remove(incremental.RecordID, keyHash) error {
	s.records--
	s.changed = true
	return nil
}

func (s *mirror) truncate() { s.records, s.changed = 0, true }

func (s *mirror) row(incremental.RecordID) coded { return coded{} }

func (s *mirror) settle(context.Context, time.Time) error { return nil }

func (s *mirror) places() []storeColumn              { return nil }
func (s *mirror) place([]incremental.RecordID) []any { return nil }
func (s *mirror) moved() []incremental.RecordID      { return nil }
func (s *mirror) marks() []storeColumn               { return nil }
func (s *mirror) indexed() []string                  { return nil }

// writeRelease has nothing to write: the records are.
func (s *mirror) writeRelease(batch *visibleStatements) {
	if s.changed {
		batch.recordsShown()
	}
}

func (s *mirror) written() { s.changed = false }

func (s *mirror) publish(_ context.Context, _ *publisher, source *snapshot) error {
	s.records = source.records
	return nil
}

func (s *mirror) assignments() func() ([]any, error) { return noRows }
func (s *mirror) classes(int) func() ([]any, error)  { return noRows }

func noRows() ([]any, error) { return nil, nil }

// load reads the keys of the records in the order in which they lie.
func (s *mirror) load(ctx context.Context, from *storeView, progress func(done int)) error {
	keys, selected := s.t.keys.gather(from.records), s.t.selectHeld(from.outOfLine)
	row, places := make([]value, len(s.t.layout.columns)), selected.places(s.t.layout.key)
	take := func(b *rowBatch) error {
		for i := range b.rows {
			record, err := b.number(i, 0)
			if err != nil {
				return err
			}
			if err := b.fill(row, i, s.t.layout.key, places); err != nil {
				return err
			}
			keys.add(s.t.keyOf(row), incremental.RecordID(record))
		}
		s.records += b.rows
		return nil
	}
	err := from.read(ctx, func(ctx context.Context, conns []*pgconn.PgConn) error {
		return from.readRecords(ctx, conns, s.t, selected, from.counting(take, progress))
	}, func(context.Context) error { return nil })
	if err != nil {
		return err
	}
	if !keys.end() {
		return internal(errors.New("two records have the same key"))
	}
	return nil
}

func (s *mirror) due() time.Time { return time.Time{} }

func (s *mirror) nextClass() incremental.ClassID { return 1 }

func (s *mirror) status() TableStatus {
	status := TableStatus{Records: s.records}
	for _, a := range s.t.layout.audiences {
		if status.Audiences == nil {
			status.Audiences = make(map[string]AudienceStatus)
		}
		status.Audiences[a.name] = AudienceStatus{} // as for all
	}
	return status
}

// viewersOf are the audiences that see a mirrored table: its records, as its other readers do.
func viewersOf(p catalog.Publication) (all []audience) {
	for _, of := range p.Policy.Viewers {
		a := audience{name: of.Audience, role: of.Role}
		a.publication, _ = p.For(of.Audience)
		all = append(all, a)
	}
	return all
}

func (t *layout) isMirrored() bool { return t.publication.Policy.IsMirrored() }

// showsKey reports whether rows of a mirrored table have a key, and readers see all of its columns: they
// look rows up by it, and join by it. An index bears the names of its columns, which plans tell.
func (t *table) showsKey() bool {
	return !t.layout.publication.Relation.KeyRepeats && !slices.ContainsFunc(t.layout.publication.Relation.Key, func(name string) bool {
		_, listed := t.layout.publication.Policy.Column(name)
		return !listed
	})
}

// mirrorView makes the release of a mirrored table, a view of its records.
func (t *table) mirrorView() string {
	return fmt.Sprintf("CREATE VIEW %s AS SELECT %s FROM %s", t.release.releaseTable(), t.layout.view().shownList(), t.recordsTable())
}
