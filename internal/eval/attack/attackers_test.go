package attack

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// hand is a world made by hand: everybody has the same quasi-identifying values.
type hand struct {
	*world
	t *testing.T
}

func byHand(t *testing.T, values ...uint32) hand {
	t.Helper()
	s := Default()
	s.Records, s.Steps, s.Rates = 1, 1, []float64{1e-9}
	w := newWorld(s, s.Rates[0])
	cells := w.lives[0].last().cells
	w.lives, w.commits, w.initial, w.steps = nil, nil, len(values), 0
	for _, value := range values {
		w.lives = append(w.lives, &life{subject: uint32(len(w.lives)), died: never, former: -1, states: []state{{cells: cells, value: value}}})
	}
	w.prior = slices.Repeat(distribution{1}, diagnoses).normalized()
	return hand{w, t}
}

func (w hand) add(tick int, k kind, record int32) int {
	w.commits = append(w.commits, commit{tick, k, record})
	w.steps = max(w.steps, tick)
	return len(w.commits)
}

func (w hand) arrives(tick int, value uint32) {
	id := int32(len(w.lives))
	number := w.add(tick, arrival, id)
	w.lives = append(w.lives, &life{
		subject: uint32(id), born: number, died: never, former: -1, kind: arrival,
		states: []state{{from: number, cells: w.lives[0].last().cells, value: value}},
	})
}

func (w hand) leaves(tick int, record int32) {
	w.lives[record].died = w.add(tick, departure, record)
	w.lives[record].kind = departure
}

func (w hand) changes(tick int, record int32, value uint32) {
	k, next := remark, *w.lives[record].last()
	if next.value != value {
		k, next.value, next.epoch = correction, value, next.epoch+1
	} else {
		next.remark++
	}
	next.from = w.add(tick, k, record)
	w.lives[record].kind = k
	w.lives[record].states = append(w.lives[record].states, next)
}

// elements of records, each with an epoch.
func elementsOf(epoch int32, records ...int32) []element {
	var elements []element
	for _, r := range records {
		elements = append(elements, element{r, epoch})
	}
	return elements
}

func (w hand) show(h *history, class int64, elements []element) {
	var rows []row
	for _, e := range elements {
		rows = append(rows, row{e.record, w.valueOf(e)})
	}
	h.show(class, []extent{everything, everything, everything, everything}, rows, elements, 1)
}

var everything = extent{math.Inf(-1), math.Inf(1)}

func (w hand) believes(a attacker, record int32, value uint32, want float64) {
	w.t.Helper()
	d := a.guess(target{record: record, kind: w.lives[record].kind})
	if d == nil || math.Abs(d[value]-want) > 1e-9 {
		w.t.Errorf("%s believes %v of record %d, want %g for %d", a.name(), d, record, want, value)
	}
}

func (w hand) knows(h *history) allKnowing { return allKnowing{w.world, h, newAlgebra(h)} }

func TestAlgebraSubtractsNestedSets(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 1, 2, 3, 3)
	h := newHistory(w.world, true)
	h.begin(0, 0, 1)
	w.show(h, 1, elementsOf(0, 0, 1, 2, 3, 4))
	h.begin(1, 1, 1)
	w.show(h, 1, elementsOf(0, 1, 2, 3, 4)) // 0 vanished
	h.begin(2, 2, 1)
	w.show(h, 1, elementsOf(0, 1, 2)) // the two alike vanished
	w.believes(w.knows(h), 0, 0, 1)
	w.believes(w.knows(h), 1, 1, 0.5)
	w.believes(w.knows(h), 4, 3, 1)
}

// Of four rows that are published anew three keep their value: the one that vanishes and
// the one that appears are the fourth person's.
func TestAlgebraTellsChangedFromUnchanged(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 1, 2, 3)
	w.changes(1, 3, 9)
	h := newHistory(w.world, true)
	h.begin(0, 0, 1)
	w.show(h, 1, elementsOf(0, 0, 1, 2, 3))
	h.begin(1, 1, 1)
	h.retire(1)
	w.show(h, 2, append(elementsOf(0, 0, 1, 2), element{3, 1}))
	w.believes(w.knows(h), 3, 9, 1)
	w.believes(w.knows(h), 0, 0, 1.0/3)
	if err := checkSets(Setup{K: []int{2}, L: 1}, w.world, h); err == nil {
		t.Error("that one of four was corrected is not seen as a set of one")
	}
}

// Two sets with a common part tell the part's values only where none could be another's.
func TestAlgebraOfOverlaps(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 1, 2, 3, 4, 4)
	h := newHistory(w.world, true)
	h.begin(0, 0, 1)
	w.show(h, 1, elementsOf(0, 0, 1))
	w.show(h, 2, elementsOf(0, 2, 3))
	h.begin(1, 1, 1)
	h.retire(1)
	h.retire(2)
	w.show(h, 3, elementsOf(0, 0, 2))
	w.show(h, 4, elementsOf(0, 1, 3))
	for record := range int32(4) {
		w.believes(w.knows(h), record, uint32(record), 1) // by intersection
	}
}

func TestSimpleAttackersOnImmediate(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 1, 2, 3)
	w.arrives(1, 7)
	w.leaves(2, 2)
	s := Default()
	s.K, s.Alpha = []int{2}, 0
	h := played(t, s, w.world, s.modes()[0])
	w.believes(difference{w.world, h}, 4, 7, 1)
	w.believes(difference{w.world, h}, 2, 2, 1)
	w.believes(newRowLinker(w.world, h), 4, 7, 1)
	w.believes(newRowLinker(w.world, h), 2, 2, 1)
	w.believes(static{w.world, h}, 4, 7, 0.25)
	w.believes(intersection{w.world, h}, 0, 0, 1.0/3)
	w.believes(newRowLinker(w.world, h), 0, 0, 1.0/3)
}

