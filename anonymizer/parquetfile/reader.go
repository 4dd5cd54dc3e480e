package parquetfile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"
)

// Reader reads a file row by row. It is not safe for concurrent use.
type Reader struct {
	file    *parquet.File
	columns []Column
	// of is where the value of each leaf belongs.
	of []place
}

// place is where a leaf belongs.
type place struct {
	column int // of Reader.columns; -1 for one that is not read
	text   func(parquet.Value) (string, error)
	// bound says which bound of a range the leaf is: 0 for none, 1 for lower, 2 for upper.
	bound   int
	present int // the definition level from which on the value, or for a range the group, is there

	last     parquet.Value // the number that was read last, and its text
	lastText string
}

// textOf is the text of a value. That of a number is kept: rows that show the same come one behind the other.
func (p *place) textOf(v parquet.Value) (text string, err error) {
	switch v.Kind() {
	case parquet.Int32, parquet.Int64:
	default:
		return p.text(v)
	}
	if p.last.Kind() != v.Kind() || p.last.Int64() != v.Int64() || p.last.IsNull() {
		if p.lastText, err = p.text(v); err != nil {
			p.last = parquet.Value{}
			return "", err
		}
		p.last = v
	}
	return p.lastText, nil
}

// NewReader opens a file of the size. What is no Parquet file, or damaged, is an error.
func NewReader(r io.ReaderAt, size int64) (reader *Reader, err error) {
	defer recovered(&err)
	if err := checkFooter(r, size); err != nil {
		return nil, fmt.Errorf("opening Parquet: %w", err)
	}
	file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
	if err != nil {
		return nil, fmt.Errorf("opening Parquet: %w", err)
	}
	if err := checkPages(r, size, file.Metadata()); err != nil {
		return nil, fmt.Errorf("opening Parquet: %w", err)
	}
	reader = &Reader{file: file}
	for _, field := range file.Root().Columns() {
		reader.place(field)
	}
	return reader, nil
}

// recovered makes an error of a panic: the library panics at some damaged files.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("reading Parquet: the file is damaged: %v", p)
	}
}

// place finds out what a field is, and where its leaves belong.
func (r *Reader) place(field *parquet.Column) {
	at := len(r.columns)
	switch {
	case field.Leaf() && !field.Repeated():
		c, text := leafColumn(field)
		r.columns = append(r.columns, c)
		r.leaf(field, place{column: at, text: text, present: field.MaxDefinitionLevel()})
		return
	case isRange(field):
		c, text := leafColumn(field.Columns()[0])
		c.Name, c.Range = field.Name(), true
		r.columns = append(r.columns, c)
		for i, bound := range field.Columns() {
			r.leaf(bound, place{column: at, text: text, bound: i + 1, present: field.MaxDefinitionLevel()})
		}
		return
	}
	r.columns = append(r.columns, Column{Name: field.Name(), Kind: Other})
	r.skip(field)
}

// isRange tells whether a group is one of the bounds of a range.
func isRange(field *parquet.Column) bool {
	parts := field.Columns()
	if field.Leaf() || field.Repeated() || len(parts) != 2 || parts[0].Name() != lowerName || parts[1].Name() != upperName {
		return false
	}
	for _, p := range parts {
		if !p.Leaf() || p.Repeated() || !p.Optional() {
			return false
		}
	}
	lower, _ := leafColumn(parts[0])
	upper, _ := leafColumn(parts[1])
	lower.Name, upper.Name = "", ""
	return lower == upper && lower.Kind != Other
}

func (r *Reader) leaf(leaf *parquet.Column, p place) {
	if p.text == nil {
		p.column = -1
	}
	for len(r.of) <= leaf.Index() {
		r.of = append(r.of, place{column: -1})
	}
	r.of[leaf.Index()] = p
}

func (r *Reader) skip(field *parquet.Column) {
	if field.Leaf() {
		r.leaf(field, place{column: -1})
	}
	for _, part := range field.Columns() {
		r.skip(part)
	}
}

// Columns are the columns of the file, in its order.
func (r *Reader) Columns() []Column { return r.columns }

// Len is the number of rows.
func (r *Reader) Len() int64 { return r.file.NumRows() }

// readRows is how many rows are read at once.
const readRows = 256

