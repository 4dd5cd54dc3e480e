package nested_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/nested"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// shapes are tables of which releases are made, and united.
var shapes = map[string]workload.Shape{
	"empty":           {Attributes: 3, Distinct: 5, Sensitive: 3},
	"few":             {Records: 23, Attributes: 2, Distinct: 4, Sensitive: 4},
	"all alike":       {Records: 60, Attributes: 3, Distinct: 1, Sensitive: 4},
	"all missing":     {Records: 60, Attributes: 3, Distinct: 9, Nulls: 1, Sensitive: 4},
	"some missing":    {Records: 300, Attributes: 5, Distinct: 12, Nulls: 0.1, Sensitive: 5},
	"nearly distinct": {Records: 200, Attributes: 7, Distinct: 5000, Sensitive: 6},
	"every kind":      {Records: 300, Attributes: 14, Distinct: 9, Nulls: 0.01, Sensitive: 6},
	"one value":       {Records: 200, Attributes: 2, Distinct: 30, Sensitive: 1},
}

// chains are finer sets and what a coarser audience has besides.
func chains() map[string][2]privacy.ConstraintSet {
	fine := privacy.ConstraintSet{privacy.KAnonymity{K: 3}}
	with := func(k int, cs ...privacy.Constraint) [2]privacy.ConstraintSet {
		return [2]privacy.ConstraintSet{fine, append(privacy.ConstraintSet{privacy.KAnonymity{K: k}}, cs...)}
	}
	return map[string][2]privacy.ConstraintSet{
		"same":      with(3),
		"k":         with(11),
		"l":         with(7, privacy.DistinctDiversity{L: 4, Name: "s"}),
		"entropy":   with(7, privacy.EntropyDiversity{L: 2.5, Name: "s"}),
		"recursive": with(7, privacy.RecursiveDiversity{C: 2, L: 3, Name: "s"}),
		"alpha":     with(7, privacy.AlphaBound{Alpha: 0.5, Name: "s"}),
		"t":         with(7, privacy.TCloseness{T: 0.3, Name: "s"}),
		"beta":      with(7, privacy.BetaLikeness{Beta: 1.5, Enhanced: true, Name: "s"}),
		"delta":     with(7, privacy.DeltaDisclosurePrivacy{Delta: 2, Name: "s"}),
		"l of fine": {append(slices.Clone(fine), privacy.DistinctDiversity{L: 2, Name: "s"}), {privacy.KAnonymity{K: 9}, privacy.DistinctDiversity{L: 3, Name: "s"}}},
	}
}

