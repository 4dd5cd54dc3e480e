package lineage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"sync"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
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
// empty, and what is loaded counts as published. Weights are those of [Changes]; 1 where
// a class, or the table, is not among them. The error says what does not fit
// together; the lineage must not be used then.
func (l *Lineage) Load(rows []StoredRow, weights map[incremental.ClassID]Weight, records []StoredRecord) error {
	loading, err := l.BeginLoading(len(records))
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
	return loading.End(weights, nil)
}

// Loading is a Load in pieces: rows and records in any order, then the end. Row and Record
// may be called at the same time as the other one. After an error the lineage must not be
// used any more.
type Loading struct {
	of     *Lineage
	rows   []loadedRow
	codes  []uint32 // of the rows' sensitive attributes, row by row
	shown  int      // how many each has, -1 while unknown
	places []place  // by slot
}

// loadedRow is a row that its class does not have yet.
type loadedRow struct {
	id     RowID
	class  int32 // its index
	person uint32
}

// place is where a record is said to be: in a row of a class, waiting (in row 0), or
// withheld.
type place struct {
	class incremental.ClassID
	row   RowID
}

// givenUp takes the place of a class's number for withheld records.
const givenUp = -1

// BeginLoading begins to fill a lineage, which must be empty, with about so many records.
func (l *Lineage) BeginLoading(room int) (*Loading, error) {
	if l.records.count() > 0 || l.released.classes.count() > 0 {
		return nil, errors.New("loading a lineage that is not empty")
	}
	l.begun = true
	l.records.ids = make([]incremental.RecordID, 0, room)
	return &Loading{of: l, shown: -1, rows: make([]loadedRow, 0, room), places: make([]place, 0, room)}, nil
}

// Row takes over a published row.
func (d *Loading) Row(r StoredRow) error {
	l := d.of
	if r.ID < 1 || r.Class < 1 {
		return fmt.Errorf("loading row %d of class %d: numbers are positive", r.ID, r.Class)
	}
	if d.shown < 0 {
		d.shown = len(r.Sensitive)
		d.codes = make([]uint32, 0, d.shown*cap(d.rows))
	}
	if len(r.Sensitive) != d.shown {
		return fmt.Errorf("loading row %d: it has %d sensitive values, %d expected", r.ID, len(r.Sensitive), d.shown)
	}
	index := l.released.classes.index(r.Class)
	if index < 0 {
		c := &class{id: r.Class, patience: 1, sealed: r.Sealed}
		l.released.classes.add(c)
		index = c.index
	}
	d.rows, d.codes = append(d.rows, loadedRow{r.ID, index, r.Person}), append(d.codes, r.Sensitive...)
	l.released.nextRow, l.released.nextClass = max(l.released.nextRow, r.ID+1), max(l.released.nextClass, r.Class+1)
	l.released.rows++
	return nil
}

// Record takes over a record.
func (d *Loading) Record(r StoredRecord) error {
	l := d.of
	if err := l.rules.checkShape(r.Record); err != nil {
		return fmt.Errorf("loading record %d: %w", r.ID, err)
	}
	changed, err := parseChange(r.Place.Changed)
	if err != nil {
		return fmt.Errorf("loading record %d: %w", r.ID, err)
	}
	if r.Place.Class < 0 || r.Place.Row < 0 {
		return fmt.Errorf("loading record %d: row %d of class %d: numbers are not negative", r.ID, r.Place.Row, r.Place.Class)
	}
	slot := l.records.append(r.Record)
	l.records.setDifference(slot, difference{r.Place.Since, changed})
	at := place{r.Place.Class, r.Place.Row}
	if at.row == 0 && r.Place.Withheld {
		at.class = givenUp
	}
	d.places = append(d.places, at)
	return nil
}

// End finds the rows of all records, and takes over the weights of classes. Rows may have been
// numbered apart from the records: of each sensitive attribute, codes has the number that
// the records have for each of the rows'; nil where these are the same.
func (d *Loading) End(weights map[incremental.ClassID]Weight, codes [][]uint32) error {
	l := d.of
	if d.shown >= 0 && l.rules.sensitive >= 0 && d.shown != l.rules.sensitive {
		return fmt.Errorf("rows have %d sensitive values, records %d", d.shown, l.rules.sensitive)
	}
	l.rules.sensitive = max(l.rules.sensitive, d.shown)
	for a, numbers := range codes {
		for i := a; i < len(d.codes); i += d.shown {
			d.codes[i] = numbers[d.codes[i]]
		}
	}
	l.records.ids = compact.Fit(l.records.ids)
	var twice int32
	var running sync.WaitGroup
	running.Go(func() { twice = l.records.numbers.Fill(l.records.ids) })
	err := d.enterRows()
	d.rows, d.codes = nil, nil
	running.Wait()
	switch {
	case err != nil:
		return err
	case twice >= 0:
		return fmt.Errorf("loading record %d: %w", l.records.ids[twice], incremental.ErrDuplicate)
	}
	if err := compact.InShares(len(d.places), d.link); err != nil {
		return err
	}
	d.enqueue()
	l.renumber()
	l.recount(weights)
	return nil
}

