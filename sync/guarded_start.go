package sync

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/lineage"
)

// publish begins a lineage with all records of the snapshot as its first batch. It has
// them already.
func (s *guarded) publish(ctx context.Context, p *publisher, _ *snapshot) error {
	s.sealReturns()
	s.progress = func(done int) { p.progress("anonymizing", done) }
	defer func() { s.progress = func(int) {} }()
	var err error
	if s.changes, err = s.lineage.Begin(ctx, p.at); err != nil {
		return fmt.Errorf("publishing %s: %w", s.t.layout.name(), err)
	}
	s.settleAudiences()
	s.warnOfRefusals(p)
	// What the classes were made with is as large as the records, which wait for the server
	// from now on: without this, as much would be thrown away beside it before it is noticed.
	if s.lineage.Len() >= manyRecords {
		debug.FreeOSMemory()
	}
	return nil
}

const (
	seldom      = 0.01 // refusals of batches that are not worth a warning
	largerBatch = 64   // times the least batch, up to which a better one is looked for
)

// warnOfRefusals tells of constraints that are so close to what the table holds that batches of new records
// violate them by chance: these are withheld for good.
func (s *guarded) warnOfRefusals(p *publisher) {
	batch := max(s.lineage.Least(), s.t.layout.publication.Policy.Updates.Batch)
	share := s.lineage.Refused(batch)
	if share <= seldom {
		return
	}
	fix := "loosen the constraints on sensitive values"
	for n := 2 * batch; n <= largerBatch*batch; n *= 2 {
		if s.lineage.Refused(n) <= seldom {
			fix += fmt.Sprintf(", or write updates: {batch: %d}, which waits longer", n)
			break
		}
	}
	p.config.Logger.Warn("many batches of new records will violate the constraints, and be withheld for good, if they are as those that are published",
		"relation", s.t.layout.name(), "batch", batch, "refused_percent", int(100*share+0.5), "fix", fix+"; see docs/concepts.md")
}

// manyRecords are so many that giving memory back is worth a collection of all there is.
const manyRecords = 100_000

// assignments yields the records that are published; others wait.
func (s *guarded) assignments() func() ([]any, error) {
	ids, rows := slices.Collect(s.lineage.Classes()), []lineage.NewRow(nil)
	return func() ([]any, error) {
		for len(rows) == 0 {
			if len(ids) == 0 {
				return nil, nil
			}
			rows, ids = s.lineage.RowsOf(ids[0]), ids[1:]
		}
		r := rows[0]
		rows = rows[1:]
		return []any{int64(r.Record), int64(r.Person), r.Sealed}, nil
	}
}

func (s *guarded) classes(int) func() ([]any, error) {
	ids := slices.Collect(s.lineage.Classes())
	return func() ([]any, error) {
		if len(ids) == 0 {
			return nil, nil
		}
		id := ids[0]
		ids = ids[1:]
		return s.part.classRow(id, s.lineage.Generalize(id)), nil
	}
}

// storedChange is what changed of a record that is published as it was.
func storedChange(p lineage.Place) *string {
	if p.Row == 0 || p.Since.IsZero() {
		return nil
	}
	return &p.Changed
}

// storedTime is a time in the store: NULL is none.
func storedTime(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
