package methods_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/anonymizertest"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// shapes are the tables that every method has to make something of.
var shapes = map[string]workload.Shape{
	"empty":           {Attributes: 3, Distinct: 5, Sensitive: 3},
	"one record":      {Records: 1, Attributes: 3, Distinct: 5, Sensitive: 3},
	"few":             {Records: 23, Attributes: 2, Distinct: 4, Sensitive: 4},
	"all alike":       {Records: 60, Attributes: 3, Distinct: 1, Sensitive: 4},
	"all missing":     {Records: 60, Attributes: 3, Distinct: 9, Nulls: 1, Sensitive: 4},
	"some missing":    {Records: 150, Attributes: 5, Distinct: 12, Nulls: 0.2, Sensitive: 5},
	"nearly distinct": {Records: 200, Attributes: 7, Distinct: 5000, Sensitive: 6},
	"every kind":      {Records: 240, Attributes: 14, Distinct: 9, Nulls: 0.02, Sensitive: 6},
	"one value":       {Records: 90, Attributes: 2, Distinct: 30, Sensitive: 1},
}

// sets are constraint sets over the only sensitive attribute; each method is run
// on those that it accepts.
func sets() map[string]privacy.ConstraintSet {
	k := privacy.KAnonymity{K: 4}
	with := func(c privacy.Constraint) privacy.ConstraintSet { return privacy.ConstraintSet{k, c} }
	return map[string]privacy.ConstraintSet{
		"k":         {k},
		"k = 1":     {privacy.KAnonymity{K: 1}},
		"l":         with(privacy.DistinctDiversity{L: 3, Name: "s"}),
		"entropy":   with(privacy.EntropyDiversity{L: 2, Name: "s"}),
		"recursive": with(privacy.RecursiveDiversity{C: 3, L: 2, Name: "s"}),
		"alpha one": with(privacy.AlphaBound{Alpha: 0.5, Name: "s", Values: []uint32{0}}),
		"alpha all": with(privacy.AlphaBound{Alpha: 0.6, Name: "s"}),
		"t":         with(privacy.TCloseness{T: 0.4, Name: "s"}),
		"beta":      with(privacy.BetaLikeness{Beta: 2, Name: "s"}),
		"delta":     with(privacy.DeltaDisclosurePrivacy{Delta: 2, Name: "s"}),
	}
}

// exponential leaves out the lattice of many attributes, whose size is the product
// of their heights.
func exponential(method string, s workload.Shape) bool {
	return method == "alpha-k-lattice" && s.Attributes > 7
}

func run(ctx context.Context, t *testing.T, m anonymizer.Method, table *anonymizer.Table, c privacy.ConstraintSet, o anonymizer.Options) *anonymizer.Release {
	t.Helper()
	parts, err := anonymizer.Anonymize(ctx, m, table, c, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 {
		t.Fatalf("%d parts of constraints over all attributes", len(parts))
	}
	return parts[0].Release
}

// check proves the release by brute force, in the form that it has.
func check(d *workload.Data, r *anonymizer.Release, c privacy.ConstraintSet) error {
	if r.Levels != nil {
		return anonymizertest.CheckLevels(d.Table(), r, c)
	}
	return anonymizertest.CheckRelease(d, r, c)
}

// TestEveryMethod runs every method on every table under every constraint set it
// accepts: the release is sound, the same seed gives the same one, and only an
// infeasible set withholds everything.
func TestEveryMethod(t *testing.T) {
	t.Parallel()
	for _, name := range methods.Names() {
		m, err := methods.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			accepted := 0
			for shapeName, shape := range shapes {
				d := workload.Generate(uint64(len(shapeName)), shape)
				table := d.Table()
				for setName, c := range sets() {
					if methods.Refusal(m, table.Attributes(), c) != nil || exponential(name, shape) {
						continue
					}
					accepted++
					where := fmt.Sprintf("%s, %s", shapeName, setName)
					o := anonymizer.Options{Seed: 3}
					r := run(context.Background(), t, m, table, c, o)
					if err := check(d, r, c); err != nil {
						t.Errorf("%s: %v", where, err)
					}
					if again := run(context.Background(), t, m, table, c, o); !reflect.DeepEqual(r, again) {
						t.Errorf("%s: same seed, other release", where)
					}
					feasible := c.Feasible(table.Population().Summary) == nil
					if table.Len() > 0 && feasible == (len(r.Classes) == 0) {
						t.Errorf("%s: feasible %v, %d classes, %d records withheld", where, feasible, len(r.Classes), len(r.Withheld))
					}
				}
			}
			if accepted == 0 {
				t.Error("it accepts nothing")
			}
		})
	}
}

// TestEveryMethodCountsPersons has two rows for each person.
func TestEveryMethodCountsPersons(t *testing.T) {
	t.Parallel()
	d := workload.Generate(5, workload.Shape{Records: 120, Attributes: 3, Distinct: 20, Sensitive: 4})
	subjects := make([]uint32, 120)
	for i := range subjects {
		subjects[i] = uint32(i / 2)
	}
	table, err := d.Table().WithSubjects(subjects)
	if err != nil {
		t.Fatal(err)
	}
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 4}}
	for _, name := range methods.Names() {
		m, err := methods.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		r := run(context.Background(), t, m, table, c, anonymizer.Options{Seed: 1})
		if len(r.Classes) == 0 {
			t.Errorf("%s: no class", name)
		}
		for _, class := range r.Classes {
			persons := map[uint32]bool{}
			for _, i := range class {
				persons[subjects[i]] = true
			}
			if len(persons) < 4 {
				t.Errorf("%s: a class of %d records is of %d persons", name, len(class), len(persons))
			}
		}
	}
}

func TestEveryMethodCanBeCanceledAndTells(t *testing.T) {
	t.Parallel()
	d := workload.Generate(2, workload.Shape{Records: 400, Attributes: 3, Distinct: 40, Sensitive: 4})
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 4}}
	for _, name := range methods.Names() {
		m, err := methods.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		canceled, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := m.Anonymize(canceled, d.Table(), c, anonymizer.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: canceled before the start: %v", name, err)
		}
		last := 0
		run(context.Background(), t, m, d.Table(), c, anonymizer.Options{Progress: func(done, total int) {
			if done < last || total != 400 {
				t.Errorf("%s: %d of %d after %d", name, done, total, last)
			}
			last = done
		}})
		if last != 400 {
			t.Errorf("%s: the last report is %d of 400", name, last)
		}
	}
}

// TestTinyFloats has values whose differences have no half, nor a share.
func TestTinyFloats(t *testing.T) {
	t.Parallel()
	a := workload.Attribute("x", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainDecimal})
	cells := make([]hierarchy.Cell, 100)
	for i := range cells {
		cells[i] = float64(i%2) * math.SmallestNonzeroFloat64
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{a}, [][]hierarchy.Cell{cells}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range methods.Names() {
		m, err := methods.Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if r := run(context.Background(), t, m, table, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, anonymizer.Options{}); len(r.Withheld) > 0 {
			t.Errorf("%s withholds %d records", name, len(r.Withheld))
		}
	}
}
