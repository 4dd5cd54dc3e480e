package sync

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"strings"
	gosync "sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// drifted is a bench whose release has been maintained through many changes.
func drifted(t *testing.T, rows int, configure ...func(*Config)) (*bench, *Syncer, func() error) {
	t.Helper()
	b := newBench(t, pgtest.Shared(t), sourceTables)
	for _, c := range configure {
		c(&b.config)
	}
	b.fill(rows)
	s, stop := b.run()
	// Each round is settled by itself, so that the classes do not depend on how fast
	// the stream is read.
	for round := range 16 {
		b.exec(`UPDATE people SET age = (id * 7919 + $1 * 31) % 90, zip = (10000 + id * 104729 % 700)::text, weight = id * 17 % 100, job = 'job ' || id * 13 % 9,
			born = date '1930-01-01' + (id * 7907 % 30000)::int WHERE id % 16 = $1`, round)
		b.caughtUp(s)
	}
	b.exec(`DELETE FROM people WHERE id % 5 = 0`)
	b.caughtUp(s)
	return b, s, stop
}

// release is all that readers see of people, whatever the order.
func (b *bench) release() (digest string) {
	b.t.Helper()
	sql := `SELECT md5(coalesce(string_agg(r::text, E'\n' ORDER BY r::text), '')) FROM ` + catalog.Published(b.config.Tables[0].Relation.Name).SQL() + ` AS r`
	if err := b.source.QueryRow(b.t.Context(), sql).Scan(&digest); err != nil {
		b.t.Fatal(err)
	}
	return digest
}

// TestReanonymize: on command the classes are made anew, and readers see the old or
// the new release and nothing between.
func TestReanonymize(t *testing.T) {
	t.Parallel()
	b, s, stop := drifted(t, 400)
	people := b.config.Tables[0].Relation.Name
	before := b.release()
	type answer struct {
		results []Renewed
		err     error
	}
	answered := make(chan answer, 1)
	go func() {
		results, err := Reanonymize(t.Context(), b.config.Owner, nil, b.config.Slot, []catalog.Name{people}, true, func([]Renewed) {})
		answered <- answer{results, err}
	}()
	seen := map[string]bool{}
	var got answer
	for waiting := true; waiting; {
		select {
		case got = <-answered:
			waiting = false
		case <-time.After(time.Millisecond): // who looks all the time keeps the processor from what is looked at
			seen[b.release()] = true
		}
	}
	if got.err != nil || len(got.results) != 1 {
		t.Fatalf("%+v, %v", got.results, got.err)
	}
	r := got.results[0]
	if r.Table != people || !r.Ended || r.Problem != "" || !r.Adopted || !(r.Afresh > 0 && r.Afresh < r.Before && r.Before < 1) {
		t.Errorf("the outcome is %+v", r)
	}
	after := b.release()
	delete(seen, before)
	delete(seen, after)
	if after == before || len(seen) > 0 {
		t.Errorf("readers saw %d releases that are neither the old nor the new one; it changed: %v", len(seen), after != before)
	}
	if status := s.Status().Tables[people]; status.Loss != r.Afresh || status.Drift != 1 {
		t.Errorf("the status is %+v after %+v", status, r)
	}
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	s, _ = b.run() // loads what was adopted
	b.change(rand.New(rand.NewPCG(1, 1)), 400)
	b.caughtUp(s)
	b.checkStore(s)
}

