package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// CountColumn is the column of Classes with the number of records behind a row.
const CountColumn = "kproxy_count"

// KnownColumn names a column of stored summaries and of Classes about a column of numbers that is published as it is:
// how many of the records behind a row have a value in it. It has a digest of the name, as names have bounds.
func KnownColumn(of string) string { return aboutColumn(known, of) }

// SumColumn names the column with the sum of these values.
func SumColumn(of string) string { return aboutColumn(sum, of) }

// LeastColumn and GreatestColumn name those with the least and the greatest of them, of columns whose equal
// values are written alike.
func LeastColumn(of string) string { return aboutColumn(least, of) }

// GreatestColumn is described at LeastColumn.
func GreatestColumn(of string) string { return aboutColumn(greatest, of) }

const (
	known    = "kproxy_known_"
	sum      = "kproxy_sum_"
	least    = "kproxy_least_"
	greatest = "kproxy_greatest_"
)

func aboutColumn(what, of string) string {
	digest := sha256.Sum256([]byte(of))
	return what + hex.EncodeToString(digest[:8])
}

// ClassesPrefix starts the names of what Classes names.
const ClassesPrefix = "classes_"

// Classes is the name of the relation that has the records of a protected table summed up, where there
// is one: of records that look alike one row for some, with what all of them show and their
// number. Clients cannot name it; questions that it answers as the published relation would are
// asked of it (package rewrite). It lies where clients see nothing, under a name that does not depend on
// the table's length.
func Classes(table Name) Name { return ClassesFor("", table) }

// ClassesFor is the same of what is published for an audience.
func ClassesFor(audience string, table Name) Name {
	if audience != "" {
		audience += "_"
	}
	return Name{Schema: CatalogSchema, Relation: ClassesPrefix + audience + classesDigest(table)}
}

// AudienceClassesPattern is the pattern of the names of what ClassesFor names for audiences.
func AudienceClassesPattern(table Name) string {
	return ClassesPrefix + "[a-z][a-z0-9]*_" + classesDigest(table)
}

// AreClassesOf says whether ClassesFor names the relation, for any audience or for none.
func AreClassesOf(table Name, relation string) bool {
	name, summary := strings.CutPrefix(relation, ClassesPrefix)
	return summary && (name == classesDigest(table) || strings.HasSuffix(name, "_"+classesDigest(table)))
}

func classesDigest(table Name) string {
	sum := sha256.Sum256([]byte(table.SQL()))
	return hex.EncodeToString(sum[:8])
}

// Summary is what can be asked of a protected table's Classes.
type Summary struct {
	Relation Name
	// Types are the types of the columns that all records behind a row show alike, by name.
	Types map[string]string
	// Summed are the types of the columns of numbers of which the summary has KnownColumn and SumColumn, by name.
	Summed map[string]string
	// Ranged are those of them of which it has LeastColumn and GreatestColumn.
	Ranged map[string]bool
	// Published are the names of all columns of the published relation.
	Published map[string]bool
}

// Summary is that of the table that a published relation stands for, where there is one. It is of the same
// release: an audience has summaries of its own.
func (s *Snapshot) Summary(published Name) (Summary, bool) {
	schema, is := strings.CutPrefix(published.Schema, ReleaseSchemaFor(s.audience, ""))
	source := Name{Schema: schema, Relation: published.Relation}
	found := s.relations[source]
	if !is || found.Disposition != Protected || found.Target != published {
		return Summary{}, false
	}
	summary := Summary{
		Relation: ClassesFor(s.audience, source), Types: make(map[string]string), Published: make(map[string]bool),
		Summed: make(map[string]string), Ranged: make(map[string]bool),
	}
	has := make(map[string]bool)
	for _, c := range s.Columns(summary.Relation) {
		has[c.Name] = true
	}
	for _, c := range s.Columns(published) {
		summary.Published[c.Name] = true
		if found.Summed && has[KnownColumn(c.Name)] && has[SumColumn(c.Name)] {
			summary.Summed[c.Name] = c.Type
			summary.Ranged[c.Name] = has[LeastColumn(c.Name)] && has[GreatestColumn(c.Name)]
		}
	}
	for _, c := range s.Columns(summary.Relation) {
		if summary.Published[c.Name] && c.Name != CountColumn {
			summary.Types[c.Name] = c.Type
		}
	}
	return summary, has[CountColumn]
}
