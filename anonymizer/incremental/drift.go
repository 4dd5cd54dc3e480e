package incremental

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// drift saves comparing every class anew whenever one record has changed what all
// are compared with: a class that passed with some slack can violate a constraint
// only after the table has moved by as much, all moves added up.
type drift struct {
	constraints []privacy.Drifting
	known       bool      // all relative constraints are among them
	moved       []float64 // by constraint: sum of all moves so far
}

func newDrift(constraints privacy.ConstraintSet, subjects bool) drift {
	d := drift{known: !subjects}
	for _, c := range constraints {
		if !(privacy.ConstraintSet{c}).Relative() {
			continue
		}
		if drifting, ok := c.(privacy.Drifting); ok {
			d.constraints = append(d.constraints, drifting)
		} else {
			d.known = false
		}
	}
	d.moved = make([]float64, len(d.constraints))
	return d
}

// move adds the way from one distribution to the next; false where it is not
// known, so that every class must be compared anew.
func (d *drift) move(from, to *privacy.Population) bool {
	if !d.known || from == nil {
		return false
	}
	known := true
	for i, c := range d.constraints {
		if way := c.Drift(from, to); math.IsInf(way, 1) {
			known = false
		} else {
			d.moved[i] += way
		}
	}
	return known
}

// until is how far the table may have moved, by constraint, before a class that
// satisfies the constraints must be compared again.
func (d *drift) until(class privacy.Summary, whole *privacy.Population) []float64 {
	if !d.known || whole == nil {
		return nil
	}
	until := make([]float64, len(d.constraints))
	for i, c := range d.constraints {
		until[i] = d.moved[i] + c.Slack(class, whole)
	}
	return until
}

// beyond reports whether the table has moved too far since until was asked for.
func (d *drift) beyond(until []float64) bool {
	for i, most := range until {
		if !(d.moved[i] < most) {
			return true
		}
	}
	return len(until) < len(d.moved)
}
