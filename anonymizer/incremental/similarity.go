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

// similarityTo is the similarity of a class to a record, given by its positions, in
// [0, number of attributes]. A record off the scale is similar, by 1, to classes that
// hide the attribute, to all others by 0, and the other way around.
func (n *nearest) similarityTo(positions []float64, index int32) (sum float64) {
	covers := n.members.classes.row(index)
	for a, v := range positions {
		e := covers[a]
		switch {
		case !math.IsNaN(v):
			sum += recordSimilarity(v, e.low, e.high, n.deltas[a])
		case e.low == hiddenAt:
			sum++
		}
	}
	return sum
}

// similarityOf is the similarity of two classes. Each attribute counts delta*QGSSD,
// which is in (0, 1].
func (n *nearest) similarityOf(index, other int32) (sum float64) {
	covers := n.members.classes.row(other)
	for a, own := range n.members.classes.row(index) {
		e, delta := covers[a], n.deltas[a]
		switch {
		case own.low != hiddenAt:
			sum += delta * classSimilarity(own.low/2+own.high/2, e.low, e.high, delta)
		case e.low == hiddenAt:
			sum++
		}
	}
	return sum
}

// width is the sum over all attributes of what the class covers, in smoothing
// distances.
func (n *nearest) width(index int32) float64 {
	sum := 0.0
	for a, e := range n.members.classes.row(index) {
		sum += (e.high/2 - e.low/2) / n.deltas[a]
	}
	return sum
}
