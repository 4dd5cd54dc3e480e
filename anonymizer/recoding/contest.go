package recoding

import (
	"cmp"
	"context"
	"slices"
)

// choice is a vector of levels that may be published.
type choice struct {
	levels []uint8
	loss   float64
	sum    int
}

// choice is a vector with its loss where nothing is withheld.
func (s *search) choice(levels []uint8) choice {
	c := choice{levels: levels}
	for a, level := range levels {
		c.sum += int(level)
		c.loss += s.losses[a][level] / float64(len(levels))
	}
	return c
}

func compareChoices(a, b choice) int {
	return cmp.Or(cmp.Compare(a.loss, b.loss), cmp.Compare(a.sum, b.sum), slices.Compare(a.levels, b.levels))
}

// contest looks for the best of the vectors that satisfy the monotone demands.
type contest struct {
	search *search
	box    box
	counts *frequencies
	best   *choice
}

// exact: what satisfies the monotone demands satisfies all and withholds
// nothing.
func (c *contest) exact() bool {
	s := c.search
	return s.allowed == 0 && len(s.monotone.whole) == len(s.run.demands.whole)
}

// choice is the vector with the index.
func (c *contest) choice(index int) choice {
	levels := make([]uint8, len(c.box.strides))
	for a := range levels {
		levels[a] = c.search.low[a] + uint8(c.box.step(index, a))
	}
	return c.search.choice(levels)
}

// beats reports whether the choice may turn out better than the best. What is
// withheld can only add to its loss.
func (c *contest) beats(one choice) bool {
	if c.best == nil {
		return true
	}
	if c.exact() {
		return compareChoices(one, *c.best) < 0
	}
	return one.loss <= c.best.loss
}

// promising are the vectors that may turn out better than the best.
func (c *contest) promising(open []int) []int {
	if c.best == nil {
		return open
	}
	var left []int
	for _, index := range open {
		if c.beats(c.choice(index)) {
			left = append(left, index)
		}
	}
	return left
}

// enter compares vectors that satisfy the monotone demands with the best.
func (c *contest) enter(ctx context.Context, satisfied []int) error {
	choices := make([]choice, len(satisfied))
	for i, index := range satisfied {
		choices[i] = c.choice(index)
	}
	slices.SortFunc(choices, compareChoices)
	for _, one := range choices {
		if !c.beats(one) {
			break
		}
		if err := c.admit(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// admit takes a vector that satisfies the monotone demands for the best, if it
// is.
func (c *contest) admit(ctx context.Context, one choice) error {
	ok := true
	if !c.exact() {
		var err error
		if one.loss, ok, err = c.search.withheldLoss(ctx, c.counts, one.levels); err != nil {
			return err
		}
	}
	if ok && (c.best == nil || compareChoices(one, *c.best) < 0) {
		c.best = &one
	}
	return nil
}
