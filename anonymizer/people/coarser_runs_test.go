package people_test

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// TestRunsLoseLeast: no division into runs of k owners, in the order of the beginnings, middles or ends, loses less.
func TestRunsLoseLeast(t *testing.T) {
	t.Parallel()
	date := attribute("date", hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate})
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		n, k := 1+random.IntN(8), 1+random.IntN(6)
		labels, owners, ends, all := make([]hierarchy.Generalization, n), make([][]uint32, n), make([][2]float64, n), map[uint32]bool{}
		for i := range n {
			ends[i][0] = float64(8000 + random.IntN(50))
			ends[i][1] = ends[i][0] + float64(random.IntN(30))
			labels[i] = date.Hierarchy.Generalize([]hierarchy.Cell{ends[i][0], ends[i][1]})
			for range 1 + random.IntN(4) {
				owner := uint32(random.IntN(9))
				owners[i], all[owner] = append(owners[i], owner), true
			}
		}
		if len(all) < k {
			continue
		}
		runs := people.RunsOf(date, labels, owners, k)
		loss, found := lossOfRuns(runs, ends, owners, k), math.Inf(1)
		for _, share := range []float64{0, 0.5, 1} {
			order := make([]int, n)
			for i := range order {
				order[i] = i
			}
			slices.SortStableFunc(order, func(x, y int) int {
				return cmp.Compare(ends[x][0]+share*(ends[x][1]-ends[x][0]), ends[y][0]+share*(ends[y][1]-ends[y][0]))
			})
			for cuts := range 1 << (n - 1) {
				division := [][]int{{order[0]}}
				for i, at := range order[1:] {
					if cuts>>i&1 == 1 {
						division = append(division, nil)
					}
					division[len(division)-1] = append(division[len(division)-1], at)
				}
				found = min(found, lossOfRuns(division, ends, owners, k))
			}
		}
		if !(loss <= found) {
			t.Fatalf("%v lose %v, others %v: k = %d, cells %v of %v", runs, loss, found, k, ends, owners)
		}
	}
}

// lossOfRuns is the width of each row's run; infinite where one has not enough owners, or a cell is in none or two.
func lossOfRuns(runs [][]int, ends [][2]float64, owners [][]uint32, k int) (loss float64) {
	seen := map[int]bool{}
	for _, run := range runs {
		low, high, rows, of := math.Inf(1), math.Inf(-1), 0, map[uint32]bool{}
		for _, at := range run {
			if seen[at] {
				return math.Inf(1)
			}
			seen[at] = true
			low, high, rows = min(low, ends[at][0]), max(high, ends[at][1]), rows+len(owners[at])
			for _, owner := range owners[at] {
				of[owner] = true
			}
		}
		if len(of) < k {
			return math.Inf(1)
		}
		loss += float64(rows) * (high - low)
	}
	if len(seen) < len(ends) {
		return math.Inf(1)
	}
	return loss
}

// TestUnionsOfVisits: where one row is known, unions of cells lose little more than the least that any could; where all is known, guarded classes are
// united by their slots, so that most rows find others beside them.
func TestUnionsOfVisits(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 1200, visits: 3, windows: 3, flat: true}.data(3)
	random := rand.New(rand.NewPCG(5, 6))
	options := people.MaintainedOptions{Method: method, Random: random, Pseudonym: func(int) uint64 { return random.Uint64() }}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	coarser := people.CoarserOptions{K: 10, Random: random, Pseudonym: options.Pseudonym}
	m, err := people.NewMaintained(shapeOf(d), constraints, people.Knows{}, options)
	if err != nil {
		t.Fatal(err)
	}
	c, err := people.NewCoarser(m, coarser)
	if err != nil {
		t.Fatal(err)
	}
	insertAll(t, d, m.Insert)
	fine, err := m.Settle(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	united, err := c.Settle(context.Background(), fine)
	if err != nil {
		t.Fatal(err)
	}
	visits := d.Tables[0].Rows.Attributes()
	loss, _ := lossOf(visits, united.Tables[0].Cells)
	if least := leastOfUnions(d, fine, united, 10); loss < least || loss > 1.12*least {
		t.Errorf("visits lose %.4f, at least %.4f", loss, least)
	}

	g, err := people.NewGuarded(shapeOf(d), constraints, people.Knows{All: true}, people.GuardedOptions{MaintainedOptions: options, RowsWithin: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := g.AddCoarser(coarser)
	if err != nil {
		t.Fatal(err)
	}
	insertAll(t, d, func(table int, r people.Row) error { return g.Insert(table, r, guardedStart) })
	if _, err := g.Publish(context.Background(), guardedStart); err != nil {
		t.Fatal(err)
	}
	cells := guarded.Changes()[1].Cells
	loss, _ = lossOf(visits, cells)
	keyed := 0
	for _, cell := range cells {
		keyed += len(cell.Rows)
	}
	t.Logf("guarded: loss %.3f, keyed %.3f", loss, float64(keyed)/float64(d.Tables[0].Rows.Len()))
	if share := float64(keyed) / float64(d.Tables[0].Rows.Len()); share < 0.7 || loss > 0.33 {
		t.Errorf("visits lose %.3f, and %.3f of them are shown", loss, share)
	}
}

// TestFirstGroupsLoseLittle: where all is known, groups that are made of all classes at once lose little more than a release that is made alone, of
// root values and visits, and about as many visits keep their keys.
func TestFirstGroupsLoseLittle(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 1200, visits: 3, windows: 3, flat: true}.data(3)
	fine, united, alone := unitedAndAlone(t, d, people.Knows{All: true}, 10)
	shape := shapeOf(d)
	root, _ := lossOf(shape.Root, united.Root.Cells)
	rootAlone, _ := lossOf(shape.Root, alone.Root.Cells)
	visits, keyed := lossOf(shape.Tables[0].Attributes, united.Tables[0].Cells)
	visitsAlone, keyedAlone := lossOf(shape.Tables[0].Attributes, alone.Tables[0].Cells)
	t.Logf("%d finer classes: root %.4f, %.4f alone; visits %.4f, %.4f; keyed %.4f, %.4f", len(fine.Root.Cells), root, rootAlone, visits, visitsAlone, keyed, keyedAlone)
	if root > 1.1*rootAlone || visits > 1.15*visitsAlone || keyed < keyedAlone {
		t.Errorf("root loses %.4f, %.4f alone; visits %.4f, %.4f; keyed %.4f, %.4f", root, rootAlone, visits, visitsAlone, keyed, keyedAlone)
	}
}
