package attack

import (
	"bytes"
	"strings"
	"testing"
)

// TestVisits: immediate updates give the ward of a visit away to who knows its moment, and guarded ones
// give about as much as a single release, but for chance among 300 targets.
func TestVisits(t *testing.T) {
	t.Parallel()
	s := DefaultVisits()
	s.Persons, s.Targets = 400, 100
	var texts [2]bytes.Buffer
	for i := range texts {
		o, err := RunVisits(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.WriteText(&texts[i]); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			continue
		}
		for _, m := range o.Runs {
			if m.Fewest < s.K || m.Risk > 1/float64(s.K) {
				t.Errorf("%s: %d pseudonyms are left, risk %g", m.Mode, m.Fewest, m.Risk)
			}
			for _, a := range m.Attackers {
				if m.Mode != "immediate" && (a.Right > m.Bound.Right+0.12 || a.Kinds["left"] > 0.7) {
					t.Errorf("%s: %s guesses %g, and %g with one release", m.Mode, a.Attacker, a.Right, m.Bound.Right)
				}
			}
		}
		if best := o.Runs[0].best(); best.Kinds["arrived"] < 0.95 || best.Kinds["left"] < 0.95 {
			t.Errorf("an attacker who sees every commit guesses %+v", best)
		}
	}
	if texts[0].String() != texts[1].String() || !strings.Contains(texts[0].String(), "guarded, weeks") {
		t.Errorf("two runs differ:\n%s\n%s", texts[0].String(), texts[1].String())
	}
	t.Log(texts[0].String())
}
