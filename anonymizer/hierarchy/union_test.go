package hierarchy_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestUnionIsGeneralizationOfAll compares, for attributes of every kind, what stands for several sets
// with what Generalize says of all their values.
func TestUnionIsGeneralizationOfAll(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		d := workload.Generate(seed, workload.Shape{Records: 60, Attributes: 14, Distinct: []int{3, 12, 5000}[seed%3], Nulls: 0.02})
		random := rand.New(rand.NewPCG(seed, 1))
		for a, attribute := range d.Attributes {
			for range 20 {
				var published []hierarchy.Generalization
				var all []hierarchy.Cell
				var texts []string
				for range 1 + random.IntN(4) {
					from := random.IntN(50)
					to := from + 1 + random.IntN(9)
					published = append(published, attribute.Hierarchy.Generalize(d.Cells[a][from:to]))
					all, texts = append(all, d.Cells[a][from:to]...), append(texts, d.Raw[a][from:to]...)
				}
				got := hierarchy.Union(attribute.Hierarchy, published)
				if want := attribute.Hierarchy.Generalize(all); !sameLabel(d.Specs[a], got, want) {
					t.Fatalf("%s: union of %v is %v, generalized %v", attribute.Name, published, got, want)
				}
				if err := anonymizertest.CheckGeneralization(d.Specs[a], texts, got); err != nil {
					t.Fatalf("%s: %v", attribute.Name, err)
				}
			}
		}
	}
}

// TestUnionTellsNothingNew has sets of which the same is published and whose unions Generalize would
// tell apart.
func TestUnionTellsNothingNew(t *testing.T) {
	t.Parallel()
	prefix := workload.Attribute("prefix", hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}).Hierarchy
	decimal := workload.Attribute("decimal", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}).Hierarchy
	for _, c := range []struct {
		h          hierarchy.Hierarchy
		one, other []string // sets of which the same is published
		with       []string
		want       hierarchy.Generalization
	}{
		{prefix, []string{"123", "124"}, []string{"12", "1234"}, []string{"135", "136"}, hierarchy.Generalization{Value: "1*"}},
		{prefix, []string{"1234", "1245"}, []string{"1267", "1258"}, []string{"1345", "1367"}, hierarchy.Generalization{Value: "1*"}},
		{decimal, []string{"0.1", "0.5"}, []string{"0.1", "0.3", "0.5"}, []string{"2"}, hierarchy.Generalization{Value: "1.05", Lower: "0.1", Upper: "2"}},
	} {
		one, other, with := c.h.Generalize(encoded(c.h, c.one...)), c.h.Generalize(encoded(c.h, c.other...)), c.h.Generalize(encoded(c.h, c.with...))
		if one != other {
			t.Fatalf("%v and %v are published as %v and %v", c.one, c.other, one, other)
		}
		if got := hierarchy.Union(c.h, []hierarchy.Generalization{one, with}); got != c.want {
			t.Errorf("union of %v and %v: %v, want %v", one, with, got, c.want)
		}
	}
}

