package lineage_test

import (
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestChangedNamesEveryColumn changes each set of columns of a record of its own: what is stored of
// two records is equal only if the same columns have changed, also where there are more than eight.
func TestChangedNamesEveryColumn(t *testing.T) {
	t.Parallel()
	const columns = 10
	record := func(set uint64) lineage.Record {
		copied := make([]uint64, columns)
		for i := range copied {
			copied[i] = set >> i & 1
		}
		return lineage.Record{Record: incremental.Record{ID: incremental.RecordID(set + 1)}, Copied: copied}
	}
	// All are one class, of which a part is renewed where enough of the same columns have changed.
	l := bare(t, lineage.Options{Least: 1, Crowd: 1 << (columns - 1)}, privacy.KAnonymity{K: 2})
	for set := range uint64(1 << columns) {
		unchanged := record(set)
		clear(unchanged.Copied)
		must(t, l.Insert(unchanged, began))
	}
	_, err := l.Publish(t.Context(), began)
	must(t, err)
	for set := range uint64(1 << columns) {
		must(t, l.Modify(record(set), began))
	}
	changes, err := l.Publish(t.Context(), began)
	must(t, err)
	var found []string
	for set := range uint64(1 << columns) {
		found = append(found, changes.Place(incremental.RecordID(set+1)).Changed)
	}
	slices.Sort(found)
	if distinct := len(slices.Compact(found)); distinct != 1<<columns {
		t.Errorf("%d sets of columns are stored as %d", 1<<columns, distinct)
	}
}
