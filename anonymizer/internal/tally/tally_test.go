package tally_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// world is a table as it is, beside what its tally tells.
type world struct {
	t       *testing.T
	k       int
	tally   *tally.Tally
	random  *rand.Rand
	classes []*class
	next    int64
	told    map[int64]tally.Weight // as a store has it
}

type class struct {
	number     int64
	item       *tally.Item
	rows, gone int
	stored     tally.Weight
}

func newWorld(t *testing.T, k, crowd int, seed uint64) *world {
	return &world{t: t, k: k, tally: tally.New(k, crowd), random: rand.New(rand.NewPCG(seed, 1)), next: 1, told: map[int64]tally.Weight{0: {Share: 1}}}
}

func (w *world) found(rows int) {
	w.classes = append(w.classes, &class{number: w.next, item: w.tally.Add(w.next, rows), rows: rows, stored: tally.Weight{Share: 1}})
	w.next++
}

// step has somebody leave, come back, or come, or the ghosts of a class vanish.
func (w *world) step(crowd int) {
	at := w.random.IntN(len(w.classes))
	c := w.classes[at]
	switch w.random.IntN(12) {
	case 0:
		w.found(crowd * w.k)
	case 1, 2:
		if c.gone > 0 {
			c.gone--
			w.tally.Set(c.item, tally.Count{Rows: c.gone, Persons: c.gone})
		}
	default:
		if c.gone < c.rows {
			c.gone++
			w.tally.Set(c.item, tally.Count{Rows: c.gone, Persons: c.gone})
		}
	}
	switch {
	case c.gone == c.rows:
		w.tally.Vanish(c.item, c.rows, tally.Count{Rows: c.gone, Persons: c.gone}, tally.Count{})
		w.tally.Remove(c.item)
		w.classes = append(w.classes[:at], w.classes[at+1:]...)
		if len(w.classes) == 0 {
			w.found(crowd * w.k)
		}
	case c.gone >= 2*w.k && c.rows-c.gone >= w.k && w.random.IntN(3) == 0:
		w.tally.Vanish(c.item, c.gone, tally.Count{Rows: c.gone, Persons: c.gone}, tally.Count{})
		c.rows, c.gone = c.rows-c.gone, 0
	}
}

// settle brings what the store has up to date.
func (w *world) settle() {
	changes := w.tally.Settle()
	changed := map[*tally.Item]bool{}
	for _, item := range changes.Items {
		changed[item] = true
	}
	for _, c := range w.classes {
		if now := c.item.Weight(); differ(now, c.stored) != changed[c.item] {
			w.t.Fatalf("class %d: %v becomes %v, and a change is told of: %t", c.number, c.stored, now, changed[c.item])
		}
		c.stored = c.item.Weight()
	}
	for number, weight := range changes.Groups {
		if !differ(weight, w.told[number]) {
			w.t.Fatalf("group %d: %v is told of as a change", number, weight)
		}
		w.told[number] = weight
		if number < 0 && weight.Told == (tally.Count{}) {
			delete(w.told, number)
		}
	}
	if float32(w.tally.Table()) != float32(w.told[0].Share) {
		w.t.Fatalf("the share of the table is %v, and told is %v", w.tally.Table(), w.told[0])
	}
}

// differ compares weights as a store keeps them.
func differ(a, b tally.Weight) bool {
	return float32(a.Share) != float32(b.Share) || a.Told != b.Told
}

// sums are what weights say of some classes, and what is so.
func (w *world) sums(from, to int64) (told, true float64, rows int) {
	for _, c := range w.classes {
		if c.number >= from && c.number < to {
			told += float64(c.rows) * tally.Rated(c.stored.Share, w.told[0].Share)
			true += float64(c.rows - c.gone)
			rows += c.rows
		}
	}
	return told, true, rows
}

// TestCounts: whatever happens, weights add up to the number of those who are there, but for less than k
// persons in the table, and for 5 % in two hundred neighboring rows and more.
func TestCounts(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		const k, crowd = 5, 4
		w := newWorld(t, k, crowd, seed)
		for range 60 {
			w.found(crowd * k)
		}
		for step := range 4000 {
			w.step(crowd)
			if step%int(1+seed) > 0 {
				continue
			}
			w.settle()
			told, is, rows := w.sums(0, w.next)
			if off := math.Abs(told - is); off > k+0.01 {
				t.Fatalf("seed %d, step %d: %.1f of %d rows are told, %v are there", seed, step, told, rows, is)
			}
			for group := int64(0); group < w.next/10; group++ {
				// Of groups with fewer rows the same number of persons is a greater share.
				if told, is, rows := w.sums(10*group, 10*group+10); rows >= 150 && math.Abs(told-is) > 0.055*float64(rows) {
					t.Fatalf("seed %d, step %d: in group %d, %.1f of %d rows are told, %v are there", seed, step, group, told, rows, is)
				}
			}
		}
	}
}

