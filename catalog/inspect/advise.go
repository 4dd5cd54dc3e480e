package inspect

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// Advise reports what a policy allows but its operator may not have meant: parts that
// are protected independently, constraints that the table cannot meet as it is, and
// bounded values that no row has. The publications are those that [Publish] made of the
// policy; findings name values as the policy writes them. No finding is an error.
//
// It reads the tables, each once for every constraint on a sensitive column, so the
// connection must be the owner's.
func Advise(ctx context.Context, conn *pgx.Conn, policy catalog.Policy, publications []catalog.Publication) (Report, error) {
	a := adviser{ctx: ctx, conn: conn}
	err := reading(ctx, conn, func() error {
		for _, p := range publications {
			written := slices.IndexFunc(policy.Tables, func(t catalog.TablePolicy) bool { return t.Table == p.Policy.Table })
			if written < 0 || p.Policy.IsMirrored() {
				continue
			}
			a.publication = p
			a.adviseParts()
			a.adviseImmediate()
			if err := a.adviseGuarded(policy.Tables[written]); err != nil {
				return err
			}
			if err := a.adviseSize(); err != nil {
				return err
			}
			if err := a.adviseFeasible(); err != nil {
				return err
			}
			if err := a.adviseValues(policy.Tables[written].Constraints); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking at the protected tables: %w", err)
	}
	return a.report, nil
}

type adviser struct {
	ctx         context.Context
	conn        *pgx.Conn
	publication catalog.Publication
	report      Report
}

func (a *adviser) warn(code, column, what, fix string) {
	a.report = append(a.report, Finding{Severity: Warning, Code: code, Table: a.publication.Policy.Table, Column: column, What: what, Fix: fix})
}

// withhold warns of what keeps the whole table from being published.
func (a *adviser) withhold(code, column, what, fix string) {
	a.warn(code, column, what, fix)
	a.report[len(a.report)-1].Withholds = true
}

// adviseParts reports columns that no constraint ties together.
func (a *adviser) adviseParts() {
	if parts := a.parts(a.publication.Policy.Constraints); len(parts) > 1 {
		a.warn("parts", "", fmt.Sprintf("has %d parts that are protected apart from each other: %s; "+
			"nothing is promised against somebody who knows columns of two parts", len(parts), strings.Join(parts, " | ")),
			"if somebody may, tie the parts by a constraint over columns of both, or one without over")
	}
}

// parts names the columns of each part into which constraints divide the table.
func (a *adviser) parts(constraints []privacy.Spec) []string {
	attributes := a.publication.Attributes
	names := make([]string, len(attributes))
	for i, attribute := range attributes {
		names[i] = attribute.Column
	}
	components, _ := privacy.Divide(constraints, names)
	parts := make([]string, len(components))
	for i, component := range components {
		of := make([]string, len(component))
		for j, attribute := range component {
			of[j] = names[attribute]
		}
		parts[i] = strings.Join(of, ", ")
	}
	return parts
}

// adviseImmediate reports what immediate updates disclose.
func (a *adviser) adviseImmediate() {
	updates := a.publication.Policy.Updates
	if what := updates.Mode.GivesAway(); what != "" {
		a.report = append(a.report, Finding{
			Severity: Hint, Code: "updates-immediate", Table: a.publication.Policy.Table,
			What: fmt.Sprintf("has %v updates: %s", updates.Mode, what),
			Fix:  "write updates: guarded, unless every reader may know that; docs/attack.md has the measurements",
		})
	}
}

// adviseGuarded reports how guarded updates change the constraints that the operator
// wrote.
func (a *adviser) adviseGuarded(written catalog.TablePolicy) error {
	policy := a.publication.Policy
	if policy.Updates.Mode != catalog.Guarded || a.publication.Membership != nil {
		return nil
	}
	if added := policy.Constraints[len(written.Constraints):]; len(added) > 0 {
		what := "no k constraint is over all quasi-identifying columns"
		if parts := a.parts(written.Constraints); len(parts) > 1 {
			what = "its constraints make parts of it: " + strings.Join(parts, " | ")
		}
		a.warn("guarded-whole", "", fmt.Sprintf("has guarded updates, which publish whole rows at once, but %s; "+
			"%v of all of them is kept besides, so that everything is generalized further", what, added[0]),
			"write a k constraint without over, so that the policy says it; or choose updates: immediate")
	}
	return a.adviseBatch(policy.Updates)
}

// adviseBatch reports a batch that is published before its records have waited.
func (a *adviser) adviseBatch(u catalog.Updates) error {
	schema, err := a.publication.NewSchema()
	if err != nil {
		return err
	}
	constraints, err := a.publication.ConstraintSet(schema)
	if err != nil {
		return err
	}
	if least := lineage.LeastBatch(constraints, u.Crowd); u.Within > 0 && u.Batch <= least {
		a.warn("guarded-within", "", fmt.Sprintf("has batches of %d records, and no smaller ones are ever tried: within has no effect, and newcomers are generalized further than in larger batches", least),
			"write a larger batch, or within: 0s")
	}
	return nil
}

// adviseSize reports a table with too few records, or persons, for a k-anonymity
// constraint.
func (a *adviser) adviseSize() error {
	policy := a.publication.Policy
	k, what, unit := 0, "", "rows"
	for _, constraint := range policy.Constraints {
		if constraint.Model == privacy.K && constraint.K > k {
			k, what = constraint.K, constraint.String()
		}
	}
	counted := "SELECT FROM " + a.source()
	if policy.Subject != "" {
		unit = "persons"
		counted = "SELECT DISTINCT " + catalog.QuoteIdentifier(policy.Subject) + " FROM " + a.source()
	}
	var n int
	if err := a.conn.QueryRow(a.ctx, fmt.Sprintf("SELECT count(*) FROM (%s LIMIT %d) s", counted, k)).Scan(&n); err != nil {
		return fmt.Errorf("counting the %s of %s: %w", unit, policy.Table, err)
	}
	if n < k {
		a.withhold("too-few", "", fmt.Sprintf("has fewer than %d %s now, so %s cannot be met: nothing of it is published until there are more", k, unit, what),
			"wait for more, or lower k")
	}
	return nil
}

func (a *adviser) source() string { return a.publication.Relation.Name.SQL() }

// adviseValues reports bounded values that no row has. They may be misspelled, which would
// leave the intended values unbounded.
func (a *adviser) adviseValues(written []privacy.Spec) error {
	for i, constraint := range a.publication.Policy.Constraints {
		if len(constraint.Values) == 0 {
			continue
		}
		present, err := a.present(constraint)
		if err != nil {
			return err
		}
		var absent []string
		for j, text := range written[i].Values {
			if !slices.Contains(present, int64(j+1)) {
				absent = append(absent, catalog.QuoteLiteral(text))
			}
		}
		if len(absent) > 0 {
			a.warn("value-absent", constraint.Of, fmt.Sprintf("the constraint %v names what no row of the table has now: %s", constraint, named(absent)),
				"correct the spelling, or leave it so for what may come")
		}
	}
	return nil
}

// present are the places, from 1, of the constraint's values that some row has.
func (a *adviser) present(constraint privacy.Spec) ([]int64, error) {
	column, _ := a.publication.Relation.Column(constraint.Of)
	equal := "s." + catalog.QuoteIdentifier(column.Name) + "::text = w.v"
	if !column.Enum {
		equal = fmt.Sprintf("s.%s = w.v::%s", catalog.QuoteIdentifier(column.Name), unmodified(column))
	}
	rows, err := a.conn.Query(a.ctx, fmt.Sprintf("SELECT DISTINCT w.n FROM %s s JOIN unnest($1::text[]) WITH ORDINALITY AS w(v, n) ON %s", a.source(), equal),
		constraint.Values)
	if err != nil {
		return nil, fmt.Errorf("looking for the values of %v in %s: %w", constraint, a.source(), err)
	}
	present, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return nil, fmt.Errorf("looking for the values of %v in %s: %w", constraint, a.source(), err)
	}
	return present, nil
}