// Rows yields the rows, with a value for each column; those of Other kinds are NULL. A row is valid
// until the next one. An error, which names the row and column but no value, is the last.
func (r *Reader) Rows() iter.Seq2[[]Value, error] {
	return func(yield func([]Value, error) bool) {
		row, number := make([]Value, len(r.columns)), int64(0)
		for _, group := range r.file.RowGroups() {
			if group.NumRows() == 0 { // which the library cannot read
				continue
			}
			more, err := r.readGroup(group, row, &number, yield)
			if err != nil {
				yield(nil, err)
				return
			}
			if !more {
				return
			}
		}
		if number != r.Len() {
			yield(nil, fmt.Errorf("reading Parquet: the file has %d rows, and says that it has %d", number, r.Len()))
		}
	}
}

// readGroup yields the rows of a group. More is false once the consumer has enough.
func (r *Reader) readGroup(group parquet.RowGroup, row []Value, number *int64, yield func([]Value, error) bool) (more bool, err error) {
	rows, err := openRows(group)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, closeRows(rows)) }()
	buffer := make([]parquet.Row, readRows)
	for {
		n, err := readSome(rows, buffer)
		for _, values := range buffer[:n] {
			*number++
			if err := r.assemble(values, row); err != nil {
				return false, fmt.Errorf("row %d, %w", *number, err)
			}
			if !yield(row, nil) {
				return false, nil
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, fmt.Errorf("reading Parquet: %w", err)
		case n == 0:
			return false, errors.New("reading Parquet: the file has fewer rows than it says")
		}
	}
}

// The calls into the library that read pages.

func openRows(group parquet.RowGroup) (rows parquet.Rows, err error) {
	defer recovered(&err)
	return group.Rows(), nil
}

func readSome(rows parquet.Rows, buffer []parquet.Row) (n int, err error) {
	defer func() {
		if err != nil && !errors.Is(err, io.EOF) {
			n = 0
		}
	}()
	defer recovered(&err)
	return rows.ReadRows(buffer)
}

func closeRows(rows parquet.Rows) (err error) {
	defer recovered(&err)
	return rows.Close()
}

// assemble puts the leaves of a row together.
func (r *Reader) assemble(values parquet.Row, row []Value) (err error) {
	defer recovered(&err)
	for i := range row {
		row[i] = Null()
	}
	var lower string
	for _, v := range values {
		if v.Column() < 0 || v.Column() >= len(r.of) {
			return errors.New("which has a value of no column")
		}
		p := &r.of[v.Column()]
		if p.column < 0 || v.DefinitionLevel() < p.present {
			continue
		}
		text := ""
		if !v.IsNull() {
			if text, err = p.textOf(v); err != nil {
				return fmt.Errorf("column %q: %w", r.columns[p.column].Name, err)
			}
		}
		switch p.bound {
		case 0:
			row[p.column] = Value{Text: text, Null: v.IsNull()}
		case 1:
			lower = text
		default:
			row[p.column] = Of(r.columns[p.column].rangeText(bounds{lower, text}))
		}
	}
	return nil
}

// leafColumn says what a leaf is, and how its values are written; nil for those of Other kinds.
func leafColumn(leaf *parquet.Column) (Column, func(parquet.Value) (string, error)) {
	c := Column{Name: leaf.Name()}
	if logical := leaf.Type().LogicalType(); logical != nil {
		if kind, text, known := logicalColumn(&c, logical, leaf.Type()); known {
			c.Kind = kind
			return c, text
		}
	}
	switch leaf.Type().Kind() {
	case parquet.Boolean:
		c.Kind = Boolean
		return c, plain(func(v parquet.Value) string { return map[bool]string{true: "t", false: "f"}[v.Boolean()] })
	case parquet.Int32:
		c.Kind = Int32
		return c, plain(func(v parquet.Value) string { return strconv.FormatInt(int64(v.Int32()), 10) })
	case parquet.Int64:
		c.Kind = Int64
		return c, plain(func(v parquet.Value) string { return strconv.FormatInt(v.Int64(), 10) })
	case parquet.Int96:
		c.Kind = Timestamp
		return c, func(v parquet.Value) (string, error) { return momentText(julian(v.Int96()), moments) }
	case parquet.Float:
		c.Kind = Float32
		return c, plain(func(v parquet.Value) string { return floatText(float64(v.Float()), 32) })
	case parquet.Double:
		c.Kind = Float64
		return c, plain(func(v parquet.Value) string { return floatText(v.Double(), 64) })
	case parquet.ByteArray:
		if leaf.Type().LogicalType() == nil && leaf.Type().ConvertedType() == nil {
			c.Kind = Bytes
			return c, plain(func(v parquet.Value) string { return `\x` + hex.EncodeToString(v.ByteArray()) })
		}
		return c, plain(func(v parquet.Value) string { return string(v.ByteArray()) })
	}
	c.Kind = Other
	return c, nil
}

