package people

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// StoredRow is a published row as a store keeps it: what PublishedCell and PublishedRow say of
// it, and what has become of it since.
type StoredRow struct {
	PublishedRow
	Cell   int64
	Class  int64
	Window int32
	Pooled bool
	// Sensitive are its values as published; they may be left out, but where
	// Guarded.KeepsValues.
	Sensitive []uint32
	// Key is that of its last LeftRow. It counts if no record's Place has the row.
	Key Key
	// Vanished rows are not published any more; see Guarded.KeepsVanished.
	Vanished bool
}

// Restoring fills a guarded release with what a store holds: published rows, records and weights
// in any order, then the end. What is restored is not published anew. After
// an error the release must not be used.
type Restoring struct {
	of      *Guarded
	rows    [][]StoredRow // by table, the root's first
	places  []map[incremental.RecordID]Place
	weights [][]Weight // likewise
	waiting []waiting
	cells   map[int64]*shownCell
	members map[uint64]int32 // of root pseudonyms
}

// Restore begins to fill a release, which must be empty.
// NextCell is that of the release that the store is of; no cell gets a lower number.
func (g *Guarded) Restore(nextCell int64) (*Restoring, error) {
	r := &Restoring{of: g, cells: make(map[int64]*shownCell), members: make(map[uint64]int32)}
	for table := Root; table < len(g.tables); table++ {
		if g.Len(table) > 0 || len(g.shown.of(table).rows) > 0 {
			return nil, errors.New("restoring a release that is not empty")
		}
		r.places = append(r.places, make(map[incremental.RecordID]Place))
	}
	r.rows, r.weights = make([][]StoredRow, len(r.places)), make([][]Weight, len(r.places))
	g.begun, g.shown.nextCell = true, max(g.shown.nextCell, nextCell)
	return r, nil
}

// Row takes over a published row.
func (r *Restoring) Row(table int, row StoredRow) {
	r.rows[table+1] = append(r.rows[table+1], row)
}

// Weight takes over a weight.
func (r *Restoring) Weight(table int, w Weight) {
	r.weights[table+1] = append(r.weights[table+1], w)
}

// Record takes over a row of the source, with its Place. The errors are those of Insert.
func (r *Restoring) Record(table int, row Row, at Place) error {
	g := r.of
	slot, err := g.insert(table, row)
	if err != nil {
		return err
	}
	if table != Root {
		g.link(table, slot, row.Of)
	}
	g.adoptAll(table, slot, row.Key)
	t := g.relation(table)
	switch {
	case at.Withheld:
		t.state[slot] = refused
	case at.Pooling:
		t.state[slot] = pooledUnset
		g.pools[table][slot], g.repooled[table] = struct{}{}, true
	case !at.Since.IsZero():
		t.state[slot] = waits
		r.waiting = append(r.waiting, waiting{place{table, slot}, at.Since})
	}
	if at.Row != 0 {
		r.places[table+1][at.Row] = Place{Row: row.ID, Stale: at.Stale}
	}
	return nil
}

// End puts everything together. Rows that came to belong to a published person without the store
// recording it wait from now on. The error says what does not fit.
func (r *Restoring) End(now time.Time) error {
	g := r.of
	for table := Root; table < len(g.tables); table++ {
		slices.SortFunc(r.rows[table+1], func(a, b StoredRow) int {
			return cmp.Or(cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Member, b.Member), cmp.Compare(a.ID, b.ID))
		})
		if err := r.table(table); err != nil {
			return fmt.Errorf("restoring published rows of table %s: %w", g.relation(table).name, err)
		}
	}
	r.weigh()
	slices.SortFunc(r.waiting, func(a, b waiting) int { return a.since.Compare(b.since) })
	for _, w := range r.waiting {
		if w.table == Root {
			g.persons.add(w.place, w.since)
			continue
		}
		if !g.belongs(w.place) {
			r.dismiss(w.place)
			continue
		}
		g.rows.add(w.place, w.since)
		g.prepare(w.place)
	}
	for table, slots := range g.pools {
		for slot := range slots {
			if at := (place{table, slot}); !g.belongs(at) {
				delete(slots, slot)
				r.dismiss(at)
			}
		}
	}
	r.expect()
	r.admit(now)
	g.countAll()
	return nil
}

// weigh gives the parts of the release their weights.
func (r *Restoring) weigh() {
	for table, weights := range r.weights {
		of, groups := r.of.shown.tables[table].tally, make(map[int64]tally.Weight)
		for _, w := range weights {
			for _, id := range w.Cells {
				if cell := r.cells[id]; id <= 0 {
					groups[id] = w.tallied()
				} else if cell != nil && cell.part.tallied != nil {
					of.LoadItem(cell.part.tallied, w.tallied())
				}
			}
		}
		of.Load(groups)
	}
}

// dismiss ends the wait of a row whose person has gone since the store recorded it, because its
// table was not applied when that happened.
func (r *Restoring) dismiss(at place) {
	r.of.tables[at.table].state[at.slot] = hidden
	r.of.touch(at.table, at.slot)
}

// admit makes rows below published persons wait that the store has as nobody's, because their
// parent changed without the store recording it.
func (r *Restoring) admit(now time.Time) {
	g := r.of
	for slot := range g.root.ids {
		if g.root.ids[slot] != 0 {
			g.enter(Root, int32(slot), now)
		}
	}
}