// enterRows gives the classes their rows, by number.
func (d *Loading) enterRows() error {
	l := d.of
	ids := make([]RowID, len(d.rows))
	for i, r := range d.rows {
		ids[i] = r.id
	}
	if _, twice := compact.NewLookup(ids); twice >= 0 {
		return fmt.Errorf("loading row %d: it is there twice", ids[twice])
	}
	sizes := make([]int32, len(l.released.classes.list))
	for _, r := range d.rows {
		sizes[r.class]++
	}
	var rows []row
	var codes []uint32
	for index, size := range sizes {
		if int(size) > len(rows) {
			most := max(int(size), rowsPiece)
			rows, codes = make([]row, most), make([]uint32, most*d.shown)
		}
		c, n := l.released.classes.list[index], int(size)
		c.rows, rows = rows[:0:n], rows[n:]
		c.codes, codes = codes[:0:n*d.shown], codes[n*d.shown:]
		c.ghosts = n // until records are found for them
	}
	return compact.InShares(len(d.rows), func(share, shares int) error {
		for i, r := range d.rows {
			if int(r.class)/shareRun%shares == share {
				c := l.released.classes.list[r.class]
				c.rows, c.codes = append(c.rows, row{id: r.id, slot: nobody, person: r.person}), append(c.codes, d.codes[i*d.shown:(i+1)*d.shown]...)
			}
		}
		for index, c := range l.released.classes.list {
			if index/shareRun%shares == share {
				sort.Sort(&byNumber{c, d.shown})
			}
		}
		return nil
	})
}

const (
	// rowsPiece is how many rows of neighboring classes lie in one piece of memory, until
	// the last of these is gone.
	rowsPiece = 1 << 9
	// shareRun is how many neighboring classes one goroutine has, so that they do not write
	// next to each other.
	shareRun = 64
)

// byNumber sorts the rows of a class, with what they show.
type byNumber struct {
	*class
	shown int
}

func (b *byNumber) Len() int           { return len(b.rows) }
func (b *byNumber) Less(i, j int) bool { return b.rows[i].id < b.rows[j].id }
func (b *byNumber) Swap(i, j int) {
	b.rows[i], b.rows[j] = b.rows[j], b.rows[i]
	for a := range b.shown {
		b.codes[i*b.shown+a], b.codes[j*b.shown+a] = b.codes[j*b.shown+a], b.codes[i*b.shown+a]
	}
}

// link leads from records to their rows and back, those of one share of
// the runs of classes.
func (d *Loading) link(share, shares int) error {
	l := d.of
	for slot, at := range d.places {
		if at.row == 0 {
			continue
		}
		index := l.released.classes.index(at.class)
		if index < 0 && share == 0 {
			return fmt.Errorf("loading record %d: class %d is not there", l.records.ids[slot], at.class)
		}
		if index < 0 || int(index)/shareRun%shares != share {
			continue
		}
		c := l.released.classes.list[index]
		number, shown := slices.BinarySearchFunc(c.rows, at.row, func(r row, id RowID) int { return cmp.Compare(r.id, id) })
		if !shown || c.rows[number].slot != nobody {
			return fmt.Errorf("loading record %d: row %d of class %d is not there, or is another record's", l.records.ids[slot], at.row, at.class)
		}
		c.rows[number].slot = int32(slot)
		if c.ghosts--; l.records.isStale(int32(slot)) {
			c.stale++
		}
		standing := l.records.at(int32(slot))
		standing.class, standing.row = index, int32(number)
	}
	return nil
}

// enqueue has the records wait that do, and notes which are stale.
func (d *Loading) enqueue() {
	l := d.of
	for slot, at := range d.places {
		slot, standing := int32(slot), l.records.at(int32(slot))
		switch {
		case at.row == 0 && at.class == givenUp:
			standing.class = withheld
			l.backlog.withheld++
		case at.row == 0:
			l.backlog.wait(slot)
		case standing.difference != 0 && l.records.isStale(slot):
			l.backlog.addStale(slot)
		}
	}
	l.backlog.sort()
}

// recount finds out what of the classes that have lost something is published.
func (l *Lineage) recount(weights map[incremental.ClassID]Weight) {
	var less []*class
	for _, c := range l.released.classes.list {
		c.tallied = l.released.count(c)
		if l.released.ghosts += c.ghosts; c.ghosts+c.stale > 0 {
			less = append(less, c)
		}
		for _, r := range c.rows {
			if isGhost(r) {
				l.released.tally.Leave(c.tallied, uint64(r.person))
			}
		}
		if w, published := weights[c.id]; published {
			l.released.tally.LoadItem(c.tallied, w.tallied())
		}
	}
	l.released.tally.Load(tallied(weights))
	slices.SortFunc(less, func(a, b *class) int { return cmp.Compare(a.id, b.id) })
	for _, c := range less {
		l.released.disturb(c)
	}
}

// tallied are the weights of groups of classes, and of the table.
func tallied(weights map[incremental.ClassID]Weight) map[int64]tally.Weight {
	groups := make(map[int64]tally.Weight)
	for id, w := range weights {
		if id <= 0 {
			groups[int64(id)] = w.tallied()
		}
	}
	return groups
}

// renumber determines the numbers of the persons who have rows.
func (l *Lineage) renumber() {
	if !l.rules.subjects {
		return
	}
	column, numbering := l.rules.subjectColumn(), &l.released.numbering
	numbering.restore(func(yield func(subject, number uint32) bool) {
		for _, c := range l.released.classes.list {
			for _, r := range c.rows {
				isOther := isGhost(r) || l.records.difference(r.slot).change.columns.has(column)
				if !isOther && !yield(l.records.subject(r.slot), r.person) {
					return
				}
			}
		}
	})
	for _, c := range l.released.classes.list {
		for _, r := range c.rows {
			numbering.skip(r.person)
		}
	}
}