func plain(text func(parquet.Value) string) func(parquet.Value) (string, error) {
	return func(v parquet.Value) (string, error) { return text(v), nil }
}

// logicalColumn is what a leaf of a logical type is.
func logicalColumn(c *Column, logical *format.LogicalType, physical parquet.Type) (Kind, func(parquet.Value) (string, error), bool) {
	switch t := logical.Value.(type) {
	case *format.DecimalType:
		c.Precision, c.Scale = int(t.Precision), int(t.Scale)
		return Decimal, plain(func(v parquet.Value) string { return decimalText(unscaled(v), c.Scale) }), c.Scale >= 0 && c.Scale <= c.Precision && c.Precision <= 1000
	case *format.DateType:
		return Date, func(v parquet.Value) (string, error) {
			return momentText(time.Unix(int64(v.Int32())*secondsOfDay, 0), time.DateOnly)
		}, true
	case *format.TimestampType:
		unit, kind, zone := ticks(&t.Unit), Timestamp, ""
		if t.IsAdjustedToUTC {
			kind, zone = TimestampTZ, "+00"
		}
		return kind, func(v parquet.Value) (string, error) {
			text, err := momentText(fromTicks(v.Int64(), unit), moments)
			return text + zone, err
		}, true
	case *format.TimeType:
		unit := ticks(&t.Unit)
		return Time, plain(func(v parquet.Value) string {
			n := v.Int64()
			if physical.Kind() == parquet.Int32 {
				n = int64(v.Int32())
			}
			return fromTicks(n, unit).UTC().Format("15:04:05.999999")
		}), true
	case *format.IntType:
		return intColumn(c, t, physical)
	case *format.UUIDType:
		return UUID, plain(func(v parquet.Value) string { return uuidText(v.ByteArray()) }), physical.Length() == 16
	case *format.StringType, *format.EnumType, *format.JsonType:
		return Text, plain(func(v parquet.Value) string { return string(v.ByteArray()) }), true
	}
	return Other, nil, false
}

// intColumn is one of whole numbers. Unsigned ones of 64 bits are decimals.
func intColumn(c *Column, t *format.IntType, physical parquet.Type) (Kind, func(parquet.Value) (string, error), bool) {
	narrow := physical.Kind() == parquet.Int32
	switch {
	case t.IsSigned && narrow && t.BitWidth <= 16:
		return Int16, plain(func(v parquet.Value) string { return strconv.FormatInt(int64(v.Int32()), 10) }), true
	case t.IsSigned:
		return Other, nil, false // as without a logical type
	case narrow:
		return Int64, plain(func(v parquet.Value) string { return strconv.FormatUint(uint64(v.Uint32()), 10) }), true
	}
	c.Precision = 20
	return Decimal, plain(func(v parquet.Value) string { return strconv.FormatUint(v.Uint64(), 10) }), true
}

// unscaled is what a decimal counts.
func unscaled(v parquet.Value) *big.Int {
	switch v.Kind() {
	case parquet.Int32:
		return big.NewInt(int64(v.Int32()))
	case parquet.Int64:
		return big.NewInt(v.Int64())
	}
	return fromTwosComplement(v.ByteArray())
}

// ticks are those of a unit in a second.
func ticks(unit *format.TimeUnit) int64 {
	switch unit.Value.(type) {
	case *format.MilliSeconds:
		return 1e3
	case *format.NanoSeconds:
		return 1e9
	}
	return 1e6
}

func fromTicks(n, perSecond int64) time.Time {
	return time.Unix(n/perSecond, n%perSecond*(1e9/perSecond)).Round(time.Microsecond)
}

// julian is a point in time as older programs write it: nanoseconds of a Julian day.
func julian(v deprecated.Int96) time.Time {
	const epoch = 2440588
	nanoseconds := int64(v[1])<<32 | int64(v[0])
	return time.Unix((int64(v[2])-epoch)*secondsOfDay, nanoseconds).Round(time.Microsecond)
}
