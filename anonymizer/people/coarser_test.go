package people_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// coarse is what the readers of a coarser release see of a world.
type coarse struct {
	*world
	of     *people.Coarser
	number uint64
	stated privacy.ConstraintSet // on sensitive values, for it and for those before
}

// coarser adds a release over one.
func (w *world) coarser(k int, number uint64) *coarse {
	seen := *w
	c := &coarse{world: &seen, number: number}
	c.k, c.seen, c.stored, c.within = k, nil, nil, w
	for range w.source {
		c.seen = append(c.seen, map[incremental.RecordID]seenRow{})
		c.stored = append(c.stored, map[incremental.RecordID]incremental.ClassID{})
	}
	c.begin(w.maintained)
	return c
}

// limitsOf are limits of the attributes of a first and of a second coarser release.
var limitsOf = []map[string]hierarchy.Coarseness{
	{"date": {Units: []hierarchy.Unit{hierarchy.Month, hierarchy.Quarter, hierarchy.Year}}, "number": {Steps: []float64{10, 50}}},
	{"date": {Units: []hierarchy.Unit{hierarchy.Quarter}}, "number": {Steps: []float64{50}}},
}

// limitedOf are the attributes of the release with a number, of those of the release before it.
func (w *world) limitedOf(finer [][]anonymizer.Attribute, number uint64) (limited [][]anonymizer.Attribute) {
	for _, attributes := range finer {
		shown := []anonymizer.Attribute{}
		for _, a := range attributes {
			spec := map[string]hierarchy.Spec{"date": {Kind: hierarchy.Date, Domain: hierarchy.DomainDate}, "number": {Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger}}[a.Name]
			for _, limits := range limitsOf[:number-1] {
				spec = limits[a.Name].Of(spec)
			}
			h, err := hierarchy.Coarser(a.Hierarchy, spec, limitsOf[number-1][a.Name])
			w.must(err)
			shown = append(shown, anonymizer.Attribute{Name: a.Name, Hierarchy: h})
		}
		limited = append(limited, shown)
	}
	return limited
}

// limited adds a coarser release over one which has the limits before it, if any.
func (w *world) limited(k int, number uint64) *coarse {
	seen := *w
	seen.attributes = w.limitedOf(w.attributes, number)
	c := seen.coarser(k, number)
	c.within = w
	return c
}

func (c *coarse) begin(of *people.Maintained) {
	pseudonym := c.number << 32
	c.maintained = of
	var err error
	c.of, err = people.NewCoarser(of, people.CoarserOptions{K: c.k, Constraints: c.stated, Root: c.attributes[0], Tables: c.attributes[1:], Seed: 1, Random: rand.New(rand.NewPCG(1, 2)), Pseudonym: func(int) uint64 { pseudonym++; return pseudonym }})
	c.must(err)
	c.class = c.of.Group
}

// settle follows a Settle of the finer release.
func (c *coarse) settle(finer *people.MaintainedChanges) *people.MaintainedChanges {
	c.t.Helper()
	changes, err := c.of.Settle(c.t.Context(), finer)
	c.must(err)
	c.follow(0, changes.Root)
	for i, of := range changes.Tables {
		c.follow(i+1, of)
	}
	for table, rows := range c.source {
		for id := range rows {
			if group := c.of.Group(table-1, id); group != c.stored[table][id] {
				c.t.Errorf("table %d: row %d is in group %d, and the store has %d", table, id, group, c.stored[table][id])
			}
		}
	}
	return changes
}

