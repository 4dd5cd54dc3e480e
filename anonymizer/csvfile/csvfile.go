// Package csvfile reads the records of a CSV file as a table that methods anonymize, and
// writes a release of it as CSV.
//
// Read and File.Write are the entry points. Columns that are neither quasi-identifying nor
// sensitive are read over and not written: they may identify people.
package csvfile

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
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
}

// Read reads CSV whose first line names the columns (RFC 4180, comma-separated). An empty
// field is a missing value. The error joins what is wrong with the columns, or is that of
// encoding/csv, which names the line.
func Read(r io.Reader, quasi []QuasiIdentifier, sensitive ...string) (*File, error) {
	rows, err := csv.NewReader(r).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("reading CSV: %w", err)
	}
	if len(rows) == 0 {
		return nil, errors.New("reading CSV: there is no line that names the columns")
	}
	header, records := rows[0], rows[1:]
	var errs []error
	column := func(name string) []string {
		at := slices.Index(header, name)
		if at < 0 {
			errs = append(errs, fmt.Errorf("there is no column %q: there are %q", name, header))
			return nil
		}
		fields := make([]string, len(records))
		for i, record := range records {
			fields[i] = record[at]
		}
		return fields
	}
	var f File
	attributes, cells := make([]anonymizer.Attribute, len(quasi)), make([][]hierarchy.Cell, len(quasi))
	for i, q := range quasi {
		h, err := hierarchy.New(q.Spec)
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", q.Column, err))
			continue
		}
		attributes[i], cells[i] = anonymizer.Attribute{Name: q.Column, Hierarchy: h}, encode(h, column(q.Column))
		f.Schema.Attributes = append(f.Schema.Attributes, q.Column)
	}
	codes := make([][]uint32, len(sensitive))
	for i, name := range sensitive {
		values := privacy.NewDictionary()
		codes[i] = encodeSensitive(values, column(name))
		f.Schema.Sensitive = append(f.Schema.Sensitive, privacy.Sensitive{Name: name, Values: values})
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	f.Table, err = anonymizer.NewTable(attributes, cells, codes)
	return &f, err
}

func encode(h hierarchy.Hierarchy, fields []string) []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(fields))
	for i, field := range fields {
		if cells[i] = hierarchy.OffScale(); field != "" {
			cells[i] = h.Encode(field)
		}
	}
	return cells
}

func encodeSensitive(values *privacy.Dictionary, fields []string) []uint32 {
	codes := make([]uint32, len(fields))
	for i, field := range fields {
		if field == "" {
			codes[i] = values.Null()
		} else {
			codes[i] = values.Code(field)
		}
	}
	return codes
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