func anonymized(t *testing.T, m anonymizer.Method, table *anonymizer.Table, c privacy.ConstraintSet) *anonymizer.Release {
	t.Helper()
	r, err := m.Anonymize(context.Background(), table, c, anonymizer.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func united(t *testing.T, table *anonymizer.Table, finer *anonymizer.Release, c privacy.ConstraintSet) *anonymizer.Release {
	t.Helper()
	r, err := nested.Unite(context.Background(), table, finer, c, anonymizer.Options{Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestUnite unites releases of methods of every kind: the coarser one is sound, its classes are unions, the
// same seed gives the same one, and only an infeasible set withholds everything.
func TestUnite(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"lookahead-partition", "rounded-partition", "datafly"} {
		m, err := methods.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for shapeName, shape := range shapes {
			t.Run(name+"/"+shapeName, func(t *testing.T) {
				t.Parallel()
				d := workload.Generate(uint64(len(shapeName)), shape)
				for chainName, chain := range chains() {
					if methods.Refusal(m, d.Table().Attributes(), chain[0]) == nil {
						checkChain(t, chainName, d, m, chain)
					}
				}
			})
		}
	}
}

func checkChain(t *testing.T, name string, d *workload.Data, m anonymizer.Method, chain [2]privacy.ConstraintSet) {
	t.Helper()
	table := d.Table()
	finer := anonymized(t, m, table, chain[0])
	coarser := united(t, table, finer, chain[1])
	if err := anonymizertest.CheckRelease(d, coarser, chain[1]); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if err := checkUnions(finer, coarser); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	if again := united(t, table, finer, chain[1]); !reflect.DeepEqual(coarser, again) {
		t.Errorf("%s: same seed, other release", name)
	}
	all := slices.Concat(recordLists(finer.Classes)...)
	feasible := len(all) > 0 && chain[1].Satisfied(table.Summarize(all), table.Population())
	if feasible == (len(coarser.Classes) == 0) {
		t.Errorf("%s: feasible %v, %d classes", name, feasible, len(coarser.Classes))
	}
	for g, label := range nested.Labels(table, finer, coarser) {
		for a, attribute := range d.Attributes {
			var texts []string
			for _, r := range coarser.Classes[g] {
				texts = append(texts, d.Raw[a][r])
			}
			if err := anonymizertest.CheckGeneralization(d.Specs[a], texts, label[a]); err != nil {
				t.Errorf("%s: label of %s: %v", name, attribute.Name, err)
			}
		}
		if own := table.Generalize(coarser.Classes[g]); !slices.EqualFunc(own, label, sameLabel) {
			t.Errorf("%s: %v is published for classes of which all together would be %v", name, label, own)
		}
	}
}

func recordLists(classes []anonymizer.EquivalenceClass) [][]int32 {
	lists := make([][]int32, len(classes))
	for i, class := range classes {
		lists[i] = class
	}
	return lists
}

// checkUnions says whether each class of the coarser release is a union of finer ones.
func checkUnions(finer, coarser *anonymizer.Release) error {
	if len(coarser.Classes) == 0 {
		return nil
	}
	groupOf := map[int32]int{}
	for g, class := range coarser.Classes {
		for _, r := range class {
			groupOf[r] = g + 1
		}
	}
	for i, class := range finer.Classes {
		for _, r := range class {
			if groupOf[r] == 0 || groupOf[r] != groupOf[class[0]] {
				return fmt.Errorf("class %d of the finer release lies in several of the coarser one, or in none", i)
			}
		}
	}
	for _, r := range finer.Withheld {
		if groupOf[r] != 0 {
			return errors.New("a record that the finer release withholds is in the coarser one")
		}
	}
	return nil
}

// TestSecretsDoNotMatter makes other tables of which the same finer release is published: other
// values behind its labels, in another order, hierarchies that have met other values. Readers of the
// coarser release must see the same, to the byte.
func TestSecretsDoNotMatter(t *testing.T) {
	t.Parallel()
	for shapeName, shape := range shapes {
		for chainName, chain := range chains() {
			for seed := range uint64(2) {
				d := workload.Generate(seed, shape)
				table := d.Table()
				finer := anonymized(t, lookahead.Partition{}, table, chain[0])
				want := readable(table, finer, united(t, table, finer, chain[1]))
				random := rand.New(rand.NewPCG(seed, 8))
				other, same := disguised(random, d, table, finer)
				if got := readable(other, same, united(t, other, same, chain[1])); !slices.Equal(got, want) {
					t.Errorf("%s, %s, seed %d: readers see %d rows, and of another table with the same finer release %d others", shapeName, chainName, seed, len(want), len(got))
				}
			}
		}
	}
}

// readable are the classes of a release as its readers see them, in no order.
func readable(t *anonymizer.Table, finer, r *anonymizer.Release) []string {
	var seen []string
	for g, label := range nested.Labels(t, finer, r) {
		var rows [][]uint32
		for _, i := range r.Classes[g] {
			var row []uint32
			for s := range t.SensitiveLen() {
				row = append(row, t.Sensitive(s)[i])
			}
			rows = append(rows, row)
		}
		slices.SortFunc(rows, slices.Compare[[]uint32])
		seen = append(seen, fmt.Sprintf("%#v %v", label, rows))
	}
	slices.Sort(seen)
	return seen
}

// disguised makes another table and a release of it that readers cannot tell from the given ones.
func disguised(random *rand.Rand, d *workload.Data, t *anonymizer.Table, r *anonymizer.Release) (*anonymizer.Table, *anonymizer.Release) {
	n := t.Len()
	place := random.Perm(n) // of each record in the other table
	cells := make([][]hierarchy.Cell, len(t.Attributes()))
	sensitive := make([][]uint32, t.SensitiveLen())
	for s := range sensitive {
		sensitive[s] = make([]uint32, n)
		for i, code := range t.Sensitive(s) {
			sensitive[s][place[i]] = code
		}
	}
	attributes := make([]anonymizer.Attribute, len(t.Attributes()))
	for a, attribute := range t.Attributes() {
		for i := range 50 {
			attribute.Hierarchy.Encode(fmt.Sprintf("%05d", i*1777+random.IntN(1777)))
		}
		column := slices.Clone(t.Cells(a))
		for _, class := range r.Classes {
			disguise(random, attribute.Hierarchy, column, class)
		}
		attributes[a] = attribute
		if kind := attribute.Hierarchy.Kind(); kind == hierarchy.Categorical || kind == hierarchy.Suppression {
			attributes[a], column = relearned(random, attribute, d.Specs[a], column)
		}
		cells[a] = make([]hierarchy.Cell, n)
		for i, c := range column {
			cells[a][place[i]] = c
		}
	}
	other := &anonymizer.Release{}
	moved := func(records []int32) []int32 {
		list := make([]int32, len(records))
		for i, p := range random.Perm(len(records)) {
			list[i] = int32(place[records[p]])
		}
		return list
	}
	for _, i := range random.Perm(len(r.Classes)) {
		other.Classes = append(other.Classes, moved(r.Classes[i]))
	}
	other.Withheld = moved(r.Withheld)
	table, err := anonymizer.NewTable(attributes, cells, sensitive)
	if err != nil {
		panic(err)
	}
	return table, other
}

// relearned is a column under a hierarchy that has met its values in another order.
func relearned(random *rand.Rand, attribute anonymizer.Attribute, spec hierarchy.Spec, column []hierarchy.Cell) (anonymizer.Attribute, []hierarchy.Cell) {
	other := workload.Attribute(attribute.Name, spec)
	cells := make([]hierarchy.Cell, len(column))
	for _, i := range random.Perm(len(column)) {
		if cells[i] = column[i]; !hierarchy.IsOffScale(column[i]) {
			cells[i] = other.Hierarchy.Encode(attribute.Hierarchy.Generalize(column[i : i+1]).Value)
		}
	}
	return other, cells
}

// disguise replaces and exchanges the values of a class as long as the same is published.
func disguise(random *rand.Rand, h hierarchy.Hierarchy, column []hierarchy.Cell, class anonymizer.EquivalenceClass) {
	own := make([]hierarchy.Cell, len(class))
	for i, r := range class {
		own[i] = column[r]
	}
	published := h.Generalize(own)
	for i := range own {
		before := own[i]
		if own[i] = column[random.IntN(len(column))]; random.IntN(2) == 0 {
			own[i] = h.Encode(fmt.Sprintf("%05d", random.IntN(50)*1777))
		}
		if h.Generalize(own) != published {
			own[i] = before
		}
	}
	random.Shuffle(len(own), func(i, j int) { own[i], own[j] = own[j], own[i] })
	for i, r := range class {
		column[r] = own[i]
	}
}

// TestDisguiseHasEffect has the test above not compare tables with themselves.
func TestDisguiseHasEffect(t *testing.T) {
	t.Parallel()
	d := workload.Generate(1, shapes["every kind"])
	table := d.Table()
	finer := anonymized(t, lookahead.Partition{}, table, privacy.ConstraintSet{privacy.KAnonymity{K: 3}})
	other, same := disguised(rand.New(rand.NewPCG(1, 8)), d, table, finer)
	if !slices.Equal(readable(table, finer, finer), readable(other, same, same)) {
		t.Fatal("the finer releases differ")
	}
	for a := range table.Attributes() {
		before, after := map[hierarchy.Cell]int{}, map[hierarchy.Cell]int{}
		for i, c := range table.Cells(a) {
			before[c]++
			after[other.Cells(a)[i]]++
		}
		if maps.Equal(before, after) {
			t.Errorf("attribute %s has the same values", table.Attributes()[a].Name)
		}
	}
}

func TestUniteEndsWithItsContext(t *testing.T) {
	t.Parallel()
	table := workload.Generate(1, shapes["every kind"]).Table()
	finer := anonymized(t, lookahead.Partition{}, table, privacy.ConstraintSet{privacy.KAnonymity{K: 3}})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := nested.Unite(ctx, table, finer, privacy.ConstraintSet{privacy.KAnonymity{K: 9}}, anonymizer.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
