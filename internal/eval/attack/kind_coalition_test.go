package attack

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/people"
)

func smallKind(seed uint64, k ...int) KindSetup {
	s := DefaultKind()
	s.Seed, s.Persons, s.Days, s.Rate, s.K = seed, 120, 40, 2.5, k
	return s
}

// TestPoolingReleasesOfAKindGainsNothing: readers of several audiences of tables about the same persons who pool what they have, over
// all versions, are left with as many persons as with the finest release alone, and guess values no better; where updates are guarded or
// they have one version, no better than one static release of the finest allows, and a column of the last audience no better than from a finest release
// with it. Releases that are made apart from each other tell more.
func TestPoolingReleasesOfAKindGainsNothing(t *testing.T) {
	t.Parallel()
	for _, s := range []KindSetup{smallKind(1, 3, 9), smallKind(2, 3, 9), smallKind(3, 2, 4, 8)} {
		t.Run(fmt.Sprint("seed ", s.Seed), func(t *testing.T) {
			t.Parallel()
			o, err := RunKindCoalitions(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			alone := map[string]KindCoalition{}
			for _, r := range o.Runs {
				if len(r.Readers) == 1 {
					alone[fmt.Sprint(r.Known, r.Updates, r.Read, r.Readers[0])] = r
				}
			}
			if want := 2 * 2 * 2 * (1<<len(s.K) - 1 + 1); len(o.Runs) != want {
				t.Errorf("there are %d runs, and not %d", len(o.Runs), want)
			}
			for _, r := range o.Runs {
				checkKindCoalition(t, r, alone[fmt.Sprint(r.Known, r.Updates, r.Read, r.Readers[0])])
			}
		})
	}
}

// checkKindCoalition checks what readers learn, beside who has the finest of their releases alone.
func checkKindCoalition(t *testing.T, r, alone KindCoalition) {
	t.Helper()
	name := fmt.Sprintf("%s known, %s, %s, %s versions, k = %v", r.Known, r.Updates, r.Releases, r.Read, r.Readers)
	if r.Identity.Targets < 50 || r.Value.Targets < 50 {
		t.Errorf("%s: only %d persons and %d values are attacked", name, r.Identity.Targets, r.Value.Targets)
	}
	if r.Releases == apartReleases { // what all versions of immediate updates tell is much already
		if r.Read == lastVersion && (r.Identity.Fewest >= alone.Identity.Fewest || r.Identity.Candidates >= alone.Identity.Candidates || r.Value.Posterior <= alone.Value.Posterior) {
			t.Errorf("%s: pooling tells nothing: %+v", name, r)
		}
		return
	}
	if r.Identity != alone.Identity {
		t.Errorf("%s: persons left are %+v, and with the finest release alone %+v", name, r.Identity, alone.Identity)
	}
	if r.Value != alone.Value {
		t.Errorf("%s: values are guessed as %+v, and with the finest release alone %+v", name, r.Value, alone.Value)
	}
	const little = 1e-9
	if c := r.Column; c != nil && (c.Right > r.InFinest.Right+little || c.Certain > r.InFinest.Certain+little) {
		t.Errorf("%s: the column is guessed as %+v, and from a finest release with it %+v", name, *c, *r.InFinest)
	}
	if r.Updates == "immediate" && r.Read == allVersions { // which each reader of versions learns much from
		return
	}
	if r.Identity.Fewest < r.Readers[0] || r.Identity.Fewer > 0 || r.Identity.Risk > 1/float64(r.Readers[0])+little || r.AllowedIdentity.Fewest < r.Readers[0] {
		t.Errorf("%s: persons left are %+v", name, r.Identity)
	}
	if r.Value.Right > r.AllowedValue.Right+little || r.Value.Posterior > r.AllowedValue.Posterior+little {
		t.Errorf("%s: values are guessed as %+v; allowed is %+v", name, r.Value, r.AllowedValue)
	}
	if c := r.Column; c != nil && c.Right > r.AllowedColumn.Right+little {
		t.Errorf("%s: the column is guessed as %+v; allowed is %+v", name, *c, *r.AllowedColumn)
	}
}

// TestAColumnOfTheLastAudienceIsJoined: who pools a finest release with a coarser one that has a further column guesses it better than from the coarser
// one alone, of the same rows.
func TestAColumnOfTheLastAudienceIsJoined(t *testing.T) {
	t.Parallel()
	w := newKindWorld(smallKind(4, 3, 9))
	releases, _, err := w.release(t.Context(), false, false, true)
	if err != nil {
		t.Fatal(err)
	}
	finest, coarsest := releases[0].last(), releases[1].last()
	alone := finest.guessed(lastVersion, furtherOf, newKindKnowing(coarsest.published(furtherOf)).guess)
	joined := finest.guessed(lastVersion, furtherOf, newKindJoined(finest, coarsest).guess)
	if joined.Right < alone.Right+0.05 {
		t.Errorf("joined, %+v; alone, %+v", joined, alone)
	}
}

// TestSpoiledReleasesOfAKindAreSeen: the attack finds persons whom too few are left with where rows of two cells of a coarser release are exchanged, so
// that these are no unions any more.
func TestSpoiledReleasesOfAKindAreSeen(t *testing.T) {
	t.Parallel()
	w := newKindWorld(smallKind(5, 3, 9))
	for _, c := range []struct {
		all, guarded bool
		table        int
	}{{false, false, visitsTable}, {false, true, visitsTable}, {true, true, drugsTable}, {true, false, people.Root}} {
		releases, _, err := w.release(t.Context(), c.all, c.guarded, true)
		if err != nil {
			t.Fatal(err)
		}
		finest, spoiled := releases[0].last(), releases[1].last()
		var cells []*kindView
		for _, v := range spoiled.views {
			if v.table == c.table && !v.pooled {
				cells = append(cells, v)
			}
		}
		if len(cells) < 2 {
			t.Fatalf("%+v: there are %d cells", c, len(cells))
		}
		run := func() (pooled KindCoalition) {
			pooled.Read = lastVersion
			pooled.attack(c.all, []*kindRelease{finest, spoiled}, finest, false)
			return pooled
		}
		before := run()
		seen := false
		for i, other := range cells[0].rows { // some may be of rows that only the coarser release still shows
			row := cells[1].rows[0]
			cells[0].rows[i], cells[1].rows[0] = row, other
			was := [][]int{slices.Clone(cells[0].rows), slices.Clone(cells[1].rows)}
			slices.Sort(cells[0].rows)
			slices.Sort(cells[1].rows)
			after := run()
			seen = seen || after.Identity.Fewer > before.Identity.Fewer && after.Identity.Fewest < w.setup.K[0]
			cells[0].rows, cells[1].rows = was[0], was[1]
			cells[0].rows[i], cells[1].rows[0] = other, row
			slices.Sort(cells[1].rows)
			if seen {
				break
			}
		}
		if !seen || before.Identity.Fewer > 0 {
			t.Errorf("%+v: nobody notices that rows of %d and %d were exchanged; before, %+v", c, len(cells[0].rows), len(cells[1].rows), before.Identity)
		}
	}
}

// TestKindCoalitionsAreWritten: two runs write the same text, with a line for each set of readers.
func TestKindCoalitionsAreWritten(t *testing.T) {
	t.Parallel()
	s := smallKind(6, 3, 6)
	s.Persons, s.Days = 80, 20
	var texts [2]bytes.Buffer
	for i := range texts {
		o, err := RunKindCoalitions(t.Context(), s)
		if err != nil {
			t.Fatal(err)
		}
		if err := o.WriteText(&texts[i]); err != nil {
			t.Fatal(err)
		}
	}
	if texts[0].String() != texts[1].String() {
		t.Errorf("two runs differ:\n%s\n%s", texts[0].String(), texts[1].String())
	}
	for _, line := range []string{"k = 3", "k = 6", "k = 3 and 6"} {
		if n := strings.Count(texts[0].String(), line+"  "); n < 8 {
			t.Errorf("there are %d lines for %s:\n%s", n, line, texts[0].String())
		}
	}
}

// TestKindSetupsAreChecked: what cannot be simulated is refused.
func TestKindSetupsAreChecked(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(s *KindSetup){
		"k must have 2": func(s *KindSetup) { s.K = []int{5} }, "k must ascend": func(s *KindSetup) { s.K = []int{9, 5} }, "to 4 numbers": func(s *KindSetup) { s.K = []int{2, 3, 4, 5, 6} },
		"persons": func(s *KindSetup) { s.Persons = 0 }, "days": func(s *KindSetup) { s.Days = 0 }, "visits": func(s *KindSetup) { s.Rate = 0 }, "crowd": func(s *KindSetup) { s.Crowd = 0 },
		"deleted": func(s *KindSetup) { s.Deleted = 2 }, "changed": func(s *KindSetup) { s.Changed = -1 },
	} {
		s := DefaultKind()
		change(&s)
		if err := s.Validate(); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := DefaultKind().Validate(); err != nil {
		t.Error(err)
	}
}
