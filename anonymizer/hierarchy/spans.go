package hierarchy

import (
	"math"
	"slices"
	"strings"
)

// Span is the part of an attribute's axis that something published covers, or nothing known.
type Span struct {
	Least, Greatest float64
	Hidden          bool // NULL, or the root
}

// Spans places what is published of several classes on an axis, using only what readers see:
// neither the values behind it nor the order in which values were met. Share is what Coverage gives
// for a union of spans, by what readers can know of the domain; ranged says that it is the distance
// of the ends divided by the domain's.
//
// Place finds the span of something that is published later. Values that were not among those
// before share one place, so Share does not distinguish them.
//
// Joined says that the place of a Union is from the least to the greatest of the places of its
// parts, so that it can be computed without Union.
type Spans struct {
	Of     []Span
	Share  func(least, greatest float64) float64
	Place  func(Generalization) Span
	Ranged bool
	Joined bool
}

// Join is the place of a union where spans are joined.
func (s Span) Join(other Span) Span {
	if s.Hidden || other.Hidden {
		return Span{Hidden: true}
	}
	return Span{Least: min(s.Least, other.Least), Greatest: max(s.Greatest, other.Greatest)}
}

// Lost is what those lose that are published with a span: Share, and all where it is hidden.
func (s *Spans) Lost(at Span) float64 {
	if at.Hidden {
		return 1
	}
	return s.Share(at.Least, at.Greatest)
}

// SpansOf reads what Generalize or Union gave. Of a hierarchy that is not of this package nothing is
// known.
func SpansOf(h Hierarchy, published []Generalization) Spans {
	s := Spans{Of: make([]Span, len(published)), Share: func(float64, float64) float64 { return 1 }}
	reader, ok := h.(interface {
		read(published []Generalization, into *Spans)
	})
	if !ok {
		s.readEach(published, func(Generalization) (least, greatest float64, ok bool) { return 0, 0, false })
		return s
	}
	reader.read(published, &s)
	return s
}

// readEach places what is not hidden, and gives the ends of all.
func (s *Spans) readEach(published []Generalization, place func(Generalization) (least, greatest float64, ok bool)) (low, high float64) {
	s.Place = func(g Generalization) Span {
		if g.Hidden {
			return Span{Hidden: true}
		}
		least, greatest, ok := place(g)
		if !ok {
			return Span{Hidden: true}
		}
		return Span{Least: least, Greatest: greatest}
	}
	low, high = math.Inf(1), math.Inf(-1)
	for i, g := range published {
		if s.Of[i] = s.Place(g); !s.Of[i].Hidden {
			low, high = min(low, s.Of[i].Least), max(high, s.Of[i].Greatest)
		}
	}
	return low, high
}

// readBounds places an interval by its ends.
func readBounds(h Hierarchy) func(Generalization) (least, greatest float64, ok bool) {
	return func(g Generalization) (least, greatest float64, ok bool) {
		least, greatest = h.Encode(g.Lower), h.Encode(g.Upper)
		return least, greatest, !IsOffScale(least) && !IsOffScale(greatest)
	}
}

func (h integers) read(published []Generalization, s *Spans) {
	low, high := s.readEach(published, readBounds(h))
	s.Share, s.Ranged, s.Joined = Coverage(h, low, high), true, true
}

func (h decimals) read(published []Generalization, s *Spans) {
	low, high := s.readEach(published, readBounds(h))
	s.Share, s.Ranged = Coverage(h, low, high), true
}

func (h gridded) read(published []Generalization, s *Spans) {
	low, high := s.readEach(published, func(g Generalization) (least, greatest float64, ok bool) {
		first, last, ok := h.interval(g)
		// A place within each of the intervals at the ends, which none of them shares.
		width := float64(h.grid.width) / h.grid.scale
		return h.grid.cell(h.grid.origin+first*h.grid.width) + width/4, h.grid.cell(h.grid.origin+last*h.grid.width) + width/4, ok
	})
	s.Share = Coverage(h, low, high)
}

