package propose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Kind is a proposed kind of person, whose tables are released together.
type Kind struct {
	Name string
	Root catalog.Name
	Key  []string
	// Persons is the number of the root's records, and K how many of them are alike.
	Persons int64
	K       int
	// Yearly says that an outsider is taken to know one row in each calendar year, else one row.
	Yearly bool
	// Members are the other tables; one stands behind that which it is through.
	Members []Member
	Bounds  []Bound
}

// Member is a table of a kind of person, whose fields are those of catalog.PeopleTable.
type Member struct {
	Table, Through  catalog.Name
	Person, By, Key []string
	Order           string
}

// keys are the columns that are published as pseudonyms.
func (m Member) keys() []string {
	return catalog.PeopleTable{Person: m.Person, By: m.By, Through: m.Through, Key: m.Key}.Keys()
}

// People finds the kinds of persons that have rows in several tables, and drafts these tables
// to be released together. Tables and proposals are those of Database. It changes the
// proposals of the tables of a kind, and leaves out those that are about its persons and
// cannot be among them.
func People(tables []Table, proposals []Proposal, contained Contained) []Kind {
	f := newFamilies(tables, proposals, contained)
	var kinds []Kind
	for _, root := range f.roots {
		kind := f.kind(root)
		if len(kind.Members) == 0 {
			delete(f.taken, root.Name)
			continue
		}
		for slices.ContainsFunc(kinds, func(other Kind) bool { return other.Name == kind.Name }) {
			kind.Name = kind.Root.Relation + "_" + kind.Name
		}
		kinds = append(kinds, kind)
	}
	for i := range kinds {
		f.draft(&kinds[i])
	}
	f.leaveOut(kinds)
	return kinds
}

// families are what is known of the tables while kinds are found.
type families struct {
	tables    []Table
	proposals []Proposal
	links     map[catalog.Name][]link
	keys      map[catalog.Name][]string
	roots     []*Table
	// taken are the tables of the kinds, with the name of their root.
	taken map[catalog.Name]catalog.Name
	// dateless are tables that would have been taken if they had a date.
	dateless map[catalog.Name]catalog.Name
}

func newFamilies(tables []Table, proposals []Proposal, contained Contained) *families {
	l := newLinker(tables, proposals, contained)
	f := &families{
		tables: tables, proposals: proposals, keys: l.keys,
		links: make(map[catalog.Name][]link), taken: make(map[catalog.Name]catalog.Name), dateless: make(map[catalog.Name]catalog.Name),
	}
	for i := range tables {
		if tables[i].isTable() && len(tables[i].Columns) > 0 && writable(tables[i].Name.String()) {
			f.links[tables[i].Name] = l.of(&tables[i])
		}
	}
	f.findRoots()
	return f
}

// findRoots finds the tables with one record a person: those that clients are told of before
// those of staff, and of these the ones to which most tables refer.
func (f *families) findRoots() {
	persons := make(map[catalog.Name]bool)
	for _, p := range f.proposals {
		persons[p.Table] = p.Verdict == Protect && p.About == p.Table
	}
	times := make(map[catalog.Name]int)
	for i := range f.tables {
		t := &f.tables[i]
		for _, l := range f.links[t.Name] {
			if l.to == t {
				continue
			}
			times[l.to.Name]++
			// Orders have cards and addresses, and are their customers'.
			if persons[l.to.Name] && namesPersons(l.to.Name.Relation) && !namesPersons(t.Name.Relation) {
				persons[t.Name] = false
			}
		}
	}
	for i := range f.tables {
		if t := &f.tables[i]; persons[t.Name] && times[t.Name] > 0 {
			f.roots = append(f.roots, t)
			f.taken[t.Name] = t.Name
		}
	}
	slices.SortStableFunc(f.roots, func(a, b *Table) int {
		return cmp.Or(staffLast(a)-staffLast(b), times[b.Name]-times[a.Name])
	})
}

// staff are words for persons who act on others: of two persons in a row, they are the second.
var staff = []string{
	"doctor*", "physician*", "nurse", "nurses", "teacher*", "driver*", "employee*", "worker*", "staff", "user", "users", "provider*", "practitioner*", "clinician*", "seller*", "agent*", "caregiver*",
	"arzt", "aerzte", "mitarbeiter*", "angestellte*", "benutzer*", "fahrer*", "personal", "employe", "employes", "salarie*", "medecin*", "medico*", "empleado*", "dipendent*", "medewerker*",
}

func staffLast(t *Table) int {
	words := split(t.Name.Relation)
	if len(words) > 0 && isOf(words[len(words)-1], staff) {
		return 1
	}
	return 0
}

// kind takes the tables that belong to the persons of a root and to no kind yet: directly, and
// then through those.
func (f *families) kind(root *Table) Kind {
	k := Kind{Name: kindName(root.Name.Relation), Root: root.Name, Key: f.keys[root.Name], Persons: root.Total, K: classSize(root.Total)}
	var undated []*Table
	take := func(t *Table, l link) {
		f.taken[t.Name] = root.Name
		k.Members = append(k.Members, f.member(t, l, root))
	}
	for i := range f.tables {
		t := &f.tables[i]
		l, found := f.linkTo(t, func(to *Table) bool { return to == root })
		if _, taken := f.taken[t.Name]; taken || !found {
			continue
		}
		if orderOf(t) == "" {
			undated = append(undated, t)
			continue
		}
		take(t, l)
	}
	if k.Yearly = len(k.Members) > 0; !k.Yearly { // nothing has a date: the whole history is one window
		for _, t := range undated {
			l, _ := f.linkTo(t, func(to *Table) bool { return to == root })
			take(t, l)
		}
		undated = nil
	}
	for more := true; more; {
		more = false
		for i := range f.tables {
			t := &f.tables[i]
			l, found := f.linkTo(t, func(to *Table) bool { return to != t && k.hasKeyOf(to) })
			if _, taken := f.taken[t.Name]; taken || !found {
				continue
			}
			take(t, l)
			more = true
		}
	}
	for _, t := range undated {
		if _, taken := f.taken[t.Name]; !taken {
			f.dateless[t.Name] = root.Name
		}
	}
	return k
}

