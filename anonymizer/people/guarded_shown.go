package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// shown is all that is published of a guarded release.
type shown struct {
	tables   []shownRows // the root's first
	classes  map[int64]*shownClass
	nextCell int64
	dirty    map[*part]struct{} // whose ghosts have changed since the last Publish
	valued   bool               // constraints of the release, or of one for others, count values, which are kept
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
	tally    *tally.Tally[*part] // what weights tell of them
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
	tallied      *tally.Item[*part] // nil where only values count
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
	all := shown{classes: make(map[int64]*shownClass), nextCell: 1, dirty: make(map[*part]struct{})}
	for table := Root; table < len(s.tables); table++ {
		all.tables = append(all.tables, shownRows{
			ids: make(map[incremental.RecordID]int32), codes: compact.NewSlab[uint32](0),
			ghosts: make(map[Key]int32), keys: make(map[int32]Key), tally: tally.New[*part](s.k, tally.Options{SeveralRows: table != Root}),
		})
	}
	if valued {
		all.keepValues(s)
	}
	return all
}

// keepValues has the values of all rows be kept that come from now on, the first ones among them.
func (s *shown) keepValues(of *source) {
	if s.valued {
		return
	}
	s.valued = true
	for table := Root; table < len(of.tables); table++ {
		s.of(table).codes = compact.NewSlab[uint32](of.relation(table).sensitive.Columns())
	}
}

func (s *shown) of(table int) *shownRows { return &s.tables[table+1] }

func (s *shown) newClass() (*shownClass, *shownCell) { return s.addClass(s.takeCell()) }

func (s *shown) addClass(id int64) (*shownClass, *shownCell) {
	class := &shownClass{id: id, frames: make(map[int32]*timeframe)}
	class.root = &part{table: Root, class: class}
	class.root.tallied = s.of(Root).tally.Add(id, 0, class.root)
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
func (s *shown) newCell(f *timeframe, table int, id int64) *shownCell {
	of := f.parts[table]
	if of == nil {
		of = &part{table: table, class: f.class, frame: f}
		of.tallied = s.of(table).tally.Add(id, 0, of)
		f.parts[table] = of
	}
	cell := &shownCell{id: id, class: f.class, frame: f, part: of}
	of.cells = append(of.cells, cell)
	return cell
}

// newPooled makes an empty cell of the pool, of whose rows nobody knows whose they are among those of
// others.
func (s *shown) newPooled(table int, id int64) *shownCell {
	of := &part{table: table}
	of.tallied = s.of(table).tally.AddAlone(id, 0, of)
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
	if of := r.cell.part; of.tallied != nil {
		of.rows++
		t.tally.Grow(of.tallied, 1)
	}
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
	t.tally.Leave(r.cell.part.tallied, r.person())
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
	t.tally.Return(r.cell.part.tallied, r.person())
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

// person distinguishes the persons of published rows: across all cells with keys of a table, and
// within a pooled cell.
func (r *shownRow) person() uint64 {
	const most = 24 // bits for the members of a class
	if r.cell.class == nil {
		return uint64(r.member)
	}
	return uint64(r.cell.class.id)<<most | uint64(r.member)
}

// sortByID sorts slots by the IDs of their rows.
func (t *relation) sortByID(slots []int32) {
	slices.SortFunc(slots, func(a, b int32) int { return int(t.ids[a] - t.ids[b]) })
}
