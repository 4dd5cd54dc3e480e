package privacy

import (
	"sync"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Scale places the values of a sensitive attribute in the order or the taxonomy
// of a hierarchy. Values that come later get their place when they are asked
// for, in the order of their codes. NULL and unknown codes are off the scale. It
// is safe for concurrent use while neither its dictionary nor its hierarchy is
// used to add values.
type Scale struct {
	mutex     sync.Mutex
	values    *Dictionary
	hierarchy hierarchy.Hierarchy
	cells     []hierarchy.Cell // by code
}

// NewScale returns the scale of the dictionary's values, of now and later. The
// hierarchy must be the scale's own: it encodes with it.
func NewScale(values *Dictionary, h hierarchy.Hierarchy) *Scale {
	s := &Scale{values: values, hierarchy: h}
	s.encode()
	return s
}

// Hierarchy is what the scale places values by.
func (s *Scale) Hierarchy() hierarchy.Hierarchy { return s.hierarchy }

// Cell is the value's cell in the hierarchy.
func (s *Scale) Cell(code uint32) hierarchy.Cell {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.cell(code)
}

// Position is the value's place on the hierarchy's axis; NaN off the scale.
func (s *Scale) Position(code uint32) float64 {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.hierarchy.Position(s.cell(code))
}

func (s *Scale) cell(code uint32) hierarchy.Cell {
	if int64(code) >= int64(len(s.cells)) {
		s.encode()
	}
	if int64(code) >= int64(len(s.cells)) {
		return hierarchy.OffScale()
	}
	return s.cells[code]
}

// encode takes over what the dictionary has learned.
func (s *Scale) encode() {
	for code := len(s.cells); code < s.values.Len(); code++ {
		cell := hierarchy.OffScale()
		if text, ok := s.values.Text(uint32(code)); ok {
			cell = s.hierarchy.Encode(text)
		}
		s.cells = append(s.cells, cell)
	}
}
