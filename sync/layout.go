package sync

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// layout is a table's shape: its columns, their roles and its policy. It does not change after
// newTable, so any goroutine may read it.
type layout struct {
	publication catalog.Publication
	digest      string           // of what is published, and of what
	former      string           // the digest that stores of earlier versions may have
	columns     []catalog.Column // what the store keeps: key and stored columns, in the source's order
	key         []int            // indexes into columns
	qi          []int            // indexes into columns, one for each attribute
	sensitive   []int            // indexes into columns, one for each attribute that constraints speak of
	subject     int              // index into columns, -1 where each record is another person's
	copied      []int            // indexes into columns of what is published as it is; only for guarded publication
	attributes  []anonymizer.Attribute
	constraints privacy.ConstraintSet
	method      anonymizer.Method
}
