package sync

import "slices"

// truncations are the source's transactions that truncated a table, oldest first, since its
// definition was looked at: each gives it another file, and the look may lie between two.
type truncations []uint32

// maxTruncations bounds them: a table that is truncated more often between two looks is
// compared with its source.
const maxTruncations = 1024

// add notes one of which the stream has told.
func (t *truncations) add(transaction uint32) {
	*t = append(*t, transaction)
	*t = (*t)[max(0, len(*t)-maxTruncations):]
}

// explain tells whether one of them made the only difference between two definitions, and
// forgets those before it. That one stays: it may have been found twice.
func (t *truncations) explain(before, now definition) bool {
	if now.rest != before.rest || !slices.Equal(now.labels, before.labels) || len(now.leaves) != 1 || !slices.Equal(now.leaves, before.leaves) {
		return false
	}
	at := slices.IndexFunc(*t, func(one uint32) bool { return int64(one) == now.by[0] })
	if at < 0 {
		return false
	}
	*t = (*t)[at:]
	return true
}
