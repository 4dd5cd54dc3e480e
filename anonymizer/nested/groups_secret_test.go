package nested_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestSecretsDoNotMatterToGroups gives groups the classes of two tables that readers of the finer
// release cannot tell apart, first some and then others, which come and go: readers of the groups see
// the same after each step.
func TestSecretsDoNotMatterToGroups(t *testing.T) {
	t.Parallel()
	for name, chain := range chains() {
		for seed := range uint64(2) {
			d := workload.Generate(seed, workload.Shape{Records: 400, Attributes: 5 + 9*int(seed%2), Distinct: 15, Nulls: 0.01, Sensitive: 6})
			table := d.Table()
			finer := anonymized(t, lookahead.Partition{}, table, chain[0])
			other, same := disguised(rand.New(rand.NewPCG(seed, 8)), d, table, finer)
			// The same classes have the same ids in both, though their order in the release is drawn.
			ordered := inOrder(other, same, table, finer)
			want, got := steps(t, table, table.Attributes(), finer, chain[1]), steps(t, other, other.Attributes(), ordered, chain[1])
			own, _ := anonymizertest.Limited(t, table.Attributes(), d.Specs)
			others, _ := anonymizertest.Limited(t, other.Attributes(), d.Specs)
			want, got = append(want, steps(t, table, own, finer, chain[1])...), append(got, steps(t, other, others, ordered, chain[1])...)
			for i := range want {
				if !slices.Equal(want[i], got[i]) {
					t.Fatalf("%s, seed %d, step %d: readers see %d groups, and of another table with the same finer release %d others", name, seed, i, len(want[i]), len(got[i]))
				}
			}
		}
	}
}

// inOrder is a release in the order in which another one has classes that show the same.
func inOrder(t *anonymizer.Table, r *anonymizer.Release, as *anonymizer.Table, other *anonymizer.Release) *anonymizer.Release {
	places := map[string][]int{}
	for i, class := range r.Classes {
		look := lookOf(t, class)
		places[look] = append(places[look], i)
	}
	ordered := &anonymizer.Release{Withheld: r.Withheld}
	for _, class := range other.Classes {
		look := lookOf(as, class)
		ordered.Classes = append(ordered.Classes, r.Classes[places[look][0]])
		places[look] = places[look][1:]
	}
	return ordered
}

func lookOf(t *anonymizer.Table, class anonymizer.EquivalenceClass) string {
	return fmt.Sprintf("%#v %v", t.Generalize(class), t.Summarize(class).Sensitive)
}

// steps loads some classes of a release, lets others come, and some go, and gives what the readers of
// groups see after each.
func steps(t *testing.T, table *anonymizer.Table, shown []anonymizer.Attribute, r *anonymizer.Release, coarse privacy.ConstraintSet) [][]string {
	t.Helper()
	fine := privacy.ConstraintSet{privacy.KAnonymity{K: 1}}
	p := incremental.New(table.Attributes(), fine, partition.RoundedPartition{}, incremental.Options{})
	groups := nested.NewGroups(p, shown, coarse, nested.Options{Seed: 1})
	load := func(i int) {
		var records []incremental.Record
		for _, record := range r.Classes[i] {
			one := incremental.Record{ID: incremental.RecordID(record)}
			for a := range table.Attributes() {
				one.Cells = append(one.Cells, table.Cells(a)[record])
			}
			for s := range table.SensitiveLen() {
				one.Sensitive = append(one.Sensitive, table.Sensitive(s)[record])
			}
			records = append(records, one)
		}
		if err := p.Load(incremental.ClassID(i+1), records); err != nil {
			t.Fatal(err)
		}
	}
	var seen [][]string
	settle := func(changes incremental.Changes) {
		if _, err := groups.Settle(context.Background(), changes); err != nil {
			t.Fatal(err)
		}
		seen = append(seen, groupsSeen(p, groups))
	}
	half := len(r.Classes) / 2
	for i := range half {
		load(i)
	}
	settle(incremental.Changes{})
	for i := half; i < len(r.Classes); i += 5 {
		var added incremental.Changes
		for j := i; j < min(i+5, len(r.Classes)); j++ {
			load(j)
			added.Rewrite = append(added.Rewrite, incremental.ClassID(j+1))
		}
		settle(added)
	}
	for i := 0; i < half; i += 7 {
		for _, record := range p.Members(incremental.ClassID(i + 1)) {
			if err := p.Delete(record); err != nil {
				t.Fatal(err)
			}
		}
		settle(p.Settle())
	}
	return seen
}

func groupsSeen(p *incremental.Partition, groups *nested.Groups) []string {
	var seen []string
	for place := range groups.Classes() {
		id := groups.ClassAt(place)
		var codes []uint32
		for _, slot := range groups.AppendSlots(nil, id) {
			codes = append(codes, p.In(slot).Sensitive...)
		}
		slices.Sort(codes)
		seen = append(seen, fmt.Sprintf("%#v %v", groups.Generalize(id), codes))
	}
	slices.Sort(seen)
	return seen
}
