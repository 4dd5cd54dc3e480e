package tally_test

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/internal/tally"
)

// world is a table as it is, beside what its tally tells.
type world struct {
	t       *testing.T
	k       int
	options tally.Options
	persons uint64 // that may have a row; with 0, each row is another one's
	tally   *tally.Tally[*class]
	random  *rand.Rand
	classes []*class
	next    int64
	rows    uint64
	told    map[int64]tally.Weight // as a store has it
}

type class struct {
	number int64
	item   *tally.Item[*class]
	there  []uint64 // persons of rows that stand for them
	gone   []uint64 // and of others
	stored tally.Weight
}

func (c *class) rows() int { return len(c.there) + len(c.gone) }

func newWorld(t *testing.T, k, crowd int, persons, seed uint64) *world {
	o := tally.Options{Crowd: crowd, SeveralRows: persons > 0}
	return &world{t: t, k: k, options: o, persons: persons, tally: tally.New[*class](k, o), random: rand.New(rand.NewPCG(seed, 1)), next: 1, told: map[int64]tally.Weight{0: {Share: 1}}}
}

// person is whose a new row is.
func (w *world) person() uint64 {
	if w.rows++; w.persons == 0 {
		return w.rows
	}
	return w.random.Uint64N(w.persons)
}

func (w *world) found(rows int) {
	c := &class{number: w.next, stored: tally.Weight{Share: 1}}
	for range rows {
		c.there = append(c.there, w.person())
	}
	c.item = w.tally.Add(c.number, rows, c)
	w.classes = append(w.classes, c)
	w.next++
}

func take(from *[]uint64, at int) uint64 {
	person, last := (*from)[at], len(*from)-1
	(*from)[at] = (*from)[last]
	*from = (*from)[:last]
	return person
}

// step has somebody leave, come back, or come, rows come to a class, or the ghosts of a class vanish.
func (w *world) step(size int) {
	at := w.random.IntN(len(w.classes))
	c := w.classes[at]
	switch kind := w.random.IntN(15); {
	case kind == 0:
		w.found(size)
	case kind == 1 && len(c.there) > 0 && w.persons > 0:
		person := w.person()
		c.there = append(c.there, person)
		w.tally.Grow(c.item, 1)
		c.stored.Share = math.NaN() // it is told anew
	case kind <= 3 && len(c.gone) > 0:
		person := take(&c.gone, w.random.IntN(len(c.gone)))
		c.there = append(c.there, person)
		w.tally.Return(c.item, person)
	case len(c.there) > 0:
		person := take(&c.there, w.random.IntN(len(c.there)))
		c.gone = append(c.gone, person)
		w.tally.Leave(c.item, person)
	}
	switch {
	case len(c.there) == 0:
		w.vanish(c)
		w.tally.Remove(c.item)
		w.classes = append(w.classes[:at], w.classes[at+1:]...)
		if len(w.classes) == 0 {
			w.found(size)
		}
	case len(c.gone) >= 2*w.k && len(c.there) >= w.k && w.random.IntN(3) == 0:
		w.vanish(c)
	}
}

func (w *world) vanish(c *class) {
	w.tally.Vanish(c.item, len(c.gone), c.gone)
	c.gone = nil
}

// settle brings what the store has up to date.
func (w *world) settle() {
	changes := w.tally.Settle()
	changed := map[*class]bool{}
	for _, item := range changes.Items {
		changed[item.Of] = true
	}
	for _, c := range w.classes {
		now, was := c.item.Weight(), c.stored
		isNew := math.IsNaN(was.Share)
		if isNew && now.Share == 1 && was.Told == now.Told {
			isNew, was.Share = false, 1 // as rows have it that nothing is told of
		}
		if !isNew && differ(now, was) && !changed[c] || isNew && !changed[c] {
			w.t.Fatalf("class %d: %v becomes %v, and nothing is told of a change", c.number, was, now)
		}
		if !differ(now, was) && !isNew && changed[c] && !math.IsNaN(c.stored.Share) {
			w.t.Fatalf("class %d: %v is told of as a change", c.number, now)
		}
		c.stored = now
	}
	for number, weight := range changes.Groups {
		if !differ(weight, w.told[number]) {
			w.t.Fatalf("group %d: %v is told of as a change", number, weight)
		}
		w.told[number] = weight
		if number < 0 && weight.Told.Rows == 0 {
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
			told += float64(c.rows()) * tally.Rated(c.stored.Share, w.told[0].Share)
			true += float64(len(c.there))
			rows += c.rows()
		}
	}
	return told, true, rows
}

