package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// linkedGuarded shows changes of several tables about the same persons only as far as a reader
// who compares versions learns no more than from one release (people.Guarded). What is published
// outlasts a session: the release in the store has all that the group knows of it.
type linkedGuarded struct {
	linked
	haunted bool // rows of the release may stand for nobody, by what the store has
}

func newLinkedGuarded(t *table) (*linkedGuarded, error) {
	if t.group == nil {
		return nil, internal(errors.New("a linked table has no group"))
	}
	s := &linkedGuarded{linked: *linkedOf(t), haunted: true}
	t.group.made[s.number] = t.release.generation
	if t.group.restored || t.group.settled { // its rows are there, and published
		return s, nil
	}
	s.truncate()
	return s, nil
}

// publish: what the snapshot has is published with the other tables, or its places are stored with the
// records.
func (s *linkedGuarded) publish(context.Context, *publisher, *snapshot) error {
	return s.group.guard(func(g *people.Guarded) error {
		if s.group.isPublished() {
			_ = g.Note(s.number)
		}
		return nil
	})
}

func (s *linkedGuarded) insert(id incremental.RecordID, _ []byte, row coded, now time.Time) (returned bool, err error) {
	return false, s.group.guard(func(g *people.Guarded) error { return g.Insert(s.number, s.personRow(id, row), now) })
}

func (s *linkedGuarded) modify(id incremental.RecordID, row coded, now time.Time) error {
	return s.group.guard(func(g *people.Guarded) error { return g.Modify(s.number, s.personRow(id, row), now) })
}

func (s *linkedGuarded) remove(id incremental.RecordID, _ keyHash) error {
	return s.group.guard(func(g *people.Guarded) error { return g.Delete(s.number, id, s.t.clock()) })
}

func (s *linkedGuarded) truncate() {
	_ = s.group.guard(func(g *people.Guarded) error { return g.Truncate(s.number, s.t.clock()) }) // the rows are there
}

func (s *linkedGuarded) row(id incremental.RecordID) (row coded) {
	_ = s.group.guard(func(g *people.Guarded) error {
		r, _ := g.Row(s.number, id)
		row = codedPerson(r)
		return nil
	})
	return row
}

// places: the row at which a record stands, since when the record waits, and how.
func (s *linkedGuarded) places() []storeColumn {
	return []storeColumn{
		{catalog.RowColumn, "bigint"},
		{catalog.SinceColumn, "timestamptz"},
		{catalog.ExpiredColumn, "boolean"},
		{catalog.PoolingColumn, "boolean"},
		{catalog.StaleColumn, "boolean"},
	}
}

func (s *linkedGuarded) place(ids []incremental.RecordID) []any {
	rows, since := make([]*int64, len(ids)), make([]*time.Time, len(ids))
	withheld, pooling, stale := make([]bool, len(ids)), make([]bool, len(ids)), make([]bool, len(ids))
	_ = s.group.guard(func(g *people.Guarded) error {
		for i, id := range ids {
			p := s.placeOf(g, id)
			rows[i], since[i] = storedNumber(int64(p.Row)), storedTime(p.Since)
			withheld[i], pooling[i], stale[i] = p.Withheld, p.Pooling, p.Stale
		}
		return nil
	})
	return []any{rows, since, withheld, pooling, stale}
}

// placeOf is the place of a record. Before anything is published, records are stored as most of them
// will stand: each at a row of its own. A store in that state is never taken over (foundGroup).
func (s *linkedGuarded) placeOf(g *people.Guarded, id incremental.RecordID) people.Place {
	if !s.group.isPublished() {
		return people.Place{Row: id}
	}
	return g.Place(s.number, id)
}

// marks are what people.StoredRow has of a row.
func (s *linkedGuarded) marks() []storeColumn { return marksOf(s.part) }

// marksOf are the marks of rows whose classes are those of a part.
func marksOf(part *part) []storeColumn {
	return []storeColumn{
		{part.column, "bigint"},
		{catalog.RowColumn, "bigint"},
		{catalog.PersonsColumn, "bigint"},
		{catalog.PersonColumn, "integer"},
		{catalog.WindowColumn, "integer"},
		{catalog.ParentColumn, "bigint"},
		{catalog.OwnColumn, "bigint"},
		{catalog.AliasColumn, "bigint"},
	}
}

func (s *linkedGuarded) due() (due time.Time) {
	if s.group.ready && s.group.settled {
		_ = s.group.guard(func(g *people.Guarded) error {
			due = g.Due()
			return nil
		})
		return due
	}
	return s.linked.due()
}

