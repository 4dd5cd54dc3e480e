package propose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/propose/pattern"
)

// Table describes a table of a database.
type Table struct {
	Name    catalog.Name
	Columns []Column
	// Total is the number of its records, of which Columns have all or a sample.
	Total int64
	Kind  catalog.Kind
	// Key are the columns that tell records apart, as the database declares them.
	Key []string
	// Foreign are the foreign keys that it declares.
	Foreign []ForeignKey
}

// ForeignKey says that Columns hold the values of columns Of in table To.
type ForeignKey struct {
	Columns []string
	To      catalog.Name
	Of      []string
}

// column is the column of that name, nil where there is none.
func (t *Table) column(name string) *Column {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &t.Columns[i]
}

// isTable reports whether it can be protected: it is no view and no table elsewhere.
func (t Table) isTable() bool {
	return t.Kind == catalog.KindTable || t.Kind == catalog.KindPartitionedTable
}

// others are the reasons why relations of other kinds are left out.
var others = map[catalog.Kind]string{
	catalog.KindView: "not a table: a view over protected tables can stand under readable, and is then published from what its tables publish",
	catalog.KindMaterializedView: "not a table: a materialized view over protected tables holds copies of their rows and is never published; " +
		"write it as a view, or list it under readable if it says nothing of persons",
	catalog.KindForeignTable: "not a table: where a foreign table leads can be changed at any time; copy its rows into a table and protect that",
}

// Verdict says how a table should be treated.
type Verdict int

// The verdicts.
const (
	// LeaveOut neither publishes the table nor lets clients read it.
	LeaveOut Verdict = iota
	// Protect publishes the table anonymized.
	Protect
	// Readable lets clients read the table as it is, since it has no personal data.
	Readable
)

var verdictNames = []string{LeaveOut: "left out", Protect: "protected", Readable: "readable"}

// String is the verdict in words.
func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdictNames) {
		return fmt.Sprintf("Verdict(%d)", int(v))
	}
	return verdictNames[v]
}

// Proposal is the verdict on a table, with its reasons.
type Proposal struct {
	Table   catalog.Name
	Verdict Verdict
	Why     string
	// Draft is its policy; of a protected table only.
	Draft Draft
	// About is the table of the persons whose data it has, which can be itself; the zero Name
	// if it has no personal data.
	About catalog.Name
}

// finding is what is known of a table before a proposal.
type finding struct {
	*Table
	// evidence are the things of persons that it has, in the order of concepts; named are
	// those among them that identify by themselves.
	evidence, named []string
	// people says that it is one of persons, each of whom has a record.
	people bool
	// subject is the column that refers to a table of persons, about the persons' table.
	subject string
	about   catalog.Name
	// through is a table with data of persons to which it refers; actor is a column that
	// tells who did something to its rows.
	through catalog.Name
	actor   string
	// referenced says that another table refers to it.
	referenced bool
	// unsafe says why it must not be read as it is, "" for nothing.
	unsafe string
}

// Database proposes what to do with each table of a database, in their order.
func Database(tables []Table) []Proposal {
	found := make([]*finding, len(tables))
	for i := range tables {
		tables[i].Columns = slices.Clone(tables[i].Columns)
		found[i] = look(&tables[i])
	}
	imply(found)
	relate(found)
	proposals := make([]Proposal, len(found))
	for i, f := range found {
		proposals[i] = f.propose()
	}
	samePersons(proposals)
	return proposals
}

// look finds what a table has of persons by its own columns.
func look(t *Table) *finding {
	f := &finding{Table: t}
	note := func(what string, names bool) {
		if !slices.Contains(f.evidence, what) {
			f.evidence = append(f.evidence, what)
			if names {
				f.named = append(f.named, what)
			}
		}
	}
	for _, c := range t.Columns {
		n := count(c.Values, nil)
		concept := conceptOf(c.Name)
		noted := len(f.evidence)
		if concept != nil && concept.ofPerson && (concept.meaning != direct || !isQualified(c.Name)) && !isActor(c.Name) {
			note(concept.name, concept.meaning == direct && n.nearlyUnique())
		}
		if len(f.evidence) == noted && (isText(c.Type) || isWhole(c.Type)) && c.Type != "uuid" {
			if p, found := pattern.Of(n.values()); found && p.Person && p.Name != "UUIDs" {
				note(p.Name, n.nearlyUnique())
			}
		}
		if isText(c.Type) && n.distinct >= 5 && !isProse(n) && 4*namesAmong(n.values()) >= 1 && !isActor(c.Name) && (concept == nil || concept.meaning == direct) {
			note(concepts[0].name, n.nearlyUnique())
		}
		f.doubt(c, n, concept)
	}
	distinct := len(f.evidence)
	body := namesBodies(t.Name.Relation)
	f.people = t.isTable() && (namesPersons(t.Name.Relation) && (distinct > 0 || len(t.Columns) > 2) || distinct >= 2 && !body || len(f.named) > 0 && !body && t.Total >= rare*2)
	return f
}

