package sync

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// linked shows every commit of the source at once, of several tables about the same persons:
// what is published of a class of persons and a window is written anew where one of their
// rows has changed. The release is that of the group.
type linked struct {
	t         *table
	part      *part
	group     *linkedGroup
	number    int
	share     *people.GuardedTable // nil where nothing was settled
	whole     bool                 // the share is all that is published
	published int
	buffer    coded // for one record after the other, where there are many
}

func linkedOf(t *table) *linked {
	return &linked{t: t, part: t.parts[0], group: t.group, number: t.layout.number(), buffer: t.layout.newCoded()}
}

func newLinked(t *table) (*linked, error) {
	if t.group == nil {
		return nil, internal(errors.New("a linked table has no group"))
	}
	s := linkedOf(t)
	return s, s.group.change(func(m *people.Maintained) error { return m.Truncate(s.number) })
}

func (s *linked) code(row []value) *coded {
	s.t.encodeInto(&s.buffer, row, nil)
	return &s.buffer
}

func (s *linked) personRow(id incremental.RecordID, row coded) people.Row {
	return people.Row{ID: id, Key: row.kin.own, Of: row.kin.of, Window: row.kin.window, Cells: row.cells, Sensitive: row.sensitive}
}

func (s *linked) insert(id incremental.RecordID, _ []byte, row coded, _ time.Time) (returned bool, err error) {
	return false, s.group.change(func(m *people.Maintained) error { return m.Insert(s.number, s.personRow(id, row)) })
}

func (s *linked) modify(id incremental.RecordID, row coded, _ time.Time) error {
	return s.group.change(func(m *people.Maintained) error { return m.Modify(s.number, s.personRow(id, row)) })
}

func (s *linked) hash([]byte) keyHash { return keyHash{} }

func (s *linked) remove(id incremental.RecordID, _ keyHash) error {
	return s.group.change(func(m *people.Maintained) error { return m.Delete(s.number, id) })
}

func (s *linked) truncate() {
	_ = s.group.change(func(m *people.Maintained) error { return m.Truncate(s.number) }) // the rows are there
}

func (s *linked) row(id incremental.RecordID) (row coded) {
	_ = s.group.change(func(m *people.Maintained) error {
		r, _ := m.Row(s.number, id)
		row = codedPerson(r)
		return nil
	})
	return row
}

// codedPerson is a row of the group's, until it changes.
func codedPerson(r people.Row) coded {
	return coded{cells: slices.Clone(r.Cells), sensitive: slices.Clone(r.Sensitive), kin: kin{own: r.Key, of: r.Of, window: r.Window}}
}

func (s *linked) settle(ctx context.Context, now time.Time) (err error) {
	if s.share, err = s.group.settle(ctx, s.number, now); err != nil || s.share == nil {
		return err
	}
	if s.whole = s.group.whole; s.whole {
		s.published = 0
	} else {
		s.published -= len(s.share.Gone)
	}
	for _, cell := range s.share.Cells {
		s.published += len(cell.Rows)
	}
	return nil
}

// places: a person's class in the partition and a row's in the pool outlast a restart.
func (s *linked) places() []storeColumn { return []storeColumn{{s.part.column, "bigint"}} }

func (s *linked) place(ids []incremental.RecordID) []any {
	classes := make([]*int64, len(ids))
	_ = s.group.change(func(m *people.Maintained) error {
		for i, id := range ids {
			classes[i] = storedNumber(int64(m.Class(s.number, id)))
		}
		return nil
	})
	return []any{classes}
}

func (s *linked) moved() []incremental.RecordID {
	if s.share == nil {
		return nil
	}
	return s.share.Moved
}

func (s *linked) written() { s.share = nil }

// marks are the number of the cell and that of the record.
func (s *linked) marks() []storeColumn {
	return []storeColumn{{s.part.column, "bigint"}, {catalog.RowColumn, "bigint"}}
}

// indexed: rows of the root are found by their numbers. Those of other tables, by far the most, are found
// by what they belong to, whose index readers need anyway: a second one costs as much as the rows.
func (s *linked) indexed() []string {
	if s.number == people.Root {
		return []string{catalog.RowColumn}
	}
	return nil
}

