package sync

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/catalog"
)

// guarded shows changes only as far as a reader who compares versions learns no more
// than from one release: package lineage decides. The table is one part.
type guarded struct {
	t       *table
	part    *part
	lineage *lineage.Lineage
	changes lineage.Changes
	// audiences see releases that follow the lineage, the finest first.
	audiences []*coarserRelease
	overdue   bool // classes that were loaded can be united for an audience
	// returns are the records that have left and whose rows are published.
	returns returnTracker
	// progress is told how far the first batch is.
	progress func(done int)
	buffer   coded // for one record after the other, where there are many
}

func newGuarded(t *table, nextClass incremental.ClassID, seed uint64) (*guarded, error) {
	if len(t.parts) != 1 {
		return nil, internal(fmt.Errorf("the guarded table %s has %d parts", t.layout.name(), len(t.parts)))
	}
	u := t.layout.publication.Policy.Updates
	s := &guarded{t: t, part: t.parts[0], progress: func(int) {}, buffer: t.layout.newCoded()}
	var err error
	s.lineage, err = lineage.New(t.layout.attributes, t.layout.constraints, t.layout.method, lineage.Options{
		Seed: seed, FirstClass: nextClass, Subjects: t.layout.subject >= 0,
		Crowd: u.Crowd, Batch: u.Batch, Within: u.Within, Deadline: u.Deadline,
		Progress: func(done, _ int) { s.progress(done) },
	})
	if err == nil {
		err = s.addAudiences()
	}
	if err != nil {
		return nil, &StopError{What: fmt.Sprintf("table %s cannot be guarded: %v", t.layout.name(), err), Fix: "change its constraints, or say updates: immediate"}
	}
	return s, nil
}

func (s *guarded) record(id incremental.RecordID, row coded) lineage.Record {
	return lineage.Record{Record: s.part.record(id, row), Copied: row.copied}
}

// code codes a row that was not known, until the next call. The lineage copies what it keeps.
func (s *guarded) code(row []value) *coded {
	s.t.encodeInto(&s.buffer, row, nil)
	return &s.buffer
}

func (s *guarded) insert(id incremental.RecordID, key []byte, row coded, now time.Time) (returned bool, err error) {
	if ghost, left := s.returns.find(key); left {
		s.returns.restore(ghost)
		return true, s.lineage.Return(ghost, s.record(id, row), now)
	}
	return false, s.lineage.Insert(s.record(id, row), now)
}

func (s *guarded) modify(id incremental.RecordID, row coded, now time.Time) error {
	return s.lineage.Modify(s.record(id, row), now)
}

func (s *guarded) hash(key []byte) keyHash { return s.returns.hashDeleted(key) }

func (s *guarded) remove(id incremental.RecordID, hash keyHash) error {
	left, published, err := s.lineage.Leave(id)
	if published {
		s.returns.add(hash, left)
	}
	return err
}

func (s *guarded) truncate() {
	s.lineage.Truncate()
	s.returns.forget()
}

func (s *guarded) row(id incremental.RecordID) coded {
	r, _ := s.lineage.Record(id)
	return coded{cells: r.Cells, sensitive: r.Sensitive, subject: r.Subject, copied: r.Copied}
}

func (s *guarded) settle(ctx context.Context, now time.Time) error {
	var err error
	s.overdue = false
	if s.changes, err = s.lineage.Publish(ctx, now); err != nil {
		return fmt.Errorf("publishing what %s has gathered: %w", s.t.layout.name(), err)
	}
	for _, ghost := range s.changes.Vanished {
		s.returns.remove(ghost)
	}
	s.settleAudiences()
	return nil
}

func (s *guarded) places() []storeColumn {
	return []storeColumn{
		{s.part.column, "bigint"},
		{catalog.RowColumn, "bigint"},
		{catalog.ChangedColumn, "text"},
		{catalog.SinceColumn, "timestamptz"},
		{catalog.ExpiredColumn, "boolean"},
	}
}

func (s *guarded) marks() []storeColumn {
	return []storeColumn{
		{s.part.column, "bigint"},
		{catalog.RowColumn, "bigint"},
		{catalog.PersonColumn, "bigint"},
		{catalog.SealedColumn, "boolean"},
	}
}

func (s *guarded) indexed() []string { return []string{s.part.column} }

func (s *guarded) place(ids []incremental.RecordID) []any {
	classes, rows := make([]*int64, len(ids)), make([]*int64, len(ids))
	changed, since, expired := make([]*string, len(ids)), make([]*time.Time, len(ids)), make([]bool, len(ids))
	for i, id := range ids {
		p := s.changes.Place(id)
		classes[i], rows[i] = storedNumber(int64(p.Class)), storedNumber(int64(p.Row))
		changed[i], since[i], expired[i] = storedChange(p), storedTime(p.Since), p.Withheld
	}
	return []any{classes, rows, changed, since, expired}
}

func (s *guarded) moved() []incremental.RecordID { return s.changes.Touched }

func (s *guarded) written() {
	s.changes = lineage.Changes{}
	for _, a := range s.audiences {
		a.changes = lineage.CoarserChanges{}
	}
	s.returns.written()
}

func (s *guarded) due() time.Time {
	if s.overdue {
		return time.UnixMicro(1)
	}
	return s.lineage.Due()
}

func (s *guarded) nextClass() incremental.ClassID { return s.lineage.NextClass() }

func (s *guarded) status() TableStatus {
	f := s.lineage.Freshness()
	status := TableStatus{
		Records: s.lineage.Len(), Classes: f.Classes,
		Waiting: f.Waiting, Stale: f.Stale, Expired: f.Withheld, Ghosts: f.Ghosts, Untold: f.Untold,
		OldestWaiting: f.OldestWaiting, OldestStale: f.OldestStale, Returned: s.returns.restored,
	}
	status.Audiences = s.audienceStatus(f.Classes)
	if f.Classes == 0 {
		status.Withheld, status.Reason = status.Records, s.reason(f)
	}
	return status
}

