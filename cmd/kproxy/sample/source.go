package sample

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Source is what is read of a table.
type Source struct {
	Relation catalog.Relation
	// Columns are read, in this order; there can be none.
	Columns []string
	// Subject is the column whose values are drawn, with all of their records; empty where
	// records are drawn.
	Subject string
	// Where is an SQL condition that the records meet; empty for all. It goes with a limit of 0.
	Where string
}

// form is how values are written, that of package sync, and what makes a sequential scan
// give its rows in their order.
const form = "SET LOCAL DateStyle = 'ISO, YMD'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; " +
	"SET LOCAL extra_float_digits = 1; SET LOCAL bytea_output = 'hex'; SET LOCAL client_encoding = 'UTF8'; " +
	"SET LOCAL synchronize_seqscans = off; SET LOCAL max_parallel_workers_per_gather = 0; SET LOCAL jit = off"

// Read hands on records, each with the texts of Columns in PostgreSQL's output form, nil
// for NULL; take must not keep them. All of them where limit is 0 or there are not more,
// else so many at random. Total is the number of the table's records.
func (s Source) Read(ctx context.Context, tx pgx.Tx, limit int, seed uint64, progress func(done, total int), take func(record [][]byte)) (total int64, err error) {
	inner, err := tx.Begin(ctx)
	if err != nil {
		return 0, err
	}
	defer func() {
		// What is set for reading ends with the savepoint.
		if failed := inner.Rollback(context.WithoutCancel(ctx)); failed != nil && !errors.Is(failed, pgx.ErrTxClosed) {
			err = errors.Join(err, failed)
		}
	}()
	if _, err := inner.Conn().PgConn().Exec(ctx, form).ReadAll(); err != nil {
		return 0, fmt.Errorf("pinning the form of values: %w", err)
	}
	if err := inner.QueryRow(ctx, "SELECT pg_catalog.count(*) FROM "+s.only()).Scan(&total); err != nil {
		return 0, fmt.Errorf("counting: %w", err)
	}
	drawn := draw{limit: limit, random: rand.New(rand.NewPCG(seed, 0)), take: take}
	query := "SELECT " + s.list() + " FROM " + s.only()
	expected := total
	if s.Where != "" {
		query += " WHERE " + s.Where
	}
	if limit > 0 && total > int64(limit) {
		expected = int64(limit)
		if s.Subject == "" {
			query += fmt.Sprintf(" TABLESAMPLE BERNOULLI (%g) REPEATABLE (%d)", share(limit, total), seed%math.MaxInt32)
		} else {
			drawn.limit = 0 // whole persons
			query += s.somePersons(float64(limit)/float64(total), seed)
		}
	}
	rows, err := inner.Query(ctx, query, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		drawn.add(rows.RawValues())
		if progress != nil && drawn.met%progressRecords == 0 {
			progress(min(drawn.met, int(expected)), int(expected))
		}
	}
	if err := rows.Err(); err != nil {
		return 0, err
	}
	drawn.end()
	return total, nil
}

// progressRecords is after how many records progress is told.
const progressRecords = 10_000

// only is the table without those that inherit from it, which are not published with it;
// a partitioned table has its rows in its partitions.
func (s Source) only() string {
	if s.Relation.Kind == catalog.KindTable {
		return "ONLY " + s.Relation.Name.SQL()
	}
	return s.Relation.Name.SQL()
}

func (s Source) list() string {
	names := make([]string, len(s.Columns))
	for i, c := range s.Columns {
		names[i] = catalog.QuoteIdentifier(c)
	}
	return strings.Join(names, ", ")
}

// share is the percentage of the records to ask for so that there are limit of them at
// least but once in 30,000 times: the number drawn has a standard deviation below the
// root of limit.
func share(limit int, total int64) float64 {
	return min(100, 100*(float64(limit)+4*math.Sqrt(float64(limit)))/float64(total))
}

// somePersons is a condition that holds for a share of the persons. Records without a
// person count as those of one, as they do for constraints.
func (s Source) somePersons(share float64, seed uint64) string {
	return fmt.Sprintf(" WHERE ((pg_catalog.hashtextextended(COALESCE(%s::pg_catalog.text, ''), %d) >> 32) & 4294967295) < %d",
		catalog.QuoteIdentifier(s.Subject), int64(seed), int64(math.Ceil(share*(1<<32))))
}