// most is how many rows that stand for nobody, or have stood for nobody, a few persons can have.
func (w *world) most() float64 {
	if w.persons == 0 {
		return float64(w.k)
	}
	by := make(map[uint64]int)
	for _, c := range w.classes {
		for _, person := range c.there {
			by[person]++
		}
		for _, person := range c.gone {
			by[person]++
		}
	}
	most := 0
	for _, rows := range by {
		most = max(most, rows)
	}
	return float64(w.k * most)
}

// TestCounts: whatever happens, weights add up to the number of those who are there, but for the rows of
// less than k persons in the table and, where each row is another one's, for 5 % in two hundred neighboring
// rows and more.
func TestCounts(t *testing.T) {
	t.Parallel()
	const k, crowd = 5, 4
	for seed := range uint64(8) {
		for _, persons := range []uint64{0, 60, 600} {
			w := newWorld(t, k, crowd, persons, seed)
			for range 60 {
				w.found(crowd * k)
			}
			for step := range 4000 {
				w.step(crowd * k)
				if step%int(1+seed) > 0 {
					continue
				}
				w.settle()
				told, is, rows := w.sums(0, w.next)
				if off := math.Abs(told - is); off > k+0.01 && off > w.most()+0.01 {
					t.Fatalf("seed %d, %d persons, step %d: %.1f of %d rows are told, %v are there", seed, persons, step, told, rows, is)
				}
				for group := int64(0); group < w.next/10 && persons == 0; group++ {
					// Of groups with fewer rows the same number of persons is a greater share.
					if told, is, rows := w.sums(10*group, 10*group+10); rows >= 150 && math.Abs(told-is) > 0.055*float64(rows) {
						t.Fatalf("seed %d, step %d: in group %d, %.1f of %d rows are told, %v are there", seed, step, group, told, rows, is)
					}
				}
			}
		}
	}
}

// TestWithoutGroups: of a table whose items are not grouped, the sum is as right.
func TestWithoutGroups(t *testing.T) {
	t.Parallel()
	w := newWorld(t, 5, 0, 400, 3)
	for range 60 {
		w.found(40)
	}
	worst := 0.0
	for range 1500 {
		w.step(40)
		w.settle()
		told, is, _ := w.sums(0, w.next)
		worst = max(worst, math.Abs(told-is)/w.most())
	}
	if worst > 1 {
		t.Errorf("the sum is off by %.2f times the rows of k persons", worst)
	}
	for number := range w.told {
		if number < 0 && number > math.MinInt64/2 {
			t.Errorf("of a group, %v is told", w.told[number])
		}
	}
	if len(w.told) > w.k {
		t.Errorf("a store has %d numbers for the table", len(w.told))
	}
}

// TestSteps: no number moves unless the rows of k persons have left or come back since it moved last, or
// nobody is gone; and it does then.
func TestSteps(t *testing.T) {
	t.Parallel()
	for _, persons := range []uint64{0, 30, 200} {
		t.Run(fmt.Sprint(persons), func(t *testing.T) {
			t.Parallel()
			const k = 5
			w := newWorld(t, k, 4, persons, 2)
			for range 12 {
				w.found(20)
			}
			w.settle()
			model := steps{k: k, plain: persons == 0, at: make(map[int64]*step)}
			for range 5000 {
				c := w.classes[w.random.IntN(len(w.classes))]
				if w.random.IntN(2) == 0 && len(c.there) > 5 {
					person := take(&c.there, w.random.IntN(len(c.there)))
					c.gone = append(c.gone, person)
					w.tally.Leave(c.item, person)
					model.move(c.number, person, 1)
				} else if len(c.gone) > 0 {
					person := take(&c.gone, w.random.IntN(len(c.gone)))
					c.there = append(c.there, person)
					w.tally.Return(c.item, person)
					model.move(c.number, person, -1)
				}
				groups := w.tally.Settle().Groups
				for _, c := range w.classes {
					model.check(t, c.number, c.item.Weight().Told.Rows)
				}
				for number := int64(-2); number <= 0; number++ {
					told := model.of(number).told
					if now, moved := groups[number]; moved {
						told = now.Told.Rows
					}
					model.check(t, number, told)
				}
			}
		})
	}
}

