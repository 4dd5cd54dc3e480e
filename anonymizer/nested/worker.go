package nested

import (
	"context"
	"slices"
)

// worker improves the groups of a lane.
type worker struct {
	*search
	cutter *cutter
	number int32
	groups []*group
	near   []*group
}

// checkEvery is how many units are improved between two looks at the context.
const checkEvery = 1 << 10

func (w *worker) work(ctx context.Context, from, to int) {
	for i, m := range w.order[from:to] {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		if w.lane[m] == w.number && w.of[m].improvable() {
			w.improve(m)
		}
	}
	w.takeApart()
}

// improvable says whether there is something to gain, by not too much work.
func (g *group) improvable() bool { return g.loss > 0 && len(g.members) <= mostMembers }

// neighbors are the other groups of the units near to one, without those of too many members.
func (w *worker) neighbors(unit int32) []*group {
	w.near = w.near[:0]
	at, own := int(w.place[unit]), w.of[unit]
	for _, m := range w.order[max(0, at-reach):min(len(w.order), at+reach+1)] {
		if w.lane[m] != w.number {
			continue
		}
		if g := w.of[m]; g != own && len(g.members) <= mostMembers && !slices.Contains(w.near, g) {
			w.near = append(w.near, g)
		}
	}
	return w.near
}

// with is what each record of a group loses with one more unit.
func (w *worker) with(g *group, unit int32) (sum float32) {
	low, high := w.box(unit)
	for a := range low {
		sum += w.scales[a].Of(min(g.low[a], low[a]), max(g.high[a], high[a]))
	}
	return sum
}

// without is what each other record of a group loses without a unit; 0 where there is none.
func (w *worker) without(g *group, unit int32) (sum float32) {
	if len(g.members) == 1 {
		return 0
	}
	low, high := w.box(unit)
	for a := range low {
		sum += w.scales[a].Of(g.less(a, low[a], high[a]))
	}
	return sum
}

// exchanged is what each record of a group loses with another unit in place of one of its own.
func (w *worker) exchanged(g *group, unit, other int32) (sum float32) {
	low, high := w.box(unit)
	otherLow, otherHigh := w.box(other)
	for a := range low {
		least, greatest := g.less(a, low[a], high[a])
		sum += w.scales[a].Of(min(least, otherLow[a]), max(greatest, otherHigh[a]))
	}
	return sum
}

// improve moves a unit into the group near to it where the table loses least, or exchanges it for a
// member of that group.
func (w *worker) improve(unit int32) {
	own, size := w.of[unit], len(w.classes[unit])
	rest := w.without(own, unit)
	var best *group
	gain, other := float32(least), int32(none)
	for _, g := range w.neighbors(unit) {
		before := own.total() + g.total()
		if left := own.size - size; left == 0 || left >= w.k {
			after := float32(left)*rest + float32(g.size+size)*w.with(g, unit)
			if before-after > gain && w.allowed(own, g, unit, none) {
				best, gain, other = g, before-after, none
			}
		}
		for _, m := range g.members {
			ours, theirs := own.size-size+len(w.classes[m]), g.size+size-len(w.classes[m])
			if ours < w.k || theirs < w.k || before-float32(ours)*rest <= gain {
				continue
			}
			g1 := before - float32(theirs)*w.exchanged(g, m, unit)
			if g1-float32(ours)*rest <= gain {
				continue
			}
			if g1 -= float32(ours) * w.exchanged(own, unit, m); g1 > gain && w.allowed(own, g, unit, m) {
				best, gain, other = g, g1, m
			}
		}
	}
	if best != nil {
		w.exchange(own, best, unit, other)
	}
}

// replaced are the members without one, and with another unless it is none.
func replaced(members []int32, without, with int32) []int32 {
	left := make([]int32, 0, len(members)+1)
	for _, m := range members {
		if m != without {
			left = append(left, m)
		}
	}
	if with != none {
		left = append(left, with)
	}
	return left
}

// allowed says whether both groups satisfy the constraints once the unit is in the other one, and a
// member of that, if any, in its place. A group without members is gone.
func (w *worker) allowed(from, to *group, unit, other int32) bool {
	ours, theirs := replaced(from.members, unit, other), replaced(to.members, other, unit)
	return (len(ours) == 0 || w.satisfied(ours)) && w.satisfied(theirs)
}

func (w *worker) exchange(from, to *group, unit, other int32) {
	from.members, to.members = replaced(from.members, unit, other), replaced(to.members, other, unit)
	w.of[unit] = to
	if other != none {
		w.of[other] = from
	}
	if len(from.members) == 0 {
		w.drop(from)
	} else {
		w.measure(from)
	}
	w.measure(to)
	w.split(to)
}

func (w *worker) drop(g *group) {
	i := slices.Index(w.groups, g)
	last := len(w.groups) - 1
	w.groups[i] = w.groups[last]
	w.groups = w.groups[:last]
}

// split divides a group that is large enough for two.
func (w *worker) split(g *group) {
	lower, upper := w.cutter.cut(g.members)
	if lower == nil {
		return
	}
	w.groups = append(w.groups, w.newGroup(upper, g.lane))
	g.members = lower
	w.measure(g)
}

// takeApart moves all members of a group to those near to them, where the table then loses less.
func (w *worker) takeApart() {
	for i := 0; i < len(w.groups); i++ {
		if g := w.groups[i]; g.improvable() && w.apart(g) {
			last := len(w.groups) - 1
			w.groups[i] = w.groups[last]
			w.groups = w.groups[:last]
			i--
		}
	}
}

// apart moves the members of a group, or leaves all as it was.
func (w *worker) apart(g *group) bool {
	left := g.total() - least
	moved := make([]*group, 0, len(g.members))
	for _, m := range g.members {
		var best *group
		cost, size := left, len(w.classes[m])
		for _, n := range w.neighbors(m) {
			if c := float32(n.size+size)*w.with(n, m) - n.total(); c < cost && w.takes(n, m) {
				best, cost = n, c
			}
		}
		if best == nil {
			for i, to := range moved {
				to.members = replaced(to.members, g.members[i], none)
				w.measure(to)
			}
			return false
		}
		left -= cost
		best.members = append(best.members, m)
		w.measure(best)
		moved = append(moved, best)
	}
	for i, to := range moved {
		w.of[g.members[i]] = to
	}
	for _, to := range moved {
		w.split(to)
	}
	return true
}

// takes says whether a group satisfies the constraints with one more unit.
func (w *worker) takes(g *group, unit int32) bool {
	return w.sizeDecides || w.satisfied(replaced(g.members, none, unit))
}