// TestUnionsOfPrefixesAreAlike has codes of one length and of several: unions show whole codes or beginnings with one
// asterisk, never two labels of one beginning; they cover all that their parts cover, whatever was united first, and
// the length of what is masked makes no difference.
func TestUnionsOfPrefixesAreAlike(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		random := rand.New(rand.NewPCG(seed, 3))
		spec := hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText, Keep: [][]int{nil, {4, 2}, {3}}[seed%3]}
		fine := workload.Attribute("prefix", spec).Hierarchy
		coarse := fine
		if limit := (hierarchy.Coarseness{Keep: [][]int{{3, 1}, {2}, {3}}[seed%3]}); seed%2 == 0 {
			var err error
			if coarse, err = hierarchy.Coarser(fine, spec, limit); err != nil {
				t.Fatal(err)
			}
			spec = limit.Of(spec)
		}
		show := func(sets ...[]string) hierarchy.Generalization {
			var parts []hierarchy.Generalization
			for _, texts := range sets {
				parts = append(parts, hierarchy.Show(coarse, fine.Generalize(encoded(fine, texts...))))
			}
			return hierarchy.Union(coarse, parts)
		}
		var sets, longer [][]string
		for range 1 + random.IntN(4) {
			var set, padded []string
			for range 1 + random.IntN(3) {
				code := fmt.Sprintf("%05d", random.IntN(40)*random.IntN(2500))
				if seed%5 == 0 {
					code = code[:2+random.IntN(4)]
				}
				set, padded = append(set, code), append(padded, code+"77")
			}
			sets, longer = append(sets, set), append(longer, padded)
		}
		got := show(sets...)
		if stars := len(got.Value) - len(strings.TrimRight(got.Value, "*")); stars > 1 {
			t.Fatalf("%v are shown as %v, which tells their length", sets, got)
		}
		if err := anonymizertest.CheckGeneralization(spec, slices.Concat(sets...), got); err != nil {
			t.Fatal(err)
		}
		if one := hierarchy.Union(coarse, []hierarchy.Generalization{show(sets[:1]...), show(sets...)}); one != got {
			t.Fatalf("%v are shown as %v, and with some of them united before as %v", sets, got, one)
		}
		if masked := strings.HasSuffix(got.Value, "*"); masked && len(spec.Keep) > 0 && show(longer...) != got {
			t.Fatalf("%v are shown as %v, and %v as %v", sets, got, longer, show(longer...))
		}
	}
}

func encoded(h hierarchy.Hierarchy, texts ...string) (cells []hierarchy.Cell) {
	for _, text := range texts {
		cells = append(cells, h.Encode(text))
	}
	return cells
}

// TestUnionOfLongDecimals covers numbers that no float64 holds.
func TestUnionOfLongDecimals(t *testing.T) {
	t.Parallel()
	spec := hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal}
	h := workload.Attribute("decimal", spec).Hierarchy
	random := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		var texts []string
		var published []hierarchy.Generalization
		for range 3 {
			text := fmt.Sprintf("%d.%018d", random.IntN(3), random.Int64N(1e18))
			texts = append(texts, text)
			published = append(published, h.Generalize([]hierarchy.Cell{h.Encode(text)}))
		}
		if err := anonymizertest.CheckGeneralization(spec, texts, hierarchy.Union(h, published)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestUnionOfHidden(t *testing.T) {
	t.Parallel()
	h := workload.Attribute("label", hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}).Hierarchy
	hidden := hierarchy.Generalization{Hidden: true}
	for _, published := range [][]hierarchy.Generalization{nil, {hidden}, {h.Generalize([]hierarchy.Cell{h.Encode("a")}), hidden}} {
		if got := hierarchy.Union(h, published); got != hidden {
			t.Errorf("union of %v is %v", published, got)
		}
	}
}

// TestSpansOfUnionsAreJoined: where it is said that the place of a union can be told without it, it is the same,
// of what is hidden, too.
func TestSpansOfUnionsAreJoined(t *testing.T) {
	t.Parallel()
	joined := 0
	for seed := range uint64(40) {
		d := workload.Generate(seed, workload.Shape{Records: 60, Attributes: 14, Distinct: []int{3, 12, 5000}[seed%3], Nulls: 0.02})
		random := rand.New(rand.NewPCG(seed, 2))
		for a, attribute := range d.Attributes {
			var published []hierarchy.Generalization
			for range 12 {
				from := random.IntN(50)
				published = append(published, attribute.Hierarchy.Generalize(d.Cells[a][from:from+1+random.IntN(9)]))
			}
			spans := hierarchy.SpansOf(attribute.Hierarchy, published)
			if !spans.Joined {
				continue
			}
			joined++
			for i, one := range published {
				for j, other := range published {
					union := hierarchy.Union(attribute.Hierarchy, []hierarchy.Generalization{one, other})
					if got, want := spans.Of[i].Join(spans.Of[j]), spans.Place(union); got != want {
						t.Fatalf("%s: %v and %v are joined at %v, and their union %v is at %v", attribute.Name, one, other, got, union, want)
					}
				}
			}
		}
	}
	if joined == 0 {
		t.Error("no spans are joined")
	}
}
