package attack

// toldStatic has one release, and knows in which of its classes everybody is: the
// bound, for what a single release tells cannot be held back.
type toldStatic struct{ h *history }

func (toldStatic) name() string { return "static, told the class" }
func (toldStatic) proves() bool { return true }

func (a toldStatic) guess(t target) distribution {
	for _, v := range a.h.views {
		for _, e := range v.members {
			if e.record == t.record {
				d := make(distribution, diagnoses)
				d.addCounts(v.counts, 1)
				return d.normalized()
			}
		}
	}
	return nil
}

// static has one version, the last that can show the target, and knows the target's
// quasi-identifying values, and those of everybody.
type static struct {
	w *world
	h *history
}

func (static) name() string { return "static" }
func (static) proves() bool { return true }

func (a static) guess(t target) distribution {
	l := a.w.lives[t.record]
	first, last := a.h.span(l)
	if first > last {
		return nil
	}
	var fitting []*view
	for _, v := range a.h.at(last) {
		if !a.h.fits(v, l) {
			continue
		}
		if a.singular(v, t.record, last) {
			fitting = []*view{v}
			break
		}
		fitting = append(fitting, v)
	}
	d := make(distribution, diagnoses)
	for _, v := range fitting {
		d.addCounts(v.counts, 1)
	}
	return d.normalized()
}

// singular reports whether an end of what is published of a class can only be the
// target's own value, because nobody else who fits the class has it.
func (a static) singular(v *view, record int32, version int) bool {
	commit := a.h.versions[version].commit
	if a.h.fixed {
		commit = a.h.versions[v.founded].commit
	}
	own := a.w.lives[record].at(commit).cells
	for at, b := range v.bounds {
		h := a.h.attributes[at].Hierarchy
		position := h.Position(own[at])
		if b.low == b.high || position != b.low && position != b.high {
			continue
		}
		alone := true
		for id, other := range a.w.lives {
			if int32(id) == record || !other.alive(commit) {
				continue
			}
			cells := other.at(commit).cells
			if h.Position(cells[at]) == position && a.h.holds(v, cells) {
				alone = false
				break
			}
		}
		if alone {
			return true
		}
	}
	return false
}

// difference compares the version before the target's change with the first after it
// in which values came, or went, where the target fits.
type difference struct {
	w *world
	h *history
}

func (difference) name() string { return "difference" }
func (difference) proves() bool { return false }

func (a difference) guess(t target) distribution {
	l := a.w.lives[t.record]
	switch t.kind {
	case arrival, comeback:
		return a.changed(l, l.born, 1).normalized()
	case departure:
		return a.changed(l, l.died, -1).normalized()
	case correction, both:
		return a.changed(l, l.epochFrom(), 1).normalized()
	case move, remark:
		came, went := a.changed(l, l.last().from, 1), a.changed(l, l.last().from, -1)
		for v := range came {
			came[v] = min(came[v], went[v])
		}
		return came.normalized()
	default:
		return nil
	}
}

// changed counts the values that came (sign 1) or went (sign -1) after a commit in the
// classes that the target fits, first by itself and then, if that tells nothing, in
// all classes.
func (a difference) changed(l *life, commit int, sign int) distribution {
	before := a.h.before(commit)
	states := l.states
	if sign < 0 && len(states) > 1 && l.died != commit {
		states = states[:len(states)-1]
	}
	cells := states[len(states)-1].cells
	for _, whole := range []bool{false, true} {
		deltas, first := map[int]*[diagnoses]int{}, never
		for _, v := range a.h.views {
			if !whole && !a.h.holds(v, cells) {
				continue
			}
			for at, s := range map[int]int{v.from: sign, v.until: -sign} {
				if at <= before || at == never {
					continue
				}
				if deltas[at] == nil {
					deltas[at] = new([diagnoses]int)
				}
				for value, n := range v.counts {
					deltas[at][value] += s * n
				}
			}
		}
		d := make(distribution, diagnoses)
		for at, delta := range deltas {
			if at < first && positive(delta) {
				first = at
			}
		}
		if first == never {
			continue
		}
		for value, n := range deltas[first] {
			d[value] = float64(max(0, n))
		}
		return d
	}
	return make(distribution, diagnoses)
}

func positive(counts *[diagnoses]int) bool {
	for _, n := range counts {
		if n > 0 {
			return true
		}
	}
	return false
}

// intersection keeps, of the values where the target fits, those that were there in
// every version that shows the target.
type intersection struct {
	w *world
	h *history
}

func (intersection) name() string { return "intersection" }
func (intersection) proves() bool { return false }

func (a intersection) guess(t target) distribution {
	l := a.w.lives[t.record]
	first, last := a.h.span(l)
	if first > last {
		return nil
	}
	size := last - first + 2
	deltas := make([][diagnoses]int, size)
	present := make([]int, size)
	for _, v := range a.h.views {
		from, until := max(v.from, first), min(v.until, last+1)
		if from >= until || !a.h.fits(v, l) {
			continue
		}
		present[from-first]++
		present[until-first]--
		for value, n := range v.counts {
			deltas[from-first][value] += n
			deltas[until-first][value] -= n
		}
	}
	var now, least [diagnoses]int
	classes, begun := 0, false
	for i := range size - 1 {
		classes += present[i]
		for value := range now {
			now[value] += deltas[i][value]
		}
		if classes == 0 {
			continue
		}
		for value, n := range now {
			if !begun || n < least[value] {
				least[value] = n
			}
		}
		begun = true
	}
	d := make(distribution, diagnoses)
	d.addCounts(least, 1)
	return d.normalized()
}
