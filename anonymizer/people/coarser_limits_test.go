package people_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestCoarserUnitesByWhatIsShown: persons are united by what the release may show of them, which is limited once: of decimals, the upper
// bound of an interval is in the next one.
func TestCoarserUnitesByWhatIsShown(t *testing.T) {
	t.Parallel()
	const k, each = 2, 8
	spec := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}
	weight := attribute("weight", spec)
	limited, err := hierarchy.Coarser(weight.Hierarchy, spec, hierarchy.Coarseness{Steps: []float64{10}})
	if err != nil {
		t.Fatal(err)
	}
	var pseudonyms uint64
	pseudonym := func(int) uint64 { pseudonyms++; return pseudonyms }
	m, err := people.NewMaintained(people.Shape{Root: []anonymizer.Attribute{weight}}, privacy.ConstraintSet{privacy.KAnonymity{K: k}}, people.Knows{Crowd: 1},
		people.MaintainedOptions{Method: method, Seed: 1, Random: rand.New(rand.NewPCG(1, 1)), Pseudonym: pseudonym})
	if err != nil {
		t.Fatal(err)
	}
	c, err := people.NewCoarser(m, people.CoarserOptions{K: each, Root: []anonymizer.Attribute{{Name: "weight", Hierarchy: limited}}, Seed: 1, Random: rand.New(rand.NewPCG(2, 2)), Pseudonym: pseudonym})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 6 * each {
		text := fmt.Sprintf("%d.5", 10*(i/each)+1+i%each)
		if err := m.Insert(people.Root, people.Row{ID: incremental.RecordID(i + 1), Key: people.Key{byte(i + 1)}, Cells: []hierarchy.Cell{weight.Hierarchy.Encode(text)}}); err != nil {
			t.Fatal(err)
		}
	}
	finer, err := m.Settle(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	changes, err := c.Settle(t.Context(), finer)
	if err != nil {
		t.Fatal(err)
	}
	for _, cell := range changes.Root.Cells {
		if cell.Values[0].Hidden {
			t.Errorf("a union of persons of several intervals is shown: %+v", cell)
		}
	}
	if len(changes.Root.Cells) != 6 {
		t.Errorf("%d unions are shown", len(changes.Root.Cells))
	}
}