// expect has rows that were noted and not published yet take over the ghosts of their keys.
func (r *Restoring) expect() {
	g := r.of
	for table := Root; table < len(g.tables); table++ {
		t, shown := g.relation(table), g.shown.of(table)
		if len(shown.ghosts) == 0 {
			continue
		}
		for slot, id := range t.ids {
			if _, left := shown.ghosts[t.keys.of(int32(slot))]; left && id != 0 && shown.bySlot[slot] == none {
				g.fresh = append(g.fresh, place{table, int32(slot)})
			}
		}
	}
}

// table takes over the published rows of a table, whose parents' have been.
func (r *Restoring) table(table int) error {
	shown, places := r.of.shown.of(table), r.places[table+1]
	above := r.numbers(table)
	for _, row := range r.rows[table+1] {
		cell, err := r.cell(table, &row)
		if err != nil {
			return err
		}
		made := shownRow{id: row.ID, cell: cell, own: row.Own, slot: none, member: row.Member, parent: none}
		if table != Root && !row.Pooled {
			parent, there := above[row.Parent]
			if !there {
				return fmt.Errorf("row %d belongs to row %d, which is not there", row.ID, row.Parent)
			}
			made.parent = parent
		}
		if len(row.Sensitive) != shown.codes.Columns() && r.of.shown.valued {
			return fmt.Errorf("row %d has %d sensitive values, %d expected", row.ID, len(row.Sensitive), shown.codes.Columns())
		}
		at := r.of.shown.add(made, row.Sensitive)
		if cell.vanished {
			shown.ids[row.ID] = at
			continue
		}
		if err := r.member(table, at); err != nil {
			return err
		}
		if cell.frame != nil {
			if err := r.alias(cell.frame, row); err != nil {
				return err
			}
		}
		if record, stands := places[row.ID]; stands {
			r.stand(table, at, record)
		} else {
			r.haunt(table, at, row.Key)
		}
		delete(places, row.ID)
	}
	if len(places) > 0 {
		return fmt.Errorf("%d rows are not there, which stand for records", len(places))
	}
	return nil
}

// numbers finds the published rows of a table's parent.
func (r *Restoring) numbers(table int) map[incremental.RecordID]int32 {
	if table == Root {
		return nil
	}
	above := r.of.shown.of(r.of.tables[table].parent).rows
	numbers := make(map[incremental.RecordID]int32, len(above))
	for at := range above {
		numbers[above[at].id] = int32(at)
	}
	return numbers
}

// cell is that of a published row, which is made with the first.
func (r *Restoring) cell(table int, row *StoredRow) (*shownCell, error) {
	if cell := r.cells[row.Cell]; cell != nil {
		if cell.part.table != table {
			return nil, fmt.Errorf("cell %d is one of another table", row.Cell)
		}
		return cell, nil
	}
	shown := &r.of.shown
	shown.nextCell = max(shown.nextCell, row.Cell+1)
	class := shown.classes[row.Class]
	var cell *shownCell
	switch {
	case table == Root:
		_, cell = shown.addClass(row.Class)
	case row.Pooled:
		cell = shown.newPooled(table, row.Cell)
	case class == nil:
		return nil, fmt.Errorf("class %d of row %d is not there", row.Class, row.ID)
	case row.Vanished:
		cell = &shownCell{id: row.Cell, class: class, part: &part{table: table, class: class}, vanished: true}
		class.past = append(class.past, cell)
	default:
		cell = shown.newCell(class.frame(row.Window), table, row.Cell)
	}
	r.cells[row.Cell] = cell
	return cell, nil
}

// member enters the root row of a member of a class.
func (r *Restoring) member(table int, at int32) error {
	row := r.of.shown.of(table).rows[at]
	if table == Root {
		class := row.cell.class
		if int(row.member) != len(class.members) {
			return fmt.Errorf("a member of class %d is not there, or twice", class.id)
		}
		class.members = append(class.members, at)
		r.members[row.own] = row.member
		return nil
	}
	if class := row.cell.class; class != nil && int(row.member) >= len(class.members) {
		return fmt.Errorf("row %d is of a person that class %d does not have", row.id, class.id)
	}
	return nil
}

// alias enters the pseudonym that a person's rows carry in a window.
func (r *Restoring) alias(f *timeframe, row StoredRow) error {
	alias, known := r.members[row.Person]
	if !known || int(alias) >= len(f.class.members) || r.of.shown.of(Root).rows[f.class.members[alias]].own != row.Person {
		return fmt.Errorf("row %d has the pseudonym of a person of another class", row.ID)
	}
	if f.aliases == nil {
		f.clearAliases()
	}
	f.aliases[row.Member], f.taken[alias] = alias, true
	return nil
}

// stand makes a published row stand for a record.
func (r *Restoring) stand(table int, at int32, record Place) {
	t, shown := r.of.relation(table), r.of.shown.of(table)
	row, slot := &shown.rows[at], t.find(record.Row)
	row.slot, row.stale = slot, record.Stale
	shown.bySlot[slot] = at
	if t.state[slot] = inCell; row.cell.class == nil {
		t.state[slot] = pooledShown
	}
	if row.id != record.Row {
		shown.ids[row.id] = at
	}
}

// haunt makes a published row a ghost.
func (r *Restoring) haunt(table int, at int32, key Key) {
	shown := r.of.shown.of(table)
	row := &shown.rows[at]
	row.cell.part.ghosts++
	shown.tally.Leave(row.cell.part.tallied, row.person())
	r.of.shown.dirty[row.cell.part] = struct{}{} // it may have become one after the last Publish
	shown.departed++
	shown.ids[row.id] = at
	if key != (Key{}) {
		shown.ghosts[key], shown.keys[at] = at, key
	}
}
