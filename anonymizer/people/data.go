package people

import (
	"errors"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
)

// Root is the parent of tables whose rows belong to persons directly.
const Root = -1

// Nobody is the parent of a row whose parent does not exist. Such a row is withheld, and so are the
// rows below it.
const Nobody = -1

// Data is what is known of one kind of person.
type Data struct {
	// Root has one record for each person; its index is the person's number.
	Root *anonymizer.Table
	// Tables hold the rows of persons; a table stands behind its parent.
	Tables []Table
}

// Table is a table whose rows belong to persons.
type Table struct {
	Name string
	// Rows hold the quasi-identifying and the sensitive values; at least one
	// column of either kind.
	Rows *anonymizer.Table
	// Parent is the index in Data.Tables of the table that the rows belong to, or
	// Root.
	Parent int
	// Of is the row of the parent table that each row belongs to, a person if the parent is Root;
	// or Nobody.
	Of []int32
	// Window numbers, from 0, the window of time that each row lies in; nil where
	// there is one window. Rows of tables below others lie in the window of their
	// parent's row and have none of their own.
	Window []int32
	// Order is the quasi-identifying attribute, usually a date, by which the rows of
	// a person are aligned with another person's; -1 where rows have no order.
	Order int
	// Unknown says that an outsider knows of no row of the table: not which persons have
	// rows of it, how many, nor when one comes or changes. Its rows keep their keys wherever their parents do, and are
	// published alike. The tables below it are unknown, too.
	Unknown bool
}

// Validate returns all that is wrong with the data, joined: parents that stand
// behind their tables, columns of other lengths than their table, rows of parents
// that do not exist.
func (d *Data) Validate() error {
	var errs []error
	for i, t := range d.Tables {
		if t.Parent < Root || t.Parent >= i {
			errs = append(errs, fmt.Errorf("table %s: its parent has to stand before it", t.Name))
			continue
		}
		if err := t.validate(d.parentLen(i)); err != nil {
			errs = append(errs, fmt.Errorf("table %s: %w", t.Name, err))
		}
		if t.Parent != Root && d.Tables[t.Parent].Unknown && !t.Unknown {
			errs = append(errs, fmt.Errorf("table %s: %w", t.Name, errKnownBelow))
		}
	}
	return errors.Join(errs...)
}

// errKnownBelow is what is wrong with a table that is below an unknown one.
var errKnownBelow = errors.New("whoever knows a row knows the row that it belongs to, of which none is to be known")

func (t *Table) validate(parents int) error {
	rows := t.Rows.Len()
	switch {
	case len(t.Of) != rows:
		return fmt.Errorf("%d parents of %d rows", len(t.Of), rows)
	case t.Window != nil && t.Parent != Root:
		return errors.New("only tables that belong to persons directly have windows")
	case t.Window != nil && len(t.Window) != rows:
		return fmt.Errorf("%d windows of %d rows", len(t.Window), rows)
	case t.Order < -1 || t.Order >= len(t.Rows.Attributes()):
		return fmt.Errorf("there is no attribute %d to order rows by", t.Order)
	}
	for row, of := range t.Of {
		if of < Nobody || int(of) >= parents {
			return fmt.Errorf("row %d belongs to row %d, and the parent has %d", row, of, parents)
		}
		if t.Window != nil && t.Window[row] < 0 {
			return fmt.Errorf("row %d lies in window %d", row, t.Window[row])
		}
	}
	return nil
}

// parentLen is the number of rows that the parent of a table has.
func (d *Data) parentLen(table int) int {
	if parent := d.Tables[table].Parent; parent != Root {
		return d.Tables[parent].Rows.Len()
	}
	return d.Root.Len()
}

// SensitiveOf is the number of the first sensitive attribute of a table among those
// of all: the root's come first, then each table's in order. Constraints name
// sensitive attributes by these numbers. SensitiveOf(Root) is 0.
func (d *Data) SensitiveOf(table int) int {
	if table == Root {
		return 0
	}
	first := d.Root.SensitiveLen()
	for _, t := range d.Tables[:table] {
		first += t.Rows.SensitiveLen()
	}
	return first
}
