package people_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestOutsidersFindK: whoever knows what the release grants is left with k persons.
func TestOutsidersFindK(t *testing.T) {
	t.Parallel()
	k5 := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	d := hospital{persons: 600, visits: 4, windows: 3}.data(1)
	for name, test := range map[string]struct {
		knows  people.Knows
		known  []int
		beyond int // known rows with which somebody is found
	}{
		"all":     {people.Knows{All: true}, []int{0, 1, 2, 3, people.AllRows}, 0},
		"one row": {people.Knows{}, []int{0, 1}, 4},
	} {
		r := release(t, d, k5, test.knows)
		for _, known := range test.known {
			risk := people.Attack(d, r, known, 5, 100, 1)
			if risk.Targets != 100 || risk.Fewest < 5 || risk.Below > 0 || risk.Mean > 0.2 {
				t.Errorf("%s, %d rows known: %+v", name, known, risk)
			}
		}
		if test.beyond == 0 {
			continue
		}
		if risk := people.Attack(d, r, test.beyond, 5, 100, 1); risk.Below == 0 {
			t.Errorf("%s: with %d rows nobody is found: %+v", name, test.beyond, risk)
		}
	}
}
