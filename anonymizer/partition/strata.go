package partition

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// strata divide the records by their sensitive values: what constraints count of a
// class follows from how many records of each stratum it has.
type strata struct {
	of    []int32    // of each record of the table, from 0 on without gaps
	codes [][]uint32 // of each stratum, in the order of columns
	// columns are the sensitive attributes that the constraints are on.
	columns []int
}

// newStrata numbers the combinations of values in the order of their first
// appearance. They are unfinished once the context has ended.
func newStrata(ctx context.Context, t *anonymizer.Table, c privacy.ConstraintSet) *strata {
	s := &strata{of: make([]int32, t.Len()), columns: sensitiveOf(t, c), codes: [][]uint32{nil}}
	for _, a := range s.columns {
		s.refine(ctx, t.Sensitive(a))
	}
	return s
}

// refine divides each stratum by another column of values.
func (s *strata) refine(ctx context.Context, column []uint32) {
	type finer struct {
		stratum int32
		code    uint32
	}
	numbers := map[finer]int32{}
	var codes [][]uint32
	for r, stratum := range s.of {
		if r%contextStride == 0 && ctx.Err() != nil {
			return
		}
		key := finer{stratum, column[r]}
		number, known := numbers[key]
		if !known {
			number = int32(len(codes))
			numbers[key] = number
			codes = append(codes, append(slices.Clone(s.codes[stratum]), column[r]))
		}
		s.of[r] = number
	}
	s.codes = codes
}

// sensitiveOf lists the sensitive attributes of the table that the constraints
// speak of, ascending; all where one is of a kind not known here.
func sensitiveOf(t *anonymizer.Table, c privacy.ConstraintSet) []int {
	all := len(t.Population().Sensitive)
	spoken := make([]bool, all)
	for _, constraint := range c {
		of, known := sensitiveAttribute(constraint)
		for a := range spoken {
			spoken[a] = spoken[a] || !known || a == of
		}
	}
	var columns []int
	for a, is := range spoken {
		if is {
			columns = append(columns, a)
		}
	}
	return columns
}

// sensitiveAttribute is the one that a constraint is on, -1 for none.
func sensitiveAttribute(c privacy.Constraint) (attribute int, known bool) {
	switch c := c.(type) {
	case privacy.KAnonymity:
		return -1, true
	case privacy.DistinctDiversity:
		return c.Attribute, true
	case privacy.EntropyDiversity:
		return c.Attribute, true
	case privacy.RecursiveDiversity:
		return c.Attribute, true
	case privacy.AlphaBound:
		return c.Attribute, true
	case privacy.TCloseness:
		return c.Attribute, true
	case privacy.BetaLikeness:
		return c.Attribute, true
	case privacy.DeltaDisclosurePrivacy:
		return c.Attribute, true
	}
	return 0, false
}
