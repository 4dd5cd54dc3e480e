package privacy_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

func summary(codes ...uint32) privacy.Summary {
	s := privacy.NewSummary(1)
	for _, code := range codes {
		s.Add([]uint32{code})
	}
	return s
}

func TestConstraints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		constraint privacy.Constraint
		summary    privacy.Summary
		satisfied  bool
		feasible   bool
	}{
		{privacy.KAnonymity{K: 3}, summary(1, 1, 1), true, true},
		{privacy.KAnonymity{K: 3}, summary(1, 1), false, false},
		{privacy.KAnonymity{K: 3}, summary(), false, true},
		{privacy.KAnonymity{K: 0}, summary(1), true, true},
		{privacy.KAnonymity{K: -5}, summary(), false, true},
		{privacy.DistinctDiversity{L: 2}, summary(1, 1, 2), true, true},
		{privacy.DistinctDiversity{L: 3}, summary(1, 1, 2), false, false},
		{privacy.DistinctDiversity{L: 3}, summary(), false, true},
		{privacy.DistinctDiversity{L: 0}, summary(4), true, true},
		{privacy.DistinctDiversity{L: 1, Attribute: 1}, summary(4), false, false},
		{privacy.DistinctDiversity{L: 1, Attribute: -1}, summary(4), false, false},
	} {
		if got := row.constraint.Satisfied(row.summary, nil); got != row.satisfied {
			t.Errorf("%v over %v: satisfied %v", row.constraint, row.summary, got)
		}
		if err := row.constraint.Feasible(row.summary); (err == nil) != row.feasible {
			t.Errorf("%v over %v: feasible %v", row.constraint, row.summary, err)
		}
	}
}

func TestConstraintSet(t *testing.T) {
	t.Parallel()
	set := privacy.ConstraintSet{privacy.KAnonymity{K: 3}, privacy.DistinctDiversity{L: 4, Name: "ward"}}
	if set.K() != 4 || (privacy.ConstraintSet{}).K() != 1 {
		t.Errorf("k of %v is %d, of the empty set %d", set, set.K(), privacy.ConstraintSet{}.K())
	}
	if set.Satisfied(summary(1, 2, 3, 3), nil) || !set.Satisfied(summary(1, 2, 3, 4), nil) || !(privacy.ConstraintSet{}).Satisfied(summary(), nil) {
		t.Error("a set is not the conjunction of its constraints")
	}
	err := set.Feasible(summary(1, 1))
	for _, part := range []string{"3-anonymity needs 3 records and the table has 2", "distinct 4-diversity of ward needs 4 distinct values and the table has 1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%q is missing in %v", part, err)
		}
	}
	if set.Feasible(summary(1, 2, 3, 4)) != nil {
		t.Error("a feasible set is refused")
	}
	if set.String() != "3-anonymity and distinct 4-diversity of ward" {
		t.Errorf("named %q", set)
	}
}

// TestRestricted: a class is judged by the constraint that is restricted.
func TestRestricted(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		constraint privacy.Constraint
		relative   bool
	}{
		{privacy.DistinctDiversity{L: 3, Name: "ward"}, false}, {privacy.TCloseness{T: 0.3, Name: "ward"}, true},
	} {
		bare, set := privacy.ConstraintSet{row.constraint}, privacy.ConstraintSet{privacy.Restricted{Constraint: row.constraint, Over: []int{1}}}
		whole := privacy.NewPopulation(summary(1, 1, 2, 3))
		for _, class := range []privacy.Summary{summary(), summary(1, 2, 3), summary(1, 1, 1)} {
			if set.Satisfied(class, whole) != bare.Satisfied(class, whole) || (set.Feasible(class) == nil) != (bare.Feasible(class) == nil) {
				t.Errorf("%v over %v", set, class)
			}
		}
		if set.K() != bare.K() || set.String() != bare.String() || set.Relative() != row.relative {
			t.Errorf("%v: k %d, relative %v", set, set.K(), set.Relative())
		}
	}
}

// TestSummary: adding, merging and removing in any order count the same.
func TestSummary(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 1))
	whole, left, right, spare := summary(), summary(), summary(), summary()
	for range 500 {
		codes := []uint32{random.Uint32N(6)}
		whole.Add(codes)
		if random.IntN(2) == 0 {
			left.Add(codes)
		} else {
			right.Add(codes)
			spare.Add(codes)
			spare.Remove(codes)
		}
	}
	left.Merge(right)
	if !reflect.DeepEqual(whole, left) {
		t.Errorf("%v merged, %v counted", left, whole)
	}
	if !reflect.DeepEqual(spare, summary()) {
		t.Errorf("%v is left of nothing", spare)
	}
}
