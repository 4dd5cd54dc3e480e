package integration

import (
	"context"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// TestStoredSummariesOutliveCrashes has kproxy crash at steps of a publication and of applying changes, and turns the stored summary off
// and on by reloads and by restarts, while records come, change and go: it is what its release is summed up to whenever it is there, clients find no trace
// of it, and the check of what the reader can reach knows it.
func TestStoredSummariesOutliveCrashes(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(classesSchema, storedSummary))
	s.kproxy(t, "setup").must(t)
	crash := func(point string) {
		if code := s.launch(t, "KPROXY_FAILPOINT="+point).wait(t); code != -int(syscall.SIGKILL) {
			t.Fatalf("failpoint %s: the process ended with %d", point, code)
		}
	}
	var changes atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- changeFolk(ctx, s.admin, &changes) }()
	for _, point := range []string{"before-publication", "after-publication", "before-join", "after-join"} {
		crash(point)
	}
	admin := connect(t, s.admin)
	view := catalog.Classes(catalog.Name{Schema: "public", Relation: "folk"}).SQL()
	shows := func(stored bool) {
		t.Helper()
		eventually(t, "the summary is the one that the policy says", func() bool {
			return stored == scalar[bool](t, admin, "SELECT EXISTS (SELECT FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = $2)", view, catalog.SumColumn("cost"))
		})
		said := s.kproxy(t, "verify").must(t).stdout
		if strings.Contains(said, "the stored summary is what") != stored {
			t.Errorf("of the summary, verify says %s", said)
		}
		s.kproxy(t, "check").must(t)
	}
	p := s.serve(t)
	shows(true)
	for _, point := range []string{"before-commit", "after-commit"} {
		p.end(t, syscall.SIGKILL)
		crash(point)
		p = s.serve(t)
		shows(true)
	}
	const sums = "SELECT town, sum(cost), max(far) FROM folk GROUP BY town"
	client := connect(t, s.url())
	summed := func() bool { return !strings.Contains(plan(t, client, sums), unpacks) }
	eventually(t, "sums are asked of the summary", summed)
	if plan := plan(t, client, sums); strings.Contains(plan, "kproxy") || strings.Contains(plan, "classes") || strings.Contains(plan, "summary") {
		t.Errorf("the plan tells of the summary:\n%s", plan)
	}
	s.replace(t, "summary: stored", "summary: view")
	s.kproxy(t, "reload").must(t)
	shows(false)
	eventually(t, "sums are asked of the release", func() bool { return !summed() })
	s.replace(t, "summary: view", "summary: stored")
	s.kproxy(t, "reload").must(t)
	shows(true)
	eventually(t, "sums are asked of the summary again", summed)
	read := func() string {
		return scalar[string](t, admin, "SELECT max(d.refobjid::regclass::text) FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = 'pg_rewrite'::regclass"+
			" WHERE r.ev_class = to_regclass($1) AND d.refobjid::regclass::text ~ 'summary_'", view)
	}
	before := read()
	s.kproxy(t, "rebuild", "public.folk").must(t)
	// Until the rebuilt table is shown, two generations have summaries, and only one is read.
	eventually(t, "the rebuilt table is shown", func() bool { return read() != before })
	shows(true)
	cancel()
	if err := <-done; err != nil && ctx.Err() == nil {
		t.Error(err)
	}
	eventually(t, "the summary is spoiled", func() bool { // what kproxy still applies can be in the way
		_, err := admin.Exec(t.Context(), "UPDATE "+read()+" SET kproxy_count = kproxy_count + 1")
		return err == nil
	})
	if said := s.kproxy(t, "verify"); said.code == 0 || !strings.Contains(said.stdout+said.stderr, "the stored summary is what") {
		t.Errorf("verify does not see what is wrong: %s%s", said.stdout, said.stderr)
	}
	if changes.Load() < 20 {
		t.Errorf("there were only %d changes", changes.Load())
	}
}
