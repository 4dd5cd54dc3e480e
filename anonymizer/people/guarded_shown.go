package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// shown is all that is published of a guarded release.
type shown struct {
	tables   []shownRows // the root's first
	classes  map[int64]*shownClass
	nextCell int64
	dirty    map[*part]struct{} // whose ghosts have changed since the last Publish
	valued   bool               // constraints count values, which are kept
}

// shownRows are the published rows of a table and, where constraints count values, those that
// have vanished from classes that are there.
type shownRows struct {
	rows   []shownRow
	free   []int32
	bySlot []int32                        // the published row that stands for a slot, or none
	ids    map[incremental.RecordID]int32 // rows that are ghosts, or stand for another record than they were published for
	codes  compact.Slab[uint32]           // sensitive values as published, if they count
	ghosts map[Key]int32                  // rows that a row of the key may take over
	keys   map[int32]Key                  // of these
	// departed is how many rows stand for nobody.
	departed int
	// discounted is how many rows weights leave out.
	discounted int
}

// shownRow is a published row.
type shownRow struct {
	id     incremental.RecordID // of the record that it was published for
	cell   *shownCell
	own    uint64
	slot   int32 // of the record that it stands for; none: a ghost
	member int32 // place of its person in the class; in the pool, number of its person in the cell
	parent int32 // published row that it belongs to, or none
	stale  bool
}

// shownCell holds rows that are published with the same values; of the root, those of a class.
type shownCell struct {
	id    int64
	class *shownClass // nil for pooled rows
	frame *timeframe  // nil for pooled rows and for the root's
	part  *part
	rows  []int32
	// vanished cells are not published any more, but their values count.
	vanished bool
}

// part is what has one weight, and vanishes at once: the root rows of a class, a pooled
// cell, or the rows of one table in a class and window, which vanish with those of the others.
type part struct {
	table        int
	class        *shownClass // nil for pooled rows
	frame        *timeframe  // nil for pooled rows and for the root's
	cells        []*shownCell
	rows, ghosts int
	// discounted is how many ghosts the published weight leaves out, and
	// discountedPersons how many persons' they are.
	discounted, discountedPersons int
	told                          float64 // the published weight
	// untold says that a cell has come since then, whose rows do not have it.
	untold bool
}

// shownClass is a published class of persons.
type shownClass struct {
	id      int64
	root    *part
	members []int32 // root rows
	frames  map[int32]*timeframe
	past    []*shownCell // which have vanished, and of which values count
}

// timeframe is a window of a class: its persons have one pseudonym each in it. Where all
// is known, a class has one.
type timeframe struct {
	class   *shownClass
	window  int32
	parts   map[int]*part // by table
	aliases []int32       // of each member: whose pseudonym its rows carry; none before the first
	taken   []bool        // of each member: its pseudonym is an alias
	ready   map[place]struct{}
}

func newShown(s *source, valued bool) shown {
	all := shown{classes: make(map[int64]*shownClass), nextCell: 1, dirty: make(map[*part]struct{}), valued: valued}
	for table := Root; table < len(s.tables); table++ {
		columns := 0
		if valued {
			columns = s.relation(table).sensitive.Columns()
		}
		all.tables = append(all.tables, shownRows{
			ids: make(map[incremental.RecordID]int32), codes: compact.NewSlab[uint32](columns),
			ghosts: make(map[Key]int32), keys: make(map[int32]Key),
		})
	}
	return all
}

func (s *shown) of(table int) *shownRows { return &s.tables[table+1] }

func (s *shown) newClass() (*shownClass, *shownCell) { return s.addClass(s.takeCell()) }

func (s *shown) addClass(id int64) (*shownClass, *shownCell) {
	class := &shownClass{id: id, frames: make(map[int32]*timeframe)}
	class.root = &part{table: Root, class: class, told: 1}
	cell := &shownCell{id: id, class: class, part: class.root}
	class.root.cells = []*shownCell{cell}
	s.classes[id] = class
	return class, cell
}

// takeCell is a number that no cell has had.
func (s *shown) takeCell() int64 {
	s.nextCell++
	return s.nextCell - 1
}

// frame is a window of a class.
func (c *shownClass) frame(window int32) *timeframe {
	f := c.frames[window]
	if f == nil {
		f = &timeframe{class: c, window: window, ready: make(map[place]struct{})}
		f.clear()
		c.frames[window] = f
	}
	return f
}

