package metric

import "github.com/kproxy/kproxy/anonymizer"

// Precision returns the precision of a release of n records and d attributes (Sweeney
// 2002):
//
//	Prec = 1 - sum_(records, attributes) (h / |DGH|) / (n * d)
//
// h is the level to which the value is generalized, |DGH| the height of the attribute's
// ladder (hierarchy.LevelsOf over the table's column). A method that recodes by levels
// gives h in Release.Levels; of another one h is the level of the lowest node that holds
// the class, counted from the value up. A withheld record counts as the top.
//
// The range is 0 (everything at the top) to 1 (nothing generalized); higher is better.
//
// Special cases are:
//
//	= 1 for an empty table
func Precision(t *anonymizer.Table, r *anonymizer.Release) float64 {
	if t.Len() == 0 {
		return 1
	}
	return 1 - mean(t, r, func(a int) func(e int) float64 {
		l, cells := newLadder(t.Attributes()[a], t.Cells(a)), t.Cells(a)
		return func(e int) float64 {
			if r.Levels != nil {
				return float64(min(int(r.Levels[e][a]), l.Height())) / float64(l.Height())
			}
			steps, common := 0, l.common(cells, r.Classes[e])
			for _, i := range r.Classes[e] {
				steps += l.depth(cells[i]) - common
			}
			return float64(steps) / float64(len(r.Classes[e])*l.Height())
		}
	})
}

// mean is that of a loss over all records and attributes; a withheld record
// loses 1 in each. For each attribute, lossOf gives the loss of a class.
func mean(t *anonymizer.Table, r *anonymizer.Release, lossOf func(attribute int) func(class int) float64) float64 {
	lost := 0.0
	for a := range t.Attributes() {
		loss := lossOf(a)
		for e, class := range r.Classes {
			lost += loss(e) * float64(len(class))
		}
	}
	return (lost/float64(max(1, len(t.Attributes()))) + float64(len(r.Withheld))) / float64(max(1, t.Len()))
}
