package sync

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
)

// linkedRelease is what is published of a linked table: for its own readers, or for an audience.
type linkedRelease struct {
	t         *table
	part      *part
	number    int
	audience  *audience             // nil for the table's own readers
	share     *people.GuardedTable  // nil where nothing was settled
	followed  *people.FollowedTable // has it for an audience
	whole     bool                  // the share is all that is published
	published int
}

// table is the table with the rows of the release.
func (s *linkedRelease) table() string {
	if s.audience != nil {
		return s.audience.relation("release", s.t.release.generation)
	}
	return s.t.release.releaseTable()
}

// publication is what its rows show.
func (s *linkedRelease) publication() *catalog.Publication {
	if s.audience != nil {
		return &s.audience.publication
	}
	return &s.t.layout.publication
}

// take takes the share of a settling.
func (s *linkedRelease) take(share *people.GuardedTable, whole bool) {
	if s.share, s.whole = share, whole; whole {
		s.published = 0
	} else {
		s.published -= len(share.Gone)
	}
	for _, cell := range share.Cells {
		s.published += len(cell.Rows)
	}
}

// marks are the number of the cell and that of the record.
func (s *linkedRelease) marks() []storeColumn {
	return []storeColumn{{s.part.column, "bigint"}, {catalog.RowColumn, "bigint"}}
}

// write deletes what is gone and writes the new rows, all of them in random order.
func (s *linkedRelease) write(to *visibleStatements) {
	release := s.table()
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
func (s *linkedRelease) deleteRows(to queue, with func(delete string) string) {
	if s.number == people.Root {
		for gone := range slices.Chunk(s.share.Gone, writeChunk) {
			to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l WHERE l.%s = ANY($1)", s.table(), catalog.RowColumn)), recordNumbers(gone))
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
		to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l WHERE %s AND l.%s = ANY($1)", s.table(), without, catalog.RowColumn)), numbers(gone))
	}
	same := s.links(func(c catalog.PublishedColumn, name string) string { return name + " = " + s.pseudonym(c) })
	for len(keyed) > 0 {
		n := min(writeChunk, len(keyed))
		to.Queue(with(fmt.Sprintf("DELETE FROM %s AS l USING unnest($1::bigint[], $2::bigint[]) AS c0(parent, record) WHERE %s AND l.%s = c0.record",
			s.table(), same, catalog.RowColumn)), numbers(keys[:n]), numbers(keyed[:n]))
		keys, keyed = keys[n:], keyed[n:]
	}
}

// links joins conditions on the columns that show what the rows of l belong to.
func (s *linkedRelease) links(condition func(c catalog.PublishedColumn, name string) string) string {
	var conditions []string
	p := s.publication()
	for _, c := range p.Columns {
		if slices.Contains(p.Membership.Link(), c.Source) && !p.Membership.IsOwn(c) {
			conditions = append(conditions, condition(c, "l."+catalog.QuoteIdentifier(c.Name)))
		}
	}
	return strings.Join(conditions, " AND ")
}

// indexKeys makes the indexes by which rows are joined.
func (s *linkedRelease) indexKeys(to queue) {
	for _, sql := range s.t.keyIndexes(s.audience) {
		to.Queue(sql)
	}
}

// keyIndexes make the indexes by which rows for an audience, or for the table's own readers, are joined, unless they are
// there. Without them a join that the planner takes for a small one compares every row with every other. That of links
// leads to single rows as well.
func (t *table) keyIndexes(a *audience) (statements []string) {
	m := t.layout.publication.Membership
	kind := "release"
	if a != nil {
		kind += "_" + a.store
	}
	release := storeTable(kind, t.release.generation)
	for _, key := range []struct {
		name    string
		columns []string
	}{{catalog.KeyIndex, m.Key()}, {catalog.LinkIndex, m.Link()}} {
		if key.name == catalog.LinkIndex && len(key.columns) > 0 {
			key.columns = append(slices.Clone(key.columns), catalog.RowColumn)
		}
		if len(key.columns) > 0 {
			statements = append(statements, fmt.Sprintf("CREATE INDEX IF NOT EXISTS %s ON %s (%s)",
				catalog.QuoteIdentifier(release.Relation+"_"+key.name), release.SQL(), sqlList(key.columns, func(_ int, c string) string { return catalog.QuoteIdentifier(c) })))
		}
	}
	return statements
}

// newRow is a row with its cell.
type newRow struct {
	people.PublishedRow
	cell *people.PublishedCell
}

// newRows are the rows of the share, in random order: that of the cells tells which persons
// have changed.
func (s *linkedRelease) newRows() []newRow {
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
func (s *linkedRelease) writeRows(to queue, rows []newRow) {
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
		s.table(), listed(s.marks(), ""), publishedView{s.publication()}.shownList(), releaseListOf(s.publication(), []*part{s.part}, s.pseudonym),
		textArrays(5, len(columns)), strings.Join(append([]string{"record", "cell", "own", "parent"}, s.part.generalizedNames("", "")...), ", "), s.t.recordsTable(), recordColumn),
		append([]any{numbers(records), numbers(cells), own, parents}, columns...)...)
}

// pseudonym is what a column shows of c0, a row with its pseudonyms.
func (s *linkedRelease) pseudonym(c catalog.PublishedColumn) string {
	m, number := s.t.layout.publication.Membership, "c0.parent"
	if m.IsOwn(c) {
		number = "c0.own"
	}
	return m.Form(c).SQL(c, number)
}