func (s *linkedGuarded) nextClass() (next incremental.ClassID) {
	_ = s.group.guard(func(g *people.Guarded) error {
		next = incremental.ClassID(g.NextCell())
		return nil
	})
	return next
}

func (s *linkedGuarded) status() (status TableStatus) {
	_ = s.group.guard(func(g *people.Guarded) error {
		f := g.Freshness(s.number)
		status = TableStatus{Records: g.Len(s.number), Classes: g.Classes(), Waiting: f.Waiting, Stale: f.Stale, Ghosts: f.Ghosts, Untold: f.Untold, Expired: f.Withheld}
		status.OldestWaiting = g.OldestWaiting(s.number)
		if status.Withheld = status.Records - (f.Rows - f.Ghosts); g.Classes() == 0 && s.group.isPublished() {
			status.Reason = reasonOf(g.Freshness(people.Root), g.Len(people.Root), g.Least())
		}
		status.Audiences = s.group.followedStatus(s.number)
		return nil
	})
	return status
}

// reasonOf is why nothing of the group is published.
func reasonOf(f people.Freshness, persons, least int) string {
	var reasons []string
	if f.Withheld > 0 {
		reasons = append(reasons, fmt.Sprintf("%d persons are withheld for good, as they violated the constraints together", f.Withheld))
	}
	if f.Waiting > 0 {
		reasons = append(reasons, fmt.Sprintf("%d persons wait for others: a batch has %d at least", f.Waiting, least))
	}
	if persons == 0 {
		reasons = append(reasons, "there are no persons, and nothing of any has been published")
	}
	return strings.Join(reasons, "; ")
}

// writeRelease deletes the rows that vanish, writes the new ones, all of them in random order, and
// corrects weights.
func (s *linkedGuarded) writeRelease(to *visibleStatements) {
	if s.share == nil {
		return
	}
	if s.whole {
		to.Queue("DELETE FROM " + s.t.release.releaseTable())
	} else {
		s.deleteRows(to, s.forgetting)
	}
	for chunk := range slices.Chunk(s.newRows(), writeChunk) {
		s.writeRows(to, chunk)
	}
	s.writeWeights(to, s.share.Weights, s.t.release.weightTable())
	s.writeDeparted(to.unseen())
	if state := s.group.pseudonymState(s.number); state != nil && s.hasNewCells() {
		to.unseen().Queue("UPDATE kproxy_store.generation SET hash_key = $4 WHERE table_schema = $1 AND table_name = $2 AND generation = $3",
			s.t.layout.name().Schema, s.t.layout.name().Relation, s.t.release.generation, state)
	}
	if s.whole {
		s.indexKeys(to)
		to.Queue("ANALYZE " + s.t.release.releaseTable())
	}
	finer := s.t.release.releaseTable()
	for _, a := range s.audiences {
		s.writeFollowed(to, a, finer)
		finer = a.table()
	}
}

// hasNewCells reports whether somebody sees rows with new pseudonyms.
func (s *linkedGuarded) hasNewCells() bool {
	return len(s.share.Cells) > 0 || slices.ContainsFunc(s.audiences, func(a *linkedRelease) bool { return len(a.share.Cells) > 0 })
}

// moved: with the first release, the places of those change that were not foreseen.
func (s *linkedGuarded) moved() (ids []incremental.RecordID) {
	moved := s.linked.moved()
	if s.share == nil || !s.whole {
		return moved
	}
	_ = s.group.guard(func(g *people.Guarded) error {
		for _, id := range moved {
			if g.Place(s.number, id) != (people.Place{Row: id}) {
				ids = append(ids, id)
			}
		}
		return nil
	})
	return ids
}

