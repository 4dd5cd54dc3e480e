package methods_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

func TestSameAs(t *testing.T) {
	t.Parallel()
	k := privacy.KAnonymity{K: 4}
	two := privacy.ConstraintSet{privacy.KAnonymity{K: 3, Over: []int{0, 1}}, privacy.KAnonymity{K: 4, Over: []int{1, 2}}}
	apart := privacy.ConstraintSet{privacy.KAnonymity{K: 3, Over: []int{0}}, privacy.KAnonymity{K: 4, Over: []int{1, 2}}}
	bounded := privacy.ConstraintSet{k, privacy.AlphaBound{Alpha: 0.5, Name: "s", Values: []uint32{0}}}
	for _, row := range []struct {
		method string
		set    privacy.ConstraintSet
		want   string
	}{
		{"classfly-plus-naive", privacy.ConstraintSet{k}, "classfly"},
		{"classfly-plus-complete", privacy.ConstraintSet{k}, "classfly"},
		{"classfly-plus-partial", privacy.ConstraintSet{k}, "classfly"},
		{"classfly-plus-partial", apart, "classfly"},
		{"classfly-plus-naive", two, "classfly"},
		{"classfly-plus-complete", two, "classfly-plus-complete"},
		{"classfly-plus-partial", two, "classfly-plus-complete"},
		{"alpha-k-multi", privacy.ConstraintSet{k}, "alpha-k-single"},
		{"alpha-k-multi", bounded, "alpha-k-multi"},
		{"alpha-k-single", bounded, "alpha-k-single"},
		{"rounded-partition", two, "rounded-partition"},
		{"magic", two, "magic"},
	} {
		if got := methods.SameAs(row.method, 3, row.set); got != row.want {
			t.Errorf("%s under %v is %s, %s expected", row.method, row.set, got, row.want)
		}
	}
}

// TestSameAsMakesTheSameRelease of tables of every shape, under one constraint, and under
// several that are tied together or apart.
func TestSameAsMakesTheSameRelease(t *testing.T) {
	t.Parallel()
	over := func(k int, attributes ...int) privacy.Constraint {
		return privacy.KAnonymity{K: k, Over: attributes}
	}
	every := sets()
	every["tied"] = privacy.ConstraintSet{over(3, 0, 1), over(5, 1, 2), over(2, 0, 2)}
	every["apart"] = privacy.ConstraintSet{over(3, 0), over(5, 1, 2)}
	compared := 0
	for seed := range uint64(6) {
		d := twoSensitive(seed, 120, 3)
		for name, set := range every {
			released := map[string][]anonymizer.Part{}
			for _, method := range methods.Accepting(d.Attributes, set) {
				m, err := methods.Named(method)
				if err != nil {
					t.Fatal(err)
				}
				parts, err := anonymizer.Anonymize(context.Background(), m, d.Table(), set, anonymizer.Options{Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				same := methods.SameAs(method, len(d.Attributes), set)
				if released[same] == nil {
					released[same] = parts
					continue
				}
				compared++
				for i, p := range parts {
					if !reflect.DeepEqual(p.Release, released[same][i].Release) {
						t.Errorf("seed %d: %s makes another release than %s under %s", seed, method, same, name)
					}
				}
			}
		}
	}
	if compared < 50 {
		t.Errorf("only %d releases were compared", compared)
	}
}
