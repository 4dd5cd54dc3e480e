package incremental

import "github.com/kproxy/kproxy/anonymizer/privacy"

// drift saves comparing every class anew whenever one record has changed what all
// are compared with: a class that passed with some slack can violate a constraint
// only after the table has moved by as much, all moves added up.
type drift struct {
	constraints []privacy.Drifting
	known       bool      // all relative constraints are among them
	moved       []float64 // by constraint: sum of all moves since all classes were compared
	moves       int
}

// Sums are rounded. So few moves, so far, come to less than what constraints take off
// every slack for that; then all classes are compared anew.
const (
	mostMoves = 4096
	mostMoved = 16
)

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
// known or the sum no longer exact enough, so that every class must be compared
// anew. The sum then begins anew.
func (d *drift) move(from, to *privacy.Population) bool {
	known := d.known && from != nil && d.moves < mostMoves
	for i, c := range d.constraints {
		if !known {
			break
		}
		d.moved[i] += c.Drift(from, to)
		known = d.moved[i] <= mostMoved
	}
	if d.moves++; !known {
		clear(d.moved)
		d.moves = 0
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