// nests: what the finer release publishes alike, the coarser one does.
func (c *coarse) nests() error {
	for table := range c.within.seen {
		cells, values := map[int64]seenRow{}, map[int64][]seenRow{}
		for id, fine := range c.within.seen[table] {
			r := c.seen[table][id]
			if first, known := cells[fine.cell]; known && (first.cell != r.cell || first.pooled != r.pooled) {
				return fmt.Errorf("table %d: rows of one cell are in the cells %d and %d", table, first.cell, r.cell)
			}
			if fine.pooled && r.cell != 0 && !r.pooled {
				return fmt.Errorf("table %d: row %d gets keys", table, id)
			}
			cells[fine.cell] = r
			if r.cell != 0 {
				values[r.cell] = append(values[r.cell], fine)
			}
		}
		for id, r := range c.seen[table] {
			if _, known := c.within.seen[table][id]; !known {
				return fmt.Errorf("table %d: row %d is published, and not in the finer release", table, id)
			}
			for a := range r.values {
				var parts []hierarchy.Generalization
				for _, fine := range values[r.cell] {
					parts = append(parts, hierarchy.Show(c.attributes[table][a].Hierarchy, fine.values[a]))
				}
				if want := hierarchy.Union(c.attributes[table][a].Hierarchy, parts); want != r.values[a] {
					return fmt.Errorf("table %d: row %d shows %v, and its finer cells %v together", table, id, r.values[a], want)
				}
			}
		}
	}
	return nil
}

// settled settles a world with its coarser releases.
func (w *world) settled(chain []*coarse) {
	w.t.Helper()
	changes, err := w.maintained.Settle(w.t.Context())
	w.must(err)
	w.follow(0, changes.Root)
	for i, c := range changes.Tables {
		w.follow(i+1, c)
	}
	for _, c := range chain {
		changes = c.settle(changes)
	}
}

// restarted begins anew with what a store has.
func (w *world) restarted(chain []*coarse) {
	w.restart()
	for _, c := range chain {
		c.begin(w.maintained)
		for table := range c.stored {
			clear(c.seen[table])
			for id, group := range c.stored[table] {
				if _, there := w.source[table][id]; there {
					c.of.Restore(table-1, id, group)
				}
			}
		}
	}
}

// TestCoarserReleases: coarser releases follow random changes, keep the promise for their k, and are made of
// what the finer one shows; in all kinds of what is known.
func TestCoarserReleases(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}, "one row, small classes": {Crowd: 1}} {
		for _, alpha := range []float64{1, 0.7} {
			for seed := range uint64(8) {
				t.Run(fmt.Sprintf("%s, alpha %v, seed %d", name, alpha, seed), func(t *testing.T) {
					t.Parallel()
					w := newWorld(t, seed, 3, knows, 2, alpha)
					for range 900 {
						w.operate()
					}
					chain := []*coarse{w.coarser(6, 1)}
					if chain = append(chain, chain[0].coarser(12, 2)); seed%2 == 1 {
						chain = []*coarse{w.limited(6, 1)}
						chain = append(chain, chain[0].limited(12, 2))
					}
					kept, groups := 0, 0
					for round := range 25 {
						w.settled(chain)
						for i, c := range chain {
							for _, check := range []func() error{c.check, c.aliases, c.nests} {
								if err := check(); err != nil {
									t.Fatalf("round %d, release %d: %v", round, i+1, err)
								}
							}
							groups += c.of.Classes()
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
						case 5, 9:
							w.settled(chain)
							before := chain[0].groupings()
							w.restarted(chain)
							w.settled(chain)
							if after := chain[0].groupings(); alpha == 1 && !slices.Equal(before, after) {
								t.Fatalf("round %d: a restart divides persons otherwise", round)
							}
						case 12:
							w.restarted(chain)
						case 15:
							w.truncate(1)
						case 18:
							w.leave(5) // too few for the coarser ones
						case 21:
							w.truncate(0)
						}
					}
					if kept < 60 || groups < 12 {
						t.Errorf("%d rows had keys in %d groups: the test shows nothing", kept, groups)
					}
				})
			}
		}
	}
}

// groupings are the persons of each group, in order.
func (c *coarse) groupings() (groups []string) {
	of := map[int64][]int{}
	for id, r := range c.seen[0] {
		of[r.cell] = append(of[r.cell], int(id))
	}
	for _, ids := range of {
		slices.Sort(ids)
		groups = append(groups, fmt.Sprint(ids))
	}
	slices.Sort(groups)
	return groups
}

