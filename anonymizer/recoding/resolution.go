package recoding

import (
	"context"
	"slices"
)

// resolution finds which vectors over some attributes satisfy.
type resolution struct {
	search     *search
	attributes []int
	box        box
	satisfied  []bool // by index
	// contest is nil where all vectors are to be marked. Else the best is looked
	// for, and what cannot be better stays unmarked.
	contest *contest
}

// resolve asks the open vectors, ascending indexes; from has counts at a vector
// that lies below all of them.
//
// A set of vectors whose upper bound violates violates; one whose lower bound
// satisfies satisfies. Any other is divided at the middle of its widest
// attribute, and as no vector of the upper part lies below one of the lower part,
// the lower one comes first. Bounds close in on the vectors, so that what is
// counted is rolled up from something little larger.
func (r *resolution) resolve(ctx context.Context, open []int, from *tuples) error {
	if r.contest != nil {
		open = r.contest.promising(open)
	}
	open, implied := r.implied(open)
	if err := r.satisfy(ctx, implied); err != nil {
		return err
	}
	if len(open) == 0 {
		return ctx.Err()
	}
	low, high := r.bounds(open)
	if !slices.Equal(low, from.levels) {
		var err error
		if from, err = from.view(ctx, upTo(len(low)), low, false); err != nil {
			return err
		}
	}
	if len(open) > 1 {
		above, err := from.view(ctx, upTo(len(high)), high, false)
		if err != nil {
			return err
		}
		if ok, err := r.search.satisfies(ctx, above, r.attributes); err != nil || !ok {
			return err
		}
	}
	ok, err := r.search.satisfies(ctx, from, r.attributes)
	if err != nil {
		return err
	}
	if ok {
		return r.satisfy(ctx, open)
	}
	if len(open) == 1 {
		return nil
	}
	lower, upper := r.divide(open, low, high)
	if err := r.resolve(ctx, lower, from); err != nil {
		return err
	}
	return r.resolve(ctx, upper, from)
}

// satisfy marks vectors as satisfying.
func (r *resolution) satisfy(ctx context.Context, some []int) error {
	for _, index := range some {
		r.satisfied[index] = true
	}
	if r.contest == nil {
		return nil
	}
	return r.contest.enter(ctx, some)
}

// implied parts the vectors above one that satisfies from the others. What lies
// below a vector comes before it.
func (r *resolution) implied(open []int) (left, implied []int) {
	for _, index := range open {
		above := false
		for i, stride := range r.box.strides {
			above = above || r.box.step(index, i) > 0 && r.satisfied[index-stride]
		}
		if above {
			r.satisfied[index] = true
			implied = append(implied, index)
		} else {
			left = append(left, index)
		}
	}
	return left, implied
}

// bounds are the greatest vector below and the least above all of them.
func (r *resolution) bounds(open []int) (low, high []uint8) {
	for i, a := range r.attributes {
		least, most := r.box.radices[i], 0
		for _, index := range open {
			step := r.box.step(index, i)
			least, most = min(least, step), max(most, step)
		}
		low = append(low, r.search.low[a]+uint8(least))
		high = append(high, r.search.low[a]+uint8(most))
	}
	return low, high
}

// divide parts the vectors, which are several, at the middle of the attribute in
// which their bounds lie farthest apart.
func (r *resolution) divide(open []int, low, high []uint8) (lower, upper []int) {
	widest := 0
	for i := range low {
		if high[i]-low[i] > high[widest]-low[widest] {
			widest = i
		}
	}
	middle := int(low[widest]) + int(high[widest]-low[widest])/2 - int(r.search.low[r.attributes[widest]])
	for _, index := range open {
		if r.box.step(index, widest) <= middle {
			lower = append(lower, index)
		} else {
			upper = append(upper, index)
		}
	}
	return lower, upper
}
