package incremental

// marks are a set of slots, one bit for each.
type marks []uint64

// set adds a slot and reports whether it was not there.
func (m *marks) set(slot int32) bool {
	for int(slot)/64 >= len(*m) {
		*m = append(*m, 0)
	}
	word, bit := &(*m)[slot/64], uint64(1)<<(slot%64)
	was := *word & bit
	*word |= bit
	return was == 0
}

func (m marks) unset(slot int32) {
	if int(slot)/64 < len(m) {
		m[slot/64] &^= 1 << (slot % 64)
	}
}
