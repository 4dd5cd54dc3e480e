package incremental_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// steps does some random operations, settling now and then.
func (m *model) steps(count int) {
	for range count {
		m.step(2)
		if m.random.IntN(8) == 0 {
			m.settle()
		}
	}
}

// renew lays the classes out anew while operations go on, and checks everything.
func (m *model) renew(meanwhile int) {
	m.t.Helper()
	m.settle()
	r := m.partition.BeginRenewal()
	if r.Before != m.partition.Loss() {
		m.t.Fatalf("a loss of %v before, of %v in the partition", r.Before, m.partition.Loss())
	}
	ended := make(chan error)
	go func() { ended <- r.Run(m.t.Context(), nil) }()
	m.steps(meanwhile / 2)
	err := <-ended
	m.steps(meanwhile - meanwhile/2)
	if err != nil {
		if m.partition.FinishRenewal(r) == nil {
			m.t.Fatal("a renewal that failed was adopted")
		}
		return // the method's own failure: the partition goes on
	}
	m.must(m.partition.FinishRenewal(r))
	m.settle()
	if again := m.settle(); len(again.Moved)+len(again.Rewrite)+len(again.Retired) > 0 {
		m.t.Fatalf("nothing happened and %+v changed", again)
	}
}

// TestRenewalOfEveryMethod lays out the classes of every method and kind of
// constraint anew while records come, go and change.
func TestRenewalOfEveryMethod(t *testing.T) {
	t.Parallel()
	all := map[string]anonymizer.Method{}
	for _, name := range methods.Names() {
		all[name], _ = methods.Named(name)
	}
	for name, m := range carelessMethods {
		all[name] = m
	}
	for name, method := range all {
		for what, constraints := range models {
			for seed, persons := range []int{0, 25} {
				t.Run(fmt.Sprintf("%s/%s/persons=%d", name, what, persons), func(t *testing.T) {
					t.Parallel()
					m := newModelOf(t, uint64(seed), modelShape, constraints, method, persons)
					if method.Accepts(m.data.Attributes, constraints) != nil {
						return // such a table is refused before it is published
					}
					m.steps(60)
					m.renew(0)
					m.renew(30)
					m.truncate()
					m.renew(10) // of an empty table
					m.steps(30)
					m.renew(5)
				})
			}
		}
	}
}

