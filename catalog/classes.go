package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// CountColumn is the column of Classes with the number of records behind a row.
const CountColumn = "kproxy_count"

// ClassesPrefix starts the names of what Classes names.
const ClassesPrefix = "classes_"

// Classes is the name of the relation that has the records of a protected table summed up, where there
// is one: of records that look alike one row for some, with what all of them show and their
// number. Clients cannot name it; questions that it answers as the published relation would are
// asked of it (package rewrite). It lies where clients see nothing, under a name that does not depend on
// the table's length.
func Classes(table Name) Name {
	sum := sha256.Sum256([]byte(table.SQL()))
	return Name{Schema: CatalogSchema, Relation: ClassesPrefix + hex.EncodeToString(sum[:8])}
}

// Source is the table that a published relation stands for.
func (n Name) Source() (table Name, published bool) {
	schema, published := strings.CutPrefix(n.Schema, releasePrefix)
	return Name{Schema: schema, Relation: n.Relation}, published
}

// Summary is what can be asked of a protected table's Classes.
type Summary struct {
	Relation Name
	// Types are the types of the columns that all records behind a row show alike, by name.
	Types map[string]string
	// Published are the names of all columns of the published relation.
	Published map[string]bool
}

// Summary is that of the table that a published relation stands for, where there is one.
func (s *Snapshot) Summary(published Name) (Summary, bool) {
	source, is := published.Source()
	if found := s.relations[source]; !is || found.Disposition != Protected || found.Target != published {
		return Summary{}, false
	}
	summary := Summary{Relation: Classes(source), Types: make(map[string]string), Published: make(map[string]bool)}
	counted := false
	for _, c := range s.Columns(published) {
		summary.Published[c.Name] = true
	}
	for _, c := range s.Columns(summary.Relation) {
		if c.Name == CountColumn {
			counted = true
		} else if summary.Published[c.Name] {
			summary.Types[c.Name] = c.Type
		}
	}
	return summary, counted
}
