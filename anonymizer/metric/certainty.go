package metric

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer"
)

// NCP is the normalized certainty penalty (Xu et al. 2006) of each class of the
// release: the share of an attribute's domain that the class covers, the mean
// over all attributes. Domain and class are measured on the attribute's axis
// (hierarchy.Hierarchy.Position) over the table's own records. A class that
// mixes records off the scale with others hides the attribute and has the
// penalty 1 there; one of off-scale records alone has 0, like any class of
// equal values. Bounds that are published on a grid (hierarchy.Spec.Steps) lie
// further apart than what the class covers, which is what counts here. Where the
// release names levels it is the share of the node at that level instead
// (hierarchy.Levels.Share), since the class publishes all of it. Range 0 to 1; lower
// is better. TaxonomyNCP measures categories by their taxonomy.
func NCP(t *anonymizer.Table, r *anonymizer.Release) []float64 {
	return perClass(t, r, axisPenalty)
}

// perClass is the mean over all attributes of each class's penalty.
func perClass(t *anonymizer.Table, r *anonymizer.Release, of func(t *anonymizer.Table, r *anonymizer.Release, a int) func(e int) float64) []float64 {
	penalties := make([]float64, len(r.Classes))
	for a := range t.Attributes() {
		penalty := of(t, r, a)
		for e := range r.Classes {
			penalties[e] += penalty(e) / float64(len(t.Attributes()))
		}
	}
	return penalties
}

// GCP is the global certainty penalty: the mean over all records of their
// class's NCP (equation 2 of Ghinita et al. 2009); a withheld record counts 1.
// It is also called information loss. Range 0 (every class is of equal records)
// to 1 (nothing is left); lower is better. An empty table has 0.
func GCP(t *anonymizer.Table, r *anonymizer.Release) float64 {
	return mean(t, r, func(a int) func(e int) float64 { return axisPenalty(t, r, a) })
}

// axisPenalty gives the penalty of a class in an attribute.
func axisPenalty(t *anonymizer.Table, r *anonymizer.Release, a int) func(e int) float64 {
	if r.Levels != nil {
		return taxonomyPenalty(t, r, a)
	}
	return widthPenalty(t, r, a)
}

func widthPenalty(t *anonymizer.Table, r *anonymizer.Release, a int) func(e int) float64 {
	positions := make([]float64, t.Len())
	domain := emptyExtent
	for i, c := range t.Cells(a) {
		positions[i] = t.Attributes()[a].Hierarchy.Position(c)
		domain.include(positions[i])
	}
	return func(e int) float64 {
		covered := emptyExtent
		for _, i := range r.Classes[e] {
			covered.include(positions[i])
		}
		return covered.share(domain)
	}
}

// extent is what some positions cover.
type extent struct {
	low, high        float64
	placed, unplaced bool
}

var emptyExtent = extent{low: math.Inf(1), high: math.Inf(-1)}

func (e *extent) include(position float64) {
	if math.IsNaN(position) {
		e.unplaced = true
		return
	}
	e.low, e.high, e.placed = min(e.low, position), max(e.high, position), true
}

// share is the part of the domain that e covers.
func (e extent) share(domain extent) float64 {
	switch {
	case e.placed && e.unplaced:
		return 1
	case !e.placed || e.low == e.high:
		return 0
	default:
		// Halves keep the span of the largest floats finite.
		return (e.high/2 - e.low/2) / (domain.high/2 - domain.low/2)
	}
}
