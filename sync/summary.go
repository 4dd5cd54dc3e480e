package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The summary of a packed table (classes.go) is a view of the packed rows, or, where the policy says so, a
// narrow table of its own: what questions about groups read then has no members in it, and sums of numbers
// that are published as they are. It has a row for each packed row.
//
// The statement that writes packed rows, or the next one of the transaction, writes their rows of the summary, and no
// others, those that are new in random order. So the places of the summary's rows tell what those of packed
// rows do, and nothing more (cover.go); DESIGN.md has the argument.

// summaryFill is how much of their pages its rows fill at first, in percent; see packedFill. No label and no sum
// is indexed.
const summaryFill = 80

// storedSummary is the stored summary of a packed table's own release.
type storedSummary struct {
	t       *table
	columns []summedColumn
}

// summary is nil where the summary is a view, or there is none.
func (t *table) summary() *storedSummary {
	if !t.isPacked() || t.layout.publication.Policy.Summary != catalog.SummaryStored {
		return nil
	}
	return &storedSummary{t, t.layout.summedColumns()}
}

// summedColumn is a column of exact numbers that is published as it is.
type summedColumn struct {
	source, published string
	sum               string // the type of sums
	ranged            string // that of the least and the greatest value; empty where equal values can differ in their texts
}

// summedColumns are those that the table's own readers see.
func (l *layout) summedColumns() (all []summedColumn) {
	for _, c := range l.publication.Columns {
		i := l.columns.index(c.Source)
		if c.Part != catalog.Copy || i < 0 {
			continue
		}
		column := l.columns[i]
		if column.Domain || column.UserType != (catalog.Name{}) {
			continue
		}
		of := summedColumn{source: c.Source, published: c.Name, ranged: column.BaseType}
		switch column.BaseType {
		case "int2", "int4":
			of.sum = "bigint"
		case "int8":
			of.sum = "numeric"
		case "numeric":
			if of.sum = "numeric"; column.Modifier < 0 {
				of.ranged = "" // 1.0 and 1.00 are equal
			}
		default:
			continue
		}
		all = append(all, of)
	}
	return all
}

// summaryColumn is a column of the summary beside its key and labels, with its type and its value as an aggregate
// of a member m.
type summaryColumn struct{ name, sqlType, aggregate string }

// figures are the summary's columns that are not labels.
func (s *storedSummary) figures() []summaryColumn {
	all := []summaryColumn{{catalog.CountColumn, "integer", "count(*)::integer"}}
	for _, c := range s.columns {
		value := "m." + catalog.QuoteIdentifier(c.source)
		all = append(all, summaryColumn{catalog.KnownColumn(c.published), "integer", "count(" + value + ")::integer"},
			summaryColumn{catalog.SumColumn(c.published), c.sum, "sum(" + value + ")::" + c.sum})
		if c.ranged != "" {
			all = append(all, summaryColumn{catalog.LeastColumn(c.published), c.ranged, "min(" + value + ")"},
				summaryColumn{catalog.GreatestColumn(c.published), c.ranged, "max(" + value + ")"})
		}
	}
	return all
}

func (t *releaseState) summaryTable() string { return storeTable("summary", t.generation).SQL() }

func (s *storedSummary) table() string { return s.t.release.summaryTable() }

// key are the columns with class and section.
func (s *storedSummary) key() []string { return []string{s.t.parts[0].column, catalog.SectionColumn} }

// keyed are those with the labels behind.
func (s *storedSummary) keyed() []string { return append(s.key(), s.labels()...) }

// labels are the quoted columns that classes show.
func (s *storedSummary) labels() []string {
	var labels []string
	for _, c := range s.t.parts[0].generalized {
		labels = append(labels, catalog.QuoteIdentifier(c.Name))
	}
	return labels
}

// behind joins columns with a prefix to each.
func behind(prefix string, columns []string) string {
	return sqlList(columns, func(_ int, name string) string { return prefix + name })
}

// shown are the columns that the view of the summary has.
func (s *storedSummary) shown(prefix string) string {
	list := s.labels()
	for _, c := range s.figures() {
		list = append(list, c.name)
	}
	return behind(prefix, list)
}

// create makes the table, empty.
func (s *storedSummary) create() string {
	columns := []string{s.t.parts[0].column + " bigint", catalog.SectionColumn + " integer"}
	for _, c := range s.figures() {
		columns = append(columns, c.name+" "+c.sqlType)
	}
	for _, c := range s.t.parts[0].generalized {
		columns = append(columns, catalog.QuoteIdentifier(c.Name)+" "+c.Type)
	}
	return fmt.Sprintf("CREATE TABLE %s (%s) WITH (fillfactor = %d)", s.table(), strings.Join(columns, ", "), summaryFill)
}

// make makes the table of all packed rows, in random order.
func (s *storedSummary) make() []string {
	return []string{
		"DROP TABLE IF EXISTS " + s.table() + " CASCADE",
		s.create(),
		s.insertion(s.t.release.packedTable()),
		fmt.Sprintf("CREATE INDEX ON %s (%s)", s.table(), behind("", s.key())),
		"ANALYZE " + s.table(),
	}
}

