package sync

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestSpreadGuarded does the same with a guarded table, and one of two parts, whose release
// cannot be spread.
func TestSpreadGuarded(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	policy := b.three()
	policy.Tables[2].Constraints = append(policy.Tables[2].Constraints[:0:0], homes, persons)
	b.provide(pgtest.Shared(t), policy)
	sent := b.spreads()
	l := b.start()
	l.inStep()
	b.isSpread("stored", "packed", "records", "release")
	for range 3 {
		before := b.shownRows("visits")
		b.alter()
		b.revisit(rand.New(rand.NewPCG(3, 0)), "third", 5)
		l.inStep()
		b.compareVersions("visits", ofSize.K, before, b.shownRows("visits"))
	}
	sent.take()
	for id := range 8 {
		b.script(fmt.Sprintf("UPDATE visits SET age = (age + 20) %% 80 WHERE id = %[1]d; DELETE FROM visits WHERE id = %[1]d + 20; UPDATE third SET cost = 7 WHERE id = %[1]d", id))
		b.script("INSERT INTO visits SELECT " + visit("i") + fmt.Sprintf(" FROM generate_series(%[1]d, %[1]d + 2) i", 1000+3*id))
		b.caughtUp(l.Syncer)
	}
	b.script("DELETE FROM visits WHERE id BETWEEN 30 AND 70")
	l.inStep()
	statements := sent.take()
	for _, kind := range []string{"DELETE FROM %s AS l USING", "DELETE FROM %s AS w WHERE", "INSERT INTO %s "} {
		what := strings.ReplaceAll(regexp.QuoteMeta(kind), "%s", spreadTable.String())
		found := false
		for _, s := range statements {
			found = found || regexp.MustCompile("^"+what).MatchString(s.sql)
		}
		if !found {
			t.Errorf("there was no %s", kind)
		}
	}
	if looked := b.isRouted(statements); looked < 5 {
		t.Errorf("only %d statements could be looked at", looked)
	}
}
