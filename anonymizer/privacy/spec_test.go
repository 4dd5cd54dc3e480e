package privacy_test

import (
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

func schema() privacy.Schema {
	ages := workload.Attribute("age", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	return privacy.Schema{
		Attributes: []string{"age", "zip", "sex"},
		Sensitive: []privacy.Sensitive{
			{Name: "salary", Values: privacy.NewDictionary(), Hierarchy: ages.Hierarchy},
			{Name: "diagnosis", Values: privacy.NewDictionary()},
		},
	}
}

func TestSpecs(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		spec privacy.Spec
		name string
		want privacy.Constraint
	}{
		{privacy.Spec{Model: privacy.K, K: 5}, "5-anonymity", privacy.KAnonymity{K: 5}},
		{privacy.Spec{Model: privacy.K, K: 5, Over: []string{"sex", "age"}}, "5-anonymity over sex, age", privacy.KAnonymity{K: 5, Over: []int{0, 2}}},
		{
			privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "diagnosis", Over: []string{"zip", "age"}},
			"distinct 3-diversity of diagnosis over zip, age",
			privacy.Restricted{Constraint: privacy.DistinctDiversity{L: 3, Attribute: 1, Name: "diagnosis"}, Over: []int{0, 1}},
		},
		{
			privacy.Spec{Model: privacy.AlphaK, Alpha: 0.2, Of: "diagnosis", Values: []string{"HIV"}, Over: []string{"sex"}},
			"(0.2,k)-anonymity of one value of diagnosis over sex",
			privacy.Restricted{Constraint: privacy.AlphaBound{Alpha: 0.2, Attribute: 1, Name: "diagnosis", Values: []uint32{0}}, Over: []int{2}},
		},
		{privacy.Spec{Model: privacy.DistinctL, L: 3, Of: "diagnosis"}, "distinct 3-diversity of diagnosis", privacy.DistinctDiversity{L: 3, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.EntropyL, L: 2.5, Of: "diagnosis"}, "entropy 2.5-diversity of diagnosis", privacy.EntropyDiversity{L: 2.5, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.RecursiveCL, C: 2, L: 3, Of: "diagnosis"}, "recursive (2,3)-diversity of diagnosis", privacy.RecursiveDiversity{C: 2, L: 3, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.AlphaK, Alpha: 0.2, Of: "diagnosis"}, "(0.2,k)-anonymity of diagnosis", privacy.AlphaBound{Alpha: 0.2, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.AlphaK, Alpha: 0.2, Of: "diagnosis", Values: []string{"HIV", "flu"}}, "(0.2,k)-anonymity of 2 values of diagnosis", privacy.AlphaBound{Alpha: 0.2, Attribute: 1, Name: "diagnosis", Values: []uint32{0, 1}}},
		{privacy.Spec{Model: privacy.TClose, T: 0.15, Of: "diagnosis"}, "0.15-closeness of diagnosis", privacy.TCloseness{T: 0.15, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.BetaLike, Beta: 1.5, Of: "diagnosis"}, "1.5-likeness of diagnosis", privacy.BetaLikeness{Beta: 1.5, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.BetaLike, Beta: 1.5, Enhanced: true, Of: "diagnosis"}, "enhanced 1.5-likeness of diagnosis", privacy.BetaLikeness{Beta: 1.5, Enhanced: true, Attribute: 1, Name: "diagnosis"}},
		{privacy.Spec{Model: privacy.DeltaDisclosure, Delta: 0.5, Of: "diagnosis"}, "0.5-disclosure privacy of diagnosis", privacy.DeltaDisclosurePrivacy{Delta: 0.5, Attribute: 1, Name: "diagnosis"}},
	} {
		c, err := privacy.New(row.spec, schema())
		if err != nil || !reflect.DeepEqual(c, row.want) || row.spec.String() != row.name {
			t.Errorf("%v: %#v, %v", row.spec, c, err)
		}
		if len(row.spec.Over) == 0 && c != nil && c.String() != row.name {
			t.Errorf("made by %v: %v", row.spec, c)
		}
	}
	ordered := privacy.Spec{Model: privacy.TClose, T: 0.2, Of: "salary", Distance: privacy.OrderedDistance}
	c, err := privacy.New(ordered, schema())
	if closeness, ok := c.(privacy.TCloseness); err != nil || !ok || closeness.Scale == nil || c.String() != "0.2-closeness of salary (ordered distance)" {
		t.Errorf("%v, %v", c, err)
	}
}

