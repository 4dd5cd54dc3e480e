package lineage

import (
	"maps"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// Changes says what has to be published, and noted in the store, since the last time.
type Changes struct {
	// Classes are the new classes, with what is published for each: one
	// generalization for each attribute. What is published for a class never changes.
	Classes map[incremental.ClassID][]hierarchy.Generalization
	// Rows are the new rows, of new classes only. Each shows its record's values as
	// they are now.
	Rows []NewRow
	// Gone are published rows that vanish.
	Gone []RowID
	// Weights are the classes whose weight changed: the share of the rows that stand for
	// somebody, in (0, 1]. New classes have 1.
	Weights map[incremental.ClassID]float64
	// Places tells of every record that is new or differs in this.
	Places map[incremental.RecordID]Place
}

// NewRow is a row of a new class.
type NewRow struct {
	ID     RowID
	Class  incremental.ClassID
	Record incremental.RecordID
	// Person numbers the persons of a class from 0; it means nothing outside of it.
	Person uint32
	// Sealed is for Load; it is the same in all rows of a class.
	Sealed bool
}

// Place is where a record stands.
type Place struct {
	// Class and Row are where it is published, 0 where it is not.
	Class incremental.ClassID
	Row   RowID
	// Since is when it began to wait, or when its values parted from those published;
	// zero where neither is so.
	Since time.Time
	// Changed says which values parted, for Load.
	Changed string
	// Withheld says that it waited in vain, and for good.
	Withheld bool
}

func newChanges() Changes {
	return Changes{
		Classes: map[incremental.ClassID][]hierarchy.Generalization{},
		Weights: map[incremental.ClassID]float64{},
		Places:  map[incremental.RecordID]Place{},
	}
}

// takeChanges hands the changes over and forgets them. A class can come and go
// between two times; nothing is told of it.
func (l *Lineage) takeChanges() Changes {
	changes := l.changes
	l.changes = newChanges()
	changes.Places = make(map[incremental.RecordID]Place, len(l.touched))
	for id := range l.touched {
		changes.Places[id] = l.records[id].place()
	}
	// A map keeps the room of all records, which the first batch was, and would be looked
	// through as a whole each time.
	l.touched = map[incremental.RecordID]struct{}{}
	for id := range changes.Weights {
		if _, known := l.classes[id]; !known {
			delete(changes.Weights, id)
		}
	}
	slices.Sort(changes.Gone)
	return changes
}

// place is where the record stands.
func (h *held) place() Place {
	p := Place{Since: h.since, Changed: h.change.String(), Withheld: h.withheld}
	if h.class != nil {
		p.Class, p.Row = h.class.id, h.class.rows[h.row].id
	}
	return p
}

// PlacesOf are the records of changes in ascending order.
func (c Changes) PlacesOf() []incremental.RecordID { return slices.Sorted(maps.Keys(c.Places)) }
