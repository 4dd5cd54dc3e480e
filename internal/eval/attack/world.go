package attack

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/lineage"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

const (
	diagnoses     = 12 // different sensitive values
	sensitiveName = "diagnosis"
	never         = math.MaxInt
)

// used are the attributes of workload.AdultLike that the world's people have: age,
// years of education, marital status, sex.
var used = []int{0, 2, 3, 6}

// kind of a change, and of the person attacked: whose only changes are of this kind.
type kind int

const (
	bystander kind = iota // neither comes nor leaves nor changes
	arrival
	departure
	move       // quasi-identifying values change
	correction // the sensitive value changes
	both       // move and correction at once
	remark     // another column changes
	comeback   // arrival of somebody who left before, with the same values
	kinds
)

var kindNames = [kinds]string{"bystander", "arrival", "departure", "move", "correction", "both", "remark", "comeback"}

func (k kind) String() string { return kindNames[k] }

// shares of the kinds among changes.
var shares = [kinds]float64{arrival: 0.38, departure: 0.38, move: 0.08, correction: 0.06, both: 0.04, remark: 0.06}

// state is what is true of a record from a commit on.
type state struct {
	from   int // commit
	cells  []hierarchy.Cell
	value  uint32
	beside uint32 // another sensitive value; published where the world has two
	epoch  int32  // how many corrections there were before
	remark uint64
}

// life of a record.
type life struct {
	subject    uint32
	born, died int // commits; never for one that is there at the end
	states     []state
	kind       kind  // of its only change; kinds for several
	former     int32 // the record that the same person had before; -1 for none
}

// at is the record's state after a commit at which it lives.
func (l *life) at(commit int) *state {
	i := len(l.states) - 1
	for i > 0 && l.states[i].from > commit {
		i--
	}
	return &l.states[i]
}

func (l *life) last() *state { return &l.states[len(l.states)-1] }

// epochFrom is the commit since which the record has its last sensitive value.
func (l *life) epochFrom() int {
	for _, s := range l.states {
		if s.epoch == l.last().epoch {
			return s.from
		}
	}
	return l.born
}

func (l *life) alive(commit int) bool { return l.born <= commit && commit < l.died }

// commit is one transaction of the source, of one change.
type commit struct {
	tick   int
	kind   kind
	record int32
}

// world is a table and what happens to it. Commit 0 is the initial load, commit i
// stands at commits[i-1].
type world struct {
	attributes []anonymizer.Attribute
	lives      []*life
	initial    int // records of commit 0
	commits    []commit
	steps      int
	subjects   bool
	hasTwo     bool         // records have both sensitive values
	prior      distribution // of the sensitive values, as everybody may know it
	domain     []extent     // of each attribute
}

// newWorld makes a world; the same setup and rate give the same.
func newWorld(s Setup, rate float64) *world {
	random := rand.New(rand.NewPCG(s.Seed, math.Float64bits(rate)))
	changes := int(math.Ceil(rate * float64(s.Records) * float64(s.Steps) * 2))
	pool := workload.AdultLike(s.Seed, s.Records+changes)
	b := builder{setup: s, random: random, pool: pool, world: &world{steps: s.Steps, initial: s.Records, subjects: s.Repeats > 0}}
	for _, a := range used {
		b.attributes = append(b.attributes, pool.Attributes()[a])
	}
	for range s.Records {
		b.arrive(0)
	}
	for tick := 1; tick <= s.Steps; tick++ {
		for range poisson(random, rate*float64(len(b.present))) {
			b.change(tick)
		}
	}
	b.summarize()
	return b.world
}

type builder struct {
	*world
	setup   Setup
	random  *rand.Rand
	pool    *anonymizer.Table
	drawn   int
	present []int32
	gone    []int32 // those who left and have not come back
}

// draw gives the quasi-identifying values of another person.
func (b *builder) draw() []hierarchy.Cell {
	cells := make([]hierarchy.Cell, len(used))
	for i, a := range used {
		cells[i] = b.pool.Cells(a)[b.drawn%b.pool.Len()]
	}
	b.drawn++
	return cells
}

// diagnose draws a sensitive value: the i-th is i times rarer than the first, and for
// some of the people the order depends on their age.
func (b *builder) diagnose(cells []hierarchy.Cell) uint32 {
	sum := 0.0
	for i := range diagnoses {
		sum += 1 / float64(i+1)
	}
	u, code := b.random.Float64()*sum, 0
	for code < diagnoses-1 && u >= 1/float64(code+1) {
		u -= 1 / float64(code+1)
		code++
	}
	if b.random.Float64() < b.setup.Correlation {
		const decade = 10
		code = (code + int(b.attributes[0].Hierarchy.Position(cells[0]))/decade) % diagnoses
	}
	return uint32(code)
}

