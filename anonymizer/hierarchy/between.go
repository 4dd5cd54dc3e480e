package hierarchy

// Between gives back what was published of a class by its inclusive bounds, Numeric and Date only: what has these
// bounds. Texts are those of the domain in any form that a column has. It is hidden where a bound cannot be read, or
// nothing is published with these.
// Value can differ in the last digit where Union says so.
func Between(h Hierarchy, lower, upper string) Generalization {
	if of, limited := h.(coarser); limited {
		h = of.shows
	}
	bounds := Generalization{Lower: lower, Upper: upper}
	switch h := h.(type) {
	case integers:
		return h.union([]Generalization{bounds})
	case decimals:
		return h.union([]Generalization{bounds})
	case gridded:
		return h.union([]Generalization{bounds})
	case calendar:
		return h.between(bounds)
	}
	return Generalization{Hidden: true}
}

func (h calendar) between(bounds Generalization) Generalization {
	if len(h.units) == 0 {
		return h.union([]Generalization{bounds})
	}
	low, okLow := h.unitsOf(bounds.Lower)
	high, okHigh := h.unitsOf(bounds.Upper)
	for _, u := range h.units {
		if !okLow || !okHigh {
			break
		}
		g := h.publish(h.bounds(u, u.number(h.dayOf(low))))
		first, _ := h.unitsOf(g.Lower)
		last, _ := h.unitsOf(g.Upper)
		if first == low && last == high {
			return g
		}
	}
	return Generalization{Hidden: true}
}
