package accept

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Table is what a protected table is, as far as the meaning of a value depends on it. A
// column's number is its own for ever: PostgreSQL gives it to no other column, and whoever
// reads or writes a row goes by it. So a name of the policy means the same column as long as
// the column of that number has the name.
type Table struct {
	OID catalog.OID `json:"oid"`
	// Columns are those that are not dropped, by their numbers.
	Columns []Column `json:"columns"`
	// Types are those of users that the columns' values are of, or consist of.
	Types []Type `json:"types,omitempty"`
	// Leaves are the partitions that hold rows; nil for a plain table, or where they were not
	// asked for.
	Leaves []Leaf `json:"leaves,omitempty"`
}

// What tables and readable relations have in common.
type (
	// Column is a column of a table.
	Column = catalog.TypedColumn
	// Type is one that the values of a column are of, or consist of.
	Type = catalog.UserType
	// Label is one value of an enumeration.
	Label = catalog.EnumLabel
)

// Leaf is a partition that holds rows, with numbers of its own for its table's columns.
type Leaf struct {
	OID     catalog.OID  `json:"oid"`
	Columns []LeafColumn `json:"columns"`
}

// LeafColumn is the number and the name of a column of a partition.
type LeafColumn struct {
	Number int16
	Name   string
}

// MarshalJSON has leaves take little room.
func (c LeafColumn) MarshalJSON() ([]byte, error) { return json.Marshal([2]any{c.Number, c.Name}) }

// UnmarshalJSON reads what MarshalJSON makes.
func (c *LeafColumn) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[]any{&c.Number, &c.Name})
}

// Equal tells whether nothing differs, not even what has no meaning for values.
func (t Table) Equal(other Table) bool {
	one, _ := json.Marshal(t) // they are made of numbers and strings
	two, _ := json.Marshal(other)
	return string(one) == string(two)
}

// Named is a table with the name that it has.
type Named struct {
	Name  catalog.Name
	Table Table
	// Ended says that the transactions which were asked for have ended, so that the look
	// shows what they did.
	Ended bool
}

//go:embed table.sql
var tableQuery string

// Detail says what is read of a table.
type Detail int

const (
	// Whole is all of it.
	Whole Detail = iota
	// WithoutLeaves leaves partitions out, of which there may be many.
	WithoutLeaves
)

// ErrNoTable is for an object identifier that no relation has.
var ErrNoTable = errors.New("there is no such relation")

// ReadTable reads what a table is now, as the transaction or the statement sees the
// catalogs. The session's search_path has to be pg_catalog, so that types are named in full.
// after are transactions of the log, by the low half of their numbers, that the look has to
// be newer than; see [Named].
func ReadTable(ctx context.Context, on Querier, oid catalog.OID, detail Detail, after ...uint32) (n Named, err error) {
	numbers := make([]int64, len(after))
	for i, x := range after {
		numbers[i] = int64(x)
	}
	var text []byte
	err = on.QueryRow(ctx, tableQuery, uint32(oid), detail == Whole, numbers).Scan(&n.Name.Schema, &n.Name.Relation, &text, &n.Ended)
	if errors.Is(err, pgx.ErrNoRows) {
		return n, ErrNoTable
	}
	if err == nil {
		err = json.Unmarshal(text, &n.Table)
	}
	if err != nil {
		return n, fmt.Errorf("reading what a table is: %w", err)
	}
	return n, nil
}

// column finds a column by its number.
func (t Table) column(number int16) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Number == number })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}

// Column finds a column by its name.
func (t Table) Column(name string) (Column, bool) {
	i := slices.IndexFunc(t.Columns, func(c Column) bool { return c.Name == name })
	if i < 0 {
		return Column{}, false
	}
	return t.Columns[i], true
}
