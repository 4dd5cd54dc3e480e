package people_test

import (
	"flag"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

var frontier = flag.Bool("people.frontier", false, "measure 20,000 persons and not 1,000")

// TestFrontier prints what is lost, and what outsiders achieve, at several points between
// knowing nothing of rows and knowing all; and checks that what is granted costs nobody
// the k persons.
func TestFrontier(t *testing.T) {
	t.Parallel()
	persons, targets := 1000, 100
	if *frontier {
		persons, targets = 20000, 1000
	}
	t.Log("                      root    date  width  linked | mean of 1/candidates at 0, 1, 2, 3, all rows known")
	for _, c := range []struct {
		name    string
		windows int
		knows   people.Knows
		weight  float64
		granted int
	}{
		{"one row, crowd 4", 0, people.Knows{Crowd: 4}, 0, 1},
		{"one row, crowd 8", 0, people.Knows{Crowd: 8}, 0, 1},
		{"one a year, crowd 8", 3, people.Knows{Crowd: 8}, 0, 1},
		{"one a year, crowd 16", 3, people.Knows{Crowd: 16}, 0, 1},
		{"all, root weight 1", 0, people.Knows{All: true}, 1, people.AllRows},
		{"all, root weight 2", 0, people.Knows{All: true}, 2, people.AllRows},
		{"all, root weight 4", 0, people.Knows{All: true}, 4, people.AllRows},
	} {
		d := hospital{persons: persons, visits: 3.03, flat: true, windows: c.windows}.data(1)
		r, err := people.Anonymize(t.Context(), d, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, c.knows,
			people.Options{Options: anonymizer.Options{Seed: 1}, Method: method, RootWeight: c.weight})
		if err != nil {
			t.Fatal(err)
		}
		var risks []float64
		for _, known := range []int{0, 1, 2, 3, people.AllRows} {
			risk := people.Attack(d, r, known, 5, targets, 1)
			risks = append(risks, risk.Mean)
			if (c.knows.All || known >= 0 && known <= c.granted) && risk.Below > 0 {
				t.Errorf("%s: %d rows known: %+v", c.name, known, risk)
			}
		}
		f := measure(t, d, r)
		t.Logf("%-21s %.4f  %.4f  %5.1f  %5.1f%% | %.3f", c.name, f.root, f.date, f.width, 100*f.linked, risks)
	}
}