func TestWrongSpecs(t *testing.T) {
	t.Parallel()
	for want, spec := range map[string]privacy.Spec{
		"unknown privacy model Model(9)":            {Model: 9},
		"k is 0 and must be a whole number":         {Model: privacy.K},
		"k-anonymity takes no sensitive attribute":  {Model: privacy.K, K: 2, Of: "diagnosis"},
		"k-anonymity takes no l, which belongs to":  {Model: privacy.K, K: 2, L: 2},
		"over holds one entry twice":                {Model: privacy.K, K: 2, Over: []string{"age", "age"}},
		`"size" is no quasi-identifying attribute`:  {Model: privacy.K, K: 2, Over: []string{"size"}},
		`"diagnosis" is no quasi-identifying`:       {Model: privacy.DistinctL, L: 2, Of: "diagnosis", Over: []string{"age", "diagnosis"}},
		"l is 2.5 and must be a whole number":       {Model: privacy.DistinctL, L: 2.5, Of: "diagnosis"},
		"l is NaN and must be a number":             {Model: privacy.EntropyL, L: math.NaN(), Of: "diagnosis"},
		"c is 0 and must be above 0":                {Model: privacy.RecursiveCL, L: 2, Of: "diagnosis"},
		"needs the sensitive attribute it protects": {Model: privacy.RecursiveCL, L: 2, C: 2},
		"alpha is 1.5 and must be above 0":          {Model: privacy.AlphaK, Alpha: 1.5, Of: "diagnosis"},
		"t is 0 and must be above 0":                {Model: privacy.TClose, Of: "diagnosis"},
		"unknown ground distance Distance(3)":       {Model: privacy.TClose, T: 1, Distance: 3, Of: "diagnosis"},
		"has no order or taxonomy":                  {Model: privacy.TClose, T: 1, Distance: privacy.OrderedDistance, Of: "diagnosis"},
		"beta is +Inf and must be above 0":          {Model: privacy.BetaLike, Beta: math.Inf(1), Of: "diagnosis"},
		"delta is -1 and must be above 0":           {Model: privacy.DeltaDisclosure, Delta: -1, Of: "diagnosis"},
		"there is no sensitive attribute":           {Model: privacy.DeltaDisclosure, Delta: 1, Of: "name"},
		"takes no delta, which belongs to delta":    {Model: privacy.BetaLike, Beta: 1, Delta: 1, Of: "diagnosis"},
	} {
		c, err := privacy.New(spec, schema())
		if err == nil || !strings.Contains(err.Error(), want) || c != nil {
			t.Errorf("%+v: %v, %q expected", spec, err, want)
		}
	}
	coded := schema()
	for i := range coded.Sensitive {
		coded.Sensitive[i].Values = nil
	}
	if c, err := privacy.New(privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "diagnosis", Values: []string{"flu"}}, coded); err == nil {
		t.Errorf("%v has values that cannot be looked up", c)
	}
	_, err := privacy.NewSet([]privacy.Spec{{Model: privacy.K, K: 2}, {}, {Model: 9}}, schema())
	if err == nil || !strings.Contains(err.Error(), "constraint 2: ") || !strings.Contains(err.Error(), "constraint 3: ") {
		t.Errorf("several problems are told as %v", err)
	}
	set, err := privacy.NewSet([]privacy.Spec{{Model: privacy.K, K: 2}, {Model: privacy.K, K: 3}}, schema())
	if err != nil || set.K() != 3 || set.Relative() {
		t.Errorf("%v, %v", set, err)
	}
}

// TestBoundBeforeItsAppearance: a value that the data do not have yet is bound
// when it comes.
func TestBoundBeforeItsAppearance(t *testing.T) {
	t.Parallel()
	s := schema()
	c, err := privacy.New(privacy.Spec{Model: privacy.AlphaK, Alpha: 0.5, Of: "diagnosis", Values: []string{"HIV"}}, s)
	if err != nil {
		t.Fatal(err)
	}
	diagnoses := s.Sensitive[1].Values
	flu, hiv, null := diagnoses.Code("flu"), diagnoses.Code("HIV"), diagnoses.Null()
	class := privacy.NewSummary(2)
	for _, code := range []uint32{flu, flu, hiv, null, null, null} {
		class.Add([]uint32{0, code})
	}
	if !c.Satisfied(class, nil) {
		t.Error("unbound values are bound")
	}
	for range 5 {
		class.Add([]uint32{0, hiv})
	}
	if c.Satisfied(class, nil) {
		t.Error("a value is not bound since it was not there before")
	}
	if text, ok := diagnoses.Text(hiv); !ok || text != "HIV" {
		t.Errorf("code %d is %q", hiv, text)
	}
	if _, ok := diagnoses.Text(null); ok || diagnoses.Null() != null || diagnoses.Code("") == null || diagnoses.Len() != 4 {
		t.Error("NULL is a text")
	}
}

// TestNullIsOneValue, whenever it comes first.
func TestNullIsOneValue(t *testing.T) {
	t.Parallel()
	for before := range 3 {
		d := privacy.NewDictionary()
		for i := range before {
			d.Code(strconv.Itoa(i))
		}
		null := d.Null()
		text := d.Code("")
		if d.Null() != null || text == null || d.Code("") != text || d.Len() != before+2 {
			t.Errorf("after %d texts, NULL is %d and then %d of %d", before, null, d.Null(), d.Len())
		}
		if _, is := d.Text(null); is {
			t.Errorf("after %d texts, NULL is one", before)
		}
		for code := range uint32(before) {
			if got, is := d.Text(code); !is || got != strconv.Itoa(int(code)) {
				t.Errorf("text %d is %q", code, got)
			}
		}
		if _, is := d.Text(uint32(d.Len())); is {
			t.Error("a code that there is not has a text")
		}
	}
}