// TestReanonymizeAtThreshold: the policy's threshold is enough, also after a restart,
// when it is not known how the classes would be made afresh.
func TestReanonymizeAtThreshold(t *testing.T) {
	t.Parallel()
	for name, restart := range map[string]bool{"running": false, "restarted": true} {
		t.Run(name, func(t *testing.T) {
			b, _, stop := drifted(t, 400)
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			b.ownerGone()
			b.config.Tables[0].Policy.Reanonymize = 0.01
			if !restart {
				if err := Rebuild(t.Context(), b.config.Owner, b.config.Slot, nil); err != nil {
					t.Fatal(err)
				}
			}
			s, _ := b.run()
			people := b.config.Tables[0].Relation.Name
			for i := 0; s.Status().Tables[people].Drift != 1; i++ {
				if i > 300 {
					t.Fatalf("nothing was re-anonymized: %+v", s.Status())
				}
				b.exec(`UPDATE people SET age = (age * 7 + id * 13) % 90 WHERE id % 10 = $1`, i%10)
				b.caughtUp(s)
			}
			b.caughtUp(s)
			b.checkStore(s)
		})
	}
}

// TestReanonymizeThroughEverything asks for new classes while tables change,
// connections break and kproxy restarts: every request ends, and nothing is lost.
func TestReanonymizeThroughEverything(t *testing.T) {
	t.Parallel()
	const rows, changes = 200, 150
	b := newBench(t, pgtest.Shared(t), sourceTables)
	b.config.Tables[0].Policy.Reanonymize = 0.02
	b.fill(rows)
	r := rand.New(rand.NewPCG(11, 0))
	s, stop := b.run()
	for i := range changes {
		b.transaction(r, rows)
		switch i % 50 {
		case 5, 15, 35, 45:
			b.exec(`INSERT INTO kproxy_store.renewal (table_schema, table_name) VALUES ('public', 'people'), ('public', 'Odd "Names')`)
		case 16:
			b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1", b.config.Owner.User)
		case 46:
			if err := stop(); err != nil {
				t.Fatal(err)
			}
			b.ownerGone()
			s, stop = b.run()
		}
	}
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		var open, failed int
		if err := b.source.QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE ended_at IS NULL), count(problem) FROM kproxy_store.renewal").Scan(&open, &failed); err != nil {
			t.Fatal(err)
		}
		if failed > 0 {
			t.Fatalf("%d requests failed: %v", failed, scanned[string](b, "SELECT string_agg(DISTINCT problem, '; ') FROM kproxy_store.renewal"))
		}
		if open == 0 {
			break
		}
		if time.Since(start) > patience {
			t.Fatalf("%d requests are open for long", open)
		}
	}
	b.caughtUp(s)
	b.checkStore(s)
}

// TestEveryModelAndMethodReanonymized does it with each method, each model, several
// parts and persons, while the tables change.
func TestEveryModelAndMethodReanonymized(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, liveTables(), 130)
	s, _ := b.run()
	r := rand.New(rand.NewPCG(6, 0))
	change := func(tables []catalog.Name) {
		for _, table := range tables {
			b.revisit(r, table.Relation, 1+r.IntN(4))
		}
	}
	var tables []catalog.Name
	for _, p := range b.config.Tables {
		tables = append(tables, p.Relation.Name)
	}
	change(tables)
	b.caughtUp(s)
	// However long it takes, each table is changed a few times: those that are next when another one
	// is done, and those that are done.
	told, done := false, 0
	results, err := Reanonymize(t.Context(), b.config.Owner, nil, b.config.Slot, tables, true, func(results []Renewed) {
		var ended, next []catalog.Name
		for _, result := range results {
			if result.Ended {
				ended = append(ended, result.Table)
			} else {
				next = append(next, result.Table)
			}
		}
		if told && len(ended) == done {
			return
		}
		told = true
		change(ended[done:])
		change(next[:min(4, len(next))])
		done = len(ended)
	})
	if err != nil || len(results) != len(tables) || !told {
		t.Fatalf("%d outcomes of %d, told: %v, %v", len(results), len(tables), told, err)
	}
	adopted := 0
	for _, result := range results {
		if result.Adopted {
			adopted++
		}
		if result.Problem != "" || !(result.Afresh >= 0 && result.Afresh <= 1) {
			t.Errorf("%+v", result)
		}
	}
	if adopted == 0 {
		t.Error("nothing was adopted")
	}
	change(tables)
	b.caughtUp(s)
	b.checkStore(s)
	b.checkParts()
}

