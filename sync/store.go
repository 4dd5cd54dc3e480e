package sync

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/kproxy/kproxy/catalog"
)

// recordColumn numbers the records of a table; the classes of each part stand in
// a column of their own (part.column), beside it and in the release.
const recordColumn = catalog.RecordColumn

// storeTable names one of a generation's tables in the private store.
func storeTable(kind string, generation int64) catalog.Name {
	return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, generation)}
}

// recordsTable holds the records. That of a packed release does not tell their classes.
func (t *table) recordsTable() string { return t.recordsOf(t.release.generation) }

// recordsOf is recordsTable in some generation.
func (t *table) recordsOf(generation int64) string {
	if t.isPacked() {
		return storeTable("stored", generation).SQL()
	}
	return storeTable("records", generation).SQL()
}

// placedRecords are the records with their places.
func (t *releaseState) placedRecords() string { return storeTable("records", t.generation).SQL() }

func (t *releaseState) releaseTable() string { return storeTable("release", t.generation).SQL() }
func (t *releaseState) weightTable() string  { return storeTable("cellweight", t.generation).SQL() }

// shownRelease is what the published view stands on.
func (t *table) shownRelease() string {
	if t.layout.publication.WeighsApart() {
		return weighed(t.release.releaseTable(), t.release.weightTable(), t.parts[0].column)
	}
	return t.release.releaseTable()
}

// weighed joins rows with the weights of their classes and of the table.
func weighed(release, weights, class string) string {
	return fmt.Sprintf("%[1]s AS l LEFT JOIN %[2]s AS w USING (%[3]s) LEFT JOIN (SELECT %[4]s AS whole FROM %[2]s WHERE %[3]s = 0) AS a ON true",
		release, weights, class, catalog.WeightColumn)
}

// sqlList joins the SQL of some elements by commas.
func sqlList[E any](list []E, sql func(int, E) string) string {
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = sql(i, element)
	}
	return strings.Join(texts, ", ")
}

// releaseList are the columns of shownList as expressions over c0, c1, ..., the
// classes of each part with their generalized columns as text, r, a record of
// the store.
func (t *table) releaseList(pseudonym func(catalog.PublishedColumn) string) string {
	return releaseListOf(&t.layout.kept, t.parts, pseudonym)
}

// releaseListOf is the same of what is published in some parts.
func releaseListOf(published *catalog.Publication, parts []*part, pseudonym func(catalog.PublishedColumn) string) string {
	var list []string
	generalized := make([]int, len(parts))
	for _, c := range published.Columns {
		name := catalog.QuoteIdentifier(c.Name)
		if c.Part == catalog.ClassNumber || c.Part == catalog.Weight {
			continue
		}
		if c.Part == catalog.Pseudonym {
			list = append(list, pseudonym(c)+" AS "+name)
			continue
		}
		if !c.Generalized() {
			list = append(list, fmt.Sprintf("r.%s AS %s", catalog.QuoteIdentifier(c.Source), name))
			continue
		}
		i := slices.IndexFunc(parts, func(p *part) bool { return slices.Contains(p.attributes, c.Attribute) })
		list = append(list, fmt.Sprintf("c%d.g%d::%s AS %s", i, generalized[i], c.Type, name))
		generalized[i]++
	}
	return strings.Join(list, ", ")
}

// noPseudonym stands for the pseudonyms of rows that are published later, and of tables
// that have none.
func noPseudonym(c catalog.PublishedColumn) string { return "NULL::" + c.Type }

// listed joins the names of columns, each behind prefix.
func listed(columns []storeColumn, prefix string) string {
	return sqlList(columns, func(_ int, c storeColumn) string { return prefix + c.name })
}

func columnNames(columns []storeColumn) []string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = c.name
	}
	return names
}

// definitions joins names and types.
func definitions(columns []storeColumn) string {
	return sqlList(columns, func(_ int, c storeColumn) string { return c.name + " " + c.sqlType })
}

// beginner is a connection, or a transaction within which another one is a savepoint.
type beginner interface {
	Begin(ctx context.Context) (pgx.Tx, error)
}

// executor is a connection or a transaction.
type executor interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}
