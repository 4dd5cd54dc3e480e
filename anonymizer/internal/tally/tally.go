// Package tally decides what weights tell of published rows that stand for nobody: the ghosts of
// persons who have left.
//
// How many ghosts there are is told in steps of k persons and more: of single classes, of groups of
// neighboring classes, and of the whole table. A class alone would tell late, and never of its first
// k - 1 persons; these show in the number of its group, and those of the groups in that of
// the table. Each number is wrong by less than k persons, whatever happens. See lineage/DESIGN.md,
// "Counts", for why this is safe.
package tally

import (
	"maps"
	"slices"
)

// Count is a number of rows, and of persons whose they are, at least.
type Count struct{ Rows, Persons int }

// Item is a class as the tally knows it: its published rows have one weight.
type Item struct {
	class  int64
	group  *group
	rows   int
	gone   Count // of these rows, those that stand for nobody
	told   Count // of those, the ones that are told of the item alone
	stored Count // what a store has for told
	weight float64
}

// Weight is what is published of an item, a group or the table, and what a store keeps of it.
type Weight struct {
	// Share is the part of the rows that stand for somebody, as far as readers may know. That of
	// the table changes all others, see Rated. Groups have none: it is in those of their items.
	Share float64
	// Told are the rows that are told of, 0 or k persons' and more.
	Told Count
}

// Changes are the weights that a Settle has changed. Groups are those of groups by their numbers, which
// are below 0, and of the table by 0.
type Changes struct {
	Items  []*Item
	Groups map[int64]Weight
}

// Tally is that of one table.
type Tally struct {
	k      int
	span   int64 // classes in a group; 0: only single classes are told of
	groups map[int64]*group
	dirty  map[*group]struct{}
	whole  level
	sum    sum
	share  float64
}

// level is what of a group, or of the table, is so, and what is told of it.
type level struct {
	gone, told Count
	stored     Count // what a store has for told
}

// group holds classes whose numbers follow each other.
type group struct {
	level
	number int64 // below 0; none where it is of one class of which the table does not know
	items  []*Item
	sum    sum // as the table has it
}

const none = 0

// sum adds up the rows of some items, plainly and weighted, and those of them that are gone.
type sum struct {
	rows     int
	weighted float64
	gone     Count
}

// persons is about how many times k persons a group is made of. What is not told of it is
// 2.5 % of its persons then, at most.
const persons = 40

// New is the tally of an empty table whose classes have about crowd times k persons; with 0, only single
// classes are told of.
func New(k, crowd int) *Tally {
	t := &Tally{k: k, groups: map[int64]*group{}, dirty: map[*group]struct{}{}, share: 1}
	if crowd > 0 {
		t.span = max(4, persons/int64(crowd))
	}
	return t
}

// Add takes a new class, all of whose rows stand for somebody. Classes are numbered from 1.
func (t *Tally) Add(class int64, rows int) *Item {
	return t.add(class, rows, Weight{Share: 1})
}

// add takes an item.
func (t *Tally) add(class int64, rows int, w Weight) *Item {
	g := &group{}
	if t.span > 0 {
		number := -class/t.span - 1
		if known := t.groups[number]; known != nil {
			g = known
		} else {
			g.number, t.groups[number] = number, g
		}
	}
	item := &Item{class: class, group: g, rows: rows, told: w.Told, stored: w.Told, weight: w.Share}
	g.items = append(g.items, item)
	t.dirty[g] = struct{}{}
	if g.number == none {
		t.count(g)
	}
	return item
}

// Load takes an item as a store has it. The weights of groups and the table follow by LoadGroups.
func (t *Tally) Load(class int64, rows int, gone Count, w Weight) *Item {
	item := t.add(class, rows, w)
	item.gone = gone
	return item
}

// LoadGroups takes what a store has of groups and the table, and finds what follows from all of it. What
// is told stays the same until something changes.
func (t *Tally) LoadGroups(weights map[int64]Weight) {
	if w, known := weights[0]; known {
		t.whole.told, t.whole.stored, t.share = w.Told, w.Told, w.Share
	}
	for number, g := range t.groups {
		g.told, g.stored = weights[number].Told, weights[number].Told
		t.count(g)
	}
	clear(t.dirty)
}

// Set says how many of an item's rows stand for nobody.
func (t *Tally) Set(item *Item, gone Count) {
	if item.gone != gone {
		item.gone = gone
		t.dirty[item.group] = struct{}{}
	}
}

// Vanish has rows of an item vanish of which some stood for nobody. Gone are those that are left.
func (t *Tally) Vanish(item *Item, rows int, vanished, gone Count) {
	item.rows -= rows
	item.gone = gone
	if item.told.Rows > gone.Rows {
		item.told = t.tellable(gone)
	}
	if item.group.number != none {
		item.group.vanish(vanished)
		t.whole.vanish(vanished)
	}
	t.dirty[item.group] = struct{}{}
}

// Remove forgets an item whose rows have all vanished.
func (t *Tally) Remove(item *Item) {
	g := item.group
	at := slices.Index(g.items, item)
	if g.items = slices.Delete(g.items, at, at+1); g.number != none {
		t.dirty[g] = struct{}{}
	} else {
		delete(t.dirty, g)
		t.count(g)
	}
}

