package incremental

// slab holds rows of the same number of values. It grows without moving them, so that
// no change of many takes long and no memory is held twice.
type slab[T any] struct {
	columns int
	rows    int32
	chunks  [][]T
}

// slabRows is the number of rows of a chunk, 1<<slabBits.
const slabBits = 8

// row gives a row to read and to write.
func (s *slab[T]) row(i int32) []T {
	from := int(i&(1<<slabBits-1)) * s.columns
	return s.chunks[i>>slabBits][from : from+s.columns : from+s.columns]
}

// grow adds a row.
func (s *slab[T]) grow() {
	if int(s.rows)>>slabBits == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, s.columns<<slabBits))
	}
	s.rows++
}

// shrink takes the last row away.
func (s *slab[T]) shrink() { s.rows-- }