func (b *builder) arrive(commit int) int32 {
	id := int32(len(b.lives))
	l := &life{subject: uint32(id), born: commit, died: never, former: -1}
	if commit > 0 {
		l.kind = arrival
	}
	cells := b.draw()
	if len(b.present) > 0 && b.random.Float64() < b.setup.Repeats {
		other := b.lives[b.present[b.random.IntN(len(b.present))]]
		l.subject, cells = other.subject, other.last().cells
	}
	l.states = []state{{from: commit, cells: cells, value: b.diagnose(cells)}}
	if len(b.gone) > 0 && b.random.Float64() < b.setup.Returns {
		b.comeBack(l)
	}
	b.lives, b.present = append(b.lives, l), append(b.present, id)
	return id
}

// comeBack makes a record that of somebody who left.
func (b *builder) comeBack(l *life) {
	place := b.random.IntN(len(b.gone))
	l.former = b.gone[place]
	b.gone = slices.Delete(b.gone, place, place+1)
	before := b.lives[l.former]
	l.kind, l.subject = comeback, before.subject
	l.states[0].cells, l.states[0].value = before.last().cells, before.last().value
}

// change lets one thing happen, as a commit of its own.
func (b *builder) change(tick int) {
	k, u := arrival, b.random.Float64()
	for k < remark && u >= shares[k] {
		u -= shares[k]
		k++
	}
	number := len(b.commits) + 1
	if k == arrival || len(b.present) == 0 {
		b.commits = append(b.commits, commit{tick, arrival, b.arrive(number)})
		return
	}
	place := b.random.IntN(len(b.present))
	id := b.present[place]
	l := b.lives[id]
	if l.kind = k; l.born > 0 || len(l.states) > 1 {
		l.kind = kinds
	}
	b.commits = append(b.commits, commit{tick, k, id})
	if k == departure {
		l.died = number
		b.gone = append(b.gone, id)
		b.present = slices.Delete(b.present, place, place+1)
		return
	}
	next := *l.last()
	next.from = number
	if k == move || k == both {
		next.cells = b.draw()
	}
	if k == correction || k == both {
		old := next.value
		for next.value == old {
			next.value = b.diagnose(next.cells)
		}
		next.epoch++
	}
	if k == remark {
		next.remark++
	}
	l.states = append(l.states, next)
}

// poisson draws by Knuth's method, in pieces so that nothing underflows.
func poisson(random *rand.Rand, mean float64) int {
	const piece = 30.0
	n := 0
	for ; mean > 0; mean -= piece {
		limit, product := math.Exp(-min(mean, piece)), random.Float64()
		for product > limit {
			product *= random.Float64()
			n++
		}
	}
	return n
}

// summarize finds out what is public of the world as a whole.
func (w *world) summarize() {
	w.prior = make(distribution, diagnoses)
	w.domain = make([]extent, len(w.attributes))
	for a := range w.domain {
		w.domain[a] = extent{math.Inf(1), math.Inf(-1)}
	}
	for _, l := range w.lives {
		for _, s := range l.states {
			w.prior[s.value]++
			for a, attribute := range w.attributes {
				position := attribute.Hierarchy.Position(s.cells[a])
				w.domain[a] = extent{min(w.domain[a].low, position), max(w.domain[a].high, position)}
			}
		}
	}
	w.prior = w.prior.normalized()
}

// same is the first element of the same sensitive value of the same person, who may have
// left and come back.
func (w *world) same(e element) element {
	for l := w.lives[e.record]; e.epoch == 0 && l.former >= 0; l = w.lives[e.record] {
		e = element{l.former, w.lives[l.former].last().epoch}
	}
	return e
}

// tick of a commit.
func (w *world) tick(commit int) int {
	if commit == 0 {
		return 0
	}
	return w.commits[commit-1].tick
}

// record is what a publication is told of a record after a commit.
func (w *world) record(id int32, commit int) lineage.Record {
	l := w.lives[id]
	s := l.at(commit)
	sensitive := []uint32{s.value}
	if w.hasTwo {
		sensitive = append(sensitive, s.beside)
	}
	return lineage.Record{
		Record: incremental.Record{ID: incremental.RecordID(id), Cells: s.cells, Sensitive: sensitive, Subject: l.subject},
		Copied: []uint64{s.remark},
	}
}

// play lets the world happen and be published: after every commit, or after every tick.
func (w *world) play(ctx context.Context, p publisher, perTick bool) error {
	for id := range w.initial {
		if err := p.apply(commit{kind: arrival, record: int32(id)}, 0); err != nil {
			return err
		}
	}
	if err := p.publish(ctx, 0, 0); err != nil {
		return err
	}
	next := 0
	for tick := 1; tick <= w.steps; tick++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		for ; next < len(w.commits) && w.commits[next].tick == tick; next++ {
			if err := p.apply(w.commits[next], next+1); err != nil {
				return err
			}
			if perTick {
				continue
			}
			if err := p.publish(ctx, next+1, tick); err != nil {
				return err
			}
		}
		if err := p.publish(ctx, next, tick); err != nil {
			return err
		}
		p.observe()
	}
	return nil
}