// TestSteps: no number moves by fewer than k persons, unless nobody is gone or rows vanish.
func TestSteps(t *testing.T) {
	t.Parallel()
	const k = 5
	tl := tally.New(k, 4)
	var items []*tally.Item
	gone := make([]int, 12)
	for i := range gone {
		items = append(items, tl.Add(int64(i+1), 20))
	}
	tl.Settle()
	random := rand.New(rand.NewPCG(2, 2))
	table, groups, single := tally.Count{}, map[int64]tally.Count{}, make([]tally.Count, len(items))
	step := func(what string, before, now tally.Count) {
		t.Helper()
		if moved := now.Persons - before.Persons; moved != 0 && moved < k && moved > -k {
			t.Fatalf("what is told of %s moves from %v to %v", what, before, now)
		}
	}
	for range 5000 {
		at := random.IntN(len(items))
		if random.IntN(2) == 0 {
			gone[at] = min(15, gone[at]+1)
		} else {
			gone[at] = max(0, gone[at]-1)
		}
		tl.Set(items[at], tally.Count{Rows: gone[at], Persons: gone[at]})
		changes := tl.Settle()
		for i, item := range items {
			step("a class", single[i], item.Weight().Told)
			single[i] = item.Weight().Told
			if off := gone[i] - single[i].Persons; off >= k || off <= -k {
				t.Fatalf("of a class, %d are gone and %d are told of", gone[i], single[i].Persons)
			}
		}
		for number, w := range changes.Groups {
			if number == 0 {
				step("the table", table, w.Told)
				table = w.Told
			} else {
				step("a group", groups[number], w.Told)
				groups[number] = w.Told
			}
		}
	}
}

// TestLoad: what is loaded from a store is told as before, and goes on likewise.
func TestLoad(t *testing.T) {
	t.Parallel()
	const k, crowd = 3, 4
	w := newWorld(t, k, crowd, 7)
	for range 40 {
		w.found(crowd * k)
	}
	for step := range 3000 {
		w.step(crowd)
		w.settle()
		if step%100 > 0 {
			continue
		}
		w.tally = tally.New(k, crowd)
		for _, c := range w.classes {
			c.item = w.tally.Load(c.number, c.rows, tally.Count{Rows: c.gone, Persons: c.gone}, c.stored)
		}
		w.tally.LoadGroups(w.told)
		before := w.tally.Table()
		for _, c := range w.classes {
			w.tally.Set(c.item, tally.Count{})
			w.tally.Set(c.item, tally.Count{Rows: c.gone, Persons: c.gone}) // has everything looked at
		}
		w.settle()
		if float32(before) != float32(w.tally.Table()) {
			t.Fatalf("step %d: loading moves the table's factor from %v to %v", step, before, w.tally.Table())
		}
	}
}

// TestSingleClasses: without groups, no number but that of a class tells.
func TestSingleClasses(t *testing.T) {
	t.Parallel()
	tl := tally.New(4, 0)
	var items []*tally.Item
	for i := range 20 {
		items = append(items, tl.Add(int64(i+1), 10))
	}
	for _, item := range items {
		tl.Set(item, tally.Count{Rows: 6, Persons: 3})
	}
	if changes := tl.Settle(); len(changes.Items) > 0 || len(changes.Groups) > 0 {
		t.Errorf("%d items and %d groups are told of", len(changes.Items), len(changes.Groups))
	}
	tl.Set(items[3], tally.Count{Rows: 6, Persons: 4})
	changes := tl.Settle()
	if len(changes.Items) != 1 || len(changes.Groups) > 0 || changes.Items[0].Weight() != (tally.Weight{Share: 0.4, Told: tally.Count{Rows: 6, Persons: 4}}) {
		t.Errorf("told is %+v", changes)
	}
	tl.Vanish(items[3], 6, tally.Count{Rows: 6, Persons: 4}, tally.Count{})
	if changes := tl.Settle(); len(changes.Items) != 1 || changes.Items[0].Weight() != (tally.Weight{Share: 1}) {
		t.Errorf("after rows have vanished, told is %+v", changes)
	}
}

