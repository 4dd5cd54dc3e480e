package lineage

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// StoredRow is a published row as a store keeps it.
type StoredRow struct {
	ID        RowID
	Class     incremental.ClassID
	Person    uint32
	Sensitive []uint32 // as published
	Sealed    bool
}

// StoredRecord is a record as a store keeps it.
type StoredRecord struct {
	Record
	Place Place
}

// Load takes over what a store holds. It is meant for the start: the lineage is
// empty, and what is loaded counts as published. Weights are those published for
// classes; 1 where a class is not among them. The error says what does not fit
// together; the lineage must not be used then.
func (l *Lineage) Load(rows []StoredRow, weights map[incremental.ClassID]float64, records []StoredRecord) error {
	loading, err := l.BeginLoading()
	if err != nil {
		return err
	}
	for _, r := range rows {
		if err := loading.Row(r); err != nil {
			return err
		}
	}
	for _, r := range records {
		if err := loading.Record(r); err != nil {
			return err
		}
	}
	return loading.End(weights)
}

// Loading is a Load in pieces: all rows, then all records, then the end. After an error
// the lineage must not be used any more.
type Loading struct {
	of   *Lineage
	rows []RowID // all; nil once they are there
}

// BeginLoading begins to fill a lineage that must be empty.
func (l *Lineage) BeginLoading() (*Loading, error) {
	if l.records.count() > 0 || l.classes.count() > 0 {
		return nil, errors.New("loading a lineage that is not empty")
	}
	l.begun = true
	return &Loading{of: l}, nil
}

// Row takes over a published row.
func (d *Loading) Row(r StoredRow) error {
	l := d.of
	if r.ID < 1 || r.Class < 1 {
		return fmt.Errorf("loading row %d of class %d: numbers are positive", r.ID, r.Class)
	}
	if l.sensitive < 0 {
		l.sensitive = len(r.Sensitive)
	}
	if len(r.Sensitive) != l.sensitive {
		return fmt.Errorf("loading row %d: it has %d sensitive values, %d expected", r.ID, len(r.Sensitive), l.sensitive)
	}
	c := l.classes.find(r.Class)
	if c == nil {
		c = &class{id: r.Class, patience: 1, sealed: r.Sealed}
		l.classes.add(c)
	}
	c.rows, c.codes = append(c.rows, row{id: r.ID, slot: nobody, person: r.Person}), append(c.codes, r.Sensitive...)
	l.nextRow, l.nextClass = max(l.nextRow, r.ID+1), max(l.nextClass, r.Class+1)
	l.rows++
	d.rows = append(d.rows, r.ID)
	return nil
}

// settleRows checks that rows are different, and has each class find its own by number.
func (d *Loading) settleRows() error {
	if d.rows == nil {
		return nil
	}
	slices.Sort(d.rows)
	for i, id := range d.rows[1:] {
		if d.rows[i] == id {
			return fmt.Errorf("loading row %d: it is there twice", id)
		}
	}
	d.rows = nil
	for _, c := range d.of.classes.list {
		d.of.order(c)
	}
	return nil
}

// order sorts the rows of a class, which grow no more, by their numbers.
func (l *Lineage) order(c *class) {
	places := make([]int, len(c.rows))
	for place := range places {
		places[place] = place
	}
	slices.SortFunc(places, func(a, b int) int { return cmp.Compare(c.rows[a].id, c.rows[b].id) })
	rows, codes := make([]row, 0, len(c.rows)), make([]uint32, 0, len(c.codes))
	for _, place := range places {
		rows, codes = append(rows, c.rows[place]), append(codes, l.shown(c, place)...)
	}
	c.rows, c.codes = rows, codes
}

// Record takes over a record.
func (d *Loading) Record(r StoredRecord) error {
	if err := d.settleRows(); err != nil {
		return err
	}
	if err := d.of.loadRecord(r); err != nil {
		return fmt.Errorf("loading record %d: %w", r.ID, err)
	}
	return nil
}

// End takes over the weights of classes.
func (d *Loading) End(weights map[incremental.ClassID]float64) error {
	l := d.of
	if err := d.settleRows(); err != nil {
		return err
	}
	bySince := func(a, b entry) int {
		return cmp.Or(l.records.parting(a.slot).since.Compare(l.records.parting(b.slot).since), cmp.Compare(l.records.ids[a.slot], l.records.ids[b.slot]))
	}
	slices.SortFunc(l.waiting.entries, bySince)
	slices.SortFunc(l.stale.entries, bySince)
	for _, c := range l.classes.sorted() {
		l.recount(c, weights)
	}
	return nil
}

// recount finds out what a loaded class has lost, and what of it is published.
func (l *Lineage) recount(c *class, weights map[incremental.ClassID]float64) {
	for _, r := range c.rows {
		switch {
		case isGhost(r):
			c.ghosts++
		case l.isStaleRow(r):
			c.stale++
		}
	}
	l.ghosts += c.ghosts
	if c.ghosts+c.stale == 0 {
		return
	}
	if weight, told := weights[c.id]; told {
		c.told = min(c.ghosts, int(math.Round((1-weight)*float64(len(c.rows)))))
		c.toldOf = min(c.told, l.summarize(c, isGhost).Records)
	}
	l.disturb(c)
}

func (l *Lineage) loadRecord(r StoredRecord) error {
	if l.records.slot(r.ID) >= 0 {
		return incremental.ErrDuplicate
	}
	if err := l.checkShape(r.Record); err != nil {
		return err
	}
	changed, err := parseChange(r.Place.Changed)
	if err != nil {
		return err
	}
	slot := l.records.add(r.Record)
	l.part(slot, parting{r.Place.Since, changed})
	at := l.records.at(slot)
	switch {
	case r.Place.Row != 0:
		c := l.classes.find(r.Place.Class)
		if c == nil {
			return fmt.Errorf("class %d is not there", r.Place.Class)
		}
		place, shown := slices.BinarySearchFunc(c.rows, r.Place.Row, func(r row, id RowID) int { return cmp.Compare(r.id, id) })
		if !shown || c.rows[place].slot != nobody {
			return fmt.Errorf("row %d of class %d is not there, or is another record's", r.Place.Row, r.Place.Class)
		}
		at.class, at.row = c.index, int32(place)
		c.rows[place].slot = slot
		if l.isStale(slot) {
			l.stale.add(slot, at.stamp)
		}
	case r.Place.Withheld:
		at.class = withheld
		l.withheld++
	default:
		l.await(slot)
	}
	return nil
}