// steps follows what may be told of classes, of groups of ten of them, and of the table.
type steps struct {
	k     int
	plain bool // each row is another person's
	at    map[int64]*step
}

type step struct {
	gone, moved   map[uint64]int
	told, persons int
}

func (s *steps) of(number int64) *step {
	if s.at[number] == nil {
		s.at[number] = &step{gone: map[uint64]int{}, moved: map[uint64]int{}}
	}
	return s.at[number]
}

func (s *steps) move(class int64, person uint64, by int) {
	for _, number := range []int64{class, -class/10 - 1, 0} {
		of := s.of(number)
		of.gone[person] += by
		of.moved[person] += by
		maps.DeleteFunc(of.gone, func(_ uint64, n int) bool { return n == 0 })
		maps.DeleteFunc(of.moved, func(_ uint64, n int) bool { return n == 0 })
	}
}

func (s *steps) check(t *testing.T, number int64, now int) {
	t.Helper()
	of := s.of(number)
	rows := 0
	for _, n := range of.gone {
		rows += n
	}
	apart := abs(len(of.gone) - of.persons)
	if number == 0 && !s.plain {
		apart = len(of.moved)
	}
	want, due := of.told, apart >= s.k || rows == 0
	if due {
		if want = rows; len(of.gone) < s.k {
			want = 0
		}
	}
	if now != want {
		t.Fatalf("of %d, %d rows of %d persons are gone, %d apart from what was told, and that moves from %d to %d", number, rows, len(of.gone), apart, of.told, now)
	}
	if !due {
		return
	}
	of.told, of.persons = now, len(of.gone)
	if clear(of.moved); now == 0 {
		of.persons = 0
		maps.Copy(of.moved, of.gone)
	}
}

func abs(n int) int { return max(n, -n) }

// TestLoad: what is loaded from a store is told as before, and goes on likewise.
func TestLoad(t *testing.T) {
	t.Parallel()
	for _, persons := range []uint64{0, 100} {
		const k, crowd = 3, 4
		w := newWorld(t, k, crowd, persons, 7)
		for range 40 {
			w.found(crowd * k)
		}
		for step := range 3000 {
			w.step(crowd * k)
			w.settle()
			told, is, _ := w.sums(0, w.next)
			if off := math.Abs(told - is); off > k+0.01 && off > w.most()+0.01 {
				t.Fatalf("%d persons, step %d: %.1f rows are told, %v are there", persons, step, told, is)
			}
			if step%100 > 0 {
				continue
			}
			w.tally = tally.New[*class](k, w.options)
			for _, c := range w.classes {
				c.item = w.tally.Add(c.number, c.rows(), c)
				for _, person := range c.gone {
					w.tally.Leave(c.item, person)
				}
				w.tally.LoadItem(c.item, c.stored)
			}
			w.tally.Load(w.told)
			before := w.tally.Table()
			w.settle()
			if float32(before) != float32(w.tally.Table()) {
				t.Fatalf("%d persons, step %d: loading moves the table's factor from %v to %v", persons, step, before, w.tally.Table())
			}
		}
	}
}

// TestAlone: of items of which it is not known whose their rows are, no number but their own tells, and the
// table's sum has it.
func TestAlone(t *testing.T) {
	t.Parallel()
	tl := tally.New[int](4, tally.Options{SeveralRows: true})
	var items []*tally.Item[int]
	for i := range 20 {
		items = append(items, tl.AddAlone(int64(i+1), 10, i))
		for row := range uint64(6) {
			tl.Leave(items[i], row%3)
		}
	}
	if changes := tl.Settle(); len(changes.Items) > 0 || len(changes.Groups) > 0 {
		t.Errorf("%d items and %d groups are told of", len(changes.Items), len(changes.Groups))
	}
	tl.Leave(items[3], 9)
	changes := tl.Settle()
	if len(changes.Items) != 1 || len(changes.Groups) > 0 || changes.Items[0].Weight() != (tally.Weight{Share: 0.3, Told: tally.Count{Rows: 7, Persons: 4}}) {
		t.Errorf("told is %+v", changes)
	}
	known := tl.Add(21, 100, 21)
	for person := range uint64(4) {
		tl.Leave(known, person)
		tl.Leave(known, person)
	}
	if changes := tl.Settle(); len(changes.Items) != 1 || changes.Groups[0] != (tally.Weight{Share: 1, Told: tally.Count{Rows: 8, Persons: 4}}) || tl.LeftOut() != 15 {
		t.Errorf("of rows that are known, too, %v is told, all together %v", changes.Groups, tl.LeftOut())
	}
	tl.Vanish(items[3], 7, []uint64{0, 0, 1, 1, 2, 2, 9})
	if changes := tl.Settle(); len(changes.Items) != 1 || changes.Items[0].Weight() != (tally.Weight{Share: 1}) || tl.LeftOut() != 8 {
		t.Errorf("after rows have vanished, told is %+v, all together %v", changes, tl.LeftOut())
	}
}

