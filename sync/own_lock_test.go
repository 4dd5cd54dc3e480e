package sync

import (
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// TestWaitsForItself puts a policy back that was in force before, while the server has not ended the
// session of this process that holds the lock: the process does not take itself for another one, which
// would have the policy refused that the operator has just reloaded.
func TestWaitsForItself(t *testing.T) {
	t.Parallel()
	b := newLiveBench(t, map[string]catalog.TablePolicy{"visits": visitsPolicy("visits", "rounded-partition", "", ofSize)}, 60)
	policy := func(name string) Policy { return Policy{Fingerprint: name, Text: []byte("{}"), Place: "here"} }
	b.config.Whole = policy("one")
	s, _ := b.run()
	const number = "SELECT max(number) FROM kproxy_store.policy"
	s.ReloadAs(b.config.Tables, policy("two"), true)
	await(t, "another policy is in force", func() bool { return s.Status().State == Streaming && scanned[int64](b, number) == 2 })

	session := scanned[int](b, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE backend_type = 'walsender' AND datname = current_database() AND application_name = $1", ApplierName(b.config.Slot))
	if err := syscall.Kill(session, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(session, syscall.SIGCONT) }()
	s.ReloadAs(b.config.Tables, policy("one"), true)
	await(t, "it has connected once more", func() bool {
		return scanned[int](b, "SELECT count(*)::int FROM pg_stat_activity WHERE backend_type = 'walsender' AND datname = current_database() AND pid <> $1", session) > 0
	})
	time.Sleep(3 * followInterval)
	if got := s.Status(); got.State == Following {
		t.Errorf("it follows itself: %+v", got)
	}
	if err := syscall.Kill(session, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	await(t, "the first policy is in force again", func() bool { return s.Status().State == Streaming && scanned[int64](b, number) == 3 })
	if got := s.Status(); got.Refused != "" {
		t.Errorf("the policy is refused: %s", got.Refused)
	}
}
