package sync

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/catalog"
)

// Columns of the store's own in the tables of records and of the release.
const (
	recordColumn = "kproxy_record"
	classColumn  = "kproxy_class"
)

// storeTable names one of a generation's tables in the private store.
func storeTable(kind string, generation int64) catalog.Name {
	return catalog.Name{Schema: catalog.StoreSchema, Relation: fmt.Sprintf("%s_%d", kind, generation)}
}

func (t *table) recordsTable() string { return storeTable("records", t.generation).SQL() }
func (t *table) releaseTable() string { return storeTable("release", t.generation).SQL() }

// columnList quotes and joins the stored columns, each behind prefix.
func (t *table) columnList(prefix string) string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = prefix + catalog.QuoteIdentifier(c.Name)
	}
	return strings.Join(names, ", ")
}

// releaseList are the published columns as expressions over c, a class with
// its generalized columns g0, g1, ... as text, and r, a record of the store.
func (t *table) releaseList() string {
	var list []string
	generalized := 0
	for _, c := range t.publication.Columns {
		name := catalog.QuoteIdentifier(c.Name)
		if c.Generalized() {
			list = append(list, fmt.Sprintf("c.g%d::%s AS %s", generalized, c.Type, name))
			generalized++
		} else {
			list = append(list, fmt.Sprintf("r.%s AS %s", catalog.QuoteIdentifier(c.Source), name))
		}
	}
	return strings.Join(list, ", ")
}

// publishedList quotes and joins the published columns.
func (t *table) publishedList() string {
	names := make([]string, len(t.publication.Columns))
	for i, c := range t.publication.Columns {
		names[i] = catalog.QuoteIdentifier(c.Name)
	}
	return strings.Join(names, ", ")
}
