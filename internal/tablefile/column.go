package tablefile

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/parquetfile"
)

// Column is a column of a released table.
type Column struct {
	Name string `json:"name"`
	// Type is the SQL type, as format_type writes it.
	Type string `json:"type"`
	// Digits are those of the values of a numeric without precision, or of a range of numbers; they
	// are counted for Parquet, whose numbers have a fixed precision.
	Digits Digits `json:"-"`
}

// kinds are those of SQL types; other types are texts.
var kinds = map[string]parquetfile.Kind{
	"boolean": parquetfile.Boolean, "smallint": parquetfile.Int16, "integer": parquetfile.Int32, "bigint": parquetfile.Int64,
	"real": parquetfile.Float32, "double precision": parquetfile.Float64, "numeric": parquetfile.Decimal, "date": parquetfile.Date,
	"timestamp without time zone": parquetfile.Timestamp, "timestamp with time zone": parquetfile.TimestampTZ,
	"uuid": parquetfile.UUID, "bytea": parquetfile.Bytes,
}

// ranges are the kinds of the bounds of range types.
var ranges = map[string]parquetfile.Kind{
	"int4range": parquetfile.Int32, "int8range": parquetfile.Int64, "numrange": parquetfile.Decimal,
	"daterange": parquetfile.Date, "tsrange": parquetfile.Timestamp, "tstzrange": parquetfile.TimestampTZ,
}

// NeedsDigits tells whether Digits have to be counted before the column is written as Parquet.
func (c Column) NeedsDigits() bool { return c.Type == "numeric" || c.Type == "numrange" }

// parquet is the column in a Parquet file. Numbers with more digits than it can have are texts.
func (c Column) parquet() parquetfile.Column {
	of := parquetfile.Column{Name: c.Name}
	if kind, ok := ranges[c.Type]; ok {
		of.Kind, of.Range = kind, true
	} else {
		of.Kind = kinds[plainType(c.Type)]
	}
	if of.Kind != parquetfile.Decimal {
		return of
	}
	if n, err := fmt.Sscanf(c.Type, "numeric(%d,%d)", &of.Precision, &of.Scale); err != nil || n != 2 {
		of.Precision, of.Scale = max(1, c.Digits.whole+c.Digits.fraction), c.Digits.fraction
	}
	if c.Digits.other || of.Precision > parquetfile.MaxPrecision || of.Scale < 0 || of.Scale > of.Precision {
		return parquetfile.Column{Name: c.Name}
	}
	return of
}

// plainType is a type without its modifier, such as the digits of seconds.
func plainType(sqlType string) string {
	before, rest, found := strings.Cut(sqlType, "(")
	if !found {
		return sqlType
	}
	_, after, _ := strings.Cut(rest, ")")
	return before + after
}

// Digits are the most digits that numbers have before and behind the point.
type Digits struct {
	whole, fraction int
	other           bool // there is a NaN or an infinity
}

// NewDigits makes Digits of what was counted otherwise.
func NewDigits(whole, fraction int, other bool) Digits { return Digits{whole, fraction, other} }

// Add counts the digits of a number, or of the bounds of a range.
func (d *Digits) Add(text string) {
	for bound := range strings.SplitSeq(strings.Trim(text, `[]()`), ",") {
		whole, fraction, _ := strings.Cut(strings.TrimPrefix(bound, "-"), ".")
		if strings.Trim(whole+fraction, "0123456789") != "" {
			d.other = true
		}
		d.whole, d.fraction = max(d.whole, len(whole)), max(d.fraction, len(fraction))
	}
}
