package hierarchy

import (
	"math"
	"slices"
)

// Coverage gives the share of an attribute's domain that a class loses to its
// generalization, by the least and the greatest position of its members, which lie
// in the domain from low to high:
//
//   - Numeric, Date and Ordered: the class's width by the domain's;
//   - Numeric with Spec.Steps and Date with Spec.Units: what the interval that is
//     published covers of the domain, also for a single position, and all where the
//     widest interval does not hold the class;
//   - Categorical: the leaves below the lowest common node by all leaves, those met
//     so far included;
//   - Prefix: the codes with the members' common beginning, as far as it may be
//     published, by all codes met so far, of which at most 4,096 are looked at, and
//     of each the six bytes of its position;
//   - Suppression: all or nothing.
//
// Without fixed intervals a single position loses nothing. Range 0 to 1. It needs
// no values, only positions, and so differs from Levels.Share in one place: a value
// that is an inner node counts as the leaves in its middle. What is returned does
// not change with h and allocates nothing.
func Coverage(h Hierarchy, low, high float64) func(least, greatest float64) float64 {
	switch t := h.(type) {
	case coarser:
		return t.coverage(low, high)
	case *taxonomy:
		return t.coverage()
	case frozenTaxonomy:
		return t.coverage()
	case *prefixes:
		return t.coverage()
	case frozenPrefixes:
		return t.coverage()
	case suppression, frozenSuppression:
		return func(least, greatest float64) float64 {
			if least == greatest {
				return 0
			}
			return 1
		}
	case gridded:
		return coverageOf(t.grid.narrowest, low, high)
	case calendar:
		if len(t.units) > 0 {
			return coverageOf(t.narrowest, low, high)
		}
	}
	width := high/2 - low/2 // halves keep the span of the largest floats finite
	return func(least, greatest float64) float64 {
		if !(least < greatest) || !(width > 0) {
			return 0
		}
		return min(1, (greatest/2-least/2)/width)
	}
}

// coverageOf measures the fixed interval that is published of a class; ok is false
// where there is none.
func coverageOf(published func(least, greatest float64) (first, last float64, ok bool), low, high float64) func(least, greatest float64) float64 {
	return func(least, greatest float64) float64 {
		first, last, ok := published(least, greatest)
		if !ok {
			return 1
		}
		return widthShare(first, last, low, high)
	}
}

// Grain gives the position at which the narrowest interval begins that can be
// published of a position, and nil for a hierarchy without fixed intervals
// (Spec.Steps, Spec.Units). Classes of positions with one grain cannot be told apart
// by readers: Coverage is the same of all of them.
func Grain(h Hierarchy) func(position float64) float64 {
	var narrowest func(least, greatest float64) (first, last float64, ok bool)
	switch t := h.(type) {
	case gridded:
		narrowest = t.grid.narrowest
	case calendar:
		if len(t.units) > 0 {
			narrowest = t.narrowest
		}
	}
	if narrowest == nil {
		return nil
	}
	return func(position float64) float64 {
		if math.IsNaN(position) {
			return position
		}
		first, _, ok := narrowest(position, position)
		if !ok {
			return math.NaN()
		}
		return first
	}
}

// coverage looks the lowest common node up by the leaves at both ends: what lies
// between two leaves in the taxonomy's order lies below it as well.
func (t *taxonomy) coverage() func(least, greatest float64) float64 {
	frozen := t.frozen()
	levels, _ := frozen.rungs(nil)
	below := levels.(taxonomyLevels).leaves
	leaf := make([]int32, frozen.leaves) // code of the leaf at each position
	for code, nearest := range levels.(taxonomyLevels).nearest {
		if nearest == 0 {
			leaf[int(frozen.positions[code])] = int32(code)
		}
	}
	return func(least, greatest float64) float64 {
		first, last := int(math.Floor(least)), int(math.Ceil(greatest))
		if least == greatest || first < 0 || last >= len(leaf) {
			return 0
		}
		common := frozen.ancestor(leaf[first], leaf[last])
		if common == root {
			return 1
		}
		return countShare(below[common], frozen.leaves)
	}
}

// codesCounted bounds the codes that coverage looks at.
const codesCounted = 4096

// coverage finds the common beginning of two positions byte by byte and counts the
// codes that have it.
func (p *prefixes) coverage() func(least, greatest float64) float64 {
	step := max(1, (len(p.texts)+codesCounted-1)/codesCounted)
	var positions []float64
	for code := 0; code < len(p.texts); code += step {
		positions = append(positions, p.Position(Cell(code)))
	}
	slices.Sort(positions)
	keep := p.keep
	return func(least, greatest float64) float64 { return sharedBeginning(positions, keep, least, greatest) }
}

// sharedBeginning is the part of some ascending positions that have what two of them have in
// common, as far as it may be published.
func sharedBeginning(positions []float64, keep []int, least, greatest float64) float64 {
	if !(least < greatest) {
		return 0
	}
	bytes, rest := 0, 8*axisBytes
	for uint64(least)>>(rest-8) == uint64(greatest)>>(rest-8) {
		bytes, rest = bytes+1, rest-8
	}
	if len(keep) > 0 {
		rest = 8 * (axisBytes - allowed(keep, bytes))
	}
	from := uint64(least) >> rest << rest
	first, _ := slices.BinarySearch(positions, float64(from))
	beyond, _ := slices.BinarySearch(positions, float64(from+1<<rest))
	return float64(beyond-first) / float64(max(1, len(positions)))
}

// allowed is the greatest of the descending numbers up to n, 0 for none.
func allowed(numbers []int, n int) int {
	for _, number := range numbers {
		if number <= n {
			return number
		}
	}
	return 0
}