// vanish: readers see the rows vanish, and so know of as many fewer.
func (l *level) vanish(rows Count) {
	l.told = Count{max(0, l.told.Rows-rows.Rows), max(0, l.told.Persons-rows.Persons)}
	if l.told.Rows == 0 || l.told.Persons == 0 {
		l.told = Count{}
	}
}

// tellable is what of a number may be told.
func (t *Tally) tellable(c Count) Count {
	if c.Persons < t.k {
		return Count{}
	}
	return c
}

// next is what is told of what is so, after something else was: it moves by k persons and more, and back
// to nothing once nobody is gone.
func (t *Tally) next(told, gone Count) Count {
	if gone.Persons >= told.Persons+t.k || told.Persons >= gone.Persons+t.k || gone.Rows == 0 {
		return t.tellable(gone)
	}
	return told
}

// Settle brings what is told up to date with what has changed.
func (t *Tally) Settle() Changes {
	changes := Changes{Groups: map[int64]Weight{}}
	if len(t.dirty) == 0 {
		return changes
	}
	for _, g := range slices.SortedFunc(maps.Keys(t.dirty), func(a, b *group) int { return int(b.number - a.number) }) {
		t.settleGroup(g, &changes)
	}
	clear(t.dirty)
	if t.span > 0 {
		t.settleWhole(&changes)
	}
	return changes
}

func (t *Tally) settleGroup(g *group, changes *Changes) {
	factor := 1.0
	for _, item := range g.items {
		item.told = t.next(item.told, item.gone)
	}
	if g.number != none {
		t.count(g)
		g.told = t.next(g.told, g.gone)
		factor = g.factor()
	}
	for _, item := range g.items {
		share := float64(item.rows-item.told.Rows) / float64(item.rows) * factor
		// A store keeps a weight as it is published, and what it tells.
		if float32(share) != float32(item.weight) || item.told != item.stored {
			item.weight, item.stored = share, item.told
			changes.Items = append(changes.Items, item)
		}
	}
	t.count(g) // by the weights as they are now
	if g.number == none {
		return
	}
	if g.told != g.stored {
		g.stored = g.told
		changes.Groups[g.number] = Weight{Told: g.told}
	}
	if len(g.items) == 0 {
		delete(t.groups, g.number)
	}
}

// factor is the share of the rows of which an item alone tells nothing that stand for somebody, as far as
// the group tells.
func (g *group) factor() float64 {
	told, rest := 0, 0
	for _, item := range g.items {
		told += item.told.Rows
		rest += item.rows - item.told.Rows
	}
	return 1 - float64(min(rest-1, max(0, g.told.Rows-told)))/float64(max(1, rest))
}

// count adds up the items of a group, and has the table's sums follow.
func (t *Tally) count(g *group) {
	var now sum
	for _, item := range g.items {
		now.rows += item.rows
		now.weighted += float64(item.rows) * item.weight
		now.gone.Rows += item.gone.Rows
		now.gone.Persons += item.gone.Persons
	}
	t.sum.rows += now.rows - g.sum.rows
	t.sum.weighted += now.weighted - g.sum.weighted
	t.sum.gone.Rows += now.gone.Rows - g.sum.gone.Rows
	t.sum.gone.Persons += now.gone.Persons - g.sum.gone.Persons
	g.sum, g.gone, t.whole.gone = now, now.gone, t.sum.gone
}

func (t *Tally) settleWhole(changes *Changes) {
	t.whole.told = t.next(t.whole.told, t.whole.gone)
	factor := t.wholeFactor()
	if t.whole.told != t.whole.stored || float32(factor) != float32(t.share) {
		t.share, t.whole.stored = factor, t.whole.told
		changes.Groups[0] = Weight{Share: factor, Told: t.whole.told}
	}
}

// Class is the class of an item.
func (i *Item) Class() int64 { return i.class }

// wholeFactor is what the table tells besides its items: below 1, a factor for their shares, where more is
// told of the table; above, 2 less the part of what they leave out, where less is.
func (t *Tally) wholeFactor() float64 {
	rows, left := float64(t.sum.rows), float64(t.whole.told.Rows)
	out := rows - t.sum.weighted // what the items leave out
	switch {
	case left > out && left < rows:
		return (rows - left) / t.sum.weighted
	case left < out:
		return 2 - left/out
	}
	return 1
}

// Weight is what is published of an item.
func (i *Item) Weight() Weight { return Weight{Share: i.weight, Told: i.told} }

// Rated is the share of an item, given that of the table. Over all rows they add up to the number of rows
// that stand for somebody, as far as readers may know.
func Rated(share, table float64) float64 {
	if table <= 1 {
		return share * table
	}
	return 1 - (2-table)*(1-share)
}

// LeftOut is how many rows the weights leave out, all together, as of the last Settle.
func (t *Tally) LeftOut() float64 {
	out := float64(t.sum.rows) - t.sum.weighted
	if t.share > 1 {
		return (2 - t.share) * out
	}
	return float64(t.sum.rows) - t.sum.weighted*t.share
}

// Table is the share of the table.
func (t *Tally) Table() float64 { return t.share }
