package sync

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// TestKeysOfSeveralRecords adds records of one key, and takes them away in any order: the first
// that is left is found, and the one that was added last.
func TestKeysOfSeveralRecords(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	for _, test := range []struct {
		removed     []incremental.RecordID
		first, last incremental.RecordID
		known       bool
	}{
		{nil, 1, 3, true},
		{[]incremental.RecordID{1}, 2, 3, true},
		{[]incremental.RecordID{3}, 1, 2, true},
		{[]incremental.RecordID{2}, 1, 3, true},
		{[]incremental.RecordID{2, 3}, 1, 1, true},
		{[]incremental.RecordID{1, 2}, 3, 3, true},
		{[]incremental.RecordID{1, 2, 3}, 0, 0, false},
		{[]incremental.RecordID{9}, 1, 3, true},
		{[]incremental.RecordID{3, 2, 1}, 0, 0, false},
	} {
		k := newKeys(true)
		for id := incremental.RecordID(1); id <= 3; id++ {
			if !k.add(key, id) {
				t.Fatal("a key is refused that may be there several times")
			}
		}
		for _, id := range test.removed {
			k.remove(key, id)
		}
		first, known := k.find(key)
		last, knownLast := k.findLast(key)
		if first != test.first || last != test.last || known != test.known || knownLast != test.known || k.none() == test.known {
			t.Errorf("without %v, %d and %d are found, %t, %t", test.removed, first, last, known, knownLast)
		}
		var all []incremental.RecordID
		if err := k.each(func(of []byte, id incremental.RecordID) error {
			if string(of) != string(key) {
				t.Errorf("there is a key %s", of)
			}
			all = append(all, id)
			return nil
		}); err != nil || len(all) != 3-min(3, len(slices.DeleteFunc(slices.Clone(test.removed), func(id incremental.RecordID) bool { return id > 3 }))) {
			t.Errorf("without %v, there are %v: %v", test.removed, all, err)
		}
		failure := errors.New("enough")
		for at := range all {
			calls := 0
			if err := k.each(func([]byte, incremental.RecordID) error {
				if calls++; calls > at {
					return failure
				}
				return nil
			}); !errors.Is(err, failure) || calls != at+1 {
				t.Errorf("after %d of %d, it ends with %v", calls, len(all), err)
			}
		}
	}
	k := newKeys(false)
	if !k.add(key, 1) || k.add(key, 2) {
		t.Error("a key is there twice")
	}
}

// TestKeysAreTheirValues joins values into keys: other values make another key.
func TestKeysAreTheirValues(t *testing.T) {
	t.Parallel()
	of := memoryTable(t, sizeOnly(3))
	of.layout.key = []int{0, 1, 2}
	text := func(texts ...string) []value {
		row := make([]value, 3)
		for i, one := range texts {
			row[i] = value{text: one, null: one == "NULL"}
		}
		return row
	}
	seen := map[string]string{}
	for _, row := range [][]value{
		text("a", "b", "c"), text("ab", "", "c"), text("a", "bc", ""), text("NULL", "b", "c"), text("", "b", "c"), text("NULL", "NULL", "c"), text("a", "NULL", "NULL"), text("1:a", "b", "c"), text("-", "b", "c"),
	} {
		key := string(of.keyOf(row))
		if other, twice := seen[key]; twice {
			t.Errorf("%v and %s have the same key", row, other)
		}
		seen[key] = fmt.Sprint(row)
	}
	first := of.keyOf(text("a", "b", "c"))
	if second := of.keyIn(1, text("x", "y", "z")); string(first) == string(second) {
		t.Error("the keys of two rows are in the same room")
	}
}

// TestReadersAreBounded reads a table with as many connections as there are ranges for, and no
// more than is planned.
func TestReadersAreBounded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ connections, ranges, want int }{
		{0, 100, min(maxReaders, runtime.GOMAXPROCS(0))}, {0, 1, 1}, {1, 9, 1}, {3, 9, 3}, {3, 2, 2}, {3, 3, 3}, {9, 0, 1},
	} {
		if got := (readingPlan{connections: test.connections}).degree(extent{ranges: make([]sourceRange, test.ranges)}); got != test.want {
			t.Errorf("%d ranges are read by %d of %d connections", test.ranges, got, test.connections)
		}
	}
	if maxReaders != 4 || rangeBlocks*8192 != 16<<20 {
		t.Error("a table is read in other ranges than docs/scale.md says")
	}
}

