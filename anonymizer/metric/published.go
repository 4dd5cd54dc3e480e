package metric

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// PublishedLoss is the share of what could be known of a value that is lost in a
// live table, which publishes of each class what Hierarchy.Generalize says of its
// members, whatever levels the release names: the mean over all records and
// attributes of
//
//   - 1 where nothing is said: "*", hidden (also where the members are all
//     NULL), or a withheld record;
//   - for numbers and dates, the width of the published interval, as far as it lies
//     in the column's, by that of the column; a fixed interval (hierarchy.Spec.Steps, Units) is wider
//     than what the class covers;
//   - else 0 for one value, and otherwise the column's values that the label can
//     stand for (in the range, below the node, with the prefix) by all its values.
//
// It is GCP with the published label in place of the members: a class of
// neighbors on an axis that is published as "*" loses 1, not their distance.
// Range 0 (every value is published as it is) to 1 (nothing is left); lower is
// better. An empty table has 0. Time: records times attributes.
func PublishedLoss(t *anonymizer.Table, r *anonymizer.Release) float64 {
	return mean(t, r, func(a int) func(e int) float64 {
		h, cells := t.Attributes()[a].Hierarchy, t.Cells(a)
		share := labelShare(t.Attributes()[a], cells)
		members := []hierarchy.Cell{}
		return func(e int) float64 {
			members = members[:0]
			for _, i := range r.Classes[e] {
				members = append(members, cells[i])
			}
			published := h.Generalize(members)
			if published.Hidden || published.Value == hierarchy.Root {
				return 1
			}
			return share(r.Classes[e], published)
		}
	})
}

// labelShare gives the part of the column that something published of a class can
// stand for; it is not hidden.
func labelShare(a anonymizer.Attribute, column []hierarchy.Cell) func(anonymizer.EquivalenceClass, hierarchy.Generalization) float64 {
	switch a.Hierarchy.Kind() {
	case hierarchy.Numeric, hierarchy.Date:
		return intervalShare(a.Hierarchy, column)
	case hierarchy.Ordered:
		return rangeShare(a.Hierarchy, column)
	case hierarchy.Categorical:
		return nodeShare(newLadder(a, column), column)
	default:
		l := newLadder(a, column)
		return func(class anonymizer.EquivalenceClass, _ hierarchy.Generalization) float64 {
			return l.Share(column[class[0]], l.Height()-l.common(column, class))
		}
	}
}

func intervalShare(h hierarchy.Hierarchy, column []hierarchy.Cell) func(anonymizer.EquivalenceClass, hierarchy.Generalization) float64 {
	domain := emptyExtent
	for _, c := range column {
		domain.include(h.Position(c))
	}
	return func(_ anonymizer.EquivalenceClass, published hierarchy.Generalization) float64 {
		bounds := emptyExtent
		bounds.include(h.Position(h.Encode(published.Lower)))
		bounds.include(h.Position(h.Encode(published.Upper)))
		if domain.low == domain.high {
			return 0
		}
		bounds.low, bounds.high = max(bounds.low, domain.low), min(bounds.high, domain.high)
		return min(1, bounds.share(domain))
	}
}

// rangeShare counts the column's values between the ends of the class.
func rangeShare(h hierarchy.Hierarchy, column []hierarchy.Cell) func(anonymizer.EquivalenceClass, hierarchy.Generalization) float64 {
	values := ranking.Distinct(context.Background(), column)
	slices.SortFunc(values, func(a, b hierarchy.Cell) int { return int(h.Position(a) - h.Position(b)) })
	places := make(map[hierarchy.Cell]int, len(values))
	for place, c := range values {
		places[c] = place
	}
	return func(class anonymizer.EquivalenceClass, _ hierarchy.Generalization) float64 {
		first := places[column[class[0]]]
		low, high := first, first
		for _, i := range class {
			low, high = min(low, places[column[i]]), max(high, places[column[i]])
		}
		return countShare(high-low+1, len(values))
	}
}

// nodeShare counts the column's values below the lowest node that holds the class.
func nodeShare(l ladder, column []hierarchy.Cell) func(anonymizer.EquivalenceClass, hierarchy.Generalization) float64 {
	values := ranking.Distinct(context.Background(), column)
	below := map[nodeKey]int{}
	for _, c := range values {
		last := nodeKey{level: -1}
		for level := range l.depth(c) {
			// A value that is an inner node is met at several levels.
			if key := l.key(c, level); key != last {
				below[key]++
				last = key
			}
		}
	}
	return func(class anonymizer.EquivalenceClass, _ hierarchy.Generalization) float64 {
		first := column[class[0]]
		level := l.depth(first) - l.common(column, class)
		return countShare(below[l.key(first, level)], len(values))
	}
}

// countShare is the part that some values are of all; one value alone is none.
func countShare(some, all int) float64 {
	if some <= 1 {
		return 0
	}
	return float64(some) / float64(all)
}
