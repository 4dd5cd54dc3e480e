package check

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/upstream"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	ksync "github.com/kproxy/kproxy/sync"
)

// TestCheckOfSupersededPolicy has the check warn of a policy that was in force before another one, and of no other.
func TestCheckOfSupersededPolicy(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	of := func(readable string) *config.Config {
		return &config.Config{Policy: catalog.Policy{Readable: []catalog.Name{{Schema: "public", Relation: readable}}}}
	}
	fingerprint := func(c *config.Config) string {
		policy, err := ksync.NewPolicy(c.Policy, upstream.Place(c.LocateSetting("").File))
		if err != nil {
			t.Fatal(err)
		}
		return policy.Fingerprint
	}
	says := func(c *config.Config, words ...string) {
		t.Helper()
		report, err := checkStanding(t.Context(), conn, c)
		if err != nil {
			t.Fatal(err)
		}
		if len(report) != min(len(words), 1) {
			t.Fatalf("it says %v", report)
		}
		for _, word := range words {
			if f := report[0]; f.Severity != inspect.Warning || f.Code != codeSuperseded || f.Fix == "" || !strings.Contains(f.What, word) {
				t.Errorf("no %q in %+v", word, f)
			}
		}
	}
	execute := func(sql string, arguments ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, arguments...); err != nil {
			t.Fatal(err)
		}
	}
	former, present, other := of("former"), of("present"), of("other")
	says(present)
	execute("CREATE SCHEMA kproxy_store")
	execute("CREATE TABLE kproxy_store.policy (number bigint, fingerprint text, policy jsonb, place text, accepted_at timestamptz)")
	says(present)
	for i, c := range []*config.Config{present, former, present} {
		execute("INSERT INTO kproxy_store.policy VALUES ($1, $2, '{}', 'a:/b', '2026-01-02 03:04:05Z')", i+1, fingerprint(c))
	}
	says(present)
	says(other)
	says(former, "is number 2, which number 3 has superseded (accepted at 2026-01-02 03:04:05)")
}
