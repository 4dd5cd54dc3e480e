package hierarchy

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Union gives what stands for several sets of values together by what Generalize gave for each of
// them, and by nothing else: it tells nothing that these do not. It covers all of them. It is what
// Generalize gives for all values, but for
//
//   - prefixes, which end in a single asterisk, for any number of characters: a single asterisk of a part
//     stands for one character or for any number, and Generalize would tell which. Unions never tell the length,
//     so that those of one beginning are alike, also where the parts tell it;
//   - decimals of more than 15 digits, where Value can differ in the last digit.
//
// No sets at all, and those of a hierarchy that is not of this package, are hidden unless all are
// published alike.
func Union(h Hierarchy, published []Generalization) Generalization {
	if len(published) == 0 {
		return Generalization{Hidden: true}
	}
	alike := true
	for _, g := range published {
		if g.Hidden {
			return Generalization{Hidden: true}
		}
		alike = alike && g == published[0]
	}
	u, ok := h.(interface {
		union(published []Generalization) Generalization
	})
	switch {
	case alike && (!ok || h.Kind() != Prefix):
		return published[0]
	case ok:
		return u.union(published)
	}
	return Generalization{Hidden: true}
}

func (integers) union(published []Generalization) Generalization {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, g := range published {
		low, errLow := strconv.ParseInt(g.Lower, 10, 64)
		high, errHigh := strconv.ParseInt(g.Upper, 10, 64)
		if errLow != nil || errHigh != nil {
			return Generalization{Hidden: true}
		}
		first, last = min(first, low), max(last, high)
	}
	return Generalization{
		Value: strconv.FormatInt(midway(first, last), 10),
		Lower: strconv.FormatInt(first, 10),
		Upper: strconv.FormatInt(last, 10),
	}
}

func (decimals) union(published []Generalization) Generalization {
	low, high := math.Inf(1), math.Inf(-1)
	for _, g := range published {
		lower, errLow := strconv.ParseFloat(g.Lower, 64)
		upper, errHigh := strconv.ParseFloat(g.Upper, 64)
		if errLow != nil || errHigh != nil {
			return Generalization{Hidden: true}
		}
		low, high = min(low, lower), max(high, upper)
	}
	return Generalization{Value: formatDecimal(middle(low, high)), Lower: formatDecimal(low), Upper: formatDecimal(high)}
}

// interval gives the numbers of the first and the last of the narrowest intervals in one that was
// published.
func (h gridded) interval(g Generalization) (first, last int64, ok bool) {
	low, high := h.Hierarchy.Encode(g.Lower), h.Hierarchy.Encode(g.Upper)
	if IsOffScale(low) || IsOffScale(high) {
		return 0, 0, false
	}
	first, last = h.grid.index(low), h.grid.index(high)
	if !h.grid.whole {
		last-- // the bound belongs to the next interval
	}
	return first, last, true
}

func (h gridded) union(published []Generalization) Generalization {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, g := range published {
		low, high, ok := h.interval(g)
		if !ok {
			return Generalization{Hidden: true}
		}
		first, last = min(first, low), max(last, high)
	}
	for _, times := range h.grid.times {
		if number := floorDiv(first, times); number == floorDiv(last, times) {
			return h.grid.publish(h.grid.bounds(number, times))
		}
	}
	return Generalization{Hidden: true}
}

// unitsOf reads a date or a point in time.
func (h calendar) unitsOf(text string) (int64, bool) {
	m, ok := parseMoment(text, h.domain)
	if !ok || h.domain == DomainDate {
		return m.day, ok
	}
	return m.day*microsPerDay + m.micro, true
}

// days gives the first and the last day of a unit that was published. The unit is found by its
// middle, as bounds can be widened.
func (h calendar) days(g Generalization) (first, last int64, ok bool) {
	middle, ok := h.unitsOf(g.Value)
	if !ok {
		return 0, 0, false
	}
	for _, u := range h.units {
		number := u.number(h.dayOf(middle))
		if h.publish(h.bounds(u, number)) == g {
			return u.start(number), u.start(number+1) - 1, true
		}
	}
	return 0, 0, false
}

func (h calendar) union(published []Generalization) Generalization {
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	for _, g := range published {
		var low, high int64
		var ok, okHigh bool
		if len(h.units) > 0 {
			low, high, ok = h.days(g)
			okHigh = ok
		} else {
			low, ok = h.unitsOf(g.Lower)
			high, okHigh = h.unitsOf(g.Upper)
		}
		if !ok || !okHigh {
			return Generalization{Hidden: true}
		}
		first, last = min(first, low), max(last, high)
	}
	if len(h.units) == 0 {
		return h.publish(first, last)
	}
	for _, u := range h.units {
		if number := u.number(first); number == u.number(last) {
			return h.publish(h.bounds(u, number))
		}
	}
	return Generalization{Hidden: true}
}

// named is the code of the node with a label, root for none.
func (t *taxonomy) named(label string) int32 {
	if t.codes == nil { // frozen
		return int32(slices.Index(t.labels, label))
	}
	if code, known := t.codes[label]; known {
		return code
	}
	return root
}

// A label "*" that is an ordinary value reads as the root, and is taken for it.
func (t *taxonomy) union(published []Generalization) Generalization {
	common := t.named(published[0].Value)
	for _, g := range published[1:] {
		common = t.ancestor(common, t.named(g.Value))
	}
	if common == root {
		return Generalization{Value: Root}
	}
	return Generalization{Value: t.labels[common]}
}

func (h ordered) union(published []Generalization) Generalization {
	low, high := len(h.labels), -1
	for _, g := range published {
		from, to, ok := h.ends(g)
		if !ok {
			return Generalization{Hidden: true}
		}
		low, high = min(low, from), max(high, to)
	}
	return h.Generalize([]Cell{Cell(low), Cell(high)})
}

// ends are the ranks of the ends of a range that was published; no label holds the mark.
func (h ordered) ends(g Generalization) (low, high int, ok bool) {
	from, to, isRange := strings.Cut(g.Value, rangeMark)
	if !isRange {
		to = from
	}
	low, known := h.ranks[from]
	high, alsoKnown := h.ranks[to]
	return low, high, known && alsoKnown
}

// A code with asterisks of its own at the end is taken for a masked prefix.
func (p *prefixes) union(published []Generalization) Generalization {
	first := published[0].Value
	common, alike := first, true
	for _, g := range published {
		common, alike = commonPrefix(common, beginning(g.Value)), alike && g.Value == first
	}
	if alike && common == first {
		return p.shown(first, true)
	}
	return p.shown(common, false)
}

// beginning is what a code or masked prefix shows of the codes that it stands for.
func beginning(label string) string { return strings.TrimRight(label, Root) }

// shown is what a coarser release shows of a code, or of all that begin so: as much as may be kept, and one
// asterisk for whatever follows.
func (p *prefixes) shown(text string, code bool) Generalization {
	keep := utf8.RuneCountInString(text)
	if len(p.keep) > 0 {
		if code && keep <= p.keep[0] {
			return Generalization{Value: text}
		}
		keep, code = allowed(p.keep, keep), false
	}
	if code {
		return Generalization{Value: text}
	}
	return Generalization{Value: leading(text, keep) + Root}
}