// due is at once where the first release of all tables waits.
func (s *linked) due() time.Time {
	if s.group.ready && !s.group.settled {
		return time.UnixMicro(1)
	}
	return time.Time{}
}

// nextClass: the partition goes on from the classes that it is given.
func (s *linked) nextClass() incremental.ClassID { return 1 }

func (s *linked) status() (status TableStatus) {
	_ = s.group.change(func(m *people.Maintained) error {
		status.Records, status.Classes = m.Len(s.number), m.Classes()
		status.Withheld = status.Records - s.published
		if why := m.Feasible(); why != nil && s.group.settled {
			status.Reason = why.Error()
		}
		return nil
	})
	return status
}

// publish: what the snapshot has is published with the other tables.
func (s *linked) publish(context.Context, *publisher, *snapshot) error { return nil }

func (s *linked) assignments() func() ([]any, error) { return nothing }

func (s *linked) classes(int) func() ([]any, error) { return nothing }

func nothing() ([]any, error) { return nil, nil }

// load takes the records over, with their classes. What is published of them is made anew.
func (s *linked) load(ctx context.Context, from *storeView, progress func(done int)) error {
	indexes, row := s.t.layout.codedColumns(), make([]value, len(s.t.layout.columns))
	read := 0
	return copyOut(ctx, from.first, 2+len(indexes), func(values []value) error {
		record, err := storedID(values[0])
		if err != nil {
			return err
		}
		class, err := storedID(values[1])
		if err != nil {
			return err
		}
		id := incremental.RecordID(record)
		spread(row, indexes, values[2:])
		if !s.t.keys.add(s.t.keyOf(row), id) {
			return internal(errors.New("two records have the same key"))
		}
		r := s.personRow(id, *s.code(row))
		if err := s.group.change(func(m *people.Maintained) error { return m.Restore(s.number, r, incremental.ClassID(class)) }); err != nil {
			return internal(err)
		}
		if read++; read%progressRows == 0 {
			progress(read)
		}
		return nil
	}, fmt.Sprintf("SELECT %s, coalesce(%s, 0), %s FROM %s ORDER BY 1", recordColumn, s.part.column, s.t.layout.columns.listOf(indexes), s.t.recordsTable()))
}

// writeRelease deletes what is gone and writes the new rows, all of them in random order.
func (s *linked) writeRelease(to *visibleStatements) {
	if s.share == nil {
		return
	}
	release := s.t.release.releaseTable()
	if s.whole {
		to.Queue("DELETE FROM " + release)
	} else {
		s.deleteRows(to, func(delete string) string { return delete })
	}
	rows := s.newRows()
	for chunk := range slices.Chunk(rows, writeChunk) {
		s.writeRows(to, chunk)
	}
	if s.whole { // the release was empty when the table was published
		s.indexKeys(to)
		to.Queue("ANALYZE " + release)
	}
}

// deleteRows deletes what is gone: of the root by the rows' numbers, of other tables by the key that each
// row shows of what it belongs to, which those in the pool do not. The statements are sent as with makes
// them.
func (s *linked) deleteRows(to queue, with func(delete string) string) {
	if s.number == people.Root {
		for gone := range slices.Chunk(s.share.Gone, writeChunk) {
			to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l WHERE l.%s = ANY($1)", s.t.release.releaseTable(), catalog.RowColumn)), recordNumbers(gone))
		}
		return
	}
	var pooled, keyed, keys []int64
	for i, id := range s.share.Gone {
		if of := s.share.GoneOf[i]; of == 0 {
			pooled = append(pooled, int64(id))
		} else {
			keyed, keys = append(keyed, int64(id)), append(keys, int64(of))
		}
	}
	without := s.links(func(_ catalog.PublishedColumn, name string) string { return name + " IS NULL" })
	for gone := range slices.Chunk(pooled, writeChunk) {
		to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l WHERE %s AND l.%s = ANY($1)", s.t.release.releaseTable(), without, catalog.RowColumn)), numbers(gone))
	}
	same := s.links(func(c catalog.PublishedColumn, name string) string { return name + " = " + s.pseudonym(c) })
	for len(keyed) > 0 {
		n := min(writeChunk, len(keyed))
		to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l USING unnest($1::bigint[], $2::bigint[]) AS c0(parent, record) WHERE %s AND l.%s = c0.record",
			s.t.release.releaseTable(), same, catalog.RowColumn)), numbers(keys[:n]), numbers(keyed[:n]))
		keys, keyed = keys[n:], keyed[n:]
	}
}