// writeRows is that of linked, with the marks of guarded tables.
func (s *linkedGuarded) writeRows(to queue, rows []newRow) {
	m := markedRows(rows)
	columns := m.shown(s.part)
	names := append([]string{markNames}, s.part.generalizedNames("", "")...)
	to.Queue(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s)
		SELECT %[4]s, %[5]s
		FROM unnest(%[6]s%[7]s) AS c0(%[8]s)
		JOIN %[9]s AS r ON r.%[10]s = c0.record AND r.%[10]s = ANY($1)
		ORDER BY random()`,
		s.t.release.releaseTable(), listed(s.marks(), ""), s.t.layout.keptView().shownList(), selectedMarks, s.t.releaseList(s.pseudonym),
		markArrays, textArrays(10, len(columns)), strings.Join(names, ", "), s.t.recordsTable(), recordColumn),
		append(m.arguments(), columns...)...)
}

// writeWeights notes the weights of cells in a table of them.
func (s *linkedGuarded) writeWeights(to *visibleStatements, changed []people.Weight, table string) {
	var w weights
	for _, of := range changed {
		for _, cell := range of.Cells {
			w.add(cell, of.Share, of.Ghosts, of.Persons)
		}
	}
	w.write(to, table, s.part.column)
}

// writeDeparted queues which rows have come to stand for nobody, by the keys that they are found by,
// and which do not any more.
func (s *linkedGuarded) writeDeparted(to *statements) {
	generation := s.t.release.generation
	standing := s.standing()
	rows := slices.Concat(s.share.Gone, standing)
	var keys [][]byte
	var left []incremental.RecordID
	for _, l := range s.share.Left {
		rows = append(rows, l.Row)
		_, gone := slices.BinarySearch(s.share.Gone, l.Row)
		_, back := slices.BinarySearch(standing, l.Row)
		if !gone && !back && l.Key != (people.Key{}) {
			keys, left = append(keys, s.group.pseudonyms[people.Root].Sealed(l.Key)), append(left, l.Row)
		}
	}
	for chunk := range slices.Chunk(rows, writeChunk) {
		if s.haunted {
			to.Queue("DELETE FROM kproxy_store.departed WHERE generation = $1 AND row = ANY($2)", generation, recordNumbers(chunk))
		}
	}
	for len(keys) > 0 {
		n := min(writeChunk, len(keys))
		to.Queue(`INSERT INTO kproxy_store.departed (generation, hash, class, row, changed)
			SELECT $1, u.hash, 0, u.row, '' FROM unnest($2::bytea[], $3::bigint[]) AS u(hash, row)
			ON CONFLICT (generation, hash) DO UPDATE SET row = excluded.row`, generation, keys[:n], recordNumbers(left[:n]))
		keys, left, s.haunted = keys[n:], left[n:], true
	}
}

// standing are the published rows that have come to stand for a record as it is not shown, in ascending
// order.
func (s *linkedGuarded) standing() (rows []incremental.RecordID) {
	_ = s.group.guard(func(g *people.Guarded) error {
		for _, id := range s.share.Moved {
			if p := g.Place(s.number, id); p.Row != 0 && p.Stale {
				rows = append(rows, p.Row)
			}
		}
		return nil
	})
	slices.Sort(rows)
	return rows
}

// forgetting has the weights of cells go with their rows, which all vanish at once. Where the values of
// rows count until the rows of their persons vanish, they are kept until then.
func (s *linkedGuarded) forgetting(delete string) string {
	gone := fmt.Sprintf("WITH gone AS (%s RETURNING l.*)", delete)
	weights := fmt.Sprintf("DELETE FROM %s AS w USING (SELECT DISTINCT %[2]s FROM gone) AS g WHERE w.%[2]s = g.%[2]s", s.t.release.weightTable(), s.part.column)
	switch {
	case !s.group.guarded.KeepsVanished():
		return gone + " " + weights
	case s.number == people.Root:
		return fmt.Sprintf("%s, weighed AS (%s) DELETE FROM kproxy_store.vanished AS v USING (SELECT DISTINCT %[3]s FROM gone) AS g WHERE v.generation IN (%[4]s) AND v.persons = g.%[3]s",
			gone, weights, catalog.PersonsColumn, s.group.generations())
	}
	values := sqlList(s.t.layout.sensitive, func(_ int, i int) string {
		return "gone." + catalog.QuoteIdentifier(s.t.layout.columns[i].Name) + "::text"
	})
	return fmt.Sprintf(`%s, weighed AS (%s) INSERT INTO kproxy_store.vanished (generation, row, cell, persons, person, win, parent, sensitive)
		SELECT %d, gone.%s, gone.%s, gone.%s, gone.%s, gone.%s, gone.%s, ARRAY[%s]::text[]
		FROM gone WHERE EXISTS (SELECT FROM %[11]s AS p WHERE p.%[6]s = gone.%[6]s)`,
		gone, weights, s.t.release.generation, catalog.RowColumn, s.part.column, catalog.PersonsColumn, catalog.PersonColumn, catalog.WindowColumn, catalog.ParentColumn, values,
		storeTable("release", s.group.made[people.Root]).SQL())
}
