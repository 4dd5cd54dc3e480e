package people_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// jointRow is a row of a group of classes in one window.
type jointRow struct {
	at    float64 // its share of the axis
	owner int32
	class int // within the group
}

// jointBound bounds from below what the rows of a group lose in one window, whatever cells of least persons each class's rows are cut into: so
// whatever the finest release pays, and however it looks at the coarser one. These are runs of each class's rows, and a union of k persons
// takes the cells of each class in their order.
//
// For two classes, this is the least by dynamic programming over the rows of both. Of more, it is relaxed: two classes are looked at
// at a time, each class in two pairs, and of the others only persons count who have rows in the range that the union covers, of
// classes of which there are enough for a cell. A range that is wide enough costs what the narrowest such one does.
func jointBound(rows []jointRow, classes, least, k int) (lost float64) {
	slices.SortFunc(rows, func(a, b jointRow) int { return cmp.Compare(a.at, b.at) })
	w := newJointWindow(rows, classes, least, k)
	if classes == 2 {
		return w.pair(0, 1)
	}
	for class := range classes {
		lost += w.pair(class, (class+1)%classes) / 2
	}
	return lost
}

// jointWindow counts persons of ranges.
type jointWindow struct {
	rows     []jointRow
	places   [][]int   // of each class's rows
	before   [][]int   // how many rows of a class are before a place
	owners   [][][]int // of each class: the persons of its rows from one up to another
	least, k int
}

func newJointWindow(rows []jointRow, classes, least, k int) *jointWindow {
	w := &jointWindow{rows: rows, places: make([][]int, classes), before: make([][]int, classes), owners: make([][][]int, classes), least: least, k: k}
	for i, r := range rows {
		for class := range classes {
			w.before[class] = append(w.before[class], len(w.places[class]))
		}
		w.places[r.class] = append(w.places[r.class], i)
	}
	for class := range classes {
		w.before[class] = append(w.before[class], len(w.places[class]))
		n := len(w.places[class])
		w.owners[class] = make([][]int, n+1)
		for from := range w.owners[class] {
			w.owners[class][from] = make([]int, n+1)
			seen := map[int32]bool{}
			for to := from + 1; to <= n; to++ {
				seen[rows[w.places[class][to-1]].owner] = true
				w.owners[class][from][to] = len(seen)
			}
		}
	}
	return w
}

// pair is the least that the rows of two classes lose in unions, in order; infinite where there is none.
func (w *jointWindow) pair(a, b int) float64 {
	widths, others := map[int][][]float64{}, w.others(a, b)
	n, m := len(w.places[a]), len(w.places[b])
	lost := make([][]float64, n+1)
	for i := range lost {
		lost[i] = make([]float64, m+1)
		for j := range lost[i] {
			lost[i][j] = math.Inf(1)
		}
	}
	lost[0][0] = 0
	for i := range lost {
		for j := range lost[i] {
			if math.IsInf(lost[i][j], 1) {
				continue
			}
			for x := i; x <= n; x++ {
				for y := j; y <= m; y++ {
					of, and := w.owners[a][i][x], w.owners[b][j][y]
					if x > i && of < w.least || y > j && and < w.least || x == i && y == j {
						continue
					}
					missing := max(0, w.k-of-and)
					if len(w.places) == 2 && missing > 0 {
						continue
					}
					if widths[missing] == nil {
						widths[missing] = w.widths(others, missing)
					}
					first, last := len(w.rows), -1
					if x > i {
						first, last = w.places[a][i], w.places[a][x-1]
					}
					if y > j {
						first, last = min(first, w.places[b][j]), max(last, w.places[b][y-1])
					}
					lost[x][y] = min(lost[x][y], lost[i][j]+widths[missing][first][last]*float64(x-i+y-j))
				}
			}
		}
	}
	return lost[n][m]
}

