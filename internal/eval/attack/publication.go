package attack

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// publisher publishes a table that changes.
type publisher interface {
	// apply tells of a commit, by its number.
	apply(c commit, number int) error
	// publish makes a version of what has been applied, if there is anything new.
	publish(ctx context.Context, commit, tick int) error
	// observe counts, at the end of a tick, what publication costs.
	observe()
	history() *history
	// backlog says what was observed.
	backlog() backlog
}

// backlog is how far a publication was behind, as means over the ticks.
type backlog struct {
	waiting, withheld   float64 // records
	ghosts, stale, rows float64 // published rows
	ticks               int
}

// mode is a way to publish.
type mode struct {
	name      string
	crowd     int // of guarded publication, else 0
	perTick   bool
	publisher func(w *world, cs privacy.ConstraintSet, s Setup, k int) (publisher, error)
}

func (s Setup) modes() []mode {
	immediately := func(w *world, cs privacy.ConstraintSet, s Setup, _ int) (publisher, error) {
		return newImmediate(w, cs, s.Seed), nil
	}
	modes := []mode{
		{name: "immediate", publisher: immediately},
		{name: "per tick", perTick: true, publisher: immediately},
	}
	for _, crowd := range s.Crowds {
		modes = append(modes, mode{
			name: fmt.Sprintf("guarded, crowd %d", crowd), crowd: crowd,
			publisher: func(w *world, cs privacy.ConstraintSet, s Setup, k int) (publisher, error) {
				return newGuarded(w, cs, s, k, crowd)
			},
		})
	}
	return modes
}

// immediate publishes what the maintained partition is after each commit.
type immediate struct {
	w         *world
	partition *incremental.Partition
	shown     *history
	seen      backlog
}

func newImmediate(w *world, cs privacy.ConstraintSet, seed uint64) *immediate {
	return &immediate{
		w:         w,
		partition: incremental.New(w.attributes, cs, partition.RoundedPartition{}, incremental.Options{Seed: seed, Subjects: w.subjects}),
		shown:     newHistory(w, false),
	}
}

func (p *immediate) apply(c commit, number int) error {
	switch c.kind {
	case arrival:
		return p.partition.Insert(p.w.record(c.record, number).Record)
	case departure:
		return p.partition.Delete(incremental.RecordID(c.record))
	case remark:
		return p.partition.Touch(incremental.RecordID(c.record))
	default:
		return p.partition.Modify(p.w.record(c.record, number).Record)
	}
}

func (p *immediate) publish(ctx context.Context, commit, tick int) error {
	changes, err := p.partition.SettleContext(ctx)
	if err != nil || len(changes.Retired)+len(changes.Rewrite) == 0 {
		return err
	}
	p.shown.begin(commit, tick, 1)
	for _, class := range changes.Retired {
		p.shown.retire(int64(class))
	}
	for _, class := range changes.Rewrite {
		var rows []row
		var elements []element
		for _, id := range p.partition.Members(class) {
			s := p.w.lives[id].at(commit)
			rows = append(rows, row{int32(id), s.value})
			elements = append(elements, element{int32(id), s.epoch})
		}
		p.shown.show(int64(class), bounds(p.w.attributes, p.partition.Generalize(class)), rows, elements, 1)
	}
	return nil
}

func (p *immediate) observe() {
	p.seen.withheld += float64(p.partition.Withheld())
	p.seen.rows += float64(p.partition.Len() - p.partition.Withheld())
	p.seen.ticks++
}

func (p *immediate) history() *history { return p.shown }
func (p *immediate) backlog() backlog  { return p.seen }

// publishOnce publishes all records that ever were, as they were last, in one release.
func publishOnce(ctx context.Context, w *world, cs privacy.ConstraintSet, seed uint64) (*history, error) {
	return publishRecords(ctx, w, cs, seed, func(*life) bool { return true })
}

// publishFinal publishes the records that are there at the end in one release.
func publishFinal(ctx context.Context, w *world, cs privacy.ConstraintSet, seed uint64) (*history, error) {
	return publishRecords(ctx, w, cs, seed, func(l *life) bool { return l.died == never })
}

func publishRecords(ctx context.Context, w *world, cs privacy.ConstraintSet, seed uint64, wanted func(*life) bool) (*history, error) {
	cells := make([][]float64, len(w.attributes))
	var sensitive, subjects []uint32
	var records []int32
	for id, l := range w.lives {
		if !wanted(l) {
			continue
		}
		for a := range cells {
			cells[a] = append(cells[a], l.last().cells[a])
		}
		records, sensitive, subjects = append(records, int32(id)), append(sensitive, l.last().value), append(subjects, l.subject)
	}
	t, err := anonymizer.NewTable(w.attributes, cells, [][]uint32{sensitive})
	if err == nil && w.subjects {
		t, err = t.WithSubjects(subjects)
	}
	if err != nil {
		return nil, fmt.Errorf("laying out the records: %w", err)
	}
	parts, err := anonymizer.Anonymize(ctx, partition.RoundedPartition{}, t, cs, anonymizer.Options{Seed: seed})
	if err != nil {
		return nil, err
	}
	h := newHistory(w, false)
	h.begin(len(w.commits), w.steps, 1)
	for i, class := range parts[0].Release.Classes {
		var rows []row
		var elements []element
		for _, r := range class {
			rows = append(rows, row{records[r], sensitive[r]})
			elements = append(elements, element{records[r], w.lives[records[r]].last().epoch})
		}
		h.show(int64(i+1), bounds(w.attributes, t.Generalize(class)), rows, elements, 1)
	}
	return h, nil
}
