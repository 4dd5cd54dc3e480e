package sync

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/catalog"
)

// weights are those to write of a guarded table: of classes or cells by their numbers, and of the table by
// number 0. Rows whose class has none count for one. Numbers below 0 have none, and only what is told of
// groups, and what is not told of persons (package tally).
type weights struct {
	shown, beside weightRows
	untold        []int64 // numbers below 0 of which there is nothing any more
}

// weightRows are rows of a table of weights, column by column.
type weightRows struct {
	numbers         []int64
	shares          []float32
	ghosts, persons []int64
}

func (w *weights) add(number int64, share float64, ghosts, persons int) {
	of := &w.shown
	if number < 0 {
		of = &w.beside
		if ghosts == 0 {
			w.untold = append(w.untold, number)
			return
		}
	}
	of.numbers, of.shares = append(of.numbers, number), append(of.shares, float32(share))
	of.ghosts, of.persons = append(of.ghosts, int64(ghosts)), append(of.persons, int64(persons))
}

// write queues statements that bring a table of weights up to date; the numbers are in a column of it. Readers
// see nothing of those below 0.
func (w *weights) write(to *visibleStatements, table, column string) {
	if len(w.untold) > 0 {
		to.unseen().Queue(fmt.Sprintf("DELETE FROM %s WHERE %s = ANY($1)", table, column), w.untold)
	}
	w.beside.write(to.unseen(), table, column)
	w.shown.write(to, table, column)
}

func (w *weightRows) write(to queue, table, column string) {
	for from := 0; from < len(w.numbers); from += writeChunk {
		end := min(from+writeChunk, len(w.numbers))
		to.Queue(fmt.Sprintf(`INSERT INTO %[1]s (%[2]s, %[3]s, %[4]s, %[5]s) SELECT * FROM unnest($1::bigint[], $2::real[], $3::bigint[], $4::bigint[])
			ON CONFLICT (%[2]s) DO UPDATE SET %[3]s = excluded.%[3]s, %[4]s = excluded.%[4]s, %[5]s = excluded.%[5]s`,
			table, column, catalog.WeightColumn, catalog.DiscountedColumn, catalog.LeaversColumn),
			w.numbers[from:end], w.shares[from:end], w.ghosts[from:end], w.persons[from:end])
	}
}

// readWeights takes what is stored of weights.
func readWeights(ctx context.Context, conn *pgconn.PgConn, table, column string, take func(number int64, share float64, ghosts, persons int)) error {
	columns := []string{column, catalog.DiscountedColumn, catalog.LeaversColumn, catalog.WeightColumn}
	return copyOut(ctx, conn, len(columns), func(values []value) error {
		var n [3]int64
		if err := numbersIn(n[:], values); err != nil {
			return err
		}
		share, err := strconv.ParseFloat(values[3].text, 64)
		if err != nil {
			return errCopyText
		}
		take(n[0], share, int(n[1]), int(n[2]))
		return nil
	}, fmt.Sprintf("SELECT %s FROM %s", strings.Join(columns, ", "), table))
}