// kindName is the singular of the last word of a table of persons.
func kindName(table string) string {
	words := split(table)
	if len(words) == 0 {
		return "person"
	}
	last := words[len(words)-1]
	switch {
	case last == "people":
		return "person"
	case strings.HasSuffix(last, "ies"):
		return strings.TrimSuffix(last, "ies") + "y"
	case strings.HasSuffix(last, "s") && !strings.HasSuffix(last, "ss"):
		return strings.TrimSuffix(last, "s")
	}
	return last
}

// linkTo is the first link of a table that leads to another which is so: exact ones go before
// others, and who a row is about before who did something to it.
func (f *families) linkTo(t *Table, is func(to *Table) bool) (best link, found bool) {
	rank := func(l link) int {
		rank := 0
		if len(l.columns) == 1 && isActor(l.columns[0]) {
			rank += 2
		}
		if !l.exact {
			rank++
		}
		return rank
	}
	for _, l := range f.links[t.Name] {
		if is(l.to) && (!found || rank(l) < rank(best)) {
			best, found = l, true
		}
	}
	return best, found
}

// hasKeyOf says that tables can be through a table: a column shows one pseudonym only, that of its
// key or that of what its rows belong to.
func (k Kind) hasKeyOf(t *Table) bool {
	return slices.ContainsFunc(k.Members, func(m Member) bool { return m.Table == t.Name && len(m.Key) > 0 })
}

// member is a table with the link that says whose its rows are.
func (f *families) member(t *Table, l link, root *Table) Member {
	m := Member{Table: t.Name, Order: orderOf(t)}
	if l.to == root {
		m.Person = l.columns
	} else {
		m.Through, m.By = l.to.Name, l.columns
	}
	key := f.keys[t.Name]
	if canHold(t, key, t, key) && !slices.ContainsFunc(key, func(c string) bool { return slices.Contains(l.columns, c) }) {
		m.Key = key
	}
	return m
}

// orderOf is the first date of a table that most records have, one that no program has put there
// before others; empty where there is none.
func orderOf(t *Table) string {
	written := ""
	for _, c := range t.Columns {
		if !isDate(c.Type) || c.Generated || !writable(c.Name) {
			continue
		}
		switch n := count(c.Values, nil); {
		case 2*n.present < len(c.Values):
		case !isTechnical(c.Name):
			return c.Name
		case written == "":
			written = c.Name
		}
	}
	return written
}

func isDate(sqlType string) bool {
	return sqlType == "date" || strings.HasPrefix(sqlType, "timestamp")
}

// isTechnical says that a date tells when a record was written, not when something happened.
func isTechnical(column string) bool {
	return slices.ContainsFunc(split(column), func(w string) bool {
		return isOf(w, []string{"created", "updated", "modified", "changed", "inserted", "loaded", "imported", "deleted", "synced", "etl"})
	})
}

// elsewhere are the columns of a table that lead to persons or their rows, other than those that
// are published as pseudonyms, with the reason why they are left out.
func (f *families) elsewhere(t *Table, root catalog.Name, keys []string) map[string]string {
	found := make(map[string]string)
	for _, l := range f.links[t.Name] {
		kind, taken := f.taken[l.to.Name]
		if !taken && !slices.Contains(f.roots, l.to) {
			continue
		}
		why := ""
		switch {
		case l.to == t:
			why = "left out: it refers to another row of the same table, and chains of rows are not supported"
		case l.to.Name == root:
			why = fmt.Sprintf("left out: it refers to a second %s, and a row belongs to one person only", kindName(root.Relation))
		case kind == root:
			why = fmt.Sprintf("left out: it leads to the same person through %s. To join by it, write through: %s, by: %s in people in place of person; rows without it are then not published",
				l.to.Name, Quote(l.to.Name.String()), Quote(l.columns[0]))
		default:
			why = fmt.Sprintf("left out: it refers to a second person, in %s, and a row belongs to one kind of person only", l.to.Name)
		}
		for _, c := range l.columns {
			if !slices.Contains(keys, c) && found[c] == "" {
				found[c] = why
			}
		}
	}
	return found
}

// leaveOut leaves out the tables that are about the persons of a kind and are not among its tables:
// published by themselves, they would tell more of the persons than what is published together.
func (f *families) leaveOut(kinds []Kind) {
	for i := range f.proposals {
		p := &f.proposals[i]
		root, about := f.about(*p, kinds)
		if _, taken := f.taken[p.Table]; taken || !about {
			continue
		}
		why := fmt.Sprintf("its rows are about the persons of %s, whose tables are released together, and no column of it can hold a key of theirs", root)
		if _, dateless := f.dateless[p.Table]; dateless {
			why = fmt.Sprintf("its rows belong to the persons of %s, and it has no date by which they lie in a year: add one, or write knows: {rows: 1} in people, and the table below it", root)
		}
		p.Verdict, p.Why, p.Draft = LeaveOut, why, Draft{}
	}
}

// about is the root of the kind whose persons a protected or dateless table is about.
func (f *families) about(p Proposal, kinds []Kind) (root catalog.Name, is bool) {
	if root, is := f.dateless[p.Table]; is {
		return root, true
	}
	for _, k := range kinds {
		if p.Verdict == Protect && p.About == k.Root && p.Table != k.Root {
			return k.Root, true
		}
	}
	return catalog.Name{}, false
}
