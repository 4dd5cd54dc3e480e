package parquetfile

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

// rowsOfGroup bounds what a writer keeps in memory: it writes row groups of so many rows.
const rowsOfGroup = 1 << 16

// Writer writes a file row by row. It is not safe for concurrent use.
type Writer struct {
	columns []Column
	to      *parquet.GenericWriter[any]
	buffer  []parquet.Row
	values  parquet.Row
	last    []written // of each column
}

// written is a value that was written, and its leaves: rows that show the same come one behind the other.
type written struct {
	value  Value
	leaves parquet.Row
}

// NewWriter begins a file of the columns, in their order. All of them can be NULL. The error
// names columns that a file cannot have, or have twice.
func NewWriter(w io.Writer, columns []Column) (*Writer, error) {
	root := ordered{Group: parquet.Group{}}
	var errs []error
	for _, c := range columns {
		node, err := c.node()
		if _, taken := root.Group[c.Name]; taken && err == nil {
			err = errors.New("another column has the same name")
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("column %q: %w", c.Name, err))
			continue
		}
		root.Group[c.Name] = node
		root.order = append(root.order, c.Name)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	if len(columns) == 0 {
		return nil, errors.New("a Parquet file has at least one column")
	}
	return &Writer{columns: columns, last: make([]written, len(columns)), to: parquet.NewGenericWriter[any](w,
		parquet.NewSchema("release", root),
		parquet.Compression(&zstd.Codec{}),
		parquet.MaxRowsPerRowGroup(rowsOfGroup),
		parquet.CreatedBy("kproxy", "", ""),
	)}, nil
}

// ordered is a group whose fields have an order of their own.
type ordered struct {
	parquet.Group
	order []string
}

func (o ordered) Fields() []parquet.Field {
	fields := o.Group.Fields()
	slices.SortFunc(fields, func(a, b parquet.Field) int {
		return slices.Index(o.order, a.Name()) - slices.Index(o.order, b.Name())
	})
	return fields
}

// node is what the column is in a file.
func (c Column) node() (parquet.Node, error) {
	leaf, err := c.leaf()
	if err != nil {
		return nil, err
	}
	if c.Range {
		leaf = ordered{parquet.Group{lowerName: parquet.Optional(leaf), upperName: parquet.Optional(leaf)}, []string{lowerName, upperName}}
	}
	return parquet.Optional(leaf), nil
}

// The names of a range's bounds.
const (
	lowerName = "lower"
	upperName = "upper"
)

func (c Column) leaf() (parquet.Node, error) {
	switch c.Kind {
	case Text:
		return parquet.Encoded(parquet.String(), &parquet.RLEDictionary), nil
	case Boolean:
		return parquet.Leaf(parquet.BooleanType), nil
	case Int16:
		return parquet.Encoded(parquet.Int(16), &parquet.RLEDictionary), nil
	case Int32:
		return parquet.Encoded(parquet.Int(32), &parquet.RLEDictionary), nil
	case Int64:
		return parquet.Encoded(parquet.Int(64), &parquet.RLEDictionary), nil
	case Float32:
		return parquet.Leaf(parquet.FloatType), nil
	case Float64:
		return parquet.Leaf(parquet.DoubleType), nil
	case Decimal:
		return c.decimal()
	case Date:
		return parquet.Encoded(parquet.Date(), &parquet.RLEDictionary), nil
	case Timestamp:
		return parquet.TimestampAdjusted(parquet.Microsecond, false), nil
	case TimestampTZ:
		return parquet.TimestampAdjusted(parquet.Microsecond, true), nil
	case UUID:
		return parquet.UUID(), nil
	case Bytes:
		return parquet.Leaf(parquet.ByteArrayType), nil
	}
	return nil, fmt.Errorf("values %v cannot be written", c.Kind)
}

func (c Column) decimal() (parquet.Node, error) {
	if c.Precision < 1 || c.Precision > MaxPrecision || c.Scale < 0 || c.Scale > c.Precision {
		return nil, fmt.Errorf("%v: a file has numbers of 1 to %d digits, of which none to all are behind the point", c, MaxPrecision)
	}
	physical := parquet.FixedLenByteArrayType(decimalBytes)
	switch {
	case c.Precision <= 9:
		physical = parquet.Int32Type
	case c.Precision <= 18:
		physical = parquet.Int64Type
	}
	return parquet.Decimal(c.Scale, c.Precision, physical), nil
}

// Write writes a row with a value for each column. The error names the column whose value is
// not of its kind, but no value.
func (w *Writer) Write(row []Value) error {
	if len(row) != len(w.columns) {
		return fmt.Errorf("%d values of %d columns", len(row), len(w.columns))
	}
	w.values = w.values[:0]
	for i, c := range w.columns {
		last := &w.last[i]
		if last.leaves != nil && last.value == row[i] {
			w.values = append(w.values, last.leaves...)
			continue
		}
		first := len(w.values)
		if err := w.add(c, row[i]); err != nil {
			return fmt.Errorf("column %q: %w", c.Name, err)
		}
		last.value, last.leaves = row[i], append(last.leaves[:0], w.values[first:]...)
	}
	w.buffer = append(w.buffer[:0], w.values)
	if _, err := w.to.WriteRows(w.buffer); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}

// add adds the leaves of a value. Their definition level says how much of it is there.
func (w *Writer) add(c Column, v Value) error {
	if !c.Range {
		return w.leaf(c, v, 0, 1)
	}
	if v.Null {
		w.null(0)
		w.null(0)
		return nil
	}
	b, err := c.parseRange(v.Text)
	if err != nil {
		return err
	}
	return errors.Join(w.leaf(c, Value{b.lower, b.lower == ""}, 1, 2), w.leaf(c, Value{b.upper, b.upper == ""}, 1, 2))
}

func (w *Writer) leaf(c Column, v Value, absent, present int) error {
	if v.Null {
		w.null(absent)
		return nil
	}
	value, err := c.toParquet(v.Text)
	if err != nil {
		return err
	}
	w.values = append(w.values, value.Level(0, present, len(w.values)))
	return nil
}

func (w *Writer) null(level int) {
	w.values = append(w.values, parquet.NullValue().Level(0, level, len(w.values)))
}

// Close writes the rest, and the end of the file. It does not close what it writes to.
func (w *Writer) Close() error {
	if err := w.to.Close(); err != nil {
		return fmt.Errorf("writing Parquet: %w", err)
	}
	return nil
}
