package inspect

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// sampledRecords is about how many records of each column are looked at. Shares of them
// are off by less than one percent, 99 times in 100.
const sampledRecords = 20_000

// rawTable is a protected table with its columns that are published as they are.
type rawTable struct {
	policy   catalog.TablePolicy
	relation catalog.Relation
	columns  []*rawColumn
	records  int64
}

// rawColumn is a column that is published as it is, with some of its values: all those
// whose hash is below a bound. Values are drawn, not records, so that all who have one of
// them are counted; and columns of several tables have drawn the same ones.
type rawColumn struct {
	table  *rawTable
	column catalog.Column
	// share is that of the values that were drawn, by hash, 0 to 1.
	share float64
	// hashes are those of the values, ascending, NULL left out; records and persons say
	// who has each. Without a subject each record is a person's.
	hashes  []int64
	records []int64
	persons []int64
	// refused says that an error names the column.
	refused bool
	// tells are the quasi-identifiers that it tells: records with the same value of it have
	// the same value of them, far more often than any two records have.
	tells []string
	// gathers says that it tells so many of them, and almost always, that few persons have the
	// same, as the number of a person does: it brings the records of one together.
	gathers bool
}

func (c *rawColumn) name() string { return c.table.policy.Table.String() + "." + c.column.Name }

// from is the table without those that inherit from it, which are not published with it.
func (t *rawTable) from() string {
	if t.relation.Kind == catalog.KindTable {
		return "ONLY " + t.relation.Name.SQL()
	}
	return t.relation.Name.SQL()
}

// rawTables are the protected tables of a policy, with the columns that are published as
// they are.
func rawTables(policy catalog.Policy, relations []catalog.Relation) []*rawTable {
	var tables []*rawTable
	for _, t := range policy.Protecting().Tables {
		i := slices.IndexFunc(relations, func(r catalog.Relation) bool { return r.Name == t.Table })
		if i < 0 {
			continue
		}
		table := &rawTable{policy: t, relation: relations[i]}
		for _, column := range relations[i].Columns {
			if publishedRaw(t, column.Name) {
				table.columns = append(table.columns, &rawColumn{table: table, column: column})
			}
		}
		tables = append(tables, table)
	}
	return tables
}

// sample reads the table twice, whatever its size: it counts, and then it counts who has
// the values that are drawn. What it keeps is bounded by sampledRecords, but for single
// values that many have.
func (t *rawTable) sample(ctx context.Context, conn *pgx.Conn) error {
	if len(t.columns) == 0 {
		return nil
	}
	counted := make([]string, len(t.columns))
	present := make([]int64, len(t.columns))
	targets := []any{&t.records}
	for i, c := range t.columns {
		counted[i] = fmt.Sprintf("pg_catalog.count(s.%s)", catalog.QuoteIdentifier(c.column.Name))
		targets = append(targets, &present[i])
	}
	if err := conn.QueryRow(ctx, fmt.Sprintf("SELECT pg_catalog.count(*), %s FROM %s s", strings.Join(counted, ", "), t.from())).Scan(targets...); err != nil {
		return fmt.Errorf("counting the records of %s: %w", t.policy.Table, err)
	}
	for i, c := range t.columns {
		c.share = 1
		if present[i] > sampledRecords {
			c.share = sampledRecords / float64(present[i])
		}
	}
	who, further, order := "pg_catalog.count(*)", "", " ORDER BY v.i, v.h"
	subject, personal := t.relation.Column(t.policy.Subject)
	if personal {
		who, further, order = "s."+catalog.QuoteIdentifier(subject.Name)+"::pg_catalog.text", ", 4", ""
	}
	// Names may have the signs that formats have: none is part of one.
	query := "SELECT v.i, v.h, pg_catalog.count(*) AS n, " + who + " AS who FROM " + t.from() + " s, LATERAL (VALUES " + t.drawing() +
		") v(i, h, bound) WHERE v.h <= v.bound GROUP BY v.i, v.h" + further + order
	if personal {
		query = "SELECT p.i, p.h, pg_catalog.sum(p.n)::pg_catalog.int8, pg_catalog.count(*) FROM (" + query + ") p GROUP BY p.i, p.h ORDER BY p.i, p.h"
	}
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return fmt.Errorf("looking at the values of %s: %w", t.policy.Table, err)
	}
	var i int
	var hash, records, persons int64
	_, err = pgx.ForEachRow(rows, []any{&i, &hash, &records, &persons}, func() error {
		c := t.columns[i]
		c.hashes, c.records, c.persons = append(c.hashes, hash), append(c.records, records), append(c.persons, persons)
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking at the values of %s: %w", t.policy.Table, err)
	}
	return nil
}

// drawing are rows of the columns' numbers, the hashes of their values, and the bounds up to
// which these are drawn.
func (t *rawTable) drawing() string {
	values := make([]string, len(t.columns))
	for i, c := range t.columns {
		values[i] = fmt.Sprintf("(%d, %s, %d)", i, hashed("s", c.column), bound(c.share))
	}
	return strings.Join(values, ", ")
}

// bound is the hash up to which values are drawn, so that a share of them is.
func bound(share float64) int64 {
	if share >= 1 {
		return math.MaxInt64
	}
	return int64(share * math.MaxInt64)
}

// hashed is an expression of a column's value as a number from 0, the same for equal values
// of whatever type; no value leaves the server. Numbers are equal whatever their scale, and
// points in time whatever zone they are written in.
func hashed(alias string, c catalog.Column) string {
	value := alias + "." + catalog.QuoteIdentifier(c.Name)
	switch c.BaseType {
	case "numeric":
		value = "pg_catalog.trim_scale(" + value + "::pg_catalog.numeric)"
	case "timestamptz":
		value = "pg_catalog.timezone('UTC', " + value + "::pg_catalog.timestamptz)"
	}
	return "pg_catalog.hashtextextended(" + value + `::pg_catalog.text COLLATE pg_catalog."C", 0) & 9223372036854775807`
}

const (
	// fewRecords is below how many nothing is said of a column.
	fewRecords = catalog.FewRecords
	// most is the share from which a column is nearly unique, and from which two columns
	// say the same: that of the majority.
	most = catalog.Most
)

// distinguishing is catalog's of the sampled values.
func (c *rawColumn) distinguishing() (share float64, fewer int) {
	return c.table.policy.Distinguishing(c.persons, float64(len(c.hashes))/c.share)
}
