package agglomerative

import (
	"cmp"
	"context"
	"math"
	"slices"
)

// tabulated is the number of different values up to which all pairs of them are
// tabulated: 8 MiB.
const tabulated = 1024

// sameGap is the part of the domain's width below which two gaps count as
// equal: the gaps 0.3-0.2 and 0.2-0.1 of floats differ.
const sameGap = 1.0 / (1 << 40)

// compareNumbers compares numeric values. A pair is the more alike the smaller
// its gap is, and at equal gaps the fewer records its closed interval holds; D is
// the share of pairs of records that are at least as much alike. Off the scale is
// a value of its own at the gap 0 from itself, counted with its own records, and
// with D = 1 from all others.
func compareNumbers(ctx context.Context, x axis, n int) comparison {
	if len(x.counts) <= tabulated {
		return tabulate(x, n)
	}
	return compareGaps(ctx, x, n)
}

// valuePair is a pair of values, the lower code first.
type valuePair struct {
	low, high int32
	gap       float64
	enclosed  int    // records of all values from low to high
	records   uint64 // ordered pairs of records that have these values
}

// table holds half the chi-square of every pair of values.
type table struct {
	axis
	half []float64 // row by row
}

func tabulate(x axis, n int) *table {
	size := len(x.counts)
	t := &table{axis: x, half: make([]float64, size*size)}
	all := valuePairs(x)
	slices.SortFunc(all, func(a, b valuePair) int { return cmp.Compare(a.gap, b.gap) })
	alike := uint64(0)
	for len(all) > 0 {
		to := 0
		for to < len(all) && all[to].gap-all[0].gap <= sameGap {
			to++
		}
		alike = t.fill(all[:to], alike, n)
		all = all[to:]
	}
	return t
}

// fill enters pairs of values with the same gap; alike is how many pairs of
// records have a smaller one. It returns how many do not have a greater one.
func (t *table) fill(same []valuePair, alike uint64, n int) uint64 {
	slices.SortFunc(same, func(a, b valuePair) int { return cmp.Compare(a.enclosed, b.enclosed) })
	for from := 0; from < len(same); {
		to := from
		for ; to < len(same) && same[to].enclosed == same[from].enclosed; to++ {
			alike += same[to].records
		}
		for _, p := range same[from:to] {
			// A value that one record has makes no pair: D = 0 is never asked for.
			if alike > 0 {
				half := fisher(float64(alike) / pairs(n))
				t.half[int(p.low)*len(t.counts)+int(p.high)] = half
				t.half[int(p.high)*len(t.counts)+int(p.low)] = half
			}
		}
		from = to
	}
	return alike
}

// valuePairs lists all pairs but those of off the scale with another value,
// which have D = 1.
func valuePairs(x axis) []valuePair {
	var all []valuePair
	for low, v := range x.values {
		enclosed := 0
		for high := low; high < len(x.values); high++ {
			enclosed += x.counts[high]
			records := 2 * uint64(x.counts[low]) * uint64(x.counts[high])
			if low == high {
				records = uint64(x.counts[low]) * uint64(x.counts[low]-1)
			}
			all = append(all, valuePair{int32(low), int32(high), x.values[high] - v, enclosed, records})
		}
	}
	if o := x.offScale; o >= 0 {
		f := x.counts[o]
		all = append(all, valuePair{o, o, 0, f, uint64(f) * uint64(f-1)})
	}
	return all
}

func (t *table) codes() []int32 { return t.axis.codes }

func (t *table) add(sums []float64, value int32, others []int32) {
	size := len(t.counts)
	row := t.half[int(value)*size : (int(value)+1)*size]
	sums = sums[:len(others)]
	for i, other := range others {
		sums[i] += row[other]
	}
}

// Gaps are told apart by their logarithm: in each of the octaves below the
// domain's width, so many steps. What is smaller counts as the smallest gap.
const (
	octaves     = 24
	octaveSteps = 1 << octaveBits
	octaveBits  = 4
)

// gaps compares values that are too many for a table. Half the chi-square is
// exact for equal values and for gaps at the steps, where all pairs with a gap
// up to there are counted, and interpolated between them; pairs of one and the
// same gap are not told apart. It falls with the gap.
type gaps struct {
	axis
	equal []float64 // of two records with that code
	half  [octaves*octaveSteps + 2]float64
}

func compareGaps(ctx context.Context, x axis, n int) *gaps {
	g := &gaps{axis: x, equal: make([]float64, len(x.counts))}
	for code, share := range agreements(x.counts, n) {
		if share > 0 {
			g.equal[code] = fisher(share)
		}
	}
	for step := range g.half {
		if ctx.Err() != nil {
			break
		}
		// The pair that asks is at least as much alike as itself.
		within := max(g.within(gapOf(step)), 2)
		g.half[step] = fisher(float64(within) / pairs(n))
	}
	return g
}

// within counts the ordered pairs of records, both on the scale or both off it,
// whose gap is at most the given one.
func (g *gaps) within(gap float64) uint64 {
	count, ahead, to := uint64(0), uint64(0), 0
	for low, v := range g.values {
		for to < len(g.values) && (to <= low || g.values[to]-v <= gap) {
			ahead += uint64(g.counts[to])
			to++
		}
		f := uint64(g.counts[low])
		ahead -= f // ahead: records of greater values within the gap
		count += f*(f-1) + 2*f*ahead
	}
	if g.offScale >= 0 {
		f := uint64(g.counts[g.offScale])
		count += f * (f - 1)
	}
	return count
}

// smallestGap is the bit pattern of the gap at step 0; steps are the upper bits
// of a float64, which grow with the number.
var smallestGap = math.Float64bits(1.0 / (1 << octaves))

const stepBits = 52 - octaveBits

// gapOf is the gap at a step, as part of the domain's width.
func gapOf(step int) float64 {
	return math.Float64frombits(smallestGap + uint64(step)<<stepBits)
}

func (g *gaps) codes() []int32 { return g.axis.codes }

func (g *gaps) add(sums []float64, value int32, others []int32) {
	sums = sums[:len(others)]
	for i, other := range others {
		switch {
		case other == value:
			sums[i] += g.equal[value]
		case other == g.offScale || value == g.offScale: // D = 1
		default:
			sums[i] += g.at(math.Abs(g.values[other] - g.values[value]))
		}
	}
}

func (g *gaps) at(gap float64) float64 {
	bits := math.Float64bits(gap)
	if bits <= smallestGap {
		return g.half[0]
	}
	bits -= smallestGap
	step, between := bits>>stepBits, float64(bits&(1<<stepBits-1))/(1<<stepBits)
	return g.half[step] + between*(g.half[step+1]-g.half[step])
}
