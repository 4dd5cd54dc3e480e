// Package tally decides what weights report of published rows that stand for nobody: the ghosts of
// persons who have left.
//
// Ghosts are reported in steps of at least k persons: of single classes, of groups of neighboring
// classes, and of the whole table. A class by itself would report late, and never its first k - 1
// persons; these show in the number of its group, and those of the groups in that of the table.
// Each number is off by the rows of less than k persons, whatever happens. See lineage/DESIGN.md,
// "Counts", for why this is safe.
package tally

import (
	"cmp"
	"maps"
	"math"
	"slices"
)

// Weight is what is published of an item, a group or the table, and what a store keeps of it.
type Weight struct {
	// Share is the part of the rows that stand for somebody, as far as readers may know. That of
	// the table changes all others, see Rated. Groups have none: it is in those of their items.
	Share float64
	// Told are the reported rows, those of 0 or of at least k persons.
	Told Count
}

// Changes are the weights that a Settle has changed. Groups are those of groups by their numbers,
// which are below 0, and of the table by 0. Any other number is only for a store; what reports no
// rows is not kept.
type Changes[T any] struct {
	Items  []*Item[T]
	Groups map[int64]Weight
}

// Options say what is counted together.
type Options struct {
	// Crowd is about how many times k persons an item has; items with neighboring numbers are
	// grouped by it. With 0 there are no groups: only items and the table report.
	Crowd int
	// SeveralRows says that a person can have several rows.
	SeveralRows bool
}

// Tally is that of one table, of whose items each leads to a T.
type Tally[T any] struct {
	k       int
	options Options
	span    int64 // items in a group, those whose numbers give the same, divided by it; 0: there are no groups
	groups  map[int64]*group[T]
	dirty   map[*group[T]]struct{}
	loose   map[*Item[T]]struct{} // dirty ones without a group
	fewer   bool                  // items have been removed
	whole   whole
	sum     sum
	alone   int // rows that those items leave out of which nothing else tells
	share   float64
}

// group holds items whose numbers follow each other.
type group[T any] struct {
	level
	number int64 // below 0
	items  []*Item[T]
}

// sum adds up the rows of some items, plainly and weighted.
type sum struct {
	rows     int
	weighted float64
}

// persons is about how many times k persons a group is made of. At most 2.5 % of its persons are
// then unreported.
const persons = 40

// New is the tally of an empty table.
func New[T any](k int, o Options) *Tally[T] {
	t := &Tally[T]{
		k: k, options: o, share: 1, whole: newWhole(o.SeveralRows),
		groups: make(map[int64]*group[T]), dirty: make(map[*group[T]]struct{}), loose: make(map[*Item[T]]struct{}),
	}
	if o.Crowd > 0 {
		t.span = max(4, persons/int64(o.Crowd))
	}
	return t
}

// Add takes a new item, all of whose rows stand for somebody, and whose number is none that an item has.
func (t *Tally[T]) Add(number int64, rows int, of T) *Item[T] {
	item := t.AddAlone(number, rows, of)
	item.known = true
	if t.span > 0 {
		in := -number/t.span - 1
		g := t.groups[in]
		if g == nil {
			g = &group[T]{level: newLevel(t.options.SeveralRows), number: in}
			t.groups[in] = g
		}
		delete(t.loose, item)
		item.group, g.items = g, append(g.items, item)
		t.dirty[g] = struct{}{}
	}
	return item
}

// AddAlone takes an item that neither a group nor the table reports, because it is not known which
// persons its rows share with other items.
func (t *Tally[T]) AddAlone(number int64, rows int, of T) *Item[T] {
	item := &Item[T]{Of: of, number: number, level: newLevel(t.options.SeveralRows), rows: rows, weight: 1}
	t.loose[item] = struct{}{}
	t.count(item)
	return item
}

// Grow adds rows to an item, which stand for somebody. Its weight is reported anew, unless it is 1,
// because it has changed.
func (t *Tally[T]) Grow(item *Item[T], rows int) {
	item.rows += rows
	t.touch(item)
}

// Leave makes a row of an item, which belonged to a person, stand for nobody. If no person has
// several rows, it does not matter who that is.
func (t *Tally[T]) Leave(item *Item[T], person uint64) { t.move(item, person, 1) }

// Return has such a row stand for somebody again.
func (t *Tally[T]) Return(item *Item[T], person uint64) { t.move(item, person, -1) }

func (t *Tally[T]) move(item *Item[T], person uint64, rows int) {
	item.add(person, rows)
	if item.group != nil {
		item.group.add(person, rows)
	}
	if item.known {
		t.whole.add(person, rows)
	}
	t.touch(item)
}

// Vanish has rows of an item vanish. Ghosts are the persons of those of them that stood for nobody.
func (t *Tally[T]) Vanish(item *Item[T], rows int, ghosts []uint64) {
	item.rows -= rows
	item.vanish(ghosts)
	if item.told.Rows > item.gone.Rows { // what is left may be fewer rows
		item.told = item.tellable(t.k)
	}
	if item.group != nil {
		item.group.vanish(ghosts)
	}
	if item.known {
		t.whole.vanish(ghosts)
	}
	t.touch(item)
}

// Remove forgets an item whose rows have all vanished.
func (t *Tally[T]) Remove(item *Item[T]) {
	item.rows = 0
	t.count(item)
	delete(t.loose, item)
	t.fewer = true
	if g := item.group; g != nil {
		at := slices.Index(g.items, item)
		g.items = slices.Delete(g.items, at, at+1)
		t.touch(item)
	}
}

