package anonymizertest

import (
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// Row is a record as the source table holds it.
type Row struct {
	Raw       []string // of each quasi-identifying attribute; workload.Null for NULL
	Sensitive []uint32
	Subject   uint32
	Copied    []uint64 // of each column that is published as it is and that no constraint counts
}

// Source makes rows for tests of what is maintained while its records change. All
// that it draws comes from Random, so that a test can be driven by a seed, or by the
// bytes of a fuzzer.
type Source struct {
	Random    *rand.Rand
	Data      *workload.Data // no records; its attributes are those of the rows
	Shape     workload.Shape // Sensitive is the number of distinct values of an attribute
	Sensitive int            // how many sensitive attributes rows have
	Copied    int            // how many columns rows have that are published as they are
	Persons   int            // how many persons the rows are about; 0: Subject is always 0
}

// NewSource draws rows over so many attributes, beginning with the given one of
// the kinds that package workload knows.
func NewSource(random *rand.Rand, shape workload.Shape, first, sensitive, persons int) *Source {
	needed := shape
	needed.Records, needed.Attributes = 0, first+shape.Attributes
	d := workload.Generate(0, needed)
	return &Source{
		Random: random, Shape: shape, Sensitive: sensitive, Persons: persons,
		Data: &workload.Data{Specs: d.Specs[first:], Attributes: d.Attributes[first:]},
	}
}

// Row makes a new row.
func (s *Source) Row() Row {
	var r Row
	for a := range s.Data.Specs {
		r.Raw = append(r.Raw, s.value(a))
	}
	for range s.Sensitive {
		r.Sensitive = append(r.Sensitive, workload.SensitiveValue(s.Random, s.Shape))
	}
	for range s.Copied {
		r.Copied = append(r.Copied, s.Random.Uint64N(3))
	}
	r.Subject = s.subject()
	return r
}

func (s *Source) value(attribute int) string {
	return workload.Value(s.Random, s.Data.Specs[attribute], s.Shape)
}

func (s *Source) subject() uint32 {
	if s.Persons == 0 {
		return 0
	}
	return uint32(s.Random.IntN(s.Persons))
}

// Changed is the row with other values, which can happen to be the same: in one
// quasi-identifying attribute or all, off the scale, in the sensitive ones, in all of
// these, in what is copied, or of another person.
func (s *Source) Changed(r Row) Row {
	fresh := s.Row()
	r.Raw = slices.Clone(r.Raw)
	attribute := -1
	if len(r.Raw) > 0 {
		attribute = s.Random.IntN(len(r.Raw))
	}
	switch choice := s.Random.IntN(8); {
	case choice == 0 && attribute >= 0:
		r.Raw[attribute] = workload.Null
	case choice == 1 && attribute >= 0:
		r.Raw[attribute] = fresh.Raw[attribute]
	case choice == 2:
		r.Raw = fresh.Raw
	case choice == 3:
		r.Raw, r.Sensitive = fresh.Raw, fresh.Sensitive
	case choice == 4:
		r.Copied = fresh.Copied
	case choice == 5:
		r.Subject = fresh.Subject
	default:
		r.Sensitive = fresh.Sensitive
	}
	return r
}

// Cells are the coded quasi-identifying values.
func (s *Source) Cells(r Row) []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(r.Raw))
	for a, text := range r.Raw {
		cells[a] = workload.Encode(s.Data.Attributes[a].Hierarchy, text)
	}
	return cells
}

// Group is what constraints look at; Subjects are counted where rows are about
// persons.
func (s *Source) Group(rows []Row) Group {
	g := Group{Records: len(rows), Sensitive: make([][]uint32, s.Sensitive)}
	for _, r := range rows {
		for a, code := range r.Sensitive {
			g.Sensitive[a] = append(g.Sensitive[a], code)
		}
		if s.Persons > 0 {
			g.Subjects = append(g.Subjects, r.Subject)
		}
	}
	return g
}

// CheckCovers proves that what is published holds for every row, and is hidden only
// where it has to be.
func (s *Source) CheckCovers(rows []Row, published []hierarchy.Generalization) error {
	for a, g := range published {
		texts := make([]string, len(rows))
		for i, r := range rows {
			texts[i] = r.Raw[a]
		}
		if err := CheckGeneralization(s.Data.Specs[a], texts, g); err != nil {
			return err
		}
	}
	return nil
}

// Bytes is a source of randomness that a fuzzer drives: each byte decides one draw;
// once they are used up, the rest is the same for all.
type Bytes struct {
	Left  []byte
	drawn uint64
}

// Uint64 has the next byte in its highest bits, which decide what rand.Rand draws.
func (b *Bytes) Uint64() uint64 {
	b.drawn++
	mixed := b.drawn * 0x9e3779b97f4a7c15
	mixed ^= mixed >> 29
	if len(b.Left) == 0 {
		return mixed
	}
	next := b.Left[0]
	b.Left = b.Left[1:]
	return uint64(next)<<56 | mixed>>8
}
