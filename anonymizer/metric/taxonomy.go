package metric

import "github.com/kproxy/kproxy/anonymizer"

// TaxonomyNCP is the normalized certainty penalty of each class in the form for
// taxonomies (Xu et al. 2006, Ghinita et al. 2009): the mean over all attributes of
//
//   - (max-min)/range for numbers, dates and ordered values, as in NCP;
//   - for categories, prefixes and what is only suppressed: 0 for one value, else
//     the values below the lowest common node by all values (Levels.Share).
//
// Where the release names levels it is the share of the node at that level, for
// all kinds. Range 0 to 1; lower is better.
func TaxonomyNCP(t *anonymizer.Table, r *anonymizer.Release) []float64 {
	return perClass(t, r, taxonomyPenalty)
}

// TaxonomyGCP is the mean over all records of their class's TaxonomyNCP, the GCP
// = sum |E|*NCP(E) / n of Ghinita et al. 2009 and of CBAD (Yang et al. 2013); a
// withheld record counts 1. Range 0 to 1; lower is better. An empty table has 0.
func TaxonomyGCP(t *anonymizer.Table, r *anonymizer.Release) float64 {
	return mean(t, r, func(a int) func(e int) float64 { return taxonomyPenalty(t, r, a) })
}

func taxonomyPenalty(t *anonymizer.Table, r *anonymizer.Release, a int) func(e int) float64 {
	attribute := t.Attributes()[a]
	if r.Levels == nil && ranges(attribute.Hierarchy.Kind()) {
		return widthPenalty(t, r, a)
	}
	l, cells := newLadder(attribute, t.Cells(a)), t.Cells(a)
	return func(e int) float64 {
		first := cells[r.Classes[e][0]]
		if r.Levels != nil {
			return l.Share(first, int(r.Levels[e][a]))
		}
		return l.Share(first, l.depth(first)-l.common(cells, r.Classes[e]))
	}
}
