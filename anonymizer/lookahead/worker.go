package lookahead

import (
	"context"
	"slices"
)

// worker improves the classes of a lane.
type worker struct {
	*search
	cutter  *cutter
	number  int32
	classes []*class
	near    []*class
}

func (w *worker) work(ctx context.Context, from, to int, apart bool) {
	for i, r := range w.order[from:to] {
		if i%checkEvery == 0 && ctx.Err() != nil {
			return
		}
		if w.lane[r] == w.number && w.of[r].improvable() {
			w.improve(r)
		}
	}
	if apart {
		w.takeApart()
	}
}

// checkEvery is how many records are improved between two looks at the context.
const checkEvery = 1 << 10

// neighbors are the other classes of the records near to one, without those of too many members.
func (w *worker) neighbors(record int32) []*class {
	w.near = w.near[:0]
	at, own := int(w.place[record]), w.of[record]
	for _, r := range w.order[max(0, at-reach):min(len(w.order), at+reach+1)] {
		if w.lane[r] != w.number {
			continue
		}
		if k := w.of[r]; k != own && len(k.members) <= mostMembers && !slices.Contains(w.near, k) {
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
		for i := 0; i < len(k.members); i += 1 + len(k.members)/mostExchanged {
			m := k.members[i]
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
		if k := w.classes[i]; k.improvable() && w.apart(k) {
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