// clear forgets what was published in a window.
func (f *timeframe) clear() {
	f.parts, f.aliases, f.taken = make(map[int]*part), nil, nil
}

// clearAliases has no person carry a pseudonym.
func (f *timeframe) clearAliases() {
	f.aliases = slices.Repeat([]int32{none}, len(f.class.members))
	f.taken = make([]bool, len(f.class.members))
}

// newCell adds an empty cell to a window.
func (f *timeframe) newCell(table int, id int64) *shownCell {
	of := f.parts[table]
	if of == nil {
		of = &part{table: table, class: f.class, frame: f, told: 1}
		f.parts[table] = of
	}
	cell := &shownCell{id: id, class: f.class, frame: f, part: of}
	of.cells, of.untold = append(of.cells, cell), true
	return cell
}

// newPooled makes an empty cell of the pool.
func newPooled(table int, id int64) *shownCell {
	of := &part{table: table, told: 1}
	cell := &shownCell{id: id, part: of}
	of.cells = []*shownCell{cell}
	return cell
}

// add adds a row to its cell; codes are its sensitive values.
func (s *shown) add(r shownRow, codes []uint32) int32 {
	t := s.of(r.cell.part.table)
	var at int32
	if last := len(t.free) - 1; last >= 0 {
		at, t.free = t.free[last], t.free[:last]
		t.rows[at] = r
	} else {
		at = int32(len(t.rows))
		t.rows = append(t.rows, r)
		t.codes.Grow()
	}
	copy(t.codes.Row(at), codes)
	r.cell.rows = append(r.cell.rows, at)
	r.cell.part.rows++
	if r.slot != none {
		t.bySlot[r.slot] = at
	}
	return at
}

// depart makes a row a ghost. Another one that had the key has none any more; it is returned.
func (s *shown) depart(table int, at int32, key Key) (other int32) {
	t := s.of(table)
	r := &t.rows[at]
	t.bySlot[r.slot] = none
	r.slot = none
	t.ids[r.id] = at
	r.cell.part.ghosts++
	t.departed++
	s.dirty[r.cell.part] = struct{}{}
	other = none
	if key == (Key{}) {
		return other
	}
	if before, twice := t.ghosts[key]; twice {
		delete(t.keys, before)
		other = before
	}
	t.ghosts[key], t.keys[at] = at, key
	return other
}

// forget forgets the key of a ghost.
func (t *shownRows) forget(at int32) {
	key, keyed := t.keys[at]
	if !keyed {
		return
	}
	delete(t.keys, at)
	delete(t.ghosts, key)
}

// comeBack has a ghost stand for a row.
func (s *shown) comeBack(table int, at, slot int32) {
	t := s.of(table)
	t.forget(at)
	r := &t.rows[at]
	r.slot, r.stale = slot, true
	t.bySlot[slot] = at
	r.cell.part.ghosts--
	t.departed--
	s.dirty[r.cell.part] = struct{}{}
}

// drop forgets the rows of a cell for good.
func (s *shown) drop(cell *shownCell) {
	t := s.of(cell.part.table)
	for _, at := range cell.rows {
		t.forget(at)
		delete(t.ids, t.rows[at].id)
		clear(t.codes.Row(at))
		t.rows[at] = shownRow{slot: none, parent: none}
		t.free = append(t.free, at)
	}
}

// ghostPersons counts the persons of the ghosts of a part.
func (s *shown) ghostPersons(p *part) int {
	seen := make(map[int32]struct{})
	for _, cell := range p.cells {
		for _, at := range cell.rows {
			if r := &s.of(p.table).rows[at]; r.slot == none {
				seen[r.member] = struct{}{}
			}
		}
	}
	return len(seen)
}

// share is the share of the rows of a part that stand for somebody, as far as readers may know.
// discount has the weight of a part leave rows out, of at least as many persons as told.
func (s *shown) discount(of *part, rows, persons int) {
	s.of(of.table).discounted += rows - of.discounted
	of.discounted, of.discountedPersons = rows, persons
}

func (p *part) share() float64 { return float64(p.rows-p.discounted) / float64(p.rows) }

// sortByID sorts slots by the IDs of their rows.
func (t *relation) sortByID(slots []int32) {
	slices.SortFunc(slots, func(a, b int32) int { return int(t.ids[a] - t.ids[b]) })
}
