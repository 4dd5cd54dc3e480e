// Package csvfile reads the records of a CSV file as a table that methods anonymize, and
// writes a release of it as CSV.
//
// Read and File.Write are the entry points; package parquetfile reads and writes the same as Parquet. Columns that are neither quasi-identifying nor
// sensitive are read over and not written: they may identify people.
package csvfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// QuasiIdentifier is a column whose values others may know of a person, and how they are
// generalized.
type QuasiIdentifier struct {
	Column string
	hierarchy.Spec
}

// File is what was read.
type File struct {
	// Table holds the records.
	Table *anonymizer.Table
	// Schema names the columns, for privacy.NewSet.
	Schema privacy.Schema
	// Quasi are the quasi-identifiers, in the order of the table's attributes.
	Quasi []QuasiIdentifier
}

// Read reads CSV whose first line names the columns (RFC 4180, comma-separated). An empty
// field is a missing value. The error joins what is wrong with the columns, or is that of
// encoding/csv, which names the line.
func Read(r io.Reader, quasi []QuasiIdentifier, sensitive ...string) (*File, error) {
	from := csv.NewReader(r)
	from.ReuseRecord = true
	header, err := from.Read()
	if errors.Is(err, io.EOF) {
		return nil, errors.New("reading CSV: there is no line that names the columns")
	}
	if err != nil {
		return nil, fmt.Errorf("reading CSV: %w", err)
	}
	return New(slices.Clone(header), func(yield func([]string, error) bool) {
		for {
			record, err := from.Read()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				err = fmt.Errorf("reading CSV: %w", err)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}, quasi, sensitive...)
}

// New takes records from elsewhere: each has a field for each column, in the text form in which
// PostgreSQL writes values, "" for a missing one. A record is not kept, so that a table takes eight bytes for a
// quasi-identifying value and four for a sensitive one. The error joins what is wrong with the columns, or is the
// first of the records'.
func New(columns []string, records iter.Seq2[[]string, error], quasi []QuasiIdentifier, sensitive ...string) (*File, error) {
	var errs []error
	place := func(name string) int {
		at := slices.Index(columns, name)
		if at < 0 {
			errs = append(errs, fmt.Errorf("there is no column %q: there are %q", name, columns))
		}
		return at
	}
	f := File{Quasi: quasi}
	var places []int
	attributes := make([]anonymizer.Attribute, len(quasi))
	for i, q := range quasi {
		h, err := hierarchy.New(q.Spec)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", q.Column, err))
		}
		attributes[i] = anonymizer.Attribute{Name: q.Column, Hierarchy: h}
		places = append(places, place(q.Column))
		f.Schema.Attributes = append(f.Schema.Attributes, q.Column)
	}
	for _, name := range sensitive {
		places = append(places, place(name))
		f.Schema.Sensitive = append(f.Schema.Sensitive, privacy.Sensitive{Name: name, Values: privacy.NewDictionary()})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	cells, codes := make([][]hierarchy.Cell, len(quasi)), make([][]uint32, len(sensitive))
	for record, err := range records {
		if err != nil {
			return nil, err
		}
		for i, a := range attributes {
			cells[i] = append(cells[i], encode(a.Hierarchy, record[places[i]]))
		}
		for i, s := range f.Schema.Sensitive {
			codes[i] = append(codes[i], code(s.Values, record[places[len(quasi)+i]]))
		}
	}
	var err error
	f.Table, err = anonymizer.NewTable(attributes, cells, codes)
	return &f, err
}

func encode(h hierarchy.Hierarchy, field string) hierarchy.Cell {
	if field == "" {
		return hierarchy.OffScale()
	}
	return h.Encode(field)
}

func code(values *privacy.Dictionary, field string) uint32 {
	if field == "" {
		return values.Null()
	}
	return values.Code(field)
}

// Write writes a release of the table: a line that names the columns, quasi-identifying
// ones first, and a line for each record that is in a class. A range of numbers or dates
// reads "20..29"; a hidden value is an empty field. Lines of a class are sorted, so that
// their order does not lead back to the records; withheld records are left out.
func (f *File) Write(w io.Writer, r *anonymizer.Release) error {
	header := slices.Clone(f.Schema.Attributes)
	for _, s := range f.Schema.Sensitive {
		header = append(header, s.Name)
	}
	lines := [][]string{header}
	for _, class := range r.Classes {
		var published []string
		for _, g := range f.Table.Generalize(class) {
			published = append(published, text(g))
		}
		first := len(lines)
		for _, record := range class {
			line := slices.Clone(published)
			for a, s := range f.Schema.Sensitive {
				value, _ := s.Values.Text(f.Table.Sensitive(a)[record]) // empty for a missing one
				line = append(line, value)
			}
			lines = append(lines, line)
		}
		slices.SortFunc(lines[first:], slices.Compare)
	}
	if err := csv.NewWriter(w).WriteAll(lines); err != nil {
		return fmt.Errorf("writing CSV: %w", err)
	}
	return nil
}

// text is what is published for a class in one field.
func text(g hierarchy.Generalization) string {
	switch {
	case g.Hidden:
		return ""
	case g.Lower != g.Upper:
		return g.Lower + ".." + g.Upper
	default:
		return g.Value
	}
}
