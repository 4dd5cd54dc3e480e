package catalog

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// People is a kind of person whose rows stand in several tables, which are released
// together (anonymizer/people).
type People struct {
	// Kind names a person of this kind in the singular, for example patient.
	Kind string
	// Root is the table with one row for each person, and Key its columns that tell
	// persons apart.
	Root Name
	Key  []string
	// Knows is what an outsider may know of a person.
	Knows Knowledge
	// Tables hold the rows of persons; a table stands behind the one it is Through.
	Tables []PeopleTable
	// Constraints are counted in persons. Of is QualifiedColumn of a sensitive column.
	Constraints []privacy.Spec
}

// PeopleTable is a table whose rows belong to persons. The roles of its columns are
// those of its TablePolicy; columns of Person, By and Key have none and are published
// as pseudonyms.
type PeopleTable struct {
	Table Name
	// Person are the columns that hold the root's key. They are empty where the rows
	// belong to rows of another table, Through, whose key the columns of By hold.
	Person  []string
	Through Name
	By      []string
	// Key are the columns that tell rows apart; empty where nothing refers to rows.
	Key []string
	// Order is the quasi-identifying column by which a person's rows are ordered, a
	// date, a point in time or a number; empty where there is none.
	Order string
	// Unknown says that the operator takes no row of the table to be known to an outsider,
	// nor which persons have rows of it; see people.Table.
	Unknown bool
}

// Direct reports whether rows belong to persons directly.
func (t PeopleTable) Direct() bool { return len(t.Person) > 0 }

// Link is the columns that hold the key of what a row belongs to.
func (t PeopleTable) Link() []string {
	if t.Direct() {
		return t.Person
	}
	return t.By
}

// Keys are all columns that are published as pseudonyms, each once.
func (t PeopleTable) Keys() []string {
	keys := slices.Clone(t.Link())
	for _, column := range t.Key {
		if !slices.Contains(keys, column) {
			keys = append(keys, column)
		}
	}
	return keys
}

// Names are the root and the other tables.
func (p People) Names() []Name {
	names := []Name{p.Root}
	for _, t := range p.Tables {
		names = append(names, t.Table)
	}
	return names
}

// KindOf is the kind of person whose rows a table has; false where it is not released together with others.
func (p Policy) KindOf(table Name) (People, bool) {
	for _, kind := range p.People {
		if slices.Contains(kind.Names(), table) {
			return kind, true
		}
	}
	return People{}, false
}

// IsMember tells whether a table is released together with others.
func (p Policy) IsMember(table Name) bool {
	_, is := p.KindOf(table)
	return is
}

// Released is the policy by which a table is released: of one that is released together with others, with
// what holds for all of them.
func (p Policy) Released(table TablePolicy) TablePolicy {
	if kind, is := p.KindOf(table.Table); is {
		return kind.Member(table, table.Table)
	}
	return table
}

// Unfollowed is the first constraint, if any, for which audiences cannot see the tables while updates are guarded (people.Guarded.AddCoarser).
func (p People) Unfollowed() (spec privacy.Spec, unfollowed bool) {
	i := slices.IndexFunc(p.Constraints, func(s privacy.Spec) bool { return !p.follows(s, s.Model == privacy.DistinctL) })
	if i < 0 {
		return privacy.Spec{}, false
	}
	return p.Constraints[i], true
}

// MayState reports whether a constraint can be stated for an audience that sees the tables while updates are guarded.
func (p People) MayState(spec privacy.Spec) bool {
	return p.follows(spec, false) && len(spec.Over) == 0
}

// follows reports whether a constraint is k, distinct l-diversity or a bound on frequencies, and not of the root unless all is known or ofRoot
// says that it may be.
func (p People) follows(spec privacy.Spec, ofRoot bool) bool {
	table, _, _ := ParseQualifiedColumn(spec.Of)
	switch spec.Model {
	case privacy.K:
		return true
	case privacy.DistinctL, privacy.AlphaK:
		return table != p.Root || p.Knows.All || ofRoot
	}
	return false
}

// K is the least number of persons that are alike.
func (p People) K() int {
	k := 0
	for _, c := range p.Constraints {
		k = max(k, c.K)
	}
	return k
}

// QualifiedColumn names a column of a table as constraints over several tables do.
func QualifiedColumn(table Name, column string) string { return table.String() + "." + column }

// ParseQualifiedColumn reads schema.table.column. It is false for anything shorter.
func ParseQualifiedColumn(text string) (table Name, column string, ok bool) {
	schema, rest, more, ok := cutPart(text)
	if !ok || !more {
		return Name{}, "", false
	}
	relation, column, more, ok := cutPart(rest)
	if !ok || !more || schema == "" || relation == "" || column == "" {
		return Name{}, "", false
	}
	return Name{schema, relation}, column, true
}

// Knowledge is what an outsider may know of a person besides the quasi-identifying
// values of the root row: those of all rows, or of some rows in each window of time.
type Knowledge struct {
	All bool
	// Rows is how many rows in each window are known, 1 so far; 0 where All are.
	Rows int
	// Per is the length of a window; 0 where the whole history is one.
	Per Period
	// Crowd times k persons are published with the same root values, where not all is
	// known; see people.Knows.
	Crowd int
}

// Granted is the knowledge as the algorithm takes it.
func (k Knowledge) Granted() people.Knows { return people.Knows{All: k.All, Crowd: k.Crowd} }

