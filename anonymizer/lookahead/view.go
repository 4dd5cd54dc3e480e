package lookahead

import (
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/internal/loss"
)

// mostValues is the number of ranks of an attribute up to which each is looked at. Of a range with
// more, neighbors are taken together.
const mostValues = 64

// view is an attribute as some records have it: the ranks that there are, in their order.
type view struct {
	scale *loss.Scale
	first int     // where its counters begin
	ranks []int32 // the greatest of each
	// shown is how many of them are on the scale: all, or all but the last.
	shown int
	// gaps are what a range loses from each of the ranks to the next. Of a hierarchy, nodes
	// are those that hold the ranks, and root what all of them lose.
	gaps  []float64
	nodes []node
	root  float64
	// before are how many records of each part the ranks before each of them have: scratch.
	before [2][]int32
	// slots are the places of ranks among those of the view, where few others are between.
	slots []int32
}

// node holds the ranks from the first to before the last; a class which it holds loses as much less
// as drop than one that only the node above holds.
type node struct {
	from, to int
	drop     float64
}

// take makes v the view of records. Ranks are theirs, in any order, and become the places of
// these ranks in the view.
func (v *view) take(scale *loss.Scale, first int, ranks []int32, exact bool) {
	v.scale, v.first = scale, first
	counted := int(scale.Size) <= sparse*len(ranks)
	if counted {
		v.count(ranks)
	} else {
		v.ranks = append(v.ranks[:0], ranks...)
		slices.Sort(v.ranks)
		v.ranks = slices.Compact(v.ranks)
	}
	v.shown = len(v.ranks)
	if scale.Hidden(v.ranks[v.shown-1]) {
		v.shown--
	}
	if scale.Ranged && !exact {
		v.thin()
	}
	v.place(ranks, counted)
	v.gaps, v.nodes = v.gaps[:0], v.nodes[:0]
	switch {
	case exact:
	case scale.Ranged:
		for i := 1; i < v.shown; i++ {
			v.gaps = append(v.gaps, float64(scale.Of(v.ranks[i-1], v.ranks[i])))
		}
	default:
		v.before = [2][]int32{grown(v.before[0], v.shown+1), grown(v.before[1], v.shown+1)}
		if v.root = 0; v.shown > 0 {
			v.root = float64(scale.Of(v.ranks[0], v.ranks[v.shown-1]))
			v.grow(0, v.shown, v.root)
		}
	}
}

// sparse is how many times as many ranks as records a scale has at most whose ranks are counted.
// Others are sorted.
const sparse = 4

func (v *view) count(ranks []int32) {
	v.slots = append(v.slots[:0], make([]int32, v.scale.Size)...)
	for _, rank := range ranks {
		v.slots[rank] = 1
	}
	v.ranks = v.ranks[:0]
	for rank, there := range v.slots {
		if there != 0 {
			v.ranks = append(v.ranks, int32(rank))
		}
	}
}

// place replaces ranks by their places.
func (v *view) place(ranks []int32, counted bool) {
	if !counted {
		for i, rank := range ranks {
			at, _ := slices.BinarySearch(v.ranks, rank)
			ranks[i] = int32(at)
		}
		return
	}
	from := int32(0)
	for place, rank := range v.ranks {
		for ; from <= rank; from++ {
			v.slots[from] = int32(place)
		}
	}
	for i, rank := range ranks {
		ranks[i] = v.slots[rank]
	}
}

// thin takes neighbors together.
func (v *view) thin() {
	if v.shown <= mostValues {
		return
	}
	step := (v.shown + mostValues - 1) / mostValues
	kept := v.ranks[:0]
	for i, rank := range v.ranks {
		if i >= v.shown || (i+1)%step == 0 || i == v.shown-1 {
			kept = append(kept, rank)
		}
	}
	v.shown -= len(v.ranks) - len(kept)
	v.ranks = kept
}

// grow appends the nodes that hold some of the ranks, of which all together lose own. What a
// node holds are neighbors.
func (v *view) grow(from, to int, own float64) {
	for start := from; start < to; {
		end, inner := start+1, float64(v.scale.Of(v.ranks[start], v.ranks[start]))
		for end < to {
			share := float64(v.scale.Of(v.ranks[start], v.ranks[end]))
			if share >= own {
				break
			}
			end, inner = end+1, share
		}
		if inner < own {
			v.nodes = append(v.nodes, node{start, end, own - inner})
			if end-start > 1 {
				v.grow(start, end, inner)
			}
		}
		start = end
	}
}

// grown is a slice of so many numbers which begins with 0.
func grown(s []int32, n int) []int32 {
	s = slices.Grow(s[:0], n)[:n]
	s[0] = 0
	return s
}

// draws gives by how many records of so many a value is held, the chance that some drawn
// ones all hold it, but for a factor.
type draws []float64

// newDraws is for up to most records, of which count are drawn.
func newDraws(count float64, most int) draws {
	d := make(draws, most+1)
	for i := range d {
		d[i] = math.Pow(float64(i)/float64(most), count)
	}
	return d
}

// expected is what two parts lose in an attribute, each times its records: what records drawn from
// them at random lose, as many as a class has. Lefts counts the records of the left part
// by slot, all those of both; the left part has n of total.
func (v *view) expected(d draws, lefts, all []int32, n, total int) float64 {
	var lost [2]float64
	shownLeft, shownAll := 0, 0
	if v.scale.Ranged {
		lost, shownLeft, shownAll = v.ofRange(d, lefts, all, n, total)
	} else {
		lost, shownLeft, shownAll = v.ofNodes(d, lefts, all)
	}
	of := func(lost float64, shown, n int) float64 { return float64(n) * (lost + d[n] - d[shown]) / d[n] }
	return of(lost[0], shownLeft, n) + of(lost[1], shownAll-shownLeft, total-n)
}

func (v *view) ofRange(d draws, lefts, all []int32, n, total int) (lost [2]float64, shownLeft, shownAll int) {
	shownLeft, shownAll = n, total
	if v.shown < len(v.ranks) {
		shownLeft, shownAll = n-int(lefts[v.shown]), total-int(all[v.shown])
	}
	shownRight, left, right := shownAll-shownLeft, 0, 0
	for i, gap := range v.gaps {
		left += int(lefts[i])
		right += int(all[i] - lefts[i])
		lost[0] += gap * (d[shownLeft] - d[left] - d[shownLeft-left])
		lost[1] += gap * (d[shownRight] - d[right] - d[shownRight-right])
	}
	return lost, shownLeft, shownAll
}

func (v *view) ofNodes(d draws, lefts, all []int32) (lost [2]float64, shownLeft, shownAll int) {
	left, right := v.before[0][:v.shown+1], v.before[1][:v.shown+1]
	for i := range v.shown {
		left[i+1] = left[i] + lefts[i]
		right[i+1] = right[i] + all[i] - lefts[i]
	}
	shownLeft = int(left[v.shown])
	shownAll = shownLeft + int(right[v.shown])
	lost[0], lost[1] = v.root*d[shownLeft], v.root*d[shownAll-shownLeft]
	for _, n := range v.nodes {
		lost[0] -= n.drop * d[left[n.to]-left[n.from]]
		lost[1] -= n.drop * d[right[n.to]-right[n.from]]
	}
	return lost, shownLeft, shownAll
}
