package hilbert

import (
	"context"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// extent is the range of ranks that some records cover on each axis.
type extent struct{ low, high []int32 }

func newExtent(axes int) extent { return extent{make([]int32, axes), make([]int32, axes)} }

// start makes the extent that of one record.
func (e extent) start(ranks []int32) {
	copy(e.low, ranks)
	copy(e.high, ranks)
}

func (e extent) include(ranks []int32) {
	for a, rank := range ranks {
		e.low[a] = min(e.low[a], rank)
		e.high[a] = max(e.high[a], rank)
	}
}

// penalty is the normalized certainty penalty (Xu et al. 2006) of the extent,
// summed over the axes: 0 to the number of axes.
func (e extent) penalty(axes []axis) float64 {
	sum := 0.0
	for a := range axes {
		sum += min(1, axes[a].scaled[e.high[a]]-axes[a].scaled[e.low[a]])
	}
	return sum
}

// optimalGroups divides consecutive records into groups of k to 2k-1 so that the
// sum of records times penalty is the least. Larger groups cannot lose less: they
// can be divided. For each length of the line's beginning it keeps the size of
// the last group in the best division, which is found from those of the shorter
// beginnings: O(n k d) for d axes. No sizes are given for a line of fewer than k
// records, or where the context ends.
func optimalGroups(ctx context.Context, axes []axis, line []int32, k int, placed *anonymizer.Tracker) (sizes []int) {
	window := min(2*k, len(line)+1)
	recent := make([]int32, window*len(axes)) // ranks of the last records, in a ring
	best := slices.Repeat([]float64{math.Inf(1)}, window)
	last := make([]int32, len(line)+1)
	best[0] = 0
	covered, work, told := newExtent(len(axes)), 0, 0
	for end := 1; end <= len(line); end++ {
		if work += window * (1 + len(axes)); work > workBetweenChecks {
			if ctx.Err() != nil {
				return nil
			}
			placed.Add(end - told)
			work, told = 0, end
		}
		newest := row(recent, (end-1)%window, len(axes))
		for a := range axes {
			newest[a] = axes[a].ranks[line[end-1]]
		}
		covered.start(newest)
		least := math.Inf(1)
		for size := 1; size < 2*k && size <= end; size++ {
			covered.include(row(recent, (end-size)%window, len(axes)))
			if size < k || math.IsInf(best[(end-size)%window], 1) {
				continue
			}
			if loss := best[(end-size)%window] + float64(size)*covered.penalty(axes); loss < least {
				least, last[end] = loss, int32(size)
			}
		}
		best[end%window] = least
	}
	placed.Add(len(line) - told)
	if last[len(line)] == 0 {
		return nil
	}
	for end := len(line); end > 0; end -= int(last[end]) {
		sizes = append(sizes, int(last[end]))
	}
	slices.Reverse(sizes)
	return sizes
}

// workBetweenChecks is how many ranks are looked at between two looks at the
// context, some milliseconds.
const workBetweenChecks = 1 << 22

func row(ring []int32, place, axes int) []int32 { return ring[place*axes : (place+1)*axes] }