// String writes knowledge as ParseKnowledge reads it, for example all, 1/1y or 1/6mo:16.
// The crowd is left out where it is people.DefaultCrowd.
func (k Knowledge) String() string {
	if k.All {
		return "all"
	}
	text := strconv.Itoa(k.Rows)
	if k.Per > 0 {
		text += "/" + k.Per.String()
	}
	if k.Crowd != people.DefaultCrowd {
		text += fmt.Sprintf(":%d", k.Crowd)
	}
	return text
}

// Explain says to whoever releases data, and to whoever reads them, what the knowledge
// means for persons of a kind of whom at least k are alike.
func (k Knowledge) Explain(kind string, persons int) string {
	if k.All {
		return fmt.Sprintf("Whoever knows the root row and all other rows of a %s is left with at least %d persons, whatever is joined. "+
			"Joins follow a %s through all rows that keep their keys.", kind, persons, kind)
	}
	if k.Per == 0 {
		return fmt.Sprintf("Whoever knows the root row and one other row of a %s is left with at least %d persons; two known rows can single somebody out. "+
			"Joins follow a %s through all rows that keep their keys.", kind, persons, kind)
	}
	return fmt.Sprintf("Whoever knows the root row of a %s and one other row in each %s is left with at least %d persons; two known rows of one %s can single somebody out. "+
		"Joins follow a %s within one %s; rows of different ones that have the same key mostly belong to different persons.",
		kind, k.Per.words(), persons, k.Per.words(), kind, k.Per.words())
}

// Explain says to readers and operators what the release promises.
func (p People) Explain() string { return p.explain(nil) }

// explain is Explain to readers who do not see some tables, of which nothing is said.
func (p People) explain(unseen []Name) string {
	said := p.Knows.Explain(p.Kind, p.K())
	var unknown []string
	for _, t := range p.Tables {
		if t.Unknown && !slices.Contains(unseen, t.Table) {
			unknown = append(unknown, t.Table.String())
		}
	}
	if len(unknown) > 0 {
		said += fmt.Sprintf(" Nobody outside is taken to know which %s has rows of %s, how many, or when one comes or changes.", p.Kind, strings.Join(unknown, ", "))
	}
	return said
}

// MaxCrowd bounds Knowledge.Crowd.
const MaxCrowd = 1000

var knowledge = regexp.MustCompile(`^([0-9]+)(?:/([0-9a-z]+))?(?::([0-9]+))?$`)

// ParseKnowledge reads all, or the number of rows, with the period behind a slash and
// the crowd behind a colon: 1, 1/1y, 1/6mo:16.
func ParseKnowledge(text string) (Knowledge, error) {
	if text == "all" {
		return Knowledge{All: true}, nil
	}
	parts := knowledge.FindStringSubmatch(text)
	if parts == nil {
		return Knowledge{}, fmt.Errorf("%q does not say what is known: write all, 1, 1/1y or, with a crowd, 1/1y:16", text)
	}
	if parts[1] != "1" {
		return Knowledge{}, fmt.Errorf("%q: only one known row in each window is supported: write 1 with a shorter period, or all", text)
	}
	k := Knowledge{Rows: 1, Crowd: people.DefaultCrowd}
	if parts[2] != "" {
		var err error
		if k.Per, err = ParsePeriod(parts[2]); err != nil {
			return Knowledge{}, err
		}
	}
	if parts[3] != "" {
		crowd, err := strconv.Atoi(parts[3])
		if err != nil || crowd < 1 || crowd > MaxCrowd {
			return Knowledge{}, fmt.Errorf("%q: a crowd is between 1 and %d", text, MaxCrowd)
		}
		k.Crowd = crowd
	}
	return k, nil
}

// Period is the length of windows of time, in months. Windows lie on the calendar: a
// month, a quarter, a year and so on, counted from the year 0.
type Period int

// maxPeriod is a century, in months.
const maxPeriod = 1200

var period = regexp.MustCompile(`^([0-9]{1,4})(mo|y)$`)

// ErrPeriod is the error of ParsePeriod.
var ErrPeriod = errors.New("a period is 1mo, 2mo, 3mo, 4mo, 6mo, or a number of years such as 1y: windows lie on the calendar")

// ParsePeriod reads a number of months or years, as in 6mo or 1y.
func ParsePeriod(text string) (Period, error) {
	parts := period.FindStringSubmatch(text)
	if parts == nil {
		return 0, ErrPeriod
	}
	months, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0, ErrPeriod
	}
	if parts[2] == "y" {
		months *= 12
	}
	if months == 0 || months > maxPeriod || 12%months != 0 && months%12 != 0 {
		return 0, ErrPeriod
	}
	return Period(months), nil
}

// String writes the period as ParsePeriod reads it.
func (p Period) String() string {
	if p%12 == 0 {
		return fmt.Sprintf("%dy", int(p/12))
	}
	return fmt.Sprintf("%dmo", int(p))
}

func (p Period) words() string {
	switch {
	case p == 12:
		return "calendar year"
	case p == 3:
		return "calendar quarter"
	case p == 1:
		return "calendar month"
	case p%12 == 0:
		return fmt.Sprintf("window of %d calendar years", int(p/12))
	}
	return fmt.Sprintf("window of %d calendar months", int(p))
}

// Window is the number of the window that a month, 1 to 12, of a year lies in.
func (p Period) Window(year, month int) int {
	months := 12*year + month - 1
	window := months / int(p)
	if months%int(p) < 0 {
		window-- // of years before 0
	}
	return window
}