// TestRequestsThatCannotBeFulfilled end with the reason.
func TestRequestsThatCannotBeFulfilled(t *testing.T) {
	t.Parallel()
	b, s, stop := drifted(t, 50)
	nowhere := catalog.Name{Schema: "public", Relation: "nowhere"}
	results, err := Reanonymize(t.Context(), b.config.Owner, nil, b.config.Slot, []catalog.Name{nowhere}, true, func([]Renewed) {})
	if err != nil || len(results) != 1 || !strings.Contains(results[0].Problem, "not a protected table") {
		t.Errorf("%+v, %v", results, err)
	}
	if _, err := Reanonymize(t.Context(), b.config.Owner, nil, b.config.Slot, []catalog.Name{nowhere}, false, nil); err != nil {
		t.Errorf("without waiting: %v", err)
	}
	b.checkStore(s)
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	b.ownerGone()
	_, err = Reanonymize(t.Context(), b.config.Owner, nil, b.config.Slot, []catalog.Name{nowhere}, true, func([]Renewed) {})
	if stopped := (*StopError)(nil); !errors.As(err, &stopped) || !strings.Contains(stopped.Fix, "kproxy serve") {
		t.Errorf("where nobody applies: %v", err)
	}
}

// TestRequestsWaitForWhatIsPrepared asks for a table whose first release is being made, while
// others are applied, and for one that is halted.
func TestRequestsWaitForWhatIsPrepared(t *testing.T) {
	t.Parallel()
	b, all := withThird(t)
	l := b.start()
	l.inStep()
	h := b.holdAt(FailRecordsFilled)
	l.stop()
	b.ownerGone()
	l = b.start()
	l.inStep()
	b.config.Tables = all
	l.Reload(all)
	b.awaitHeld(h)
	const ask = "INSERT INTO kproxy_store.renewal (table_schema, table_name) VALUES ('public', $1) RETURNING id"
	early := scanned[int](b, ask, "third")
	// What is asked for later is done: the first request was looked at as well.
	later := scanned[int](b, ask, "ward")
	const ended, answer = "SELECT ended_at IS NOT NULL FROM kproxy_store.renewal WHERE id = $1", "SELECT coalesce(problem, '') FROM kproxy_store.renewal WHERE id = $1"
	l.eventually("the later request is answered", func() bool { return scanned[bool](b, ended, later) })
	if scanned[bool](b, ended, early) {
		t.Errorf("a table that is being prepared is refused: %s", scanned[string](b, answer, early))
	}
	h.free()
	l.eventually("the early request is answered", func() bool { return scanned[bool](b, ended, early) })
	for _, id := range []int{early, later} {
		if problem := scanned[string](b, answer, id); problem != "" {
			t.Errorf("request %d: %s", id, problem)
		}
	}
	b.script("ALTER TABLE third RENAME TO gone")
	third := all[2].Policy.Table
	l.eventually("the table is halted", func() bool { return l.Status().Tables[third].State == Halted && !l.Status().Tables[third].Preparing })
	late := scanned[int](b, ask, "third")
	l.eventually("the late request is answered", func() bool { return scanned[bool](b, ended, late) })
	if problem := scanned[string](b, answer, late); !strings.Contains(problem, "is halted") {
		t.Errorf("a halted table: %q", problem)
	}
	l.stop()
}

// awaited is a log of which a message is waited for.
type awaited struct {
	slog.Handler
	words string
	found chan struct{}
	once  gosync.Once
}

func (a *awaited) Handle(ctx context.Context, r slog.Record) error {
	if strings.Contains(r.Message, a.words) {
		a.once.Do(func() { close(a.found) })
	}
	return a.Handler.Handle(ctx, r)
}