// doubt records why a column prevents a table from being read as it is.
func (f *finding) doubt(c Column, n counts, concept *concept) {
	switch textual := isText(c.Type); {
	case f.unsafe != "":
	case isNever(c.Type) && !c.Enum && c.Type != "uuid" && c.Type != "interval" && !strings.HasPrefix(c.Type, "time"):
		f.unsafe = fmt.Sprintf("column %s is of type %s, which can hold anything", c.Name, c.Type)
	case textual && isActor(c.Name) && !isQualified(c.Name):
		f.unsafe = fmt.Sprintf("column %s may name who did something", c.Name)
	case refersToPersons(c.Name) && !isQualified(c.Name):
		f.unsafe = fmt.Sprintf("column %s may say whom a record is about", c.Name)
	case textual && n.distinct > 0 && (50*pattern.Within(n.values()) >= n.distinct):
		f.unsafe = fmt.Sprintf("column %s has e-mail addresses or phone numbers in its texts", c.Name)
	case textual && n.distinct >= 5 && 20*namesAmong(n.values()) >= 1 && (concept == nil || concept.meaning == direct):
		f.unsafe = fmt.Sprintf("column %s has given names in its texts", c.Name)
	}
}

// lookup is how many records a table that is read as it is has at most, unless others
// refer to it.
const lookup = 10_000

// propose returns the verdict.
func (f *finding) propose() Proposal {
	p := Proposal{Table: f.Name, About: f.about}
	leave := func(format string, arguments ...any) Proposal {
		p.Verdict, p.Why = LeaveOut, fmt.Sprintf(format, arguments...)
		return p
	}
	words := split(f.Name.Relation)
	switch {
	case !f.isTable():
		return leave("%s", others[f.Kind])
	case !writable(f.Name.String()) || !writable(f.subject):
		return leave("it, or the column that tells whom it is about, has a name that no configuration can have")
	case len(f.Columns) == 0:
		return leave("it has no columns")
	case f.people || f.subject != "":
		return f.protect(p)
	case f.through != catalog.Name{}:
		return leave("it tells of persons through %s, and has no column that says of whom: add one to the table, or publish a view", f.through)
	case len(f.evidence) > 0:
		return leave("it names persons or firms (%s): publish a view without that, and list the view under readable", strings.Join(f.evidence, ", "))
	case f.actor != "":
		return leave("column %s says who answers for a record: publish a view without it, and list the view under readable", f.actor)
	case f.unsafe != "":
		return leave("%s", f.unsafe)
	case slices.ContainsFunc(words, func(w string) bool { return isOf(w, technical) }):
		return leave("by its name, it is kept for a program, not for analysts")
	case f.Total == 0:
		return leave("it is empty, so that its columns cannot be judged: list it under readable if it says nothing of persons")
	case f.Total > lookup && !f.referenced:
		return leave("no persons were recognized in its %d records, but it is no look-up table either: list it under readable if it says nothing of persons", f.Total)
	}
	p.Verdict = Readable
	p.Why = fmt.Sprintf("%d records in which no person was recognized", f.Total)
	if f.referenced {
		p.Why += "; other tables refer to it"
	}
	return p
}

// technical are words for tables of programs.
var technical = []string{"migration*", "version*", "flyway*", "schema", "log", "logs", "protokoll*", "audit*", "session*", "queue*", "cache*", "token*", "event*", "history", "backup*", "tmp", "temp", "staging"}

// protect drafts the policy of a table with data of persons.
func (f *finding) protect(p Proposal) Proposal {
	why := "one record a person"
	var subject *Subject
	switch {
	case f.subject != "":
		subject = &Subject{Column: f.subject, Why: "refers to " + f.about.String() + ": constraints count persons"}
		why = "records about the persons of " + f.about.String()
	case !namesPersons(f.Name.Relation):
		if subject = proposeSubject(f.Columns); subject != nil {
			why = "several records a person"
		}
	}
	if len(f.evidence) > 0 {
		why += "; it has " + strings.Join(f.evidence, ", ")
	}
	p.Draft = settle(*f.Table, subject, why)
	p.Verdict, p.Why = Protect, why
	if !p.Draft.published() {
		p.Verdict, p.Draft = LeaveOut, Draft{}
		p.Why = "nothing of it could be published: its columns identify, or are to be published as they are, and others do not know them (" + why + ")"
	}
	return p
}

// samePersons adds notes to tables about the same persons that name the other tables.
func samePersons(proposals []Proposal) {
	for i, p := range proposals {
		if p.Verdict != Protect || p.About == (catalog.Name{}) {
			continue
		}
		var others []string
		for j, other := range proposals {
			if i != j && other.Verdict == Protect && other.About == p.About {
				others = append(others, other.Table.String())
			}
		}
		if len(others) > 0 {
			proposals[i].Draft.Notes = append(proposals[i].Draft.Notes, "READ THIS ONE: about the same persons as "+strings.Join(others, ", ")+
				". Who joins them by what they have in common can tell persons apart whom each of them hides: publish only what is needed of each.")
		}
	}
}

// Hierarchy is what a column is generalized by, in a word; empty for what is not.
func (c Choice) Hierarchy() string {
	switch {
	case c.Role != catalog.QuasiIdentifying:
		return ""
	case len(c.Spec.Taxonomy) > 0:
		return "taxonomy"
	default:
		return c.Spec.Kind.String()
	}
}
