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

const (
	// certain is by how many standard errors records agree more than chance has it.
	certain = 4
	// personal is the share of what chance leaves by which the records of one person agree in
	// what does not change: a mistake and a move are allowed for.
	personal = 0.9
	// rare is how often two records agree by chance, at most, in what says that they are of one
	// person: a sex alone does not, nor does what nearly all have.
	rare = 0.1
)

// tells finds which quasi-identifiers each column of the table tells. With a subject it finds
// none: constraints count persons then, and a person's records agree with themselves.
//
// It reads the table once, and no value leaves the server.
func (t *rawTable) tells(ctx context.Context, conn *pgx.Conn) error {
	quasi := t.quasiIdentifying()
	if len(t.columns) == 0 || len(quasi) == 0 || t.policy.Subject != "" {
		return nil
	}
	known := make([]string, len(quasi))
	for j, q := range quasi {
		known[j] = fmt.Sprintf("(%d, coalesce(%s, -1))", j, hashed("s", q))
	}
	rows, err := conn.Query(ctx, fmt.Sprintf(query("telling"), t.from(), t.drawing(), strings.Join(known, ", ")))
	if err != nil {
		return fmt.Errorf("comparing the records of %s: %w", t.policy.Table, err)
	}
	var i, j int
	var chance float64
	var all, rest alike
	together := make([]float64, len(t.columns)) // how often two records agree by chance
	for i := range together {
		together[i] = 1
	}
	_, err = pgx.ForEachRow(rows, []any{&i, &j, &chance, &all.observed, &all.pairs, &rest.observed, &rest.pairs}, func() error {
		person := rest.beyond(chance, personal)
		if person {
			together[i] *= chance
		}
		if person || all.beyond(chance, most) {
			t.columns[i].tells = append(t.columns[i].tells, quasi[j].Name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("comparing the records of %s: %w", t.policy.Table, err)
	}
	for i, c := range t.columns {
		c.gathers = together[i] <= rare
	}
	return nil
}

// quasiIdentifying are the table's quasi-identifiers.
func (t *rawTable) quasiIdentifying() []catalog.Column {
	var found []catalog.Column
	for _, column := range t.relation.Columns {
		if c, named := t.policy.Column(column.Name); named && c.Role == catalog.QuasiIdentifying {
			found = append(found, column)
		}
	}
	return found
}

// alike is how often records with the same value of one column have the same value of another.
type alike struct {
	observed float64 // 0 to 1
	// pairs is how many comparisons of two records do not follow from each other.
	pairs float64
}

// beyond tells whether the records agree by at least a share, 0 to 1, of what chance leaves,
// chance being how often any two records agree, and whether they are enough to say so. The
// share is tau of Goodman and Kruskal (Measures of association for cross classifications, 1954).
func (a alike) beyond(chance, share float64) bool {
	if chance >= 1 { // they never differ, and tell nothing
		return false
	}
	found := a.observed - chance
	return found >= share*(1-chance) && a.pairs >= fewRecords && found >= certain*math.Sqrt(chance*(1-chance)/a.pairs)
}

// judgeTelling warns of a column that tells quasi-identifiers, of which nothing graver was said.
// It is no error: where values say nothing of persons, they may agree all the same.
func (c *rawColumn) judgeTelling() Report {
	if len(c.tells) == 0 || c.refused || slices.Contains(c.table.policy.Joinable, c.column.Name) {
		return nil
	}
	names := strings.Join(c.tells, ", ")
	found := Finding{
		Severity: Warning, Code: CodeTelling, Table: c.table.policy.Table, Column: c.column.Name,
		What: fmt.Sprintf("is published, and most records with the same value of it have the same value of %s: who knows which value goes with which reads what is generalized", names),
		Fix: fmt.Sprintf("give it the role quasi-identifying with a hierarchy; or, if nobody knows which value goes with which, write into the table's policy: acknowledge: {joinable: [%s]}",
			c.column.Name),
	}
	if c.gathers {
		found.Code = CodeRepeatedKey
		found.What = fmt.Sprintf("is published, and most records with the same value of it have the same value of %s, as those of one person have: it brings them together, and k records may be of one person", names)
		found.Fix = fmt.Sprintf("if it says whom a record is about, write into the table's policy: subject: %[1]s, with the role identifying; else give it the role quasi-identifying with a hierarchy, or write: acknowledge: {joinable: [%[1]s]}",
			c.column.Name)
	}
	return Report{found}
}