func (t *Tally[T]) touch(item *Item[T]) {
	if item.group != nil {
		t.dirty[item.group] = struct{}{}
	} else {
		t.loose[item] = struct{}{}
	}
}

// Load takes what a store has of groups and of the table, after all items have theirs. The next
// Settle reports nothing new, except of rows that the store did not know.
func (t *Tally[T]) Load(weights map[int64]Weight) {
	if w, known := weights[0]; known {
		t.share = w.Share
	}
	t.whole.load(weights)
	for item := range t.loose {
		t.count(item)
	}
	for number, g := range t.groups {
		g.told, g.stored = weights[number].Told, weights[number].Told
		for _, item := range g.items {
			t.count(item)
		}
	}
}

// LoadItem takes what a store has of an item.
func (t *Tally[T]) LoadItem(item *Item[T], w Weight) {
	item.weight = w.Share
	item.told, item.stored = w.Told, w.Told
}

// Settle brings what is reported up to date with what has changed.
func (t *Tally[T]) Settle() Changes[T] {
	changes := Changes[T]{Groups: map[int64]Weight{}}
	if len(t.dirty)+len(t.loose) == 0 && !t.fewer {
		return changes
	}
	for _, g := range slices.SortedFunc(maps.Keys(t.dirty), func(a, b *group[T]) int { return cmp.Compare(b.number, a.number) }) {
		t.settleGroup(g, &changes)
	}
	for _, item := range slices.SortedFunc(maps.Keys(t.loose), func(a, b *Item[T]) int { return cmp.Compare(a.number, b.number) }) {
		item.next(t.k)
		t.weigh(item, 1, &changes)
	}
	clear(t.dirty)
	clear(t.loose)
	t.fewer = false
	t.settleWhole(&changes)
	return changes
}

// Note is what a store has to keep of what has changed, if nothing is to be reported yet.
func (t *Tally[T]) Note() map[int64]Weight {
	kept := make(map[int64]Weight)
	t.whole.keep(kept)
	return kept
}

func (t *Tally[T]) settleGroup(g *group[T], changes *Changes[T]) {
	for _, item := range g.items {
		item.next(t.k)
	}
	g.next(t.k)
	factor := g.factor()
	for _, item := range g.items {
		t.weigh(item, factor, changes)
	}
	if g.told != g.stored {
		g.stored = g.told
		changes.Groups[g.number] = Weight{Told: g.told}
	}
	if len(g.items) == 0 {
		delete(t.groups, g.number)
	}
}

// weigh gives an item the weight that follows from what is reported of it and of its group.
func (t *Tally[T]) weigh(item *Item[T], factor float64, changes *Changes[T]) {
	share := float64(item.rows-item.told.Rows) / float64(item.rows) * factor
	// A store keeps a weight as it is published, and what it reports.
	if float32(share) != float32(item.weight) || item.told != item.stored {
		item.stored = item.told
		changes.Items = append(changes.Items, item)
	}
	item.weight = share // what was loaded is rounded
	t.count(item)
}

// factor is the share of rows that stand for somebody, among those of which the item itself reports
// nothing, as far as the group reports.
func (g *group[T]) factor() float64 {
	told, rest := 0, 0
	for _, item := range g.items {
		told += item.told.Rows
		rest += item.rows - item.told.Rows
	}
	return 1 - float64(min(rest-1, max(0, g.told.Rows-told)))/float64(max(1, rest))
}

// count has the table's sums follow an item.
func (t *Tally[T]) count(item *Item[T]) {
	now := sum{item.rows, float64(item.rows) * item.weight}
	t.sum.rows += now.rows - item.counted.rows
	t.sum.weighted += now.weighted - item.counted.weighted
	item.counted = now
	if !item.known {
		out := min(item.told.Rows, item.rows)
		t.alone += out - item.countedOut
		item.countedOut = out
	}
}

func (t *Tally[T]) settleWhole(changes *Changes[T]) {
	t.whole.next(t.k)
	factor := t.wholeFactor()
	if t.whole.told != t.whole.stored || float32(factor) != float32(t.share) {
		t.share, t.whole.stored = factor, t.whole.told
		changes.Groups[0] = Weight{Share: factor, Told: t.whole.told}
	}
	t.whole.keep(changes.Groups)
}

// wholeFactor is what the table tells besides its items: below 1, a factor for their shares, where more is
// told of the table; above, 2 less the part of what they leave out, where less is.
func (t *Tally[T]) wholeFactor() float64 {
	rows, left := float64(t.sum.rows), float64(t.whole.told.Rows+t.alone)
	out := rows - t.sum.weighted // what the items leave out
	switch {
	case math.Abs(left-out) < 1e-9*max(1, rows): // sums are rounded
		return 1
	case left > out && t.sum.weighted > 1: // one row is counted at least, so that no weight is 0
		return max(1, rows-left) / t.sum.weighted
	case left < out:
		return 2 - left/out
	}
	return 1
}

// Rated is the share of an item, given that of the table. Over all rows they add up to the number of rows
// that stand for somebody, as far as readers may know.
func Rated(share, table float64) float64 {
	if table <= 1 {
		return share * table
	}
	return 1 - (2-table)*(1-share)
}

// LeftOut is how many rows the weights leave out, all together, as of the last Settle.
func (t *Tally[T]) LeftOut() float64 {
	out := float64(t.sum.rows) - t.sum.weighted
	if t.share > 1 {
		return (2 - t.share) * out
	}
	return float64(t.sum.rows) - t.sum.weighted*t.share
}
