package sync

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/catalog"
)

// driftedTable is a table whose classes were widened by newcomers and never laid out anew.
func driftedTable(t *testing.T, reanonymize float64) *table {
	t.Helper()
	policy := sizeOnly(3)
	policy.Reanonymize = reanonymize
	of := boundAs(t, policy)
	random := rand.New(rand.NewPCG(4, 4))
	for id := range 90 {
		age := random.IntN(90)
		if id < 6 {
			age = 80 * (id % 2)
		}
		if err := of.insert(of.layout.visitOf(id+1, age, nil)); err != nil {
			t.Fatal(err)
		}
		if id%3 == 2 {
			settleAndSend(t, of)
		}
	}
	for id := 1; id <= 90; id += 3 {
		if err := of.delete(of.layout.visitOf(id, 0, nil)); err != nil {
			t.Fatal(err)
		}
		if err := of.endTransaction(nil); err != nil {
			t.Fatal(err)
		}
		settleAndSend(t, of)
	}
	return of
}

// renewing is an applier of a stand-in server with a table.
func renewing(t *testing.T, of *table) (*applier, *memoryServer, *logged) {
	t.Helper()
	m := newMemoryServer(t, usualAnswers(of)...)
	a, log := memoryApplier(), &logged{}
	a.use(m.session(of))
	a.session.syncer.config.Logger = slog.New(log)
	a.session.tables, a.session.syncer.tables, a.session.position = []*table{of}, []catalog.Publication{of.layout.publication}, 100
	t.Cleanup(a.renewer.close)
	m.begin(-1)
	return a, m, log
}

// awaitEnd waits for what is being made.
func (r *renewer) awaitEnd(t *testing.T) {
	t.Helper()
	if r.running == nil {
		t.Fatal("nothing is made anew")
	}
	r.ready = <-r.ended
}

// TestRenewalsAreAdopted asks for a release that has drifted to be made anew: it is once it is
// worth it, and the answer tells what was won. Asked once more, nothing changes.
func TestRenewalsAreAdopted(t *testing.T) {
	t.Parallel()
	of := driftedTable(t, 0)
	a, m, log := renewing(t, of)
	r, p := a.renewer, partsOf(of)[0]
	loss, drifted := p.partition.Loss(), p.partition.Classes()
	r.requests = []request{{7, of.layout.name()}, {8, of.layout.name()}}
	if err := r.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if r.running == nil || r.running.request != 7 || !slices.Equal(r.requests, []request{{8, of.layout.name()}}) || m.log() != "" {
		t.Fatalf("%+v waits; the server is told %q", r.requests, m.log())
	}
	r.awaitEnd(t)
	if done := r.running.done.Load(); done != int64(p.partition.Len()) {
		t.Errorf("%d records have found their class", done)
	}
	if err := r.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.writer.awaitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p.partition.Loss() >= loss || p.loss != p.partition.Loss() || p.drift != 1 || p.partition.Classes() == drifted || log.have("was re-anonymized") != 1 {
		t.Errorf("the loss is %v, and was %v; noted are %v and %v", p.partition.Loss(), loss, p.loss, p.drift)
	}
	answer := fmt.Sprintf("<- 7 | %v | %v | t", loss, p.partition.Loss())
	if !strings.Contains(m.log(), answer) || !strings.Contains(m.log(), `COPY "kproxy_store"."packed_7"`) {
		t.Errorf("not %s, but\n%s", answer, m.log())
	}
	if len(r.requests) != 0 || r.running == nil || r.running.request != 8 || r.ready != nil {
		t.Fatalf("%+v waits", r.requests)
	}
	classes := p.partition.Classes()
	m.begin(-1)
	r.awaitEnd(t)
	if err := r.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.writer.awaitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.log(), "<- 8 | ") || !strings.Contains(m.log(), " | f\n") || strings.Contains(m.log(), "COPY") || p.partition.Classes() != classes || log.have("was re-anonymized") != 1 {
		t.Errorf("what cannot be better is made anew:\n%s", m.log())
	}
	if r.running != nil || len(r.outcomes) > 0 || of.pending.dirty {
		t.Error("something is left to be done")
	}
}

// TestThresholdAsksForRenewals has the policy ask for new classes: where it does not, or its
// threshold is not passed, nothing is written.
func TestThresholdAsksForRenewals(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		share         float64
		begun, adopts bool
	}{{0, false, false}, {0.01, true, true}, {100, true, false}} {
		of := driftedTable(t, test.share)
		a, m, _ := renewing(t, of)
		r, p := a.renewer, partsOf(of)[0]
		before := p.partition.Loss()
		if err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if (r.running != nil) != test.begun {
			t.Fatalf("share %v: begun is %t", test.share, !test.begun)
		}
		if !test.begun {
			continue
		}
		r.awaitEnd(t)
		if err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.writer.awaitAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if adopted := strings.Contains(m.log(), "COPY"); adopted != test.adopts || (m.log() != "") != test.adopts || strings.Contains(m.log(), "kproxy_store.renewal") {
			t.Errorf("share %v: the server is told\n%s", test.share, m.log())
		}
		if test.adopts && p.loss >= before || !test.adopts && (p.loss != before || p.drift <= 1) {
			t.Errorf("share %v: a loss of %v and a drift of %v are noted", test.share, p.loss, p.drift)
		}
		if r.running != nil {
			t.Errorf("share %v: another renewal begins", test.share)
		}
	}
}