// TestSecretsDoNotMatterToCoarser: tables that differ only in what the finer release does not show have the same
// coarser release, to the last pseudonym.
func TestSecretsDoNotMatterToCoarser(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := range uint64(6) {
			w := newWorld(t, seed, 3, knows, 2, 1)
			w.grow(300, 2000)
			changes, err := w.maintained.Settle(t.Context())
			w.must(err)
			made := make([]*people.MaintainedChanges, 2)
			scrambled := 0
			for i := range made {
				c := w.coarser(7, 1)
				if seed%2 == 1 {
					c = w.limited(7, 1)
				}
				made[i], err = c.of.Settle(t.Context(), changes)
				w.must(err)
				for table := people.Root; table < len(changes.Tables); table++ {
					cells := changes.Root.Cells
					if table != people.Root {
						cells = changes.Tables[table].Cells
					}
					scrambled += w.scramble(table, cells)
				}
			}
			if !reflect.DeepEqual(made[0], made[1]) {
				t.Errorf("%s, seed %d: the coarser releases differ", name, seed)
			}
			if len(made[0].Root.Cells) < 2 || scrambled < 400 {
				t.Errorf("%s, seed %d: %d groups, %d rows: the test shows nothing", name, seed, len(made[0].Root.Cells), scrambled)
			}
		}
	}
}

// TestSecretsDoNotMatterToCoarserOverTime: nor do they matter to what later versions show, and to which groups exchange classes then.
func TestSecretsDoNotMatterToCoarserOverTime(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := range uint64(3) {
			w := newWorld(t, seed, 3, knows, 2, 1)
			w.grow(300, 2000)
			pair, regrouped := []*coarse{w.coarser(7, 1), w.coarser(7, 1)}, 0
			for round := range 25 {
				changes, err := w.maintained.Settle(t.Context())
				w.must(err)
				var made [2]*people.MaintainedChanges
				for i, c := range pair {
					made[i], err = c.of.Settle(t.Context(), changes)
					w.must(err)
					w.scramble(people.Root, changes.Root.Cells)
					for table := range changes.Tables {
						w.scramble(table, changes.Tables[table].Cells)
					}
				}
				if !reflect.DeepEqual(made[0], made[1]) {
					t.Fatalf("%s, seed %d, round %d: the coarser releases differ", name, seed, round)
				}
				regrouped += len(made[0].Root.Cells)
				for range 8 {
					w.operate()
				}
			}
			if regrouped < 25 {
				t.Errorf("%s, seed %d: %d groups were made: the test shows nothing", name, seed, regrouped)
			}
		}
	}
}

// TestUnknownRowsChangeAloneInCoarser: where rows that no outsider knows change alone in the finer release, they do in the coarser one.
func TestUnknownRowsChangeAloneInCoarser(t *testing.T) {
	t.Parallel()
	for name, knows := range map[string]people.Knows{"all": {All: true}, "one row": {Crowd: 2}} {
		for seed := uint64(4); seed < 8; seed += 2 {
			w := newWorld(t, seed, 3, knows, 2, 1)
			for range 900 {
				w.operate()
			}
			chain := []*coarse{w.coarser(6, 1)}
			w.settled(chain)
			alone := 0
			for round := range 60 {
				finer, before := maps.Clone(w.seen[1]), []map[incremental.RecordID]seenRow{maps.Clone(chain[0].seen[1]), maps.Clone(chain[0].seen[2])}
				for range 1 + w.random.IntN(4) {
					w.operateOn(3 + w.random.IntN(2))
				}
				w.settled(chain)
				for _, check := range []func() error{chain[0].check, chain[0].aliases, chain[0].nests} {
					if err := check(); err != nil {
						t.Fatalf("%s, seed %d, round %d: %v", name, seed, round, err)
					}
				}
				same := func(a, b seenRow) bool { return a.PublishedRow == b.PublishedRow && a.cell == b.cell }
				if maps.EqualFunc(finer, w.seen[1], same) && maps.EqualFunc(before[0], chain[0].seen[1], same) && maps.EqualFunc(before[1], chain[0].seen[2], same) {
					alone++
				}
			}
			if alone < 15 {
				t.Errorf("%s, seed %d: known rows stayed in %d of 60 rounds", name, seed, alone)
			}
		}
	}
}
