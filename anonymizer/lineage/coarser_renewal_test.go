package lineage_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRenewedGroupsAreSafeWithFormerValues: where all of a group change, the new rows are divided only if the former values of
// each part satisfy the constraints, too. Readers who compare versions know which rows of the old group a part took the
// place of.
func TestRenewedGroupsAreSafeWithFormerValues(t *testing.T) {
	t.Parallel()
	const half = 20 // persons of each class
	numeric, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	must(t, err)
	for what, former := range map[string]func(i int) uint32{
		"each part had one value": func(i int) uint32 { return uint32(i / half) },
		"each part had both":      func(i int) uint32 { return uint32(i % 2) }, // safe only where no part could have had one
	} {
		l, err := lineage.New([]anonymizer.Attribute{{Name: "age", Hierarchy: numeric}}, privacy.ConstraintSet{privacy.KAnonymity{K: half}}, partition.RoundedPartition{}, lineage.Options{Crowd: 1})
		must(t, err)
		diverse := privacy.ConstraintSet{privacy.KAnonymity{K: half}, privacy.DistinctDiversity{L: 2, Name: "s"}}
		c, err := l.AddCoarser(diverse)
		must(t, err)
		now := time.Unix(0, 0)
		record := func(i int, value uint32) lineage.Record {
			age := fmt.Sprint(20 + i/half*50)
			return lineage.Record{Record: incremental.Record{ID: incremental.RecordID(i + 1), Cells: []hierarchy.Cell{numeric.Encode(age)}, Sensitive: []uint32{value}}}
		}
		for i := range 2 * half {
			must(t, l.Insert(record(i, former(i)), now))
		}
		_, err = l.Publish(t.Context(), now)
		must(t, err)
		if first := c.Changes(); what == "each part had one value" && (len(first.Classes) != 1 || len(first.Rows) != 2*half) {
			t.Fatalf("%s: %d groups with %d rows", what, len(first.Classes), len(first.Rows))
		}
		for i := range 2 * half {
			must(t, l.Modify(record(i, uint32(2+i%2)), now))
		}
		changes, err := l.Publish(t.Context(), now)
		must(t, err)
		if len(changes.Classes) != 2 {
			t.Fatalf("%s: %d classes are published anew", what, len(changes.Classes))
		}
		next := c.Changes()
		values := map[incremental.ClassID]map[uint32]bool{} // that the persons of each new group had before
		of := map[lineage.RowID]incremental.RecordID{}
		for _, r := range changes.Rows {
			of[r.ID] = r.Record
		}
		for _, r := range next.Rows {
			if values[r.Class] == nil {
				values[r.Class] = map[uint32]bool{}
			}
			values[r.Class][former(int(of[r.ID])-1)] = true
		}
		if len(values) == 0 {
			t.Errorf("%s: nothing is published anew for the audience", what)
		}
		for group, had := range values {
			if len(had) < 2 {
				t.Errorf("%s: all whose place group %d took had %v before", what, group, slices.Collect(maps.Keys(had)))
			}
		}
	}
}