// A batch that was refused is not tried again with others: two people who are alike wait
// in vain under alpha = 0.5, and of the two who come next nobody learns more than that
// the values of both are there.
func TestReasoningOnRefusedBatch(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 1, 2, 3)
	for _, value := range []uint32{5, 5, 6, 7} {
		w.arrives(1, value)
	}
	a := reasoningOn(t, w, 2, 1)
	for _, attacker := range []attacker{a.allKnowing, a} {
		if d := attacker.guess(target{record: 4, kind: arrival}); d != nil {
			t.Errorf("%s believes %v of somebody who is not published", attacker.name(), d)
		}
		w.believes(attacker, 6, 6, 0.5)
		w.believes(attacker, 7, 6, 0.5)
	}
}

// Rows that can be followed tie old values to new ones: of people whose diagnoses were
// corrected together, those who leave together must have had different ones before, too.
func TestCorrectedPeopleStayTogether(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0, 0, 1, 1, 2, 3)
	for record := range int32(6) {
		w.changes(1, record, uint32(4+record))
	}
	w.leaves(2, 0)
	w.leaves(3, 1)
	s := Default()
	s.K, s.Crowds, s.Least = []int{2}, []int{3}, 1
	h := played(t, s, w.world, s.modes()[2])
	if len(h.versions) < 2 {
		t.Fatal("the corrections were not published")
	}
	if err := checkSets(s, w.world, h); err != nil {
		t.Error(err)
	}
}

// Somebody who leaves and comes back takes his row back. Where it has vanished he is another
// record to a lineage: the two classes can be intersected. This is what guarding does not
// cover, either.
func TestComeback(t *testing.T) {
	t.Parallel()
	for i, safe := range map[int]bool{0: true, 1: true, 6: true, 3: false} {
		s := guardedCases[i].setup()
		s.Returns = 0.5
		w := newWorld(s, s.Rates[0])
		if !slices.ContainsFunc(w.lives, func(l *life) bool { return l.former >= 0 }) {
			t.Fatal("nobody comes back")
		}
		if err := checkSets(s, w, played(t, s, w, s.modes()[2])); (err == nil) != safe {
			t.Errorf("case %d: who comes back is told apart: %v", i, err)
		}
	}
}

// A cut that does not come tells nothing, because it depends on numbers only.
func TestReasoningOnRefusedCut(t *testing.T) {
	t.Parallel()
	for _, values := range [][]uint32{{0, 0, 1, 2, 3, 4}, {0, 1, 0, 2, 3, 4}} {
		w := byHand(t, values...)
		w.leaves(1, 0)
		w.leaves(2, 1)
		a := reasoningOn(t, w, 2, 3)
		w.believes(a.allKnowing, 0, 0, 1.0/3)
		w.believes(a, 0, 0, 1.0/3)
		w.believes(a, 2, 0, 1.0/3)
	}
}

// reasoningOn attacks the guarded publication of a world at alpha = 0.5.
func reasoningOn(t *testing.T, w hand, k, crowd int) *reasoning {
	t.Helper()
	s := Default()
	s.K, s.Alpha, s.Crowds, s.Least = []int{k}, 0.5, []int{crowd}, 1
	p, err := newGuarded(w.world, s.constraints(k), s, k, crowd)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.play(context.Background(), p, false); err != nil {
		t.Fatal(err)
	}
	a := newReasoning(context.Background(), w.world, p.history(), newAlgebra(p.history()), p, 1)
	t.Cleanup(func() {
		if a.err != nil {
			t.Error(a.err)
		}
	})
	return a
}

func TestBoundsOfGeneralizations(t *testing.T) {
	t.Parallel()
	w := byHand(t, 0)
	h := newHistory(w.world, false)
	for a, attribute := range w.attributes {
		own := w.lives[0].last().cells[a]
		one := attribute.Hierarchy.Generalize([]hierarchy.Cell{own})
		hidden := attribute.Hierarchy.Generalize([]hierarchy.Cell{own, hierarchy.OffScale()})
		position := attribute.Hierarchy.Position(own)
		if b := bounds(w.attributes[a:a+1], []hierarchy.Generalization{one})[0]; b != (extent{position, position}) {
			t.Errorf("%s: one value is published as %v, it is at %g", attribute.Name, b, position)
		}
		if b := bounds(w.attributes[a:a+1], []hierarchy.Generalization{hidden})[0]; b != everything {
			t.Errorf("%s: a hidden value is published as %v", attribute.Name, b)
		}
	}
	v := &view{bounds: []extent{everything, everything, everything, everything}}
	if !h.holds(v, w.lives[0].last().cells) {
		t.Error("a class that says nothing does not hold everybody")
	}
}

// Rows of a class are numbered in an order that tells nothing of when records came.
func TestRowNumbersTellNoOrder(t *testing.T) {
	t.Parallel()
	s := Default()
	s.Records = 400
	w := newWorld(s, 0.01)
	p, err := newGuarded(w, s.constraints(5), s, 5, 2)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.play(context.Background(), p, false); err != nil {
		t.Fatal(err)
	}
	pairs, same := 0.0, 0.0
	for _, c := range p.classes {
		for _, a := range c.rows {
			for _, b := range c.rows {
				if a.id >= b.id {
					continue
				}
				pairs++
				if a.link < b.link {
					same++
				}
			}
		}
	}
	if share := same / pairs; pairs < 1000 || math.Abs(share-0.5) > 0.1 {
		t.Errorf("of %g pairs of rows a share of %g is numbered as their records came", pairs, share)
	}
}
