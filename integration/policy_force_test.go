package integration

import (
	"strings"
	"syscall"
	"testing"
)

// TestOutdatedPolicyDoesNotApply: the process that applies dies beside one with another, weaker
// policy. Nothing is published by that until the operator accepts it; and then the first one's
// is superseded, wherever it is found.
func TestOutdatedPolicyDoesNotApply(t *testing.T) {
	t.Parallel()
	first := newSite(t, sqlSite(operatedSchema, strings.Replace(countedPolicy, "k: 5", "k: 12", 1)))
	first.kproxy(t, "setup").must(t)
	strict := first.serve(t)
	second := *first
	second.address = freeAddress(t)
	second.config = first.edit(t, "forgotten.yaml", first.address, second.address, "k: 12", "k: 5")
	weak := second.launch(t)
	if !weak.awaitLog(t, "this process does not apply") {
		t.Fatal("the second process says nothing")
	}
	strict.end(t, syscall.SIGKILL)
	source := connect(t, first.admin)
	generation := "SELECT generation FROM kproxy_store.generation"
	before := scalar[int64](t, source, generation)
	eventually(t, "its readers are refused with the number of the policy in force", func() bool {
		out := psql(t, second.url(), "SELECT count(*) FROM people")
		return out.code != 0 && strings.Contains(out.stderr, "another policy than number 1")
	})
	if out := second.kproxy(t, "status"); out.code != 3 || !strings.Contains(out.stdout, "does not apply") || !strings.Contains(out.stdout, "kproxy accept") {
		t.Errorf("status ends with %d:\n%s", out.code, out.stdout)
	}
	second.kproxy(t, "reload") // the process does not apply: this says nothing
	second.kproxy(t, "rebuild", "--all", "--no-wait")
	if out := psql(t, second.url(), "SELECT count(*) FROM people"); out.code == 0 {
		t.Errorf("after a reload a reader is answered: %s", out.stdout)
	}
	if now := scalar[int64](t, source, generation); now != before || weak.applies() {
		t.Errorf("generation %d became %d", before, now)
	}
	if out := second.kproxy(t, "accept", "--yes").must(t); !strings.Contains(out.stdout, "constraints was") || !strings.Contains(out.stdout, "policy number 2 is in force") {
		t.Errorf("accept said:\n%s", out.stdout)
	}
	eventually(t, "the accepted policy is published", func() bool { return psql(t, second.url(), "SELECT count(*) FROM people").code == 0 })
	if out := second.kproxy(t, "accept").must(t); !strings.Contains(out.stdout, "nothing to accept") {
		t.Errorf("accept said again:\n%s", out.stdout)
	}
	weak.end(t, syscall.SIGKILL)
	back := first.launch(t)
	if !back.awaitLog(t, "its policy is number 1, which number 2 has superseded") {
		t.Fatal("the superseded policy is not refused")
	}
}
