package anonymizer

import "github.com/kproxy/kproxy/anonymizer/privacy"

// ComparedWith returns the table as a piece of a larger one: its Population is
// the larger one's, with which constraints compare the classes.
func (t *Table) ComparedWith(whole *privacy.Population) *Table {
	piece := *t
	piece.population = func() *privacy.Population { return whole }
	return &piece
}