// TestSourceIsMeasured cuts sources into ranges, of which a partitioned table has fewer blocks of
// each partition, and before PostgreSQL 14 only one.
func TestSourceIsMeasured(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name         string
		leaves       []uint32
		blocks, most int64
		cut          bool
		want         []sourceRange
	}{
		{"whole", nil, 10, 10, true, []sourceRange{{}}},
		{"one block more", nil, 10, 11, true, []sourceRange{{to: 10}, {from: 10}}},
		{"three", nil, 10, 30, true, []sourceRange{{to: 10}, {from: 10, to: 20}, {from: 20}}},
		{"an earlier server", nil, 10, 30, false, []sourceRange{{}}},
		{"partitions", []uint32{7, 8}, 200, 150, true, []sourceRange{{within: " AND tableoid = ANY ('{7,8}'::oid[])", to: 100}, {within: " AND tableoid = ANY ('{7,8}'::oid[])", from: 100}}},
		{"many partitions", []uint32{7, 8, 9, 10}, 200, 65, true, []sourceRange{{within: " AND tableoid = ANY ('{7,8,9,10}'::oid[])", to: minBlocks}, {within: " AND tableoid = ANY ('{7,8,9,10}'::oid[])", from: minBlocks}}},
		{"no partition", []uint32{}, 10, 0, true, []sourceRange{{within: " AND tableoid = ANY ('{}'::oid[])"}}},
	} {
		of := boundTable(t)
		of.definition.leaves = test.leaves
		if test.leaves != nil {
			of.layout.publication.Relation.Kind = catalog.KindPartitionedTable
		}
		m := newMemoryServer(t, answer{words: "SELECT coalesce(max(pg_catalog.pg_relation_size(c.oid))", rows: [][]any{{int(test.most), 42, test.cut}}})
		s := m.session()
		err := within(t.Context(), s, func(tx pgx.Tx) error {
			e, err := of.measure(t.Context(), tx, readingPlan{blocks: test.blocks})
			if e.rows != 42 || !slices.Equal(e.ranges, test.want) {
				t.Errorf("%s: %+v", test.name, e)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestBoundsAreHalfOpen tells where neighbors share a bound: fixed intervals of decimals.
func TestBoundsAreHalfOpen(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		spec hierarchy.Spec
		want bool
	}{
		{hierarchy.Spec{Domain: hierarchy.DomainDecimal, Steps: []float64{1}}, true},
		{hierarchy.Spec{Domain: hierarchy.DomainDecimal}, false},
		{hierarchy.Spec{Domain: hierarchy.DomainInteger, Steps: []float64{1}}, false},
		{hierarchy.Spec{Domain: hierarchy.DomainInteger}, false},
	} {
		if got := catalog.BoundsOf(test.spec, hierarchy.Generalization{Lower: "1", Upper: "2"}); got != (catalog.Bounds{Lower: "1", Upper: "2", HalfOpen: test.want}) {
			t.Errorf("%+v: %+v", test.spec, got)
		}
	}
}

// TestPoliciesAreTakenAsTexts compares fingerprints of policies.
func TestPoliciesAreTakenAsTexts(t *testing.T) {
	t.Parallel()
	one, err := NewPolicy(catalog.Policy{Tables: []catalog.TablePolicy{sizeOnly(3)}}, "here")
	if err != nil {
		t.Fatal(err)
	}
	same, _ := NewPolicy(catalog.Policy{Tables: []catalog.TablePolicy{sizeOnly(3)}}, "there")
	other, _ := NewPolicy(catalog.Policy{Tables: []catalog.TablePolicy{sizeOnly(4)}}, "here")
	if len(one.Fingerprint) != 64 || one.Fingerprint != same.Fingerprint || one.Fingerprint == other.Fingerprint || one.Place != "here" || same.Place != "there" || string(one.Text) != string(same.Text) || len(one.Text) == 0 {
		t.Errorf("%+v, %+v, %+v", one, same, other)
	}
}

// TestTablesAreRefused makes tables of policies that nothing can be made of.
func TestTablesAreRefused(t *testing.T) {
	t.Parallel()
	good := memoryTable(t, sizeOnly(3)).layout.publication
	for name, change := range map[string]func(p *catalog.Publication){
		"method": func(p *catalog.Publication) { p.Policy.Method = "none" },
		"constraint": func(p *catalog.Publication) {
			p.Policy.Constraints = []privacy.Spec{{Model: privacy.K, K: 3, Over: []string{"age"}}}
		},
		"unknown": func(p *catalog.Publication) {
			p.Policy.Constraints = []privacy.Spec{{Model: privacy.DistinctL, L: 2, Of: "nothing"}}
		},
	} {
		p := good
		change(&p)
		if _, err := newTable(p); err == nil {
			t.Errorf("%s: a table is made", name)
		}
	}
	if _, err := newTable(good); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := New(Config{}); err == nil {
		t.Error("nothing is configured, and it goes on")
	}
}

// TestColumnsAreUnited lists columns of two lists, each once.
func TestColumnsAreUnited(t *testing.T) {
	t.Parallel()
	a, b, c := storeColumn{"a", "bigint"}, storeColumn{"b", "text"}, storeColumn{"c", "real"}
	for _, test := range []struct{ columns, more, want []storeColumn }{
		{[]storeColumn{a, b}, []storeColumn{b, c, a}, []storeColumn{a, b, c}},
		{nil, []storeColumn{a}, []storeColumn{a}},
		{[]storeColumn{a}, nil, []storeColumn{a}},
		{[]storeColumn{a}, []storeColumn{{"a", "text"}}, []storeColumn{a, {"a", "text"}}},
	} {
		if got := union(test.columns, test.more); !slices.Equal(got, test.want) {
			t.Errorf("%v and %v are %v", test.columns, test.more, got)
		}
	}
}

// TestBuffersAreUsedAgain keeps buffers of about copyBytes, and no others.
func TestBuffersAreUsedAgain(t *testing.T) { //nolint:paralleltest // the buffers are everybody's
	for _, test := range []struct {
		size int
		kept bool
	}{{copyBytes - 1, false}, {copyBytes, true}, {2 * copyBytes, true}, {2*copyBytes + 1, false}} {
		for len(freeCopyRows) > 0 {
			<-freeCopyRows
		}
		rows := make([]byte, 9, test.size)
		if reuseRows(rows); (len(freeCopyRows) == 1) != test.kept {
			t.Errorf("a buffer of %d bytes is kept: %t", test.size, !test.kept)
		}
		if again := newCopyRows(); len(again) != 0 || (cap(again) == test.size) != test.kept {
			t.Errorf("a buffer of %d bytes comes back with %d of %d", test.size, len(again), cap(again))
		}
	}
}