// TestBrokenRequests: publication goes on without the table of requests.
func TestBrokenRequests(t *testing.T) {
	t.Parallel()
	warned := make(chan struct{})
	b, s, _ := drifted(t, 50, func(c *Config) {
		c.Logger = slog.New(&awaited{Handler: slog.NewTextHandler(t.Output(), nil), words: "no longer looked for", found: warned})
	})
	b.exec("DROP TABLE kproxy_store.renewal")
	select {
	case <-warned:
	case <-time.After(patience):
		t.Fatal("nobody has looked for requests")
	}
	b.exec("UPDATE people SET age = age + 1")
	b.caughtUp(s)
	b.checkStore(s)
}

// TestGuardedIsNotRenewed: a guarded table is refused, with the way out.
func TestGuardedIsNotRenewed(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "public", Relation: "t"}
	for _, test := range []struct {
		stage updateMode
		want  string
	}{{&guarded{}, "kproxy rebuild"}, {&immediate{}, ""}} {
		r := &renewer{applier: &applier{session: &session{tables: []*table{
			{layout: layout{publication: catalog.Publication{Policy: catalog.TablePolicy{Table: name}}}, mode: test.stage},
		}}}}
		_, err := r.renewable(name)
		if (err != nil) != (test.want != "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T: %v", test.stage, err)
		}
	}
}

// failing is a method that cannot.
type failing struct {
	partition.RoundedPartition
	do func() error
}

func (f failing) Anonymize(context.Context, *anonymizer.Table, privacy.ConstraintSet, anonymizer.Options) (*anonymizer.Release, error) {
	return nil, f.do()
}

// TestFailedRenewal: an error or a panic of the method ends the renewal and nothing
// else, and the log does not quote it.
func TestFailedRenewal(t *testing.T) {
	t.Parallel()
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	if err != nil {
		t.Fatal(err)
	}
	for name, do := range map[string]func() error{
		"error": func() error { return errors.New("cannot") },
		"panic": func() error { panic("secret") },
	} {
		p := &maintained{threshold: incremental.RenewalThreshold{Share: 0.1}}
		p.partition = incremental.New([]anonymizer.Attribute{{Name: "n", Hierarchy: h}}, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, failing{do: func() error { return errors.New("") }}, incremental.Options{})
		for id := range incremental.RecordID(9) {
			if err := p.partition.Insert(incremental.Record{ID: id, Cells: []float64{float64(id)}}); err != nil {
				t.Fatal(err)
			}
		}
		p.partition.Settle()
		classes := p.partition.Classes()
		other := incremental.New([]anonymizer.Attribute{{Name: "n", Hierarchy: h}}, privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, failing{do: do}, incremental.Options{})
		for id := range incremental.RecordID(2) {
			if err := other.Insert(incremental.Record{ID: id, Cells: []float64{1}}); err != nil {
				t.Fatal(err)
			}
		}
		var log strings.Builder
		logger := slog.New(slog.NewTextHandler(&log, nil))
		renewed := &table{}
		renewed.mode = &immediate{t: renewed, parts: []*maintained{p}}
		n := &renewal{mode: renewed.mode.(*immediate), runs: []*incremental.Renewal{other.BeginRenewal()}}
		n.run(t.Context(), logger)
		if n.err == nil {
			t.Fatalf("%s: it ended well", name)
		}
		r := &renewer{applier: &applier{session: &session{tables: []*table{renewed}, syncer: &Syncer{config: Config{Logger: logger}}}}}
		if err := r.finish(t.Context(), n); err != nil {
			t.Errorf("%s: publication ends with %v", name, err)
		}
		if text := log.String(); strings.Contains(text, "secret") || !strings.Contains(text, "its release stays as it is") {
			t.Errorf("%s: the log says %q", name, text)
		}
		if p.threshold.Changed(8); p.threshold.Due(p.partition) || renewed.pending.dirty || p.partition.Classes() != classes {
			t.Errorf("%s: it is tried again at once, or something changed", name)
		}
	}
}