func (h calendar) read(published []Generalization, s *Spans) {
	if len(h.units) == 0 {
		low, high := s.readEach(published, readBounds(h))
		s.Share, s.Ranged, s.Joined = Coverage(h, low, high), true, true
		return
	}
	low, high := s.readEach(published, func(g Generalization) (least, greatest float64, ok bool) {
		first, last, ok := h.days(g)
		if h.domain != DomainDate {
			// Noon is far from what a float64 rounds.
			return float64(first)*microsPerDay + microsPerDay/2, float64(last)*microsPerDay + microsPerDay/2, ok
		}
		return float64(first), float64(last), ok
	})
	s.Share = Coverage(h, low, high)
}

func (h ordered) read(published []Generalization, s *Spans) {
	low, high := s.readEach(published, func(g Generalization) (least, greatest float64, ok bool) {
		from, to, ok := h.ends(g)
		return float64(from), float64(to), ok
	})
	s.Share, s.Ranged, s.Joined = Coverage(h, low, high), true, true
}

// read lays the leaves of the specification out in its order, and behind them those values that
// are published, in the order of their texts.
func (t *taxonomy) read(published []Generalization, s *Spans) {
	first, last := t.leavesBelow()
	learned := t.learned(published)
	s.readEach(published, func(g Generalization) (least, greatest float64, ok bool) {
		code := t.named(g.Value)
		if code == root || g.Value == Root {
			return 0, 0, false
		}
		if int(code) < t.configured {
			return float64(first[code]), float64(last[code]), true
		}
		place, _ := slices.BinarySearch(learned, g.Value)
		least = float64(t.configuredLeaves + place)
		return least, least, true
	})
	all := t.configuredLeaves + len(learned)
	nodes := t.frozen()
	s.Share = func(least, greatest float64) float64 {
		switch {
		case least == greatest:
			return 0
		case greatest >= float64(nodes.configuredLeaves):
			return 1
		}
		common := nodes.ancestor(int32(least), int32(greatest)) // leaves come first
		if common == root {
			return 1
		}
		return countShare(last[common]-first[common]+1, all)
	}
}

// leavesBelow gives the first and the last leaf below each node of the specification.
func (t *taxonomy) leavesBelow() (first, last []int) {
	first, last = make([]int, t.configured), make([]int, t.configured)
	for code := range first {
		first[code] = t.configuredLeaves
	}
	for leaf := range t.configuredLeaves {
		for code := int32(leaf); code != root; code = t.parents[code] {
			first[code], last[code] = min(first[code], leaf), max(last[code], leaf)
		}
	}
	return first, last
}

// learned are the published values that are not of the specification, in order.
func (t *taxonomy) learned(published []Generalization) []string {
	var values []string
	for _, g := range published {
		if code := t.named(g.Value); !g.Hidden && g.Value != Root && int(code) >= t.configured {
			values = append(values, g.Value)
		}
	}
	slices.Sort(values)
	return slices.Compact(values)
}

// axisBeyond is the first position behind all codes.
const axisBeyond = 1 << (8 * axisBytes)

// read counts as the domain what is published.
func (p *prefixes) read(published []Generalization, s *Spans) {
	var positions []float64
	s.readEach(published, func(g Generalization) (least, greatest float64, ok bool) {
		if g.Value == Root {
			return 0, 0, false
		}
		shown := strings.TrimRight(g.Value, Root)
		least = axisPosition(shown)
		if shown == g.Value || len(shown) >= axisBytes {
			return least, least, true
		}
		return least, least + float64(uint64(axisBeyond)>>(8*len(shown))-1), true
	})
	for _, span := range s.Of {
		if !span.Hidden {
			positions = append(positions, span.Least)
		}
	}
	slices.Sort(positions)
	positions = slices.Compact(positions)
	keep := slices.Clone(p.keep)
	s.Share = func(least, greatest float64) float64 { return sharedBeginning(positions, keep, least, greatest) }
}
