// Package sample reads records of a database's tables at random, and codes them under a
// policy, so that package eval can measure what the policy makes of them.
package sample

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/dataset"
)

// Read reads a protected table's records under its policy, at most limit of them taken
// at random; a limit of 0 reads all. Total is how many records the table has. Where the
// policy names a subject, persons are drawn rather than records, with all of their
// records, so that there can be some more records than limit or less.
//
// The same seed gives the same sample of a table that has not been written since. The
// transaction is left as it was, at the same snapshot where that is one of the
// transaction; its role must be able to select the table. Errors are the database's and,
// as a *PolicyError, what keeps the policy from being applied to the table; none has a
// row's values.
func Read(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy, limit int, seed uint64) (table *dataset.Table, total int64, err error) {
	if policy.Updates.Mode == 0 { // records drawn once have none
		policy.Updates.Mode = catalog.Immediate
	}
	publication, err := publicationOf(ctx, tx.Conn(), policy)
	if err != nil {
		return nil, 0, err
	}
	return Records(ctx, tx, publication, limit, seed, nil)
}

// Records is Read for who has the table's publication already. Progress, if not nil, is
// told from time to time how many records have been read, of about how many.
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

// publicationOf is the table's published shape under the policy in the server's words.
func publicationOf(ctx context.Context, conn *pgx.Conn, policy catalog.TablePolicy) (catalog.Publication, error) {
	var role string
	if err := conn.QueryRow(ctx, "SELECT current_user::text").Scan(&role); err != nil {
		return catalog.Publication{}, fmt.Errorf("asking for the role: %w", err)
	}
	relations, err := inspect.Relations(ctx, conn, role)
	if err != nil {
		return catalog.Publication{}, err
	}
	publications, problems, err := inspect.Publish(ctx, conn, catalog.Policy{Tables: []catalog.TablePolicy{policy}}, relations)
	switch {
	case err != nil:
		return catalog.Publication{}, err
	case len(problems) > 0:
		return catalog.Publication{}, &PolicyError{Problems: problems}
	case len(publications) == 0:
		return catalog.Publication{}, fmt.Errorf("there is no table %s", policy.Table)
	}
	return publications[0], nil
}