// TestNoWeightIsNothing: where nobody is left, and no item has k persons to tell of, weights add up to one row.
func TestNoWeightIsNothing(t *testing.T) {
	t.Parallel()
	tl := tally.New[int](3, tally.Options{SeveralRows: true})
	sum, items := 0.0, []*tally.Item[int]{tl.Add(1, 4, 1), tl.Add(2, 4, 2)}
	for person := range uint64(4) {
		tl.Leave(items[0], person%2)
		tl.Leave(items[1], 2+person%2)
	}
	tl.Settle()
	for _, item := range items {
		sum += 4 * tally.Rated(item.Weight().Share, tl.Table())
	}
	if math.Abs(sum-1) > 1e-9 || math.Abs(tl.LeftOut()-7) > 1e-9 {
		t.Errorf("weights add up to %v and leave out %v of 8 rows of nobody", sum, tl.LeftOut())
	}
}

// TestByHand follows three groups of ten classes of 12 rows, k = 3: what is told of classes, groups and the
// table, and what weights add up to.
func TestByHand(t *testing.T) {
	t.Parallel()
	tl := tally.New[int](3, tally.Options{Crowd: 4})
	var items []*tally.Item[int]
	var sizes, left [30]int
	for i := range 30 {
		items = append(items, tl.Add(int64(i), 12, i))
		sizes[i] = 12
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
	gone := func(class, rows int) {
		for ; left[class] < rows; left[class]++ {
			tl.Leave(items[class], 0)
		}
		for ; left[class] > rows; left[class]-- {
			tl.Return(items[class], 0)
		}
	}
	told := func(rows int) tally.Count { return tally.Count{Rows: rows, Persons: rows} }

	gone(0, 2)
	settle("two of one class", tally.Weight{Share: 1}, nil, 360)
	gone(1, 1)
	settle("three of one group", tally.Weight{Share: 1, Told: told(3)}, map[int64]int{-1: 3}, 357)
	if share := items[5].Weight().Share; math.Abs(share-117.0/120) > 1e-9 {
		t.Errorf("a class of which nobody is gone has the weight %v", share)
	}
	gone(0, 5)
	settle("five of one class", tally.Weight{Share: 1, Told: told(6)}, map[int64]int{-1: 6}, 354)
	if w := items[0].Weight(); w.Told != told(5) || math.Abs(w.Share-7.0/12*114/115) > 1e-9 {
		t.Errorf("the class has the weight %v", w)
	}
	gone(10, 5)
	gone(20, 5)
	settle("five of two other classes", tally.Weight{Share: 1, Told: told(16)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 344)
	gone(15, 2)
	gone(25, 2)
	settle("two of two more", tally.Weight{Share: 340.0 / 344, Told: told(20)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 340)
	gone(10, 3)
	gone(20, 3)
	gone(15, 0)
	gone(25, 0)
	settle("some who come back", tally.Weight{Share: 2 - 12.0/16, Told: told(12)}, map[int64]int{-1: 6, -2: 5, -3: 5}, 348)
	sizes[0], left[0] = 7, 0
	tl.Vanish(items[0], 5, make([]uint64, 5))
	settle("rows that vanish", tally.Weight{Share: 2 - 7.0/11, Told: told(7)}, map[int64]int{-1: 1, -2: 5, -3: 5}, 348)
	gone(10, 0)
	gone(20, 0)
	gone(1, 0)
	settle("all who come back", tally.Weight{Share: 1}, map[int64]int{-1: 0, -2: 0, -3: 0}, 355)
	for i := range items {
		gone(i, sizes[i])
	}
	settle("nobody is left", tally.Weight{Share: 1, Told: told(355)}, nil, 0)
}
