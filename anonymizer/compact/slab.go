package compact

// Slab holds rows of the same number of values. It grows without moving them, so that
// no change of many takes long and no memory is held twice.
type Slab[T any] struct {
	columns int
	rows    int32
	chunks  [][]T
}

// NewSlab has rows of so many values, and none yet.
func NewSlab[T any](columns int) Slab[T] { return Slab[T]{columns: columns} }

// Columns is the number of values of a row.
func (s *Slab[T]) Columns() int { return s.columns }

// A chunk has 1<<slabBits rows.
const slabBits = 8

// Row gives a row to read and to write.
func (s *Slab[T]) Row(i int32) []T {
	from := int(i&(1<<slabBits-1)) * s.columns
	return s.chunks[i>>slabBits][from : from+s.columns : from+s.columns]
}

// Grow adds a row.
func (s *Slab[T]) Grow() {
	if int(s.rows)>>slabBits == len(s.chunks) {
		s.chunks = append(s.chunks, make([]T, s.columns<<slabBits))
	}
	s.rows++
}

// Shrink takes the last row away.
func (s *Slab[T]) Shrink() { s.rows-- }
