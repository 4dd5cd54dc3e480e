package compact_test

import (
	"testing"

	"github.com/kproxy/kproxy/anonymizer/compact"
)

// TestSlabKeepsRows where they are while it grows and shrinks, without a column too.
func TestSlabKeepsRows(t *testing.T) {
	t.Parallel()
	const rows = 2000
	for _, columns := range []int{0, 1, 3} {
		s := compact.NewSlab[int](columns)
		for i := range int32(rows) {
			s.Grow()
			for a := range s.Row(i) {
				s.Row(i)[a] = columns*int(i) + a
			}
		}
		for range rows / 2 {
			s.Shrink()
		}
		for range rows {
			s.Grow()
		}
		for i := range int32(rows / 2) {
			row := s.Row(i)
			if len(row) != columns || cap(row) != columns {
				t.Fatalf("row %d of %d columns has %d", i, columns, len(row))
			}
			for a, value := range row {
				if value != columns*int(i)+a {
					t.Fatalf("row %d has %v", i, row)
				}
			}
		}
	}
}
