package catalog

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// CountColumn is the column of Classes with the number of records behind a row.
const CountColumn = "kproxy_count"

// KnownColumn names a column of stored summaries and of Classes. For a numeric column that is published as it is, it counts
// the records behind a row that have a value. It contains a digest of the column's name, since names have a maximum length.
func KnownColumn(of string) string { return aboutColumn(known, of) }

// SumColumn names the column with the sum of these values.
func SumColumn(of string) string { return aboutColumn(sum, of) }

// LeastColumn and GreatestColumn name the columns with the least and the greatest of them. There are such columns
// only where equal values are written alike.
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

// Classes is the name of the relation that summarizes the records of a protected table, where there is one.
// Each row stands for some records that look alike, and has what they show and their number. Clients
// cannot name it. Package rewrite reads it where it gives the same answer as the published relation. It
// is in a schema that clients cannot see, and its name has the same length for all tables.
func Classes(table Name) Name { return ClassesFor("", table) }

// ClassesFor is Classes for an audience.
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

// AreClassesOf reports whether ClassesFor gives the relation's name, for any audience or for none.
func AreClassesOf(table Name, relation string) bool {
	name, summary := strings.CutPrefix(relation, ClassesPrefix)
	return summary && (name == classesDigest(table) || strings.HasSuffix(name, "_"+classesDigest(table)))
}

func classesDigest(table Name) string {
	sum := sha256.Sum256([]byte(table.SQL()))
	return hex.EncodeToString(sum[:8])
}

// Summary describes what the Classes of a protected table can answer.
type Summary struct {
	Relation Name
	// Types are the types, by name, of the columns in which all records behind a row show the same.
	Types map[string]string
	// Summed are the types, by name, of the numeric columns that have a KnownColumn and a SumColumn.
	Summed map[string]string
	// Ranged are those of them that have a LeastColumn and a GreatestColumn.
	Ranged map[string]bool
	// Published are the names of all columns of the published relation.
	Published map[string]bool
}

// Summary is the summary of the release that a published relation shows, where there is one: each audience has
// summaries of its own.
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
