package people

import (
	"fmt"
	"math"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/compact"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
)

// relation holds the rows of one table of a maintained release by slot, and the rows
// below each row as lists.
type relation struct {
	name       string
	attributes []anonymizer.Attribute
	parent     int
	order      int
	unknown    bool
	separate   bool // rows are published one by one
	children   []int

	ids       []incremental.RecordID // by slot; 0 for a free one
	directory compact.Directory[incremental.RecordID]
	free      []int32
	cells     compact.Slab[hierarchy.Cell]
	sensitive compact.Slab[uint32]
	first     int     // number of the first sensitive attribute among those of all tables
	of        []int32 // the parent's slot, or Nobody
	next      []int32 // row after this one below the same parent, or waiting for the same key; or none
	previous  []int32
	window    []int32
	state     []rowState
	own       []uint64 // the pseudonym of a row in a cell, of tables with others below
	link      []uint64 // that of what a row in a cell belongs to
	keys      keyed
	keepsKeys bool          // even where no table is below
	heads     [][]int32     // by child, in the order of children, and slot: the first row below, or none
	waiting   map[Key]int32 // the first of the rows that belong to nobody, by the key that they wait for
	waitsFor  map[int32]Key // the key that such a row waits for

	domains  []domain // of attributes
	lastCell int64
}

// none ends a list of rows.
const none = int32(-1)

// rowState is where a row is published.
type rowState uint8

const (
	hidden      rowState = iota
	waits                // of a Guarded release: for others, to be published with
	refused              // of a Guarded release: not published for good
	inCell               // with its keys
	pooledUnset          // in the pool, which has not published it
	pooledShown
)

func (s rowState) pooled() bool    { return s >= pooledUnset }
func (s rowState) published() bool { return s == inCell || s == pooledShown }

// domain is what values an attribute has had, by position.
type domain struct{ low, high float64 }

func newRelation(attributes []anonymizer.Attribute, sensitive, first int) relation {
	r := relation{
		name: "of persons", attributes: attributes, parent: Root, order: -1,
		cells: compact.NewSlab[hierarchy.Cell](len(attributes)), sensitive: compact.NewSlab[uint32](sensitive), first: first,
		waiting: make(map[Key]int32), waitsFor: make(map[int32]Key), keys: newKeyed(),
	}
	for range attributes {
		r.domains = append(r.domains, domain{math.Inf(1), math.Inf(-1)})
	}
	return r
}

func (t *relation) find(id incremental.RecordID) int32 { return t.directory.Find(t.ids, id) }

// insert adds a row that belongs to nobody yet.
func (t *relation) insert(r Row) (int32, error) {
	if err := t.checkShape(r); err != nil {
		return 0, err
	}
	if t.find(r.ID) >= 0 {
		return 0, incremental.ErrDuplicate
	}
	slot := t.take()
	t.ids[slot] = r.ID
	t.directory.Add(t.ids, slot)
	t.of[slot], t.next[slot], t.previous[slot] = Nobody, none, none
	t.window[slot], t.state[slot] = r.Window, hidden
	t.setKey(slot, r.Key)
	for i := range t.children {
		t.heads[i][slot] = none
	}
	t.set(slot, r)
	return slot, nil
}

// setKey gives a row its key, by which rows below find it.
func (t *relation) setKey(slot int32, key Key) {
	switch {
	case len(t.children) > 0:
		t.keys.set(slot, key)
	case t.keepsKeys:
		t.keys.keep(slot, key)
	}
}

// take finds an empty slot.
func (t *relation) take() int32 {
	if last := len(t.free) - 1; last >= 0 {
		slot := t.free[last]
		t.free = t.free[:last]
		return slot
	}
	t.ids = append(t.ids, 0)
	t.of, t.next, t.previous = append(t.of, Nobody), append(t.next, none), append(t.previous, none)
	t.window, t.state = append(t.window, 0), append(t.state, hidden)
	if len(t.children) > 0 {
		t.own = append(t.own, 0)
	}
	t.link = append(t.link, 0)
	t.cells.Grow()
	t.sensitive.Grow()
	for len(t.heads) < len(t.children) {
		t.heads = append(t.heads, nil)
	}
	for i := range t.heads {
		t.heads[i] = append(t.heads[i], none)
	}
	return int32(len(t.ids) - 1)
}

