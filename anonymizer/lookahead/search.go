package lookahead

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/kproxy/kproxy/anonymizer"
)

// search improves classes by moving records from one to another, exchanging two, taking
// classes apart and dividing those that have grown. Nothing is done by which the table
// loses more.
//
// Which classes are near to a record is found by sorted neighborhoods (Hernández and Stolfo 1995):
// every pass sorts the records by all attributes, in another order of these, and compares a record
// with those near to it. The sorted records are cut into lanes, which are worked on at the same
// time; a pass leaves each record in its lane.
type search struct {
	*division
	of      []*class // of each record
	lane    []int32  // of each record
	order   []int32
	place   []int32 // of each record in order
	classes []*class
}

const (
	// reach is how many neighbors on each side a record is compared with.
	reach = 5
	// laneRecords is about how many records a lane has.
	laneRecords = 1 << 13
	// least is by how much a change has to lessen the loss: more than rounding can.
	least = 1e-3
	// apartEvery is after how many passes classes are taken apart.
	apartEvery = 3
)

// passes is how often all records are compared with others.
var passes = map[anonymizer.Effort]int{anonymizer.Good: 3, anonymizer.Best: 15}

// improve is the search over the classes of a division.
func (d *division) improve(ctx context.Context, classes []anonymizer.EquivalenceClass) []anonymizer.EquivalenceClass {
	if passes[d.effort] == 0 || len(classes) < 2 {
		return classes
	}
	s := &search{division: d, of: make([]*class, d.table.Len()), lane: make([]int32, d.table.Len()), place: make([]int32, d.table.Len()), order: slices.Clone(d.records)}
	for _, members := range classes {
		s.classes = append(s.classes, s.newClass(slices.Clone(members), 0))
	}
	random := rand.New(rand.NewPCG(d.options.Seed, 1))
	for pass := range passes[d.effort] {
		if ctx.Err() != nil {
			return nil
		}
		s.pass(random, pass%apartEvery == apartEvery-1)
	}
	improved := make([]anonymizer.EquivalenceClass, len(s.classes))
	for i, k := range s.classes {
		improved[i] = k.members
	}
	return improved
}

// pass compares all records with their neighbors in one order.
func (s *search) pass(random *rand.Rand, apart bool) {
	s.sort(random)
	lanes := s.lanes()
	found := make([][]*class, len(lanes))
	next := make(chan int, len(lanes))
	for i := range lanes {
		next <- i
	}
	close(next)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(lanes)) {
		workers.Go(func() {
			for i := range next {
				w := &worker{search: s, number: int32(i), classes: lanes[i].classes, cutter: newCutter(s.division)}
				w.work(lanes[i].from, lanes[i].to, apart)
				found[i] = w.classes
			}
		})
	}
	workers.Wait()
	s.classes = slices.Concat(found...)
}

// sort orders the records by their ranks: attributes, directions and widths are drawn. Ranks count
// in steps of that width first, and by themselves among records that are equal then:
// else, an attribute of many values would leave nothing to those after it.
func (s *search) sort(random *rand.Rand) {
	attributes := random.Perm(len(s.scales))
	signs, widths := make([]int32, len(attributes)), make([]int32, len(attributes))
	for i, a := range attributes {
		signs[i] = 1 - 2*int32(random.IntN(2))
		widths[i] = max(1, s.scales[a].Size>>random.IntN(mostSteps))
	}
	slices.SortFunc(s.order, func(x, y int32) int {
		one, other := s.row(x), s.row(y)
		for i, a := range attributes {
			if step, with := one[a]/widths[i], other[a]/widths[i]; step != with {
				return int(signs[i] * (step - with))
			}
		}
		for i, a := range attributes {
			if one[a] != other[a] {
				return int(signs[i] * (one[a] - other[a]))
			}
		}
		return int(x - y)
	})
	for i, r := range s.order {
		s.place[r] = int32(i)
	}
}

// mostSteps is the number of widths, each half of the one before; the greatest is the whole of the
// scale.
const mostSteps = 7

// lane is a run of the sorted records, and the classes that have their first member there.
type lane struct {
	from, to int
	classes  []*class
}

func (s *search) lanes() []lane {
	lanes := make([]lane, max(1, len(s.order)/laneRecords))
	for i := range lanes {
		lanes[i].from, lanes[i].to = i*len(s.order)/len(lanes), (i+1)*len(s.order)/len(lanes)
	}
	for _, k := range s.classes {
		middle := int(s.place[k.members[0]])
		k.lane = middle * len(lanes) / len(s.order)
		for k.lane+1 < len(lanes) && middle >= lanes[k.lane].to {
			k.lane++
		}
		lanes[k.lane].classes = append(lanes[k.lane].classes, k)
		for _, r := range k.members {
			s.lane[r] = int32(k.lane)
		}
	}
	return lanes
}

