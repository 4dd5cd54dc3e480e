package nested

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/kproxy/kproxy/anonymizer/internal/cores"
)

const (
	// passes is how often all units are compared with others.
	passes = 12
	// reach is how many neighbors on each side a unit is compared with.
	reach = 6
	// laneUnits is about how many units a lane has.
	laneUnits = 1 << 12
	// least is by how much a change has to lessen the loss: more than rounding can.
	least = 1e-3
	// mostMembers is how many units a group has at most that is improved: the work for a unit is
	// bounded.
	mostMembers = 1 << 7
	// mostSteps is the number of widths by which units are sorted, each half of the one before.
	mostSteps = 7
)

// search improves groups as package lookahead does classes: units move from one to another, two are
// exchanged, groups are taken apart and divided, wherever less is lost then. Which groups are near
// to a unit is found by sorted neighborhoods (Hernández and Stolfo 1995). The sorted units are cut
// into lanes, which are worked on at the same time; a pass leaves each unit in its lane.
type search struct {
	*division
	of     []*group // of each unit
	lane   []int32  // of each unit
	order  []int32
	place  []int32 // of each unit in order
	keys   []int32 // by which the units are sorted, of each unit twice as many as attributes
	groups []*group
}

// group is a union that is being improved.
type group struct {
	members []int32
	size    int
	lane    int
	// Of each attribute, what the members cover, and the next ends: what is left without one member
	// that has the first.
	low, high, low2, high2 []int32
	loss                   float32 // of each record, the sum over all attributes
}

// less are the ends of a group without a member that has these.
func (g *group) less(a int, low, high int32) (int32, int32) {
	if low == g.low[a] {
		low = g.low2[a]
	} else {
		low = g.low[a]
	}
	if high == g.high[a] {
		return low, g.high2[a]
	}
	return low, g.high[a]
}

func (g *group) total() float32 { return float32(g.size) * g.loss }

// improve is the search over the groups of a division.
func (d *division) improve(ctx context.Context, groups [][]int32) [][]int32 {
	if len(groups) < 2 {
		return groups
	}
	s := &search{division: d, of: make([]*group, d.len()), lane: make([]int32, d.len()), place: make([]int32, d.len()), order: make([]int32, d.len())}
	for i := range s.order {
		s.order[i] = int32(i)
	}
	for _, members := range groups {
		s.groups = append(s.groups, s.newGroup(members, 0))
	}
	random := rand.New(rand.NewPCG(d.seed, 1))
	for range passes {
		if ctx.Err() != nil {
			return nil
		}
		s.pass(ctx, random)
	}
	improved := make([][]int32, len(s.groups))
	for i, g := range s.groups {
		improved[i] = g.members
	}
	return improved
}

// pass compares all units with their neighbors in one order.
func (s *search) pass(ctx context.Context, random *rand.Rand) {
	s.sort(random)
	lanes := s.lanes()
	found := make([][]*group, len(lanes))
	cores.Each(len(lanes), func(i int) {
		w := &worker{search: s, number: int32(i), groups: lanes[i].groups, cutter: newCutter(s.division)}
		w.work(ctx, lanes[i].from, lanes[i].to)
		found[i] = w.groups
	})
	s.groups = slices.Concat(found...)
}

// sort orders the units by the middles of their ranks: attributes, directions and widths are drawn.
func (s *search) sort(random *rand.Rand) {
	attributes := random.Perm(len(s.scales))
	signs, widths := make([]int32, len(attributes)), make([]int32, len(attributes))
	for i, a := range attributes {
		signs[i] = 1 - 2*int32(random.IntN(2))
		widths[i] = max(1, 2*s.scales[a].Size>>random.IntN(mostSteps))
	}
	s.sortKeys(attributes, signs, widths)
	n := 2 * len(attributes)
	slices.SortFunc(s.order, func(x, y int32) int {
		i, j := int(x)*n, int(y)*n
		return cmp.Or(slices.Compare(s.keys[i:i+n], s.keys[j:j+n]), cmp.Compare(x, y))
	})
	for i, m := range s.order {
		s.place[m] = int32(i)
	}
}

// sortKeys gives each unit the steps that it is on and then its middles, so that each is computed once.
func (s *search) sortKeys(attributes []int, signs, widths []int32) {
	s.keys = s.keys[:0]
	for unit := range int32(s.len()) {
		for i, a := range attributes {
			s.keys = append(s.keys, signs[i]*(s.middle(unit, a)/widths[i]))
		}
		for i, a := range attributes {
			s.keys = append(s.keys, signs[i]*s.middle(unit, a))
		}
	}
}

// lane is a run of the sorted units, and the groups that have their first member there.
type lane struct {
	from, to int
	groups   []*group
}

func (s *search) lanes() []lane {
	lanes := make([]lane, max(1, len(s.order)/laneUnits))
	for i := range lanes {
		lanes[i].from, lanes[i].to = i*len(s.order)/len(lanes), (i+1)*len(s.order)/len(lanes)
	}
	for _, g := range s.groups {
		first := int(s.place[g.members[0]])
		g.lane = sort.Search(len(lanes)-1, func(i int) bool { return first < lanes[i].to })
		lanes[g.lane].groups = append(lanes[g.lane].groups, g)
		for _, m := range g.members {
			s.lane[m] = int32(g.lane)
		}
	}
	return lanes
}

func (s *search) newGroup(members []int32, lane int) *group {
	d := len(s.scales)
	ends := make([]int32, 4*d)
	g := &group{members: members, lane: lane, low: ends[:d], high: ends[d : 2*d], low2: ends[2*d : 3*d], high2: ends[3*d:]}
	s.measure(g)
	for _, m := range members {
		s.of[m] = g
	}
	return g
}

// measure finds what a group covers and loses.
func (s *search) measure(g *group) {
	g.size = s.size(g.members)
	for a := range g.low {
		g.low[a], g.low2[a], g.high[a], g.high2[a] = beyond, beyond, none, none
	}
	for _, m := range g.members {
		low, high := s.box(m)
		for a := range g.low {
			g.low[a], g.low2[a] = min(g.low[a], low[a]), min(g.low2[a], max(g.low[a], low[a]))
			g.high[a], g.high2[a] = max(g.high[a], high[a]), max(g.high2[a], min(g.high[a], high[a]))
		}
	}
	g.loss = s.lossOf(g.low, g.high)
}

func (u *units) lossOf(low, high []int32) (sum float32) {
	for a := range u.scales {
		sum += u.scales[a].Of(low[a], high[a])
	}
	return sum
}
