// Package parquetfile reads and writes Parquet files of flat tables, such as releases.
//
// Values are texts in the form in which PostgreSQL writes them (DateStyle ISO, TimeZone UTC), and
// columns keep their types: a whole number is one, a date is one, and a range is a group of a
// lower and an upper bound. NewReader and NewWriter are the entry points; both work row by row, so
// that files may be larger than memory. WriteRelease writes a release of records that package
// csvfile has read.
//
// The format is that of parquet.apache.org.
package parquetfile

import "fmt"

// Kind is the type of a column's values.
type Kind int

// The kinds, with what they are in PostgreSQL.
const (
	Text        Kind = iota // text, and everything that is none of the others
	Boolean                 // boolean: t or f
	Int16                   // smallint
	Int32                   // integer
	Int64                   // bigint
	Float32                 // real
	Float64                 // double precision
	Decimal                 // numeric(Precision, Scale)
	Date                    // date; years 1 to 9999
	Timestamp               // timestamp without time zone, in microseconds; years 1 to 9999
	TimestampTZ             // timestamp with time zone, likewise, in UTC
	UUID                    // uuid
	Bytes                   // bytea: \x and hexadecimal digits
	Time                    // time of day; read only
	Other                   // anything else, such as a list; read only, and its values are not read
)

var kindNames = [...]string{
	"text", "boolean", "smallint", "integer", "bigint", "real", "double precision", "numeric", "date", "timestamp",
	"timestamptz", "uuid", "bytea", "time", "of nested or unknown values",
}

// String is the kind's name.
func (k Kind) String() string {
	if k < 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("Kind(%d)", int(k))
	}
	return kindNames[k]
}

// MaxPrecision is the greatest number of digits of a Decimal.
const MaxPrecision = 38

// Column describes a column.
type Column struct {
	Name string
	Kind Kind
	// Precision is the number of digits of a Decimal, 1 to MaxPrecision; Scale how many of them
	// are behind the point. They are 0 for other kinds.
	Precision, Scale int
	// Range says that values are ranges of the kind: in the file, a group of the two inclusive
	// bounds, lower and upper, either of which can be NULL, for none.
	Range bool
}

// String is the column's type.
func (c Column) String() string {
	text := c.Kind.String()
	if c.Kind == Decimal {
		text = fmt.Sprintf("numeric(%d,%d)", c.Precision, c.Scale)
	}
	if c.Range {
		text = "range of " + text
	}
	return text
}

// Value is one value of a row.
type Value struct {
	// Text is the value in PostgreSQL's output form; "" for NULL.
	Text string
	Null bool
}

// Null is the value NULL.
func Null() Value { return Value{Null: true} }

// Of is a value that is not NULL.
func Of(text string) Value { return Value{Text: text} }