// TestByHand follows three groups of ten classes of 12 rows, k = 3: what is told of classes, groups and the
// table, and what weights add up to.
func TestByHand(t *testing.T) {
	t.Parallel()
	tl := tally.New(3, 4)
	var items []*tally.Item
	for i := range 30 {
		items = append(items, tl.Add(int64(i), 12))
	}
	table, groups := tally.Weight{Share: 1}, map[int64]tally.Weight{}
	settle := func(what string, wantTable tally.Weight, wantGroups map[int64]int, sum float64) {
		t.Helper()
		for number, w := range tl.Settle().Groups {
			if groups[number] = w; number == 0 {
				table = w
			}
		}
		if table.Told != wantTable.Told || math.Abs(table.Share-wantTable.Share) > 1e-9 {
			t.Errorf("%s: the table's weight is %v, want %v", what, table, wantTable)
		}
		for number, rows := range wantGroups {
			if groups[number].Told.Rows != rows {
				t.Errorf("%s: of group %d, %v is told, want %d rows", what, number, groups[number].Told, rows)
			}
		}
		total := 0.0
		for i, item := range items {
			total += float64(sizes[i]) * tally.Rated(item.Weight().Share, table.Share)
		}
		if math.Abs(total-sum) > 1e-9 {
			t.Errorf("%s: weights add up to %v, want %v", what, total, sum)
		}
	}
	gone := func(class, rows, persons int) { tl.Set(items[class], tally.Count{Rows: rows, Persons: persons}) }
	told := func(rows int) tally.Count { return tally.Count{Rows: rows, Persons: rows} }
	for i := range sizes {
		sizes[i] = 12
	}

	gone(0, 2, 2)
	settle("two of one class", tally.Weight{Share: 1}, nil, 360)
	gone(1, 1, 1)
	settle("three of one group", tally.Weight{Share: 1, Told: told(3)}, map[int64]int{-1: 3}, 357)
	if share := items[5].Weight().Share; math.Abs(share-117.0/120) > 1e-9 {
		t.Errorf("a class of which nobody is gone has the weight %v", share)
	}
	gone(0, 5, 5)
	settle("five of one class", tally.Weight{Share: 1, Told: told(6)}, map[int64]int{-1: 6}, 354)
	if w := items[0].Weight(); w.Told != told(5) || math.Abs(w.Share-7.0/12*114/115) > 1e-9 {
		t.Errorf("the class has the weight %v", w)
	}
	gone(10, 5, 5)
	gone(20, 5, 5)
	settle("five of two other classes", tally.Weight{Share: 1, Told: told(16)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 344)
	gone(15, 2, 2)
	gone(25, 2, 2)
	settle("two of two more", tally.Weight{Share: 340.0 / 344, Told: told(20)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 340)
	gone(10, 3, 3)
	gone(20, 3, 3)
	gone(15, 0, 0)
	gone(25, 0, 0)
	settle("some who come back", tally.Weight{Share: 2 - 12.0/16, Told: told(12)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 348)
	sizes[0] = 7
	tl.Vanish(items[0], 5, tally.Count{Rows: 5, Persons: 5}, tally.Count{})
	settle("rows that vanish", tally.Weight{Share: 2 - 7.0/11, Told: told(7)}, map[int64]int{-1: 1, -2: 5, -3: 5}, 348)
	gone(10, 0, 0)
	gone(20, 0, 0)
	gone(1, 0, 0)
	settle("all who come back", tally.Weight{Share: 1}, map[int64]int{-1: 0, -2: 0, -3: 0}, 355)
	gone(2, 6, 4)
	settle("rows of fewer persons", tally.Weight{Share: 1, Told: tally.Count{Rows: 6, Persons: 4}}, map[int64]int{-1: 6}, 349)
	sizes[2] = 9
	tl.Vanish(items[2], 3, tally.Count{Rows: 3, Persons: 2}, tally.Count{Rows: 3, Persons: 2})
	settle("some of them vanish", tally.Weight{Share: 1, Told: tally.Count{Rows: 3, Persons: 2}}, map[int64]int{-1: 3}, 349)
	for i := range items {
		gone(i, sizes[i], sizes[i])
	}
	settle("nobody is left", tally.Weight{Share: 1, Told: told(352)}, nil, 0)
}

// sizes are the rows of the classes of TestByHand.
var sizes [30]int