// TestExplanations are what an operator reads: the attribute, the figure that
// stands against it and one that would do, never a value.
func TestExplanations(t *testing.T) {
	t.Parallel()
	table := privacy.NewSummary(1)
	for i := range 1000 {
		table.Add([]uint32{uint32(min(i/341, 1) + max(0, i-900))})
	}
	for _, row := range []struct {
		c    privacy.Constraint
		want string
	}{
		{privacy.AlphaBound{Alpha: 0.2, Name: "diagnosis"}, "(0.2,k)-anonymity of diagnosis cannot hold: the most frequent value makes up 56 % of the whole table, so some class must exceed alpha; alpha can be 0.56 at the least"},
		{privacy.AlphaBound{Alpha: 0.2, Values: []uint32{0}, Name: "diagnosis"}, "(0.2,k)-anonymity of one value of diagnosis cannot hold: the most frequent of the bounded values makes up 34.1 % of the whole table, so some class must exceed alpha; alpha can be 0.341 at the least"},
		{privacy.EntropyDiversity{L: 12, Name: "diagnosis"}, "entropy 12-diversity of diagnosis cannot hold: the values of the whole table are less diverse than that; l can be 3.956 at the most"},
		{privacy.RecursiveDiversity{C: 1, L: 3, Name: "diagnosis"}, "recursive (1,3)-diversity of diagnosis cannot hold: the most frequent value of the whole table is too frequent compared with the rarer ones; c must be above 5.6566"},
		{privacy.RecursiveDiversity{C: 1, L: 300, Name: "diagnosis"}, "recursive (1,300)-diversity of diagnosis cannot hold: it needs 300 distinct values and the whole table has 101; l can be that at the most"},
		{privacy.DistinctDiversity{L: 300, Name: "diagnosis"}, "distinct 300-diversity of diagnosis needs 300 distinct values and the table has 101"},
	} {
		if err := row.c.Feasible(table); err == nil || err.Error() != row.want {
			t.Errorf("%v\n%s expected", err, row.want)
		}
	}
	for _, c := range []privacy.Constraint{
		privacy.AlphaBound{Alpha: 0.56}, privacy.AlphaBound{Alpha: 0.341, Values: []uint32{0}}, privacy.EntropyDiversity{L: 3.956}, privacy.RecursiveDiversity{C: 5.658, L: 3},
	} {
		if err := c.Feasible(table); err != nil {
			t.Errorf("the remedy does not help: %v", err)
		}
	}
}

// TestBounds stand at the bound, where floats go wrong.
func TestBounds(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		alpha            float64
		records, most, k int
	}{
		{0.3, 10, 3, 4},
		{0.1, 30, 3, 10},
		{0.07, 100, 7, 15},
		{1.0 / 3, 3, 0, 4}, // 0.3333333333333333, below a third
		{1, 7, 7, 1},
		{5, 7, 7, 1},
		{0, 7, 0, math.MaxInt32},
		{math.NaN(), 7, 0, math.MaxInt32},
		{1e-18, math.MaxInt32, 0, math.MaxInt32},
		{0.999999999999999999, math.MaxInt32, math.MaxInt32, 1},
		{0.25, math.MaxInt32, math.MaxInt32 / 4, 4},
	} {
		c := privacy.AlphaBound{Alpha: row.alpha}
		if c.Most(row.records) != row.most || c.MinRecords() != row.k {
			t.Errorf("%v of %d is %d, smallest class %d", row.alpha, row.records, c.Most(row.records), c.MinRecords())
		}
	}
	// Half of one value and eight times a sixteenth: 2.5 bits; with four times an eighth, 2 bits.
	dyadic := summary(0, 0, 0, 0, 1, 2, 3, 4)
	thirds := summary(0, 1, 2)
	for _, row := range []struct {
		class     privacy.Summary
		l         float64
		satisfied bool
	}{
		{dyadic, 4, true}, {dyadic, 4.0000001, false}, {dyadic, 4.0000000000001, false}, {thirds, 3, true}, {thirds, 3.0000000000001, false},
	} {
		for range 3 {
			if c := (privacy.EntropyDiversity{L: row.l}); c.Satisfied(row.class, nil) != row.satisfied {
				t.Errorf("%v of %v: %v", c, row.class, !row.satisfied)
			}
			row.class.Merge(row.class)
		}
	}
	recursive := privacy.RecursiveDiversity{C: 0.3, L: 2}
	if recursive.Satisfied(summary(0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4), nil) || recursive.MinRecords() != 5 {
		t.Errorf("3 < 0.3 * 10, or %d records", recursive.MinRecords())
	}
}
