// Package loss measures what classes lose by what is published of them, fast enough for methods
// that compare many classes. It is metric.PublishedLoss for parts of a table.
package loss

import (
	"context"
	"math"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
	"github.com/kproxy/kproxy/anonymizer/internal/ranking"
)

// Scale is an attribute: its values by rank (of fixed intervals, the narrowest ones), and what a class loses by its lowest and highest.
type Scale struct {
	// Ranged says that the loss of a class is the distance of its ends. Else it is that of
	// the lowest node of a hierarchy which holds both.
	Ranged bool
	// Size is how many ranks there are, with that of the values off the scale.
	Size int32

	off       int32 // the rank of values off the scale; Size without such
	positions []float64
	share     func(least, greatest float64) float64
	shares    []float32 // by low*Size+high; nil where there are too many
}

// tabulated is the greatest number of ranks whose losses are kept in a table.
const tabulated = 256

// Scales are those of the attributes of a table, and rows its ranks, by record and then by
// attribute. They are unfinished once the context has ended.
func Scales(ctx context.Context, t *anonymizer.Table) (scales []Scale, rows []int32) {
	attributes := t.Attributes()
	scales, rows = make([]Scale, len(attributes)), make([]int32, t.Len()*len(attributes))
	cores.Each(len(attributes), func(a int) {
		positions := ranking.Positions(ctx, t, a)
		low, high := ends(positions)
		if grain := hierarchy.Grain(attributes[a].Hierarchy); grain != nil {
			for i, position := range positions {
				positions[i] = grain(position)
			}
		}
		ranked := ranking.Of(ctx, positions)
		for i, rank := range ranked.Ranks {
			rows[i*len(attributes)+a] = rank
		}
		scales[a] = newScale(attributes[a].Hierarchy, ranked, low, high)
	})
	return scales, rows
}

// ends are the least and the greatest position on the scale.
func ends(positions []float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, position := range positions {
		if !math.IsNaN(position) {
			low, high = min(low, position), max(high, position)
		}
	}
	return low, high
}

func newScale(h hierarchy.Hierarchy, r ranking.Ranking, low, high float64) Scale {
	kind := h.Kind()
	ranged := (kind == hierarchy.Numeric || kind == hierarchy.Date || kind == hierarchy.Ordered) && hierarchy.Grain(h) == nil
	var share func(least, greatest float64) float64
	if len(r.Values) > 0 {
		share = hierarchy.Coverage(h, low, high)
	}
	return New(ranged, r.Values, r.OffScale, share)
}

// New is a scale of ascending positions, beyond which values can be hidden. Share is what a class
// loses by its least and greatest position.
func New(ranged bool, positions []float64, hidden bool, share func(least, greatest float64) float64) Scale {
	s := Scale{Ranged: ranged, Size: int32(len(positions)), off: int32(len(positions)), positions: positions, share: share}
	if hidden {
		s.Size++
	}
	if len(positions) == 0 || s.Size > tabulated {
		return s
	}
	shares := make([]float32, s.Size*s.Size)
	for low := range s.Size {
		for high := low; high < s.Size; high++ {
			shares[low*s.Size+high] = s.Of(low, high)
		}
	}
	s.shares = shares
	return s
}

// Of is the part of what could be known of a value that a class loses whose lowest and highest
// ranks are given: 0 to 1. Values off the scale hide the attribute, whatever the others are.
func (s *Scale) Of(low, high int32) float32 {
	if s.shares != nil {
		return s.shares[low*s.Size+high]
	}
	if high >= s.off {
		return 1
	}
	return float32(s.share(s.positions[low], s.positions[high]))
}

// Hidden says whether the rank is that of values off the scale.
func (s *Scale) Hidden(rank int32) bool { return rank == s.off }
