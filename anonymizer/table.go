package anonymizer

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Attribute is a quasi-identifying attribute.
type Attribute struct {
	Name      string
	Hierarchy hierarchy.Hierarchy
}

// Following are the attributes of a release without limits of its own that follows one which shows these (hierarchy.Following).
func Following(shown []Attribute) []Attribute {
	all := slices.Clone(shown)
	for i := range all {
		all[i].Hierarchy = hierarchy.Following(all[i].Hierarchy)
	}
	return all
}

// Table holds the records to be anonymized, column by column. It is read-only
// after NewTable.
type Table struct {
	attributes []Attribute
	cells      [][]hierarchy.Cell // attribute, record
	sensitive  [][]uint32         // sensitive attribute, record
	records    int
	subjects   []uint32 // the person of each record; nil = each record another one
	population func() *privacy.Population
}

// NewTable makes a table of cells, one slice for each attribute, and sensitive
// value codes, one slice for each sensitive attribute. All slices have the same
// length, the number of records (at most 2^31-1), and are kept, not copied.
func NewTable(attributes []Attribute, cells [][]hierarchy.Cell, sensitive [][]uint32) (*Table, error) {
	if len(cells) != len(attributes) {
		return nil, fmt.Errorf("table of %d attributes has %d columns of cells", len(attributes), len(cells))
	}
	t := &Table{attributes: attributes, cells: cells, sensitive: sensitive}
	switch {
	case len(cells) > 0:
		t.records = len(cells[0])
	case len(sensitive) > 0:
		t.records = len(sensitive[0])
	}
	if t.records > math.MaxInt32 {
		return nil, fmt.Errorf("table of %d records: at most %d can be handled", t.records, math.MaxInt32)
	}
	var errs []error
	for a, column := range cells {
		if attributes[a].Hierarchy == nil {
			errs = append(errs, fmt.Errorf("attribute %q has no hierarchy", attributes[a].Name))
		}
		if len(column) != t.records {
			errs = append(errs, fmt.Errorf("attribute %q has %d cells, %d expected", attributes[a].Name, len(column), t.records))
		}
	}
	for s, column := range sensitive {
		if len(column) != t.records {
			errs = append(errs, fmt.Errorf("sensitive attribute %d has %d values, %d expected", s, len(column), t.records))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	t.population = sync.OnceValue(t.countAll)
	return t, nil
}

// Len is the number of records.
func (t *Table) Len() int { return t.records }

// Attributes are the quasi-identifying attributes, in the order of Cells.
func (t *Table) Attributes() []Attribute { return t.attributes }

// Cells is the column of one attribute; it must not be changed.
func (t *Table) Cells(attribute int) []hierarchy.Cell { return t.cells[attribute] }

// Sensitive is the column of value codes of one sensitive attribute; it must
// not be changed.
func (t *Table) Sensitive(attribute int) []uint32 { return t.sensitive[attribute] }

// Summarize counts the records for the constraints, or the persons where the
// table has subjects.
func (t *Table) Summarize(records []int32) privacy.Summary {
	if t.subjects != nil {
		return t.summarizeSubjects(records)
	}
	s := privacy.NewSummary(len(t.sensitive))
	s.Records = len(records)
	for a, column := range t.sensitive {
		for _, r := range records {
			s.Sensitive[a][column[r]]++
		}
	}
	return s
}

func (t *Table) summarizeSubjects(records []int32) privacy.Summary {
	s := privacy.NewSubjectSummary(len(t.sensitive))
	codes := make([]uint32, len(t.sensitive))
	for _, r := range records {
		for a, column := range t.sensitive {
			codes[a] = column[r]
		}
		s.AddOf(t.subjects[r], codes)
	}
	return s
}

// WithSubjects returns the table with the number of the person that each record
// is about, one for each record; constraints then count persons. Subjects is
// kept, not copied.
func (t *Table) WithSubjects(subjects []uint32) (*Table, error) {
	if len(subjects) != t.records {
		return nil, fmt.Errorf("%d subjects of %d records", len(subjects), t.records)
	}
	counted := *t
	counted.subjects = subjects
	counted.population = sync.OnceValue(counted.countAll)
	return &counted, nil
}

// Subjects is the column of persons, nil where each record counts for itself;
// it must not be changed.
func (t *Table) Subjects() []uint32 { return t.subjects }

// Population is the distribution over all records, counted once.
func (t *Table) Population() *privacy.Population { return t.population() }

func (t *Table) countAll() *privacy.Population {
	all := make([]int32, t.records)
	for i := range all {
		all[i] = int32(i)
	}
	return privacy.NewPopulation(t.Summarize(all))
}

// Generalize gives what is published for a class, one generalization for each
// attribute.
func (t *Table) Generalize(class EquivalenceClass) []hierarchy.Generalization {
	published := make([]hierarchy.Generalization, len(t.attributes))
	cells := make([]hierarchy.Cell, len(class))
	for a, attribute := range t.attributes {
		for i, r := range class {
			cells[i] = t.cells[a][r]
		}
		published[a] = attribute.Hierarchy.Generalize(cells)
	}
	return published
}

// SensitiveLen is the number of sensitive attributes.
func (t *Table) SensitiveLen() int { return len(t.sensitive) }

// ShownBy returns the table with other hierarchies, which take the same cells: those of hierarchy.Coarser over
// the table's own.
func (t *Table) ShownBy(attributes []Attribute) *Table {
	other := *t
	other.attributes = attributes
	return &other
}
