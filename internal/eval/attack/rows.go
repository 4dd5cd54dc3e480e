package attack

// rowLinker follows each row through all versions by a column that is unique and
// published as it is, and keeps the rows that can be the target's: those that came when
// the target did, lay where the target was whenever they were seen, changed their value
// when the target's was corrected, and were not there any more once the target was gone.
type rowLinker struct {
	w      *world
	h      *history
	traces map[int32][]sight // by link
	links  []int32           // in order
}

// sight is a row in a view.
type sight struct {
	*view
	value uint32
}

func newRowLinker(w *world, h *history) rowLinker {
	a := rowLinker{w: w, h: h, traces: map[int32][]sight{}}
	for _, v := range h.views {
		for _, r := range v.rows {
			if _, known := a.traces[r.link]; !known {
				a.links = append(a.links, r.link)
			}
			a.traces[r.link] = append(a.traces[r.link], sight{v, r.value})
		}
	}
	return a
}

func (rowLinker) name() string { return "row linking" }
func (rowLinker) proves() bool { return true }

func (a rowLinker) guess(t target) distribution {
	l := a.w.lives[t.record]
	possible := a.possible
	if a.h.fixed {
		possible = a.possibleFixed
	}
	d := make(distribution, diagnoses)
	for _, link := range a.links {
		if trace := a.traces[link]; possible(trace, l) {
			d[trace[len(trace)-1].value]++
		}
	}
	return d.normalized()
}

// possible reports whether a trace can be the record's where every commit shows at once.
func (a rowLinker) possible(trace []sight, l *life) bool {
	first, last := trace[0], trace[len(trace)-1]
	until := never
	if l.died != never {
		until = a.h.before(l.died) + 1
	}
	if first.from != a.h.before(l.born)+1 || last.until != until {
		return false
	}
	epoch, value := l.states[0].epoch, first.value
	for _, s := range trace {
		now := l.at(max(l.born, a.h.versions[s.from].commit))
		if !a.h.holds(s.view, now.cells) || (s.value != value) != (now.epoch != epoch) {
			return false
		}
		epoch, value = now.epoch, s.value
	}
	return true
}

// possibleFixed reports whether a trace can be the record's where classes are fixed: a
// row comes with its class, shows what was true then, and stays at least as long as
// the record is there unchanged.
func (a rowLinker) possibleFixed(trace []sight, l *life) bool {
	last := trace[len(trace)-1]
	if l.died == never && last.until != never || l.died != never && last.until != never && last.until <= a.h.before(l.died) {
		return false
	}
	if a.h.versions[last.founded].commit < l.epochFrom() {
		return false
	}
	var former *sight
	for i := range trace {
		s := &trace[i]
		founded := a.h.versions[s.founded].commit
		if !l.alive(founded) {
			return false
		}
		now := l.at(founded)
		if former != nil && former.class != s.class {
			then := l.at(a.h.versions[former.founded].commit)
			if then == now || (then.epoch != now.epoch) != (former.value != s.value) {
				return false
			}
		}
		if former == nil || former.class != s.class {
			if !a.h.holds(s.view, now.cells) {
				return false
			}
		}
		former = s
	}
	return true
}
