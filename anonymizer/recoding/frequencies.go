package recoding

import "context"

// keptCounts is how many counts are kept for rolling up.
const keptCounts = 64

// frequencies gives the counts at vectors over all attributes, asked for in any
// order. Each is rolled up from the smallest kept one that lies below it.
type frequencies struct {
	search *search
	kept   []*tuples // a ring
	oldest int
}

// at gives the counts at the levels.
func (f *frequencies) at(ctx context.Context, levels []uint8) (*tuples, error) {
	from := f.search.base
	for _, v := range f.kept {
		if v.len() < from.len() && below(v.levels, levels) {
			from = v
		}
	}
	v, err := from.view(ctx, upTo(len(levels)), levels, f.search.chained(f.search.run.demands))
	if err != nil {
		return nil, err
	}
	if len(f.kept) < keptCounts {
		f.kept = append(f.kept, v)
	} else {
		f.kept[f.oldest] = v
		f.oldest = (f.oldest + 1) % keptCounts
	}
	return v, nil
}

// below reports whether no level is above the other's.
func below(levels, others []uint8) bool {
	for i, level := range levels {
		if level > others[i] {
			return false
		}
	}
	return true
}
