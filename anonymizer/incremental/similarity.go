package incremental

import "math"

// The paper's measures are generalized by a smoothing distance delta, given in
// units of the attribute's axis. With w half the width of a class's interval,
//
//	SSD   = (w + delta) / (max(|v - mid|, w) + delta)
//	QGSSD = 1 / (|mid1 - mid2| + delta)
//
// With delta = 0 both are definitions 6 and 7. With delta > 0 a class of equal
// values attracts what is near to it, and equal midpoints are finitely similar.

// recordSimilarity is SSD of one attribute, in (0, 1]; 1 means inside.
func recordSimilarity(v, low, high, delta float64) float64 {
	low, high = low/2, high/2
	half := high - low
	return (half + delta) / (max(math.Abs(v-low-high), half) + delta)
}

// classSimilarity is QGSSD of one attribute, in (0, 1/delta].
func classSimilarity(middle, low, high, delta float64) float64 {
	return 1 / (math.Abs(low/2+high/2-middle) + delta)
}

// smoothing is delta as a share of the domain's width.
const smoothing = 1.0 / 4

// leastDelta is the least number that has an inverse: below it a domain is as good
// as one value.
const leastDelta = 0x1p-1022

func (p *Partition) delta(attribute int) float64 {
	delta := (p.domain[attribute].high - p.domain[attribute].low) * smoothing
	if !(delta >= leastDelta) || math.IsInf(delta, 1) {
		return 1
	}
	return delta
}

// scanBlock is how many classes are compared at a time. Classes that were made
// together are alike and lie together, so a block as a whole is often out of
// reach after a few attributes.
const scanBlock = 128

// nearestTo returns the class that is most similar to a record, given by its
// positions. A record off the scale is similar, by 1, to classes that hide the
// attribute, all others by 0, and the other way around.
func (p *Partition) nearestTo(positions []float64) int32 {
	return p.nearest(-1, func(a int, sums []float64, low, high []float64) {
		v, delta := positions[a], p.delta(a)
		if math.IsNaN(v) {
			addHidden(sums, low)
			return
		}
		low, high = low[:len(sums)], high[:len(sums)]
		for i := range sums {
			sums[i] += recordSimilarity(v, low[i], high[i], delta)
		}
	})
}

// neighbor returns the class other than itself that is most similar to a class,
// -1 if there is none. Each attribute counts delta*QGSSD, which is in (0, 1].
func (p *Partition) neighbor(index int32) int32 {
	return p.nearest(index, func(a int, sums []float64, low, high []float64) {
		own, delta := p.classes.cover(index, a), p.delta(a)
		if own.low == hiddenAt {
			addHidden(sums, low)
			return
		}
		middle := own.low/2 + own.high/2
		low, high = low[:len(sums)], high[:len(sums)]
		for i := range sums {
			sums[i] += delta * classSimilarity(middle, low[i], high[i], delta)
		}
	})
}

func addHidden(sums, low []float64) {
	for i := range sums {
		if low[i] == hiddenAt {
			sums[i]++
		}
	}
}

// nearest adds up the similarities of all attributes and returns the class with
// the greatest sum except one; among equals the class that covers least, then
// the oldest; -1 only where there is no other. No attribute adds more than 1 to a
// sum; what is not comparable counts as not similar at all.
func (p *Partition) nearest(except int32, add func(a int, sums []float64, low, high []float64)) int32 {
	best, most := int32(-1), math.Inf(-1)
	n, d := len(p.classes.list), len(p.attributes)
	p.compared += n
	for from := 0; from < n; from += scanBlock {
		to := min(from+scanBlock, n)
		sums := p.sums[:to-from]
		clear(sums)
		reachable := true
		for a := 0; a < d && reachable; a++ {
			add(a, sums, p.classes.low[a][from:to], p.classes.high[a][from:to])
			reachable = anyAtLeast(sums, most-float64(d-1-a))
		}
		if !reachable {
			continue
		}
		for i, sum := range sums {
			index := int32(from + i)
			if !(sum >= 0) {
				sum = 0
			}
			if index == except || sum < most {
				continue
			}
			if best < 0 || sum > most || p.preferred(index, best) {
				best, most = index, sum
			}
		}
	}
	return best
}

func anyAtLeast(sums []float64, least float64) bool {
	for _, sum := range sums {
		if !(sum < least) {
			return true
		}
	}
	return false
}

// preferred decides between two equally similar classes.
func (p *Partition) preferred(a, b int32) bool {
	if first, second := p.width(a), p.width(b); first != second {
		return first < second
	}
	return p.classes.list[a].id < p.classes.list[b].id
}

// width is the sum over all attributes of what the class covers, in smoothing
// distances.
func (p *Partition) width(index int32) float64 {
	sum := 0.0
	for a := range p.attributes {
		e := p.classes.cover(index, a)
		sum += (e.high/2 - e.low/2) / p.delta(a)
	}
	return sum
}
