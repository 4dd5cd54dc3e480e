package nested

import (
	"hash/maphash"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// axis measures what is published of an attribute, roughly: that decides which of many groups are near.
type axis struct {
	ranged bool    // by the distance of its ends; else whether it is the same
	width  float64 // of all that was published when the groups began
	seed   maphash.Seed
}

// span is what a class or group covers of an attribute: both ends, or for what is not ranged twice a
// number of the label.
type span struct {
	low, high float64
	hidden    bool
}

func axesOf(attributes []anonymizer.Attribute, labels [][]hierarchy.Generalization) []axis {
	axes := make([]axis, len(attributes))
	for a, attribute := range attributes {
		spans := hierarchy.SpansOf(attribute.Hierarchy, labels[a])
		axes[a] = axis{ranged: spans.Ranged, seed: maphash.MakeSeed()}
		if !spans.Ranged {
			continue
		}
		var all span
		some := false
		for _, s := range spans.Of {
			if !s.Hidden {
				one := span{low: s.Least, high: s.Greatest}
				if !some {
					all, some = one, true
				}
				all.low, all.high = min(all.low, one.low), max(all.high, one.high)
			}
		}
		axes[a].width = all.high - all.low
	}
	return axes
}

// boxOf is what a class covers.
func (g *Groups) boxOf(class incremental.ClassID) []span {
	labels := g.finer.Generalize(class)
	box := make([]span, len(labels))
	for a, label := range labels {
		box[a] = g.axes[a].span(g.attributes[a].Hierarchy, label)
	}
	return box
}

func (x *axis) span(h hierarchy.Hierarchy, label hierarchy.Generalization) span {
	if label.Hidden {
		return span{hidden: true}
	}
	if !x.ranged {
		var hash maphash.Hash
		hash.SetSeed(x.seed)
		_, _ = hash.WriteString(label.Value)
		number := float64(hash.Sum64() >> 12)
		return span{low: number, high: number}
	}
	s := hierarchy.SpansOf(h, []hierarchy.Generalization{label}).Of[0]
	return span{low: s.Least, high: s.Greatest, hidden: s.Hidden}
}

// include is what two boxes cover together; the first may be none.
func include(box, other []span) []span {
	if box == nil {
		return append([]span(nil), other...)
	}
	for a, s := range other {
		box[a] = span{low: min(box[a].low, s.low), high: max(box[a].high, s.high), hidden: box[a].hidden || s.hidden}
	}
	return box
}

// loss is what a box loses, 0 to 1 for each attribute.
func (g *Groups) loss(box []span) (sum float64) {
	for a, s := range box {
		switch x := &g.axes[a]; {
		case s.hidden:
			sum++
		case !x.ranged && s.low != s.high:
			sum++
		case x.ranged && x.width > 0:
			sum += min(1, (s.high-s.low)/x.width)
		}
	}
	return sum
}
