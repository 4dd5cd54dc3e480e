package inspect

import (
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// adviseFeasible reports constraints on sensitive values that the table as a whole
// violates, so that nothing of it can be published. It counts as publishing does.
func (a *adviser) adviseFeasible() error {
	schema, err := a.publication.NewSchema()
	if err != nil {
		return err
	}
	for _, spec := range a.publication.Policy.Constraints {
		if spec.Model == privacy.K {
			continue
		}
		constraint, err := privacy.New(spec, schema)
		if err != nil {
			return err
		}
		table, err := a.summarize(schema, spec.Of)
		if err != nil {
			return fmt.Errorf("counting the values of %s: %w", a.publication.Policy.Table, err)
		}
		if why := constraint.Feasible(table); why != nil {
			a.withhold("infeasible", spec.Of, fmt.Sprintf("%v: as it is now nothing of the table can be published, and readers get an error", why),
				"loosen the constraint")
		}
	}
	return nil
}

// summarize counts the values of a sensitive column over all rows, or the persons who have
// each value. It ignores other columns.
func (a *adviser) summarize(schema privacy.Schema, column string) (privacy.Summary, error) {
	at := slices.IndexFunc(schema.Sensitive, func(s privacy.Sensitive) bool { return s.Name == column })
	relation := a.publication.Relation
	c, known := relation.Column(column)
	if at < 0 || !known {
		return privacy.Summary{}, fmt.Errorf("there is no column %s", column)
	}
	of, person := catalog.QuoteIdentifier(column)+"::text", "NULL::text"
	subject, counted := relation.Column(a.publication.Policy.Subject)
	if counted {
		person = catalog.QuoteIdentifier(subject.Name) + "::text"
	}
	rows, err := a.conn.Query(a.ctx, fmt.Sprintf("SELECT %s, %s, count(*) FROM %s GROUP BY 1, 2", person, of, a.source()))
	if err != nil {
		return privacy.Summary{}, err
	}
	code := func(d *privacy.Dictionary, c catalog.Column, text *string) uint32 {
		if text == nil {
			return d.Null()
		}
		return d.Code(catalog.Canonical(c.BaseType, *text))
	}
	table, persons := privacy.NewSummary(len(schema.Sensitive)), privacy.NewDictionary()
	codes := make([]uint32, len(schema.Sensitive))
	var who, value *string
	var n int
	_, err = pgx.ForEachRow(rows, []any{&who, &value, &n}, func() error {
		codes[at] = code(schema.Sensitive[at].Values, c, value)
		if counted {
			table.AddOf(code(persons, subject, who), codes)
			return nil
		}
		table.Records += n
		table.Sensitive[at][codes[at]] += n
		return nil
	})
	return table, err
}
