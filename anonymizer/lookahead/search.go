package lookahead

import (
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/internal/cores"
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
	// mostMembers is how many members a class has at most that is improved, and mostExchanged how
	// many of them at most are tried against a record: the work for a record is bounded.
	mostMembers, mostExchanged = 1 << 10, 1 << 7
	// apartEvery is after how many passes classes are taken apart.
	apartEvery = 3
)

// passes is how often all records are compared with others.
var passes = map[anonymizer.Effort]int{anonymizer.Good: 3, anonymizer.Best: 12}

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
		s.pass(ctx, random, pass%apartEvery == apartEvery-1)
	}
	improved := make([]anonymizer.EquivalenceClass, len(s.classes))
	for i, k := range s.classes {
		improved[i] = k.members
	}
	return improved
}

// pass compares all records with their neighbors in one order.
func (s *search) pass(ctx context.Context, random *rand.Rand, apart bool) {
	s.sort(random)
	lanes := s.lanes()
	found := make([][]*class, len(lanes))
	cores.Each(len(lanes), func(i int) {
		w := &worker{search: s, number: int32(i), classes: lanes[i].classes, cutter: newCutter(s.division)}
		w.work(ctx, lanes[i].from, lanes[i].to, apart)
		found[i] = w.classes
	})
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
		first := int(s.place[k.members[0]])
		k.lane = sort.Search(len(lanes)-1, func(i int) bool { return first < lanes[i].to })
		lanes[k.lane].classes = append(lanes[k.lane].classes, k)
		for _, r := range k.members {
			s.lane[r] = int32(k.lane)
		}
	}
	return lanes
}