// links joins conditions on the columns that show what the rows of l belong to.
func (s *linked) links(condition func(c catalog.PublishedColumn, name string) string) string {
	var conditions []string
	p := s.t.layout.publication
	for _, c := range p.Columns {
		if slices.Contains(p.Membership.Link(), c.Source) && !p.Membership.IsOwn(c) {
			conditions = append(conditions, condition(c, "l."+catalog.QuoteIdentifier(c.Name)))
		}
	}
	return strings.Join(conditions, " AND ")
}

// indexKeys makes the indexes by which rows are joined, unless they are there. Without them a join
// that the planner takes for a small one compares every row with every other. That of links leads to
// single rows as well.
func (s *linked) indexKeys(to queue) {
	m, release := s.t.layout.publication.Membership, storeTable("release", s.t.release.generation)
	for _, key := range []struct {
		name    string
		columns []string
	}{{catalog.KeyIndex, m.Key()}, {catalog.LinkIndex, m.Link()}} {
		if key.name == catalog.LinkIndex && len(key.columns) > 0 {
			key.columns = append(slices.Clone(key.columns), catalog.RowColumn)
		}
		if len(key.columns) > 0 {
			to.Queue(fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s)",
				catalog.QuoteIdentifier(release.Relation+"_"+key.name), release.SQL(), sqlList(key.columns, func(_ int, c string) string { return catalog.QuoteIdentifier(c) })))
		}
	}
}

// newRow is a row with its cell.
type newRow struct {
	people.PublishedRow
	cell *people.PublishedCell
}

// newRows are the rows of the share, in random order: that of the cells tells which persons
// have changed.
func (s *linked) newRows() []newRow {
	var rows []newRow
	for i := range s.share.Cells {
		cell := &s.share.Cells[i]
		for _, r := range cell.Rows {
			rows = append(rows, newRow{r, cell})
		}
	}
	rand.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return rows
}

// writeRows joins some rows, with what is published of their cells, with their records. Each row
// brings the values of its cell: PostgreSQL estimates arrays to be short, and would compare every
// row with every cell.
func (s *linked) writeRows(to queue, rows []newRow) {
	records, cells, own, parents := make([]int64, len(rows)), make([]int64, len(rows)), make([]*int64, len(rows)), make([]*int64, len(rows))
	published := make(map[incremental.ClassID][]hierarchy.Generalization)
	for i, r := range rows {
		records[i], cells[i] = int64(r.ID), r.cell.ID
		own[i], parents[i] = storedNumber(int64(r.Own)), storedNumber(int64(r.Of))
		published[incremental.ClassID(r.cell.ID)] = r.cell.Values
	}
	columns := s.part.shown(cells, func(id incremental.ClassID) []hierarchy.Generalization { return published[id] })
	to.Queue(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s)
		SELECT c0.cell, c0.record, %[4]s
		FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]%[5]s) AS c0(%[6]s)
		JOIN %[7]s AS r ON r.%[8]s = c0.record AND r.%[8]s = ANY($1)
		ORDER BY random()`,
		s.t.release.releaseTable(), listed(s.marks(), ""), s.t.layout.view().shownList(), s.t.releaseList(s.pseudonym),
		textArrays(5, len(columns)), strings.Join(append([]string{"record", "cell", "own", "parent"}, s.part.generalizedNames("", "")...), ", "), s.t.recordsTable(), recordColumn),
		append([]any{numbers(records), numbers(cells), own, parents}, columns...)...)
}

// pseudonym is what a column shows of c0, a row with its pseudonyms.
func (s *linked) pseudonym(c catalog.PublishedColumn) string {
	m, number := s.t.layout.publication.Membership, "c0.parent"
	if m.IsOwn(c) {
		number = "c0.own"
	}
	return m.Form(c).SQL(c, number)
}