func (t *relation) checkShape(r Row) error {
	if len(r.Cells) != len(t.attributes) || len(r.Sensitive) != t.sensitive.Columns() {
		return fmt.Errorf("%d cells and %d sensitive values, %d and %d expected", len(r.Cells), len(r.Sensitive), len(t.attributes), t.sensitive.Columns())
	}
	return nil
}

func (t *relation) set(slot int32, r Row) {
	copy(t.cells.Row(slot), r.Cells)
	copy(t.sensitive.Row(slot), r.Sensitive)
	for a := range r.Cells {
		if position := t.position(a, slot); !math.IsNaN(position) {
			d := &t.domains[a]
			d.low, d.high = min(d.low, position), max(d.high, position)
		}
	}
}

// position is where a row lies on an attribute's axis; NaN off the scale.
func (t *relation) position(attribute int, slot int32) float64 {
	c := t.cells.Row(slot)[attribute]
	if hierarchy.IsOffScale(c) {
		return math.NaN()
	}
	return t.attributes[attribute].Hierarchy.Position(c)
}

// remove forgets a row that is in no list and has no rows below it. Heir is the row that has
// its key from now on, or none.
func (t *relation) remove(slot int32) (heir int32) {
	t.directory.Remove(t.ids, t.ids[slot])
	heir = t.keys.remove(slot)
	clear(t.cells.Row(slot))
	clear(t.sensitive.Row(slot))
	t.ids[slot], t.state[slot] = 0, hidden
	t.free = append(t.free, slot)
	return heir
}

func (t *relation) all() []incremental.RecordID {
	ids := make([]incremental.RecordID, 0, t.directory.Len())
	for _, id := range t.ids {
		if id != 0 {
			ids = append(ids, id)
		}
	}
	return ids
}

// keyed finds rows by key. A key that several rows have for a moment is that of the first of
// them; the others wait for it.
type keyed struct {
	slots   map[Key]int32
	list    []Key // by slot
	waiting map[Key][]int32
}

func newKeyed() keyed { return keyed{slots: make(map[Key]int32), waiting: make(map[Key][]int32)} }

func (k *keyed) find(key Key) int32 {
	if slot, known := k.slots[key]; known {
		return slot
	}
	return none
}

func (k *keyed) of(slot int32) Key {
	if int(slot) >= len(k.list) {
		return Key{}
	}
	return k.list[slot]
}

// keep notes the key of a row that is not to be found by it.
func (k *keyed) keep(slot int32, key Key) {
	for int(slot) >= len(k.list) {
		k.list = append(k.list, Key{})
	}
	k.list[slot] = key
}

func (k *keyed) set(slot int32, key Key) {
	k.keep(slot, key)
	switch _, taken := k.slots[key]; {
	case key == Key{}:
	case taken:
		k.waiting[key] = append(k.waiting[key], slot)
	default:
		k.slots[key] = slot
	}
}

// remove takes the key off a row, and returns the row that has waited for it, or none.
func (k *keyed) remove(slot int32) (heir int32) {
	key := k.of(slot)
	if key == (Key{}) {
		return none
	}
	k.list[slot] = Key{}
	rows, heir := k.waiting[key], none
	switch {
	case k.slots[key] != slot:
		rows = slices.DeleteFunc(rows, func(s int32) bool { return s == slot })
	case len(rows) == 0:
		delete(k.slots, key)
	default:
		heir, rows = rows[0], rows[1:]
		k.slots[key] = heir
	}
	if k.waiting[key] = rows; len(rows) == 0 {
		delete(k.waiting, key)
	}
	return heir
}