// TestRenewalPlacesWhatChanged: a record that moves away meanwhile is placed where it
// is now, and one that comes is placed as well.
func TestRenewalPlacesWhatChanged(t *testing.T) {
	t.Parallel()
	number := workload.Attribute("n", hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	p := incremental.New([]anonymizer.Attribute{number}, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{})
	at := func(id incremental.RecordID, position float64) incremental.Record {
		return incremental.Record{ID: id, Cells: []hierarchy.Cell{position}}
	}
	for id := range incremental.RecordID(40) {
		if err := p.Insert(at(id, float64(id/4*100))); err != nil { // four at each place
			t.Fatal(err)
		}
	}
	p.Settle()
	r := p.BeginRenewal()
	if err := errors.Join(r.Run(t.Context(), nil), p.Modify(at(1, 900)), p.Insert(at(100, 500)), p.FinishRenewal(r)); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	for id, position := range map[incremental.RecordID]string{0: "0", 1: "900", 39: "900", 100: "500"} {
		if published := p.Generalize(p.ClassOf(id))[0]; published.Lower != position || published.Upper != position {
			t.Errorf("record %d is at %s and published from %s to %s", id, position, published.Lower, published.Upper)
		}
	}
	if p.Loss() > 0 {
		t.Errorf("a loss of %v", p.Loss())
	}
}

// TestRenewalAfterTruncate: classes of records that are all gone are adopted by
// nobody.
func TestRenewalAfterTruncate(t *testing.T) {
	t.Parallel()
	m := newModel(t, 3, modelShape, models["together"])
	m.steps(80)
	m.settle()
	r := m.partition.BeginRenewal()
	m.must(r.Run(t.Context(), nil))
	m.truncate()
	m.must(m.partition.FinishRenewal(r))
	m.settle()
	m.steps(20)
	m.settle()
}

// maintained is a partition that has drifted: half of its records came at once, the
// others one by one, and some are gone.
func maintained(t *testing.T, records int) *incremental.Partition {
	t.Helper()
	table := workload.AdultLike(7, records)
	p := incremental.New(table.Attributes(), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, partition.RoundedPartition{}, incremental.Options{Seed: 1})
	for i := range records {
		r := incremental.Record{ID: incremental.RecordID(i)}
		for a := range table.Attributes() {
			r.Cells = append(r.Cells, table.Cells(a)[i])
		}
		if err := p.Insert(r); err != nil {
			t.Fatal(err)
		}
		if i >= records/2 {
			if err := p.Delete(incremental.RecordID(i - records/2)); err != nil {
				t.Fatal(err)
			}
			p.Settle()
		}
	}
	return p
}

// TestRenewalUndoesDrift: what is adopted loses what the renewal says, and less
// than before.
func TestRenewalUndoesDrift(t *testing.T) {
	t.Parallel()
	p := maintained(t, 2000)
	before := p.Loss()
	r := p.BeginRenewal()
	told := 0
	if err := r.Run(t.Context(), func(done, total int) {
		if done < told || total != p.Len() {
			t.Errorf("%d of %d after %d", done, total, told)
		}
		told = done
	}); err != nil {
		t.Fatal(err)
	}
	if told != p.Len() || r.Before != before || r.Drift() != before/r.Loss() || r.Drift() <= 1 {
		t.Errorf("%d records done; %v before, %v after: a drift of %v", told, r.Before, r.Loss(), r.Drift())
	}
	if p.Loss() != before {
		t.Error("a renewal that is not adopted changed the partition")
	}
	if err := p.FinishRenewal(r); err != nil {
		t.Fatal(err)
	}
	p.Settle()
	if got := p.Loss(); !near(got, r.Loss()) {
		t.Errorf("a loss of %v, %v expected", got, r.Loss())
	}
	again := p.BeginRenewal()
	if err := again.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if !near(again.Drift(), 1) {
		t.Errorf("a drift of %v of what has just been laid out", again.Drift())
	}
}

func near(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 }

// TestRenewalSuppresses: the method is told what it may leave out, and no record is
// left out in the end.
func TestRenewalSuppresses(t *testing.T) {
	t.Parallel()
	method, err := methods.Named("datafly")
	if err != nil {
		t.Fatal(err)
	}
	table := workload.AdultLike(3, 500)
	p := incremental.New(table.Attributes(), privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, method, incremental.Options{})
	for i := range table.Len() {
		r := incremental.Record{ID: incremental.RecordID(i)}
		for a := range table.Attributes() {
			r.Cells = append(r.Cells, table.Cells(a)[i])
		}
		if err := p.Insert(r); err != nil {
			t.Fatal(err)
		}
	}
	p.Settle()
	none, some := p.BeginRenewal(), p.BeginRenewal()
	some.Suppression = 0.2
	if err := errors.Join(none.Run(t.Context(), nil), some.Run(t.Context(), nil)); err != nil {
		t.Fatal(err)
	}
	if some.Loss() >= none.Loss() {
		t.Errorf("a loss of %v with suppression, of %v without", some.Loss(), none.Loss())
	}
	if err := p.FinishRenewal(some); err != nil {
		t.Fatal(err)
	}
	if p.Settle(); p.Withheld() > 0 || !near(p.Loss(), some.Loss()) {
		t.Errorf("%d records are withheld, a loss of %v instead of %v", p.Withheld(), p.Loss(), some.Loss())
	}
}

// TestRenewalIsReproducible: same operations and seed, same classes.
func TestRenewalIsReproducible(t *testing.T) {
	t.Parallel()
	var classes [2][]incremental.ClassID
	for i := range classes {
		p := maintained(t, 600)
		r := p.BeginRenewal()
		if err := errors.Join(r.Run(t.Context(), nil), p.FinishRenewal(r)); err != nil {
			t.Fatal(err)
		}
		p.Settle()
		for id := range incremental.RecordID(600) {
			classes[i] = append(classes[i], p.ClassOf(id))
		}
	}
	if fmt.Sprint(classes[0]) != fmt.Sprint(classes[1]) {
		t.Error("two runs made different classes")
	}
}

// TestRenewalsThatCannotBeAdopted are refused and change nothing.
func TestRenewalsThatCannotBeAdopted(t *testing.T) {
	t.Parallel()
	p, other := maintained(t, 200), maintained(t, 200)
	ready := p.BeginRenewal()
	if err := ready.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	canceled := p.BeginRenewal()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := canceled.Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("running without time: %v", err)
	}
	for name, err := range map[string]error{
		"not run":  p.FinishRenewal(p.BeginRenewal()),
		"foreign":  other.FinishRenewal(ready),
		"canceled": p.FinishRenewal(canceled),
	} {
		if !errors.Is(err, incremental.ErrNotRenewed) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.FinishRenewal(ready); err != nil {
		t.Fatal(err)
	}
	if err := p.FinishRenewal(ready); !errors.Is(err, incremental.ErrNotRenewed) {
		t.Errorf("adopting twice: %v", err)
	}
}

// TestRenewalOfWhatCannotBePublished does nothing, whether the records are too few
// or have no columns.
func TestRenewalOfWhatCannotBePublished(t *testing.T) {
	t.Parallel()
	few := newModel(t, 1, modelShape, privacy.ConstraintSet{privacy.KAnonymity{K: 50}})
	few.steps(20)
	few.renew(3)
	nothing := few.partition.BeginRenewal()
	if few.must(nothing.Run(t.Context(), nil)); nothing.Before != 1 || nothing.Loss() != 1 {
		t.Errorf("of withheld records %v is lost, %v afresh", nothing.Before, nothing.Loss())
	}
	if few.partition.Withheld() != few.partition.Len() {
		t.Error("too few records were published")
	}
	p := incremental.New(nil, models["k"], partition.RoundedPartition{}, incremental.Options{})
	for id := range incremental.RecordID(10) {
		if err := p.Insert(incremental.Record{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	p.Settle()
	r := p.BeginRenewal()
	if err := errors.Join(r.Run(t.Context(), nil), p.FinishRenewal(r)); err != nil {
		t.Fatal(err)
	}
	if changes := p.Settle(); len(changes.Moved)+len(changes.Rewrite) > 0 || r.Drift() != 1 {
		t.Errorf("records without columns: %+v changed, a drift of %v", changes, r.Drift())
	}
}
