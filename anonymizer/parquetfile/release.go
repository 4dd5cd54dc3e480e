package parquetfile

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Read reads the records of a Parquet file of the size as csvfile.Read does those of CSV. NULL and an empty text are
// missing values.
func Read(r io.ReaderAt, size int64, quasi []csvfile.QuasiIdentifier, sensitive ...string) (*csvfile.File, error) {
	from, err := NewReader(r, size)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, c := range from.Columns() {
		names = append(names, c.Name)
	}
	return csvfile.New(names, func(yield func([]string, error) bool) {
		record := make([]string, len(names))
		for row, err := range from.Rows() {
			for i, v := range row {
				record[i] = v.Text
			}
			if !yield(record, err) {
				return
			}
		}
	}, quasi, sensitive...)
}

// WriteRelease writes a release of the records as csvfile.File.Write does: quasi-identifying columns first, lines of a class
// sorted, withheld records left out. Numbers and dates are ranges of their kind, decimals of double precision;
// all others are texts. A hidden value is NULL.
func WriteRelease(w io.Writer, f *csvfile.File, r *anonymizer.Release) error {
	var columns []Column
	for _, q := range f.Quasi {
		columns = append(columns, rangeColumn(q))
	}
	for _, s := range f.Schema.Sensitive {
		columns = append(columns, Column{Name: s.Name})
	}
	to, err := NewWriter(w, columns)
	if err != nil {
		return err
	}
	for _, class := range r.Classes {
		for _, row := range rowsOf(f, columns, class) {
			if err := to.Write(row); err != nil {
				return err
			}
		}
	}
	return to.Close()
}

// rowsOf are the rows of a class, sorted.
func rowsOf(f *csvfile.File, columns []Column, class anonymizer.EquivalenceClass) [][]Value {
	var published []Value
	for i, g := range f.Table.Generalize(class) {
		switch {
		case g.Hidden:
			published = append(published, Null())
		case columns[i].Range:
			published = append(published, Of(columns[i].rangeText(bounds{g.Lower, g.Upper})))
		default:
			published = append(published, Of(g.Value))
		}
	}
	rows := make([][]Value, len(class))
	for i, record := range class {
		rows[i] = slices.Clone(published)
		for a, s := range f.Schema.Sensitive {
			text, known := s.Values.Text(f.Table.Sensitive(a)[record])
			rows[i] = append(rows[i], Value{Text: text, Null: !known})
		}
	}
	slices.SortFunc(rows, func(a, b []Value) int {
		return slices.CompareFunc(a, b, func(x, y Value) int { return strings.Compare(fmt.Sprint(x.Null, x.Text), fmt.Sprint(y.Null, y.Text)) })
	})
	return rows
}

// rangeColumn is the column of a quasi-identifier.
func rangeColumn(q csvfile.QuasiIdentifier) Column {
	c := Column{Name: q.Column, Range: q.Kind == hierarchy.Numeric || q.Kind == hierarchy.Date}
	if c.Range {
		c.Kind = map[hierarchy.Domain]Kind{
			hierarchy.DomainInteger: Int64, hierarchy.DomainDecimal: Float64, hierarchy.DomainDate: Date,
			hierarchy.DomainTimestamp: Timestamp, hierarchy.DomainTimestampTZ: TimestampTZ,
		}[q.Domain]
	}
	return c
}