// others counts the persons of other classes in each range of rows, of those classes that have enough there.
func (w *jointWindow) others(a, b int) [][]int {
	counts := make([][]int, len(w.rows))
	for first := range counts {
		counts[first] = make([]int, len(w.rows))
		for last := first; last < len(w.rows); last++ {
			for class := range w.places {
				if class == a || class == b {
					continue
				}
				if n := w.owners[class][w.before[class][first]][w.before[class][last+1]]; n >= w.least {
					counts[first][last] += n
				}
			}
		}
	}
	return counts
}

// widths are those of the narrowest range that holds one and so many persons of others.
func (w *jointWindow) widths(others [][]int, persons int) [][]float64 {
	n := len(w.rows)
	widths := make([][]float64, n)
	for first := range n {
		widths[first] = make([]float64, n)
		for last := n - 1; last >= first; last-- {
			least := math.Inf(1)
			switch {
			case others[first][last] >= persons:
				least = w.rows[last].at - w.rows[first].at
			default:
				if first > 0 {
					least = widths[first-1][last]
				}
				if last < n-1 {
					least = min(least, widths[first][last+1])
				}
			}
			widths[first][last] = least
		}
	}
	return widths
}

// jointGroup is a group of finer classes in a window.
type jointGroup struct {
	group  int64
	window int32
}

// leastOfCells is what jointBound says of all groups of a coarser release and windows of the first table, as lossOf measures it. Groups where no such
// union is, and those of one class, count nothing.
func leastOfCells(d *people.Data, finer, coarser *people.MaintainedChanges, least, k int) float64 {
	of := [2]map[incremental.RecordID]int64{{}, {}} // the class, and the group, of persons
	for i, changes := range []*people.MaintainedChanges{finer, coarser} {
		for _, cell := range changes.Root.Cells {
			for _, r := range cell.Rows {
				of[i][r.ID] = cell.ID
			}
		}
	}
	visits := d.Tables[0]
	attribute := visits.Rows.Attributes()[0]
	labels := make([]hierarchy.Generalization, visits.Rows.Len())
	for row := range labels {
		labels[row] = attribute.Hierarchy.Generalize([]hierarchy.Cell{visits.Rows.Cells(0)[row]})
	}
	spans := hierarchy.SpansOf(attribute.Hierarchy, labels)
	low := math.Inf(1)
	for _, span := range spans.Of {
		low = min(low, span.Least)
	}
	groups, numbers := map[jointGroup][]jointRow{}, map[int64]map[int64]int{}
	for row, person := range visits.Of {
		id := incremental.RecordID(person + 1)
		group, class := of[1][id], of[0][id]
		if numbers[group] == nil {
			numbers[group] = map[int64]int{}
		}
		number, known := numbers[group][class]
		if !known {
			number = len(numbers[group])
			numbers[group][class] = number
		}
		key := jointGroup{group, visits.Window[row]}
		groups[key] = append(groups[key], jointRow{spans.Share(low, spans.Of[row].Least), person, number})
	}
	lost := 0.0
	for key, rows := range groups {
		if classes := len(numbers[key.group]); classes > 1 {
			if bound := jointBound(rows, classes, least, k); !math.IsInf(bound, 1) {
				lost += bound
			}
		}
	}
	return lost / float64(len(visits.Of))
}

// unitedAndAlone makes a release of k = 5, one over it, and one alone, from the same data.
func unitedAndAlone(t testing.TB, d *people.Data, knows people.Knows, k int) (fine, united, alone *people.MaintainedChanges) {
	t.Helper()
	random := rand.New(rand.NewPCG(5, 6))
	pseudonym := func(int) uint64 { return random.Uint64() }
	m, fine := settled(t, d, knows, 5, random)
	c, err := people.NewCoarser(m, people.CoarserOptions{K: k, Random: random, Pseudonym: pseudonym})
	if err != nil {
		t.Fatal(err)
	}
	if united, err = c.Settle(context.Background(), fine); err != nil {
		t.Fatal(err)
	}
	_, alone = settled(t, d, knows, k, random)
	return fine, united, alone
}