// worker improves the classes of a lane.
type worker struct {
	*search
	cutter  *cutter
	number  int32
	classes []*class
	near    []*class
}

func (w *worker) work(from, to int, apart bool) {
	for _, r := range w.order[from:to] {
		if w.lane[r] == w.number && w.of[r].loss > 0 {
			w.improve(r)
		}
	}
	if apart {
		w.takeApart()
	}
}

// neighbors are the other classes of the records near to one.
func (w *worker) neighbors(record int32) []*class {
	w.near = w.near[:0]
	at, own := int(w.place[record]), w.of[record]
	for _, r := range w.order[max(0, at-reach):min(len(w.order), at+reach+1)] {
		if w.lane[r] != w.number {
			continue
		}
		if k := w.of[r]; k != own && !slices.Contains(w.near, k) {
			w.near = append(w.near, k)
		}
	}
	return w.near
}

// improve moves a record into the class near to it where the table loses least, or exchanges it
// for a member of that class.
func (w *worker) improve(record int32) {
	own := w.of[record]
	n, rest := float32(len(own.members)), w.without(own, record)
	var best *class
	gain, other := float32(least), int32(none)
	for _, k := range w.neighbors(record) {
		before := own.total() + k.total()
		if with := w.with(k, record); len(own.members) > w.k {
			if g := before - (n-1)*rest - float32(len(k.members)+1)*with; g > gain && w.allowed(own, k, record, none) {
				best, gain, other = k, g, none
			}
		}
		for _, m := range k.members {
			if before-n*rest <= gain { // not even a member that costs nothing is enough
				break
			}
			g := before - float32(len(k.members))*w.exchanged(k, m, record)
			if g-n*rest <= gain {
				continue
			}
			if g -= n * w.exchanged(own, record, m); g > gain && w.allowed(own, k, record, m) {
				best, gain, other = k, g, m
			}
		}
	}
	if best != nil {
		w.exchange(own, best, record, other)
	}
}

// none stands for no record.
const none = -1

// allowed says whether both classes satisfy the constraints once the record is in the other one, and
// a member of that, if any, in its place.
func (w *worker) allowed(from, to *class, record, other int32) bool {
	if w.sizeDecides {
		return true
	}
	without := func(members []int32, r, with int32) []int32 {
		left := slices.DeleteFunc(slices.Clone(members), func(m int32) bool { return m == r })
		if with != none {
			left = append(left, with)
		}
		return left
	}
	return w.satisfied(without(from.members, record, other)) && w.satisfied(without(to.members, other, record))
}

func (w *worker) exchange(from, to *class, record, other int32) {
	from.remove(record)
	to.members = append(to.members, record)
	w.of[record] = to
	if other != none {
		to.remove(other)
		from.members = append(from.members, other)
		w.of[other] = from
	}
	w.measure(from)
	w.measure(to)
	w.split(to)
}

// split divides a class that is large enough for two.
func (w *worker) split(k *class) {
	if len(k.members) < 2*w.k {
		return
	}
	size := w.cutter.cut(k.members)
	if size == 0 {
		return
	}
	w.classes = append(w.classes, w.newClass(slices.Clone(k.members[size:]), k.lane))
	k.members = k.members[:size]
	w.measure(k)
}

// takeApart moves all members of a class to those near to them, where the table then loses less.
func (w *worker) takeApart() {
	for i := 0; i < len(w.classes); i++ {
		if k := w.classes[i]; k.loss > 0 && w.apart(k) {
			last := len(w.classes) - 1
			w.classes[i] = w.classes[last]
			w.classes = w.classes[:last]
			i--
		}
	}
}

// apart moves the members of a class, or leaves all as it was.
func (w *worker) apart(k *class) bool {
	left := k.total() - least
	moved := make([]*class, 0, len(k.members))
	for _, r := range k.members {
		var best *class
		cost := left
		for _, n := range w.neighbors(r) {
			if c := float32(len(n.members)+1)*w.with(n, r) - n.total(); c < cost && (w.sizeDecides || w.satisfied(append(slices.Clone(n.members), r))) {
				best, cost = n, c
			}
		}
		if best == nil {
			for i, to := range moved {
				to.remove(k.members[i])
				w.measure(to)
			}
			return false
		}
		left -= cost
		best.members = append(best.members, r)
		w.measure(best)
		moved = append(moved, best)
	}
	for i, to := range moved {
		w.of[k.members[i]] = to
	}
	for _, to := range moved {
		w.split(to)
	}
	return true
}
