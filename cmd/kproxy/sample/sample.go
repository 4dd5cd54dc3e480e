// Package sample reads records of a database's tables at random, and codes them under a
// policy, so that package eval can measure what the policy makes of them.
package sample

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Records reads a protected table's records under its policy, at most limit of them, taken at
// random. A limit of 0 reads all. Total is the number of records in the table. If the policy names
// a subject, Records draws persons with all of their records, so that there can be somewhat more
// or fewer records than limit. Progress, if not nil, receives the number of records read so far,
// and about how many there are.
//
// The same seed gives the same sample of a table that has not been written since. The transaction
// stays at its snapshot, if it has one; its role must be able to select the table. Errors hold no
// values of rows.
func Records(ctx context.Context, tx pgx.Tx, publication catalog.Publication, limit int, seed uint64, progress func(done, total int)) (
	table *dataset.Table, total int64, err error,
) {
	name := publication.Policy.Table
	coder, err := dataset.NewCoder(publication)
	if err != nil {
		return nil, 0, err
	}
	source := Source{Relation: publication.Relation, Columns: coder.Columns(), Subject: publication.Policy.Subject}
	total, err = source.Read(ctx, tx, limit, seed, progress, func(record [][]byte) { coder.Add(record) })
	if err != nil {
		return nil, 0, fmt.Errorf("reading records of %s: %w", name, err)
	}
	table, err = coder.Table()
	return table, total, err
}

// PolicyError is a policy that does not fit its table.
type PolicyError struct{ Problems []catalog.Problem }

func (e *PolicyError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}