// TestCellsForAudiences: where classes are made by the root's values, no way of cutting the finest release's rows into cells lets unions lose at most a
// tenth more than a release that is made alone, whatever the finest release pays for it.
func TestCellsForAudiences(t *testing.T) {
	t.Parallel()
	d := hospital{persons: 1200, visits: 3, windows: 3, flat: true}.data(2)
	fine, coarse, alone := unitedAndAlone(t, d, people.Knows{}, 10)
	visits := shapeOf(d).Tables[0].Attributes
	united, _ := lossOf(visits, coarse.Tables[0].Cells)
	own, _ := lossOf(visits, alone.Tables[0].Cells)
	least := leastOfCells(d, fine, coarse, 5, 10)
	t.Logf("visits lose %.4f in unions, at least %.4f, and %.4f alone", united, least, own)
	if least > united || least < 1.1*own {
		t.Errorf("visits lose %.4f in unions, at least %.4f, and %.4f alone", united, least, own)
	}
}

// BenchmarkCellsForAudiences is TestCellsForAudiences for several k over 5.
func BenchmarkCellsForAudiences(b *testing.B) {
	d := hospital{persons: *benchmarked, visits: 3, windows: 3, flat: true}.data(1)
	visits := shapeOf(d).Tables[0].Attributes
	for _, k := range []int{10, 15, 25} {
		b.Run(fmt.Sprintf("k=%d", k), func(b *testing.B) {
			for b.Loop() {
				fine, coarse, alone := unitedAndAlone(b, d, people.Knows{}, k)
				united, _ := lossOf(visits, coarse.Tables[0].Cells)
				own, _ := lossOf(visits, alone.Tables[0].Cells)
				b.ReportMetric(100*united, "united-visits-%")
				b.ReportMetric(100*own, "alone-visits-%")
				b.ReportMetric(100*leastOfCells(d, fine, coarse, 5, k), "least-visits-%")
			}
		})
	}
}

// TestJointBound: of two classes, the bound is what the best cells and unions lose; of three, no more.
func TestJointBound(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	for range 60 {
		classes := 2 + random.IntN(2)
		var rows []jointRow
		for class := range classes {
			for range 2 + random.IntN(6-classes) {
				rows = append(rows, jointRow{float64(random.IntN(20)), int32(10*class + random.IntN(4)), class})
			}
		}
		bound := jointBound(rows, classes, 2, 4)
		of := make([][]jointRow, classes)
		for _, r := range rows { // in their order
			of[r.class] = append(of[r.class], r)
		}
		best := leastInOrder(of, 2, 4)
		if math.IsInf(best, 1) {
			continue
		}
		if bound > best+1e-9 || classes == 2 && bound < best-1e-9 {
			t.Fatalf("%d classes lose %v, and the bound is %v: %v", classes, best, bound, rows)
		}
	}
}

// leastInOrder tries all unions of the first rows of each class, and all others behind them. A part of a class can be one cell.
func leastInOrder(of [][]jointRow, least, k int) float64 {
	if !slices.ContainsFunc(of, func(rows []jointRow) bool { return len(rows) > 0 }) {
		return 0
	}
	best := math.Inf(1)
	var try func(class int, union []jointRow, persons int, rest [][]jointRow)
	try = func(class int, union []jointRow, persons int, rest [][]jointRow) {
		if class == len(of) {
			if len(union) == 0 || persons < k {
				return
			}
			low, high := math.Inf(1), math.Inf(-1)
			for _, r := range union {
				low, high = min(low, r.at), max(high, r.at)
			}
			best = min(best, (high-low)*float64(len(union))+leastInOrder(rest, least, k))
			return
		}
		for n := range len(of[class]) + 1 {
			owners := map[int32]bool{}
			for _, r := range of[class][:n] {
				owners[r.owner] = true
			}
			if n == 0 || len(owners) >= least {
				try(class+1, slices.Concat(union, of[class][:n]), persons+len(owners), append(slices.Clone(rest), of[class][n:]))
			}
		}
	}
	try(0, nil, 0, nil)
	return best
}
