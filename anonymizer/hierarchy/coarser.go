package hierarchy

import (
	"errors"
	"fmt"
	"slices"
)

// Coarseness limits what a release shows of an attribute that a finer release shows as its own hierarchy
// allows. The zero value limits nothing.
type Coarseness struct {
	// Steps, Units and Keep are those of Spec that are left.
	Steps []float64 `json:",omitempty"`
	Units []Unit    `json:",omitempty"`
	Keep  []int     `json:",omitempty"`
	// Depth is how many levels below the root of a taxonomy labels lie at most, from 1; values that the
	// taxonomy does not name are shown as the root. 0 is no limit.
	Depth int `json:",omitempty"`
}

// IsZero reports whether nothing is limited.
func (c Coarseness) IsZero() bool {
	return len(c.Steps) == 0 && len(c.Units) == 0 && len(c.Keep) == 0 && c.Depth == 0
}

// Of is the specification with its own steps, units and lengths replaced.
func (c Coarseness) Of(s Spec) Spec {
	if len(c.Steps) > 0 {
		s.Steps = c.Steps
	}
	if len(c.Units) > 0 {
		s.Units = c.Units
	}
	if len(c.Keep) > 0 {
		s.Keep = c.Keep
	}
	return s
}

// Within returns nil, or all that keeps the coarseness from limiting what a finer release shows, joined:
// limits of another kind of hierarchy, and steps, units or lengths that are none of the finer one's, where
// it has some. Depth is that of the finer release, 0 for no limit.
func (c Coarseness) Within(s Spec, depth int) error {
	var errs []error
	for _, limit := range []struct {
		name string
		set  bool
		kind Kind
	}{{"steps", len(c.Steps) > 0, Numeric}, {"units", len(c.Units) > 0, Date}, {"keep", len(c.Keep) > 0, Prefix}, {"depth", c.Depth != 0, Categorical}} {
		if limit.set && s.Kind != limit.kind {
			errs = append(errs, fmt.Errorf("a %v hierarchy has no %s: remove it", s.Kind, limit.name))
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	errs = append(errs, subset("steps", c.Steps, s.Steps), subset("units", c.Units, s.Units), subset("keep", c.Keep, s.Keep))
	deepest := depthOf(s.Taxonomy)
	switch {
	case c.Depth == 0:
	case deepest == 0:
		errs = append(errs, errors.New("depth: the column has no taxonomy"))
	case c.Depth < 0 || c.Depth >= deepest || depth > 0 && c.Depth > depth:
		most := deepest - 1
		if depth > 0 {
			most = min(most, depth)
		}
		if most < 1 {
			errs = append(errs, errors.New("depth: the taxonomy has no labels above its values"))
		} else {
			errs = append(errs, fmt.Errorf("depth: write a number from 1 to %d, or nothing", most))
		}
	}
	return errors.Join(append(errs, c.Of(s).Validate())...)
}

// subset says that one of the limits is none that a finer release has.
func subset[T comparable](name string, limits, finer []T) error {
	if len(finer) == 0 {
		return nil
	}
	for _, limit := range limits {
		if !slices.Contains(finer, limit) {
			return fmt.Errorf("%s: %v is none of the finer ones %v", name, limit, finer)
		}
	}
	return nil
}

// depthOf is the number of levels of a taxonomy below its root.
func depthOf(nodes []Node) (depth int) {
	for _, n := range nodes {
		depth = max(depth, 1+depthOf(n.Children))
	}
	return depth
}

// Coarser is the hierarchy of a release that shows no more than the coarseness allows of what
// another one shows by the hierarchy h, whose specification is finer. Show lifts what h shows to
// what it shows itself; Union and SpansOf take the result. The error is that of Within.
//
// For each of the limits, what may be shown is closed: the least that covers several sets is the
// least that covers what is shown of each. A chain of such hierarchies therefore gives what its
// last one gives by itself.
func Coarser(h Hierarchy, finer Spec, c Coarseness) (Hierarchy, error) {
	if c.IsZero() {
		return Following(h), nil
	}
	if err := c.Within(finer, 0); err != nil {
		return nil, err
	}
	shows, err := New(c.Of(finer))
	if err != nil {
		return nil, err
	}
	of := coarser{Hierarchy: h, shows: shows}
	switch shows := shows.(type) {
	case gridded:
		of.lift, err = liftToGrid(shows, finer)
	case calendar:
		of.lift = shows.lift(calendar{domain: finer.Domain, units: finer.Units})
	case *prefixes:
		of.lift = shows.lift
	case *taxonomy:
		of.lift = shows.liftTo(int32(c.Depth))
	}
	return of, err
}

// Following is the hierarchy of a release without limits of its own that follows one which shows an attribute by h. Show leaves
// what that has shown as it is: limits are not for what is limited already, of which less would be shown.
func Following(h Hierarchy) Hierarchy {
	if of, limited := h.(coarser); limited {
		return coarser{Hierarchy: h, shows: of.shows, lift: func(g Generalization) Generalization { return g }}
	}
	return h
}

// coarser is a hierarchy with limits. Cells are those of the hierarchy that it has no limits of.
type coarser struct {
	Hierarchy
	shows Hierarchy // whose labels are shown
	lift  func(Generalization) Generalization
}

// show is what may be shown of what was shown.
func (h coarser) show(g Generalization) Generalization {
	if g.Hidden {
		return g
	}
	return h.lift(g)
}

func (h coarser) Generalize(cells []Cell) Generalization {
	return h.show(h.Hierarchy.Generalize(cells))
}

// union unites what show gave.
func (h coarser) union(published []Generalization) Generalization { return Union(h.shows, published) }

// coverage is that of the shown intervals and, for labels, that of the finer hierarchy, which alone
// knows the values.
func (h coarser) coverage(low, high float64) func(least, greatest float64) float64 {
	switch h.shows.(type) {
	case gridded, calendar:
		return Coverage(h.shows, low, high)
	}
	return Coverage(h.Hierarchy, low, high)
}

func (h coarser) read(published []Generalization, s *Spans) {
	if reader, ok := h.shows.(interface {
		read(published []Generalization, into *Spans)
	}); ok {
		reader.read(published, s)
	}
}

// Show is what a release shows by a hierarchy of Coarser of what the finer one has shown: it covers that, and
// depends on nothing else. By any other hierarchy it is the same.
func Show(h Hierarchy, g Generalization) Generalization {
	if of, limited := h.(coarser); limited {
		return of.show(g)
	}
	return g
}

// liftToGrid widens intervals to those of a grid, within which those of a finer grid lie, if there is one.
func liftToGrid(to gridded, finer Spec) (func(Generalization) Generalization, error) {
	ends := func(g Generalization) (low, high Cell, ok bool) {
		low, high = to.Encode(g.Lower), to.Encode(g.Upper)
		return low, high, !IsOffScale(low) && !IsOffScale(high)
	}
	if len(finer.Steps) > 0 {
		from, err := New(finer)
		if err != nil {
			return nil, err
		}
		fine, ok := from.(gridded)
		if !ok {
			return nil, errors.New("steps: the finer hierarchy has no grid")
		}
		ends = func(g Generalization) (low, high Cell, ok bool) {
			first, last, ok := fine.interval(g)
			width := fine.grid.width
			return fine.grid.cell(fine.grid.origin + first*width), fine.grid.cell(fine.grid.origin + last*width), ok
		}
	}
	return func(g Generalization) Generalization {
		low, high, ok := ends(g)
		if !ok {
			return Generalization{Hidden: true}
		}
		first, last, ok := to.grid.holding(low, high)
		if !ok {
			return Generalization{Hidden: true}
		}
		return to.grid.publish(first, last)
	}, nil
}

// lift widens dates to units of the calendar.
func (h calendar) lift(finer calendar) func(Generalization) Generalization {
	return func(g Generalization) Generalization {
		first, last, ok := finer.shownDays(g)
		if !ok {
			return Generalization{Hidden: true}
		}
		for _, u := range h.units {
			if number := u.number(first); number == u.number(last) {
				return h.publish(h.bounds(u, number))
			}
		}
		return Generalization{Hidden: true}
	}
}

// shownDays are the first and the last day of what was published.
func (h calendar) shownDays(g Generalization) (first, last int64, ok bool) {
	if len(h.units) > 0 {
		return h.days(g)
	}
	low, ok := h.unitsOf(g.Lower)
	high, okHigh := h.unitsOf(g.Upper)
	return h.dayOf(low), h.dayOf(high), ok && okHigh
}

// lift cuts codes and masked prefixes to a length that is left.
func (p *prefixes) lift(g Generalization) Generalization {
	beginning := beginning(g.Value)
	return p.shown(beginning, beginning == g.Value)
}

// liftTo raises labels to a depth; those that the specification does not name, to the root.
func (t *taxonomy) liftTo(depth int32) func(Generalization) Generalization {
	return func(g Generalization) Generalization {
		code := t.named(g.Value) // root for what is not of the specification
		for code != root && t.depths[code] > depth {
			code = t.parents[code]
		}
		if code == root {
			return Generalization{Value: Root}
		}
		return Generalization{Value: t.labels[code]}
	}
}