// summed are packed rows, that go by r, with their figures as f0, f1 and so on.
func (s *storedSummary) summed(rows string) string {
	figures := s.figures()
	return fmt.Sprintf("(SELECT r.*, a.* FROM %s AS r, LATERAL (SELECT %s FROM unnest(r.%s) AS m) AS a(%s))", rows,
		sqlList(figures, func(_ int, c summaryColumn) string { return c.aggregate }), catalog.MembersColumn,
		sqlList(figures, func(i int, _ summaryColumn) string { return fmt.Sprintf("f%d", i) }))
}

// insertion inserts what packed rows are summed up to, which is not there.
func (s *storedSummary) insertion(rows string) string {
	figures := s.figures()
	return fmt.Sprintf("INSERT INTO %s (%s, %s) SELECT %s, %s FROM %s AS w ORDER BY random()", s.table(), behind("", s.keyed()),
		sqlList(figures, func(_ int, c summaryColumn) string { return c.name }), behind("w.", s.keyed()),
		sqlList(figures, func(i int, _ summaryColumn) string { return fmt.Sprintf("w.f%d", i) }), s.summed(rows))
}

// added inserts what the packed rows with the classes $1 and the sections $2 are summed up to.
func (s *storedSummary) added() string {
	return s.insertion(fmt.Sprintf("(SELECT p.* FROM unnest($1::bigint[], $2::bigint[]) AS u(class, section) JOIN %s AS p ON p.%s = u.class AND p.%s = u.section AND p.%[2]s = ANY($1))",
		s.t.release.packedTable(), s.t.parts[0].column, catalog.SectionColumn))
}

// add queues added for packed rows that were sent.
func (s *storedSummary) add(to queue, sent []packedRow) {
	for chunk := range slices.Chunk(sent, writeChunk) {
		keys := make([]packedKey, len(chunk))
		for i, row := range chunk {
			keys[i] = packedKey{row.class, row.section}
		}
		classes, sections := packedKeys(keys)
		to.Queue(s.added(), classes, sections)
	}
}

// inserting has a statement that inserts packed rows insert into the summary as well. The statement is the last of
// WITH, after others.
func (s *storedSummary) inserting(others, statement string) string {
	return fmt.Sprintf("WITH %s, written AS (%s RETURNING %s) %s", others, statement, behind("", append(s.keyed(), catalog.MembersColumn)), s.insertion("written"))
}

// changing has a statement that gives packed rows p of classes among $1 other members and labels, each the only one of its section,
// change the rows of the summary likewise.
func (s *storedSummary) changing(statement string) string {
	sets := s.sets()
	for i, c := range s.figures() {
		sets = append(sets, fmt.Sprintf("%s = w.f%d", c.name, i))
	}
	return s.following(statement, []string{catalog.MembersColumn}, sets, s.summed("written"))
}

// sets are assignments of the labels from w.
func (s *storedSummary) sets() []string {
	sets := s.labels()
	for i, label := range sets {
		sets[i] = label + " = w." + label
	}
	return sets
}

// restyling is changing for a statement that gives packed rows other labels alone, in all rows of a section.
func (s *storedSummary) restyling(statement string) string {
	return s.following(statement, nil, s.sets(), "written")
}

// following has rows of the summary change after packed rows p of classes among $1, whose labels and more are written.
func (s *storedSummary) following(statement string, more, sets []string, rows string) string {
	return fmt.Sprintf("WITH written AS (%[1]s RETURNING %[2]s) UPDATE %[3]s AS s SET %[4]s FROM %[5]s AS w WHERE s.%[6]s = w.%[6]s AND s.%[7]s = w.%[7]s AND s.%[6]s = ANY($1)",
		statement, behind("p.", slices.Concat(s.keyed(), more)), s.table(), strings.Join(sets, ", "), rows, s.t.parts[0].column, catalog.SectionColumn)
}

// sumUpAlone is sumUp in a transaction of its own.
func (s *store) sumUpAlone(ctx context.Context, t *table) error {
	if t.summary() == nil {
		return nil
	}
	return pgx.BeginFunc(ctx, s.conn, func(tx pgx.Tx) error { return s.sumUp(ctx, tx, t) })
}

// sumUp makes a stored summary of what the store has, where the table is to have one and has none, or one of which it is not
// known whether it was maintained. Nothing writes the packed rows meanwhile.
func (s *store) sumUp(ctx context.Context, tx pgx.Tx, t *table) error {
	summary := t.summary()
	if summary == nil {
		return nil
	}
	made, err := t.isSummedUp(ctx, tx, nil)
	if err != nil || made {
		return err
	}
	for _, sql := range summary.make() {
		if _, err := tx.Exec(ctx, sql); err != nil {
			return fmt.Errorf("storing the summary of %s: %w", t.layout.name(), err)
		}
	}
	return nil
}
