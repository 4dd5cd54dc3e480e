package people_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// holds adds a coarser release over one, with constraints on the sensitive values of its own: those of a share of persons who may have
// one, 1 for none, and of so many different ones, 0 for none.
func (w *world) holds(k int, number uint64, before privacy.ConstraintSet, alpha float64, l int) *coarse {
	c := w.coarser(k, number)
	c.stated, c.alpha, c.l = slices.Clone(before), min(w.alpha, alpha), max(w.l, l)
	for attribute := range 2 {
		if alpha < 1 {
			c.stated = append(c.stated, privacy.AlphaBound{Alpha: alpha, Attribute: attribute})
		}
		if l > 0 {
			c.stated = append(c.stated, privacy.DistinctDiversity{L: l, Attribute: attribute})
		}
	}
	c.begin(w.maintained)
	return c
}

// TestCoarserReleasesHoldTheirConstraints: whatever happens to the tables, the persons of each union with all values of all their rows, those of
// each cell with the values of its window, and those of rows without keys satisfy what is stated for the audience, counted in the source alone.
func TestCoarserReleasesHoldTheirConstraints(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}, "one row, small classes": {Crowd: 1}} {
		for _, windows := range []int32{1, 3} {
			for seed := range uint64(4) {
				t.Run(fmt.Sprintf("%s, %d windows, seed %d", name, windows, seed), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, 2*seed, 3, knows, windows, []float64{1, 0.8}[seed%2])
					for range 900 {
						w.operate()
					}
					chain := []*coarse{w.holds(5, 1, nil, []float64{0.6, 0.5}[seed/2], 0)}
					chain = append(chain, chain[0].holds(8, 2, chain[0].stated, 1, 3))
					kept, groups, withheld := 0, 0, 0
					for round := range 16 {
						w.settled(chain)
						if err := w.check(); err != nil { // what whoever pools the releases is left with
							t.Fatalf("round %d: %v", round, err)
						}
						for i, c := range chain {
							for _, check := range []func() error{c.check, c.aliases, c.nests} {
								if err := check(); err != nil {
									t.Fatalf("round %d, release %d: %v", round, i+1, err)
								}
							}
							groups += c.of.Classes()
							if c.of.Classes() == 0 && len(c.within.seen[0]) > 0 {
								if withheld++; c.of.Feasible() == nil {
									t.Errorf("round %d, release %d: nothing is published, and no reason is told", round, i+1)
								}
							}
							for table := 1; table < len(c.seen); table++ {
								for _, r := range c.seen[table] {
									if !r.pooled {
										kept++
									}
								}
							}
						}
						for range 1 + w.random.IntN(60) {
							w.operate()
						}
						switch round {
						case 3:
							w.settled(chain)
							w.restarted(chain)
						case 6:
							w.restarted(chain)
						case 9:
							w.truncate(1)
						case 12:
							w.leave(5) // too few for the coarser ones
						}
					}
					t.Logf("%d rows had keys in %d groups; withheld %d times", kept, groups, withheld)
					if kept < 25 || groups < 12 {
						t.Errorf("%d rows had keys in %d groups: the test shows nothing", kept, groups)
					}
				})
			}
		}
	}
}

// TestPersonsOfAClassDoNotMatterToCoarser: whose of the persons of a class the rows of another one are, with all of their values, does not matter to
// what is united, nor do the values that cells hide.
func TestPersonsOfAClassDoNotMatterToCoarser(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := range uint64(6) {
			w := newWorld(t, seed, 3, knows, 2, 1)
			w.grow(300, 2000)
			changes, err := w.maintained.Settle(t.Context())
			w.must(err)
			made := make([]string, 2)
			exchanged, groups := 0, 0
			for i := range made {
				c := w.holds(7, 1, nil, 0.5, 2)
				coarser, err := c.of.Settle(t.Context(), changes)
				w.must(err)
				groups = len(coarser.Root.Cells)
				made[i] = united(coarser)
				for _, cell := range changes.Root.Cells {
					for j, r := range cell.Rows {
						if other := cell.Rows[w.random.IntN(j+1)].ID; other != r.ID {
							w.maintained.Exchange(r.ID, other)
							exchanged++
						}
					}
				}
				for table, c := range changes.Tables {
					w.scramble(table, c.Cells)
				}
			}
			if made[0] != made[1] {
				t.Errorf("%s, seed %d: other rows are united", name, seed)
			}
			if groups < 2 || exchanged < 50 {
				t.Errorf("%s, seed %d: %d groups, %d persons exchanged: the test shows nothing", name, seed, groups, exchanged)
			}
		}
	}
}

// united says which rows are published together, and how.
func united(c *people.MaintainedChanges) string {
	text := ""
	for _, of := range append([]people.TableChanges{c.Root}, c.Tables...) {
		for _, cell := range of.Cells {
			var ids []incremental.RecordID
			for _, r := range cell.Rows {
				ids = append(ids, r.ID)
			}
			slices.Sort(ids)
			text += fmt.Sprintln(cell.ID, cell.Pooled, cell.Values, ids)
		}
	}
	return text
}

// TestUnknownRowsCountForCoarser: rows that no outsider knows change alone in the finer release, which counts no values, and count for the audience.
func TestUnknownRowsCountForCoarser(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := uint64(4); seed < 8; seed += 2 {
			w := newWorld(t, seed, 3, knows, 1, 1)
			w.grow(300, 1200)
			c := w.holds(5, 1, nil, 0.45, 0)
			groups, regrouped, before := 0, 0, 0
			for round := range 40 {
				for range 1 + w.random.IntN(12) {
					w.operateOn(3)
				}
				for len(w.source[3]) > len(w.source[0]) {
					id := w.anyRow(3)
					w.must(w.follows.Delete(2, id))
					delete(w.source[3], id)
				}
				w.settled([]*coarse{c})
				for _, check := range []func() error{c.check, c.aliases, c.nests} {
					if err := check(); err != nil {
						t.Fatalf("%s, seed %d, round %d: %v", name, seed, round, err)
					}
				}
				if now := c.of.Classes(); now != before {
					regrouped++
					before = now
				}
				groups += c.of.Classes()
			}
			if groups < 60 || regrouped < 1 {
				t.Errorf("%s, seed %d: %d groups, whose number changed in %d of 40 rounds: the test shows nothing", name, seed, groups, regrouped)
			}
		}
	}
}
