package propose

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Contained tells which share, 0 to 1, of the records of a table whose columns have values has
// those of a key of another table; 1 where there are no such records.
type Contained func(table catalog.Name, columns []string, parent catalog.Name, key []string) float64

// nearlyAll is the share of the records that columns link to others from which on they are taken
// for a link that the database does not declare.
const nearlyAll = 0.9

// link is what records of a table belong to: those of another table, or of the same, whose key
// the columns hold.
type link struct {
	columns []string
	to      *Table
	// exact says that it is declared, or that the columns are called after the table and nothing
	// else: preceding_visit_id is a link to visits, but hardly the first to follow.
	exact bool
}

// linker finds the links between the tables of a database.
type linker struct {
	tables    []Table
	contained Contained
	// keys are those of the tables to which there can be links: readable ones have no persons.
	keys map[catalog.Name][]string
}

func newLinker(tables []Table, proposals []Proposal, contained Contained) *linker {
	l := &linker{tables: tables, contained: contained, keys: make(map[catalog.Name][]string)}
	for i := range tables {
		if tables[i].isTable() && proposals[i].Verdict != Readable {
			l.keys[tables[i].Name] = l.keyOf(&tables[i])
		}
	}
	return l
}

// keyOf are the columns by which others refer to a table's records: those of most foreign keys,
// else the declared key, else a column that is called so and whose values are all different.
func (l *linker) keyOf(t *Table) []string {
	var key []string
	most := 0
	times := make(map[string]int)
	for _, other := range l.tables {
		for _, f := range other.Foreign {
			if f.To != t.Name {
				continue
			}
			text := strings.Join(f.Of, "\x00")
			if times[text]++; times[text] > most {
				key, most = f.Of, times[text]
			}
		}
	}
	switch {
	case most > 0 && !sameColumns(key, t.Key):
		return key
	case len(t.Key) > 0:
		return t.Key
	}
	for _, c := range t.Columns {
		if !strings.EqualFold(c.Name, "id") && (isCalled(c.Name, t.Name.Relation) == notCalled || !strings.HasSuffix(strings.ToLower(c.Name), "id")) {
			continue
		}
		if n := count(c.Values, nil); n.present > 1 && n.distinct == len(c.Values) {
			return []string{c.Name}
		}
	}
	return nil
}

// of are the links of a table, declared ones first, then the exact ones. Links that are not
// declared have a name that says so, and values that do.
func (l *linker) of(t *Table) []link {
	var found []link
	known := func(columns []string, to *Table) bool {
		return slices.ContainsFunc(found, func(other link) bool { return other.to == to && slices.Equal(other.columns, columns) })
	}
	for _, f := range t.Foreign {
		to := l.table(f.To)
		if to == nil {
			continue
		}
		if columns, same := inOrderOf(f, l.keys[f.To]); same && canHold(t, columns, to, l.keys[f.To]) {
			found = append(found, link{columns: columns, to: to, exact: true})
		}
	}
	for _, exact := range []bool{true, false} {
		for i := range l.tables {
			to := &l.tables[i]
			key := l.keys[to.Name]
			for _, columns := range namedAfter(t, to, key, exact) {
				if !known(columns, to) && canHold(t, columns, to, key) && l.contained(t.Name, columns, to.Name, key) >= nearlyAll {
					found = append(found, link{columns: columns, to: to, exact: exact})
				}
			}
		}
	}
	return found
}

func (l *linker) table(name catalog.Name) *Table {
	i := slices.IndexFunc(l.tables, func(t Table) bool { return t.Name == name })
	if i < 0 {
		return nil
	}
	return &l.tables[i]
}

// inOrderOf are the columns of a foreign key in the order of the key that they hold; false where
// they hold another.
func inOrderOf(f ForeignKey, key []string) (columns []string, same bool) {
	if len(f.Of) != len(key) {
		return nil, false
	}
	for _, name := range key {
		i := slices.Index(f.Of, name)
		if i < 0 {
			return nil, false
		}
		columns = append(columns, f.Columns[i])
	}
	return columns, true
}

// namedAfter are the columns of a table that are called as those that hold the key of another:
// of a key of one column, each that is; of several, those of the same names.
func namedAfter(t, to *Table, key []string, exact bool) (all [][]string) {
	switch len(key) {
	case 0:
		return nil
	case 1:
		for _, c := range t.Columns {
			called := isCalled(c.Name, to.Name.Relation)
			if t == to && c.Name == key[0] || exact != (called == byNameAlone) || called == notCalled && !ofPersonsKey(c.Name, key[0], to) {
				continue
			}
			all = append(all, []string{c.Name})
		}
		return all
	}
	if t == to || !exact || sameColumns(t.Key, key) && !namesPersons(to.Name.Relation) {
		return nil
	}
	var columns []string
	for _, name := range key {
		i := slices.IndexFunc(t.Columns, func(c Column) bool { return strings.EqualFold(c.Name, name) })
		if i < 0 {
			return nil
		}
		columns = append(columns, t.Columns[i].Name)
	}
	return [][]string{columns}
}

// ofPersonsKey says that a column has the name of a key of persons that is not called after its
// table, such as subject_id.
func ofPersonsKey(column, key string, to *Table) bool {
	return strings.EqualFold(column, key) && namesPersons(to.Name.Relation) && refersToPersons(key)
}

func sameColumns(a, b []string) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(name string) bool { return !slices.Contains(b, name) })
}

// How a column is called after a table.
const (
	notCalled = iota
	byItsEnd
	byNameAlone
)

// isCalled says how a column is called after a table: patient, patient_id and PatientNo are after
// patients alone, and preceding_visit_id ends so.
func isCalled(column, table string) int {
	words, of := split(column), split(table)
	if len(words) > 1 && isOf(words[len(words)-1], identifiers) {
		words = words[:len(words)-1]
	} else if len(words) == 1 {
		words[0] = strings.TrimSuffix(words[0], "id") // as in PATIENTID
	}
	switch {
	case len(words) == 0 || len(of) == 0:
		return notCalled
	case singular(strings.Join(words, "_"), strings.Join(of, "_")):
		return byNameAlone
	case len(words) > len(of) && singular(strings.Join(words[len(words)-len(of):], "_"), strings.Join(of, "_")):
		return byItsEnd
	}
	return notCalled
}

// canHold says that pseudonyms of a key can stand in all of the columns.
func canHold(t *Table, columns []string, to *Table, key []string) bool {
	for i, name := range columns {
		own, theirs := t.column(name), to.column(key[i])
		if own == nil || theirs == nil || !writable(name) || !writable(key[i]) || pseudonyms(*own) == "" || pseudonyms(*own) != pseudonyms(*theirs) {
			return false
		}
	}
	return len(columns) > 0
}

// pseudonyms is the family of types among which a column's pseudonyms are compared; empty where
// it can hold none. Whether it is wide enough is for catalog.PublishPeople to say.
func pseudonyms(c Column) string {
	switch {
	case c.Generated || c.Enum:
		return ""
	case slices.Contains([]string{"integer", "bigint", "numeric"}, c.Type):
		return "numbers"
	case slices.Contains([]string{"text", "character varying", "varchar"}, c.Type):
		return "texts"
	case c.Type == "uuid":
		return "uuids"
	}
	return ""
}
