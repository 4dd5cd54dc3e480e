package sync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog/accept"
)

// sentList is the list of a table's columns that a publication sends (PostgreSQL 15): the identifier
// and the xmin of its row in pg_publication_rel, and the numbers of the columns. It is empty where
// all columns are sent. PostgreSQL never updates such a row: another list is another row. So where a
// look finds the row that was there before, the columns that rows of the stream have since are known
// by their numbers.
type sentList string

// sentListQuery reads the list for the relation $1 in the publication $2.
const sentListQuery = `SELECT pg_catalog.concat_ws(' ', r.oid, r.xmin, pg_catalog.translate(pg_catalog.to_jsonb(r) ->> 'prattrs', '[],', '')) FROM pg_catalog.pg_publication_rel r
	JOIN pg_catalog.pg_publication p ON p.oid = r.prpubid
	WHERE p.pubname = $2 AND r.prrelid = $1 AND pg_catalog.to_jsonb(r) ->> 'prattrs' IS NOT NULL`

// of is the table with the columns that are sent alone.
func (l sentList) of(bound accept.Table) accept.Table {
	fields := strings.Fields(string(l))
	if len(fields) < 2 {
		return bound
	}
	bound.Columns = slices.DeleteFunc(slices.Clone(bound.Columns), func(c accept.Column) bool {
		return !slices.Contains(fields[2:], strconv.Itoa(int(c.Number)))
	})
	return bound
}

// stays makes sure that the list is still the same. The error is a *TableError if it is not.
func (l sentList) stays(ctx context.Context, on querier, t *table, publication string) error {
	if l == "" {
		return nil // the stream then describes all columns
	}
	var now string
	err := on.QueryRow(ctx, sentListQuery, uint32(t.layout.publication.Relation.OID), publication).Scan(&now)
	if err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("looking at the columns of %s that are sent: %w", t.layout.name(), err)
	}
	if sentList(now) != l {
		return errDifferent(t.layout.name(), "the publication has another list of its columns")
	}
	return nil
}