// reason is why nothing is published.
func (s *guarded) reason(f lineage.Freshness) string {
	var reasons []string
	if f.Withheld > 0 {
		reasons = append(reasons, fmt.Sprintf("%d records are withheld for good: they waited until the deadline, or violated the constraints together", f.Withheld))
	}
	if f.Waiting > 0 {
		of := "records"
		if s.t.layout.subject >= 0 {
			of = "persons"
		}
		batches := fmt.Sprintf("batches are of %d %s at least", s.lineage.Least(), of)
		if u := s.t.layout.publication.Policy.Updates; u.Batch > s.lineage.Least() {
			batches = fmt.Sprintf("a batch begins with %d %s (batch)", u.Batch, of)
			if u.Within > 0 {
				batches += fmt.Sprintf(", or with %d and more when one has waited for %v (within)", s.lineage.Least(), u.Within)
			}
		}
		reasons = append(reasons, fmt.Sprintf("%d records wait for others: %s", f.Waiting, batches))
	}
	if len(reasons) == 0 {
		return "the table has no records, and nothing of it has been published"
	}
	return strings.Join(reasons, "; ")
}

// writeRelease deletes the rows that vanish, writes the new ones and corrects weights.
// All new rows are shuffled before they are cut into statements: with classes in their
// order, a reader would know which of them a statement's last class was cut in.
func (s *guarded) writeRelease(batch *visibleStatements) {
	s.deleteRows(batch, s.t.release.releaseTable(), s.changes.Gone, s.changes.GoneFrom)
	rows := s.changes.Rows
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for chunk := range slices.Chunk(rows, writeChunk) {
		s.writeRows(batch, chunk)
	}
	s.writeWeights(batch, s.t.release.weightTable(), s.t.release.releaseTable(), s.changes.Weights, s.changes.GoneFrom)
	s.writeDeparted(batch.unseen())
	s.writeAudiences(batch)
}

// deleteRows finds the rows of a release by their classes, which alone have an index.
func (s *guarded) deleteRows(batch queue, release string, gone []lineage.RowID, from []incremental.ClassID) {
	for len(gone) > 0 {
		n := min(writeChunk, len(gone))
		classes := slices.Compact(slices.Sorted(slices.Values(from[:n])))
		batch.Queue(fmt.Sprintf("DELETE FROM %[1]s AS l USING unnest($1::bigint[], $2::bigint[]) AS g(class, id) WHERE l.%[2]s = g.class AND l.%[3]s = g.id AND l.%[2]s = ANY($3)",
			release, s.part.column, catalog.RowColumn), numbers(from[:n]), numbers(gone[:n]), numbers(classes))
		gone, from = gone[n:], from[n:]
	}
}

// writeRows joins rows, with what is published of their classes, with their records. Each row
// brings the values of its class: PostgreSQL estimates arrays to be short, and would compare every
// row with every class.
func (s *guarded) writeRows(batch queue, rows []lineage.NewRow) {
	t := s.t
	if t.layout.isSealed() {
		s.writeSealedRows(batch, rows)
		return
	}
	records, classes := make([]int64, len(rows)), make([]int64, len(rows))
	ids, persons, sealed := make([]int64, len(rows)), make([]int64, len(rows)), make([]bool, len(rows))
	for i, r := range rows {
		records[i], classes[i], ids[i], persons[i], sealed[i] = int64(r.Record), int64(r.Class), int64(r.ID), int64(r.Person), r.Sealed
	}
	columns := s.part.shown(classes, func(id incremental.ClassID) []hierarchy.Generalization { return s.changes.Classes[id] })
	batch.Queue(fmt.Sprintf(`INSERT INTO %s (%s, %s)
		SELECT c0.class, c0.id, c0.person, c0.sealed, %s
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::boolean[]%s) AS c0(%s)
		JOIN %s AS r ON r.%[8]s = c0.record AND r.%[8]s = ANY($1)
		ORDER BY random()`,
		t.release.releaseTable(), listed(s.marks(), ""), t.layout.keptView().shownList(), t.releaseList(noPseudonym),
		textArrays(6, len(columns)), strings.Join(append([]string{"record", "class", "id", "person", "sealed"}, s.part.generalizedNames("", "")...), ", "), t.recordsTable(), recordColumn),
		append([]any{numbers(records), numbers(classes), numbers(ids), numbers(persons), sealed}, columns...)...)
}

// writeWeights notes the weights of classes of a release, of groups of them and of the table, in a table of them, and forgets those of
// classes that are gone.
func (s *guarded) writeWeights(batch *visibleStatements, table, release string, changed map[incremental.ClassID]lineage.Weight, goneFrom []incremental.ClassID) {
	s.forgetWeights(batch, table, release, goneFrom)
	var w weights
	for _, id := range slices.Sorted(maps.Keys(changed)) {
		of := changed[id]
		w.add(int64(id), of.Share, of.Ghosts, of.Persons)
	}
	w.write(batch, table, s.part.column)
}

func (s *guarded) forgetWeights(batch queue, table, release string, goneFrom []incremental.ClassID) {
	from := slices.Compact(slices.Sorted(slices.Values(goneFrom)))
	for chunk := range slices.Chunk(from, writeChunk) {
		batch.Queue(fmt.Sprintf("DELETE FROM %[1]s AS w WHERE w.%[2]s = ANY($1) AND NOT EXISTS (SELECT FROM %[3]s AS l WHERE l.%[2]s = w.%[2]s AND l.%[2]s = ANY($1))",
			table, s.part.column, release), numbers(chunk))
	}
}
