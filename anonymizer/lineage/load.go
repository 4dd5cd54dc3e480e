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
	if len(l.records) > 0 || len(l.classes) > 0 {
		return errors.New("loading a lineage that is not empty")
	}
	l.begun = true
	if len(rows) > 0 {
		l.sensitive = len(rows[0].Sensitive)
	}
	places := make(map[RowID]int, len(rows))
	for _, r := range rows {
		if r.ID < 1 || r.Class < 1 {
			return fmt.Errorf("loading row %d of class %d: numbers are positive", r.ID, r.Class)
		}
		if _, twice := places[r.ID]; twice {
			return fmt.Errorf("loading row %d: it is there twice", r.ID)
		}
		if len(r.Sensitive) != l.sensitive {
			return fmt.Errorf("loading row %d: it has %d sensitive values, %d expected", r.ID, len(r.Sensitive), l.sensitive)
		}
		c, known := l.classes[r.Class]
		if !known {
			c = &class{id: r.Class, patience: 1, sealed: r.Sealed}
			l.classes[r.Class] = c
		}
		places[r.ID] = len(c.rows)
		c.rows = append(c.rows, row{id: r.ID, person: r.Person, codes: r.Sensitive})
		l.nextRow, l.nextClass = max(l.nextRow, r.ID+1), max(l.nextClass, r.Class+1)
	}
	l.rows = len(rows)
	for _, r := range records {
		if err := l.loadRecord(r, places); err != nil {
			return fmt.Errorf("loading record %d: %w", r.ID, err)
		}
	}
	bySince := func(a, b entry) int { return cmp.Or(a.since.Compare(b.since), cmp.Compare(a.id, b.id)) }
	slices.SortFunc(l.waiting.entries, bySince)
	slices.SortFunc(l.stale.entries, bySince)
	for _, c := range l.sortedClasses() {
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
		case r.isStale():
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

func (l *Lineage) loadRecord(r StoredRecord, places map[RowID]int) error {
	if _, known := l.records[r.ID]; known {
		return incremental.ErrDuplicate
	}
	if err := l.checkShape(r.Record); err != nil {
		return err
	}
	changed, err := parseChange(r.Place.Changed)
	if err != nil {
		return err
	}
	h := l.hold(r.Record, r.Place.Since)
	h.withheld, h.change = r.Place.Withheld, changed
	switch {
	case r.Place.Row != 0:
		c, known := l.classes[r.Place.Class]
		place := places[r.Place.Row]
		if !known || place >= len(c.rows) || c.rows[place].id != r.Place.Row || c.rows[place].record != nil {
			return fmt.Errorf("row %d of class %d is not there, or is another record's", r.Place.Row, r.Place.Class)
		}
		h.class, h.row = c, place
		c.rows[place].record = h
		if !h.since.IsZero() {
			l.stale.add(h)
		}
	case r.Place.Withheld:
		l.withheld++
	default:
		l.await(h)
	}
	return nil
}
