package sample

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/persons"
)

// People reads a share of the persons of a kind, 0 to 1, with all of their rows in all tables.
// The same seed gives the same persons. Otherwise it is as [Records].
func People(ctx context.Context, tx pgx.Tx, publication catalog.PeoplePublication, share float64, seed uint64, progress func(table catalog.Name)) (*persons.Builder, error) {
	b, err := persons.NewBuilder(publication)
	if err != nil {
		return nil, err
	}
	drawn := drawnPersons{publication: publication, share: share, seed: seed}
	for table := people.Root; table < len(publication.Tables); table++ {
		of := publication.Of(table)
		if progress != nil {
			progress(of.Policy.Table)
		}
		source := Source{Relation: of.Relation, Columns: b.Columns(table)}
		if share < 1 {
			source.Where = drawn.condition(table)
		}
		if _, err := source.Read(ctx, tx, 0, seed, nil, func(record [][]byte) { b.Add(table, record) }); err != nil {
			return nil, fmt.Errorf("reading records of %s: %w", of.Policy.Table, err)
		}
	}
	return b, nil
}

// drawnPersons are persons drawn by their keys.
type drawnPersons struct {
	publication catalog.PeoplePublication
	share       float64
	seed        uint64
}

// condition holds for the rows of a table, or of people.Root, that belong to drawn persons.
func (d drawnPersons) condition(table int) string {
	if table == people.Root {
		return d.drawn(d.publication.People.Key)
	}
	t := d.publication.People.Tables[table]
	if t.Direct() {
		return d.drawn(t.Person)
	}
	parent := d.publication.People.Parent(table)
	of := d.publication.Of(parent)
	return fmt.Sprintf("(%s) IN (SELECT %s FROM %s WHERE %s)", quoted(t.By), quoted(of.Membership.Key()), Source{Relation: of.Relation}.only(), d.condition(parent))
}

// drawn holds for the share of keys whose hash is low. A NULL refers to nobody.
func (d drawnPersons) drawn(columns []string) string {
	texts := make([]string, len(columns))
	for i, c := range columns {
		texts[i] = catalog.QuoteIdentifier(c) + "::pg_catalog.text"
	}
	return fmt.Sprintf("((pg_catalog.hashtextextended(%s, %d) >> 32) & 4294967295) < %d",
		strings.Join(texts, " || '/' || "), int64(d.seed), int64(math.Ceil(d.share*(1<<32))))
}

func quoted(columns []string) string {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = catalog.QuoteIdentifier(c)
	}
	return strings.Join(names, ", ")
}