// TestRenewalsOfPartsAreCounted makes the classes of two parts: what is done counts for both.
func TestRenewalsOfPartsAreCounted(t *testing.T) {
	t.Parallel()
	of := boundAs(t, visitsPolicy("visits", "rounded-partition", "", homes, persons))
	for id := range 40 {
		if err := of.insert(of.layout.visitOf(id+1, id, map[string]string{"sex": []string{"f", "m"}[id%2]})); err != nil {
			t.Fatal(err)
		}
	}
	settleAndSend(t, of)
	a, m, _ := renewing(t, of)
	r := a.renewer
	r.begin(t.Context(), of.mode.(*immediate), 0, func(*maintained) bool { return false })
	if r.running != nil {
		t.Error("nothing is due, and something is made")
	}
	r.begin(t.Context(), of.mode.(*immediate), 5, func(p *maintained) bool { return p == partsOf(of)[1] })
	r.awaitEnd(t)
	if r.ready.runs[0] != nil || r.ready.runs[1] == nil || r.ready.done.Load() != 40 || r.ready.runs[1].Suppression != of.layout.publication.Policy.Suppression {
		t.Errorf("%d are done of %v", r.ready.done.Load(), r.ready.runs)
	}
	if err := r.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.begin(t.Context(), of.mode.(*immediate), 6, func(*maintained) bool { return true })
	r.awaitEnd(t)
	if done := r.ready.done.Load(); done != 80 {
		t.Errorf("%d are done", done)
	}
	before, afresh := 0.0, 0.0
	for _, run := range r.ready.runs {
		before, afresh = max(before, run.Before), max(afresh, run.Loss())
	}
	if err := r.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := a.writer.awaitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("<- 6 | %v | %v", before, afresh); !strings.Contains(m.log(), want) {
		t.Errorf("not %s, but\n%s", want, m.log())
	}
}

// TestAdoptedIsWritten has the server refuse what a renewal has made: the attempt to apply ends with
// the error, and nothing says that the table was re-anonymized.
func TestAdoptedIsWritten(t *testing.T) {
	t.Parallel()
	of := driftedTable(t, 0)
	a, m, log := renewing(t, of)
	a.renewer.requests = []request{{7, of.layout.name()}}
	if err := a.renewer.step(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.renewer.awaitEnd(t)
	m.begin(0)
	if err := a.renewer.step(t.Context()); err == nil || log.have("was re-anonymized") > 0 {
		t.Errorf("what the server refuses ends with %v, and the log has\n%v", err, log)
	}
}

// TestRenewalsThatCannotBe asks for tables that cannot be made anew now, or at all.
func TestRenewalsThatCannotBe(t *testing.T) {
	t.Parallel()
	of := driftedTable(t, 0)
	other := catalog.Name{Schema: "public", Relation: "other"}
	configured := of.layout.publication
	configured.Policy.Table = other
	for _, test := range []struct {
		name    string
		status  TableStatus
		listed  bool
		waits   bool
		problem string
	}{
		{"not protected", TableStatus{}, false, false, "is not a protected table"},
		{"prepared", TableStatus{State: Unpublished}, true, true, ""},
		{"halted", TableStatus{State: Halted, Problem: "why"}, true, false, "is halted: why"},
		{"halted, and prepared", TableStatus{State: Halted, Preparing: true}, true, true, ""},
	} {
		a, m, _ := renewing(t, of)
		r := a.renewer
		if test.listed {
			a.session.syncer.tables = append(a.session.syncer.tables, configured)
		}
		a.session.syncer.status.Tables[other] = test.status
		r.requests = []request{{3, other}}
		if err := r.step(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := a.writer.awaitAll(t.Context()); err != nil {
			t.Fatal(err)
		}
		if (len(r.requests) == 1) != test.waits || r.running != nil || !strings.Contains(m.log(), test.problem) || test.waits != (m.log() == "") {
			t.Errorf("%s: %+v waits; the server is told\n%s", test.name, r.requests, m.log())
		}
	}
}

// TestRenewalsEnd has renewals end that are of no use: they failed, or their table was made anew
// altogether. Nothing ends amid a transaction.
func TestRenewalsEnd(t *testing.T) {
	t.Parallel()
	of := driftedTable(t, 0.5)
	a, m, log := renewing(t, of)
	r, p := a.renewer, partsOf(of)[0]
	runs := []*incremental.Renewal{p.partition.BeginRenewal()}
	if err := r.finish(t.Context(), &renewal{mode: driftedTable(t, 0).mode.(*immediate), request: 4, runs: runs}); err != nil || len(r.outcomes) > 0 || m.log() != "" {
		t.Errorf("a table that is gone: %v", err)
	}
	p.threshold.Changed(1000)
	if err := r.finish(t.Context(), &renewal{mode: of.mode.(*immediate), request: 4, runs: runs, err: errors.New("cannot")}); err != nil {
		t.Fatal(err)
	}
	if err := a.writer.awaitAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(m.log(), "<- 4 | cannot") || log.have("could not be re-anonymized") != 1 || len(r.outcomes) > 0 {
		t.Errorf("a failure is answered by\n%s", m.log())
	}
	if p.threshold.Changed(p.partition.Len() - 1); p.threshold.Due(p.partition) {
		t.Error("what failed is tried again at once")
	}
	if err := r.finish(t.Context(), &renewal{mode: of.mode.(*immediate), runs: runs}); err == nil || transient(err) {
		t.Errorf("a renewal that has not run ends with %v", err)
	}
	a.transaction.open = true
	r.requests = []request{{7, of.layout.name()}}
	if err := r.step(t.Context()); err != nil || r.running != nil {
		t.Errorf("something begins amid a transaction: %v", err)
	}
	a.transaction.open = false
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if err := r.step(ctx); err != nil || r.running == nil {
		t.Fatalf("nothing begins: %v", err)
	}
	r.close()
	if r.running.err != nil && !errors.Is(r.running.err, context.Canceled) {
		t.Errorf("it ends with %v", r.running.err)
	}
	if len(r.ended) != 1 {
		t.Error("it was not waited for")
	}
}
