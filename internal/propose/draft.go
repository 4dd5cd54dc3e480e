package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// Draft is a proposed policy of one table.
type Draft struct {
	Table   catalog.Name
	Choices []Choice
	// Subject is nil if no column seems to identify persons with several records.
	Subject *Subject
	// K is the least size of a class, in records, or in persons where there is a subject.
	K int
	// Diversities give the number of values that a class must have of each sensitive column.
	Diversities []Diversity
	// Settled says that subject and diversities are in force; else they are proposed in
	// comments.
	Settled bool
	// Unique is the share of the records that no other record agrees with in all
	// quasi-identifying columns.
	Unique float64
	// Records is the number of records looked at, Total that of the table.
	Records int
	Total   int64
	// Why says why the table is protected; Notes are further remarks.
	Why   string
	Notes []string
	// Kind is the kind of person with whose tables it is released, empty where it is released by
	// itself; Keys are then the columns that are published as pseudonyms, and have no choice. K,
	// Subject and Diversities do not count: the kind has constraints of its own.
	Kind string
	Keys []string
}

// Diversity is distinct l-diversity of a sensitive column.
type Diversity struct {
	Column string
	// L is 0 where none is proposed.
	L   int
	Why string
}

// Propose drafts a policy for a table with these columns, which have a value for each record.
// The columns have all records, each of which may be about another person; a comment names
// the column that could be a subject.
func Propose(table catalog.Name, columns []Column) Draft {
	d := Draft{Table: table, Subject: proposeSubject(columns), K: defaultK}
	d.fill(columns, nil)
	d.Total = int64(d.Records)
	for _, c := range d.Choices {
		if c.Role == catalog.Sensitive {
			d.Diversities = append(d.Diversities, Diversity{Column: c.Column, L: 2, Why: "at least two different values in every class"})
		}
	}
	return d
}

// settle drafts what is in force: k by the number of persons, and l as far as the sensitive
// values of k persons differ.
func settle(table Table, subject *Subject, why string) Draft {
	d := Draft{Table: table.Name, Subject: subject, Settled: true, Total: table.Total, Why: why}
	var subjects []string
	persons := d.Total
	if subject != nil {
		at := slices.IndexFunc(table.Columns, func(c Column) bool { return c.Name == subject.Column })
		subjects = table.Columns[at].Values
		persons = int64(float64(d.Total) * float64(count(subjects, nil).distinct) / float64(max(1, len(subjects))))
	}
	d.K = classSize(persons)
	counted := d.fill(table.Columns, subjects)
	for i, c := range d.Choices {
		if c.Role == catalog.Sensitive {
			d.Diversities = append(d.Diversities, diversity(table.Columns[i], counted[i], d.K))
		}
	}
	return d
}

// fill makes the choices, and counts the records that are alone.
func (d *Draft) fill(columns []Column, subjects []string) []counts {
	counted := make([]counts, len(columns))
	for i, c := range columns {
		counted[i] = count(c.Values, subjects)
		choice := choose(c, counted[i], max(d.K, defaultK))
		if d.Settled && d.Subject != nil && d.Subject.Column == c.Name && choice.Role != 0 {
			choice = Choice{Column: c.Name, Role: catalog.Identifying, Why: "the subject: tells persons apart, and is not published"}
		}
		d.Choices = append(d.Choices, choice)
		d.Records = len(c.Values)
	}
	d.Unique = d.unique(columns)
	return counted
}

// classSize is k. Health data are commonly published with 5, or with 11 and more; large tables
// can have larger classes at little cost.
func classSize(persons int64) int {
	switch {
	case persons >= 1_000_000:
		return 20
	case persons >= 50_000:
		return 10
	default:
		return defaultK
	}
}

// defaultK is the class size that health data are commonly published with.
const defaultK = 5

// diversity is the l that classes of k can have without being made much larger for it:
// beside the most frequent value there must be enough others.
func diversity(c Column, n counts, k int) Diversity {
	d := Diversity{Column: c.Name}
	others := float64(k) * (1 - n.highest())
	switch {
	case !c.Enum && !slices.Contains(countable, c.Type):
		d.Why = fmt.Sprintf("equal values of type %s can be written differently, so that they cannot be counted", c.Type)
	case n.present == 0:
		d.Why = "no values yet: add {l: 2, of: " + Quote(c.Name) + "} when there are some"
	case n.distinct < 2:
		d.Why = "all have the same value: who is known to be in the table is known to have it"
	case others < 1:
		d.Why = fmt.Sprintf("%.0f %% have the same value: classes of %d have no second one. {l: 2, of: %s} would make them far larger", 100*n.highest(), k, Quote(c.Name))
	case n.distinct >= 10 && others >= 3:
		d.L, d.Why = 3, fmt.Sprintf("the most frequent value has %.0f %%: three different ones in every class cost little", 100*n.highest())
	default:
		d.L, d.Why = 2, fmt.Sprintf("the most frequent value has %.0f %%: two different ones in every class, so that no class tells its members' value", 100*n.highest())
	}
	return d
}

// countable are the types of which constraints can count the values (catalog.Publish).
var countable = []string{
	"text", "character varying", "character", "bpchar", "smallint", "integer", "bigint", "numeric", "real", "double precision",
	"boolean", "date", "timestamp without time zone", "timestamp with time zone", "uuid",
}

func (d Draft) unique(columns []Column) float64 {
	if d.Records == 0 {
		return 0
	}
	seen := make(map[string]int, d.Records)
	var key strings.Builder
	for i := range d.Records {
		key.Reset()
		for c, column := range columns {
			if d.Choices[c].Role == catalog.QuasiIdentifying {
				fmt.Fprintf(&key, "%d:%s", len(column.Values[i]), column.Values[i])
			}
		}
		seen[key.String()]++
	}
	alone := 0
	for _, records := range seen {
		if records == 1 {
			alone++
		}
	}
	return float64(alone) / float64(d.Records)
}

// ByRole are the choices of a role, in the table's order.
func (d Draft) ByRole(role catalog.Role) []Choice {
	return slices.DeleteFunc(slices.Clone(d.Choices), func(c Choice) bool { return c.Role != role })
}

// published reports whether the table can be published: it needs a quasi-identifying column.
func (d Draft) published() bool { return len(d.ByRole(catalog.QuasiIdentifying)) > 0 }

// options are comments on the further settings of a hierarchy, at the first column of its kind.
var options = map[hierarchy.Kind][]string{
	hierarchy.Prefix: {"at most three characters, else two: {kind: prefix, keep: [3, 2]}"},
	hierarchy.Categorical: {
		"a taxonomy can be a file of lines such as nurse;care;*: {kind: categorical, file: FILE.csv}",
		"values with an order: {kind: ordered, values: [low, middle, high]}",
	},
}
