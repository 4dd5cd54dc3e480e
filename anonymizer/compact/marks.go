package compact

// Marks are a set of slots, one bit for each.
type Marks []uint64

// Set adds a slot and reports whether it was not there.
func (m *Marks) Set(slot int32) bool {
	for int(slot)/64 >= len(*m) {
		*m = append(*m, 0)
	}
	word, bit := &(*m)[slot/64], uint64(1)<<(slot%64)
	was := *word & bit
	*word |= bit
	return was == 0
}

// Unset takes a slot away and reports whether it was there.
func (m Marks) Unset(slot int32) bool {
	if int(slot)/64 >= len(m) {
		return false
	}
	word, bit := &m[slot/64], uint64(1)<<(slot%64)
	was := *word & bit
	*word &^= bit
	return was != 0
}
