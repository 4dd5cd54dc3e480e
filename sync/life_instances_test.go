package sync

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

const (
	applies = "streaming published published"
	follows = "following published published"
)

// one waits until exactly one of some children applies and the others follow, and
// returns it.
func one(t *testing.T, children []*child) (applier *child, others []*child) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		applier, others = nil, nil
		for _, c := range children {
			switch c.state() {
			case applies:
				if applier != nil {
					t.Fatal("two children apply")
				}
				applier = c
			case follows:
				others = append(others, c)
			}
		}
		if applier != nil && len(others) == len(children)-1 {
			return applier, others
		}
		if time.Since(start) > patience {
			for _, c := range children {
				t.Logf("told: %q", c.told())
			}
			t.Fatal("there is not one that applies while the others follow")
		}
	}
}

// inStepBy compares the store, whoever applies, by a further process that follows.
func (b *bench) inStepBy(l *live) {
	b.t.Helper()
	l.eventually("every table is published", func() bool {
		status := l.Status()
		ready := status.State == Following || status.State == Streaming
		for _, p := range b.config.Tables {
			ready = ready && status.Tables[p.Policy.Table].State == Published && !status.Tables[p.Policy.Table].Preparing
		}
		return ready
	})
	b.caughtUp(l.Syncer)
	b.checkStore(l.Syncer)
}

// TestThreeProcesses kills the one that applies, ends it in order, and cuts its lock.
func TestThreeProcesses(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	var children []*child
	for range 3 {
		children = append(children, b.spawn(errand{}))
	}
	first, others := one(t, children)
	l := b.start() // a fourth, in this process, which tells where the store stands
	l.eventually("it follows", func() bool { return l.Status().State == Following })
	b.alter()
	b.inStepBy(l)
	b.alter()
	began := time.Now()
	first.kill()
	l.stop()
	second, others := one(t, others)
	t.Logf("after kill -9 another applied within %v", time.Since(began))

	l = b.start()
	b.inStepBy(l)
	l.stop()
	began = time.Now()
	second.leave()
	third, _ := one(t, others)
	t.Logf("after an orderly end another applied within %v", time.Since(began))
	if text := second.logged(); strings.Contains(text, "level=ERROR") {
		t.Errorf("an orderly end is logged as an error:\n%s", text)
	}

	// Only the connection with the lock is cut: whoever gets it, one applies.
	fourth := b.spawn(errand{})
	one(t, []*child{third, fourth})
	b.alter()
	b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 AND backend_type = 'walsender' AND application_name LIKE 'kproxy apply %'", b.config.Owner.User)
	b.alter()
	one(t, []*child{third, fourth})
	l = b.start()
	b.inStepBy(l)
}

// TestSleeper stops the process that applies for longer than the lease, with a
// transaction on the store open; another takes over and measures what was kept for the
// slot, and the sleeper writes nothing when it wakes up.
func TestSleeper(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for the lease to end, which takes ten seconds")
	}
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	sleeper := b.spawn(errand{Hold: FailBeforeCommit})
	sleeper.tells(applies)
	l := b.start()
	l.eventually("it follows", func() bool { return l.Status().State == Following })
	b.alter()
	sleeper.tells("held")
	sleeper.signal(syscall.SIGSTOP)
	b.script("CREATE TABLE heavy (x text); INSERT INTO heavy SELECT repeat('x', 1000) FROM generate_series(1, 20000)")
	b.alter()
	began := time.Now()
	l.eventually("it takes over", func() bool { return l.Status().State == Streaming })
	t.Logf("took over after %v", time.Since(began))
	l.eventually("it measures what was kept", func() bool { return l.Status().Slot.Retained > 1<<20 })
	b.alter()
	l.inStep()
	epoch := scanned[int64](b, "SELECT epoch FROM kproxy_store.position")
	told := len(sleeper.told())
	sleeper.signal(syscall.SIGCONT)
	sleeper.tells("following")
	for _, state := range sleeper.told()[told:] {
		if strings.HasPrefix(state, "streaming") {
			t.Errorf("the sleeper applies again: %q", sleeper.told())
		}
	}
	if now := scanned[int64](b, "SELECT epoch FROM kproxy_store.position"); now != epoch || l.Status().State != Streaming {
		t.Errorf("the epoch went from %d to %d, and the other is %s", epoch, now, l.Status().State)
	}
	b.alter()
	l.inStep()
}

// TestConfigurationsDiffer runs processes that do not agree on tables and policies:
// whoever applies, nothing is dropped that another one protects.
func TestConfigurationsDiffer(t *testing.T) {
	t.Parallel()
	b := newWard(t, pgtest.Shared(t))
	whole := b.config.Tables
	l := b.start()
	l.inStep()
	ward, guarded := b.generationOf("ward"), b.generationOf("visits")

	// One follows that knows only the first table, and one with another policy.
	few := b.spawn(errand{Policy: "first table"})
	few.tells("following published")
	other := b.spawn(errand{Policy: "other policy"})
	other.tells("following halted published")
	if b.generationOf("ward") != ward || b.generationOf("visits") != guarded {
		t.Error("a process that follows changed the store")
	}
	other.kill()

	// The one with fewer tables takes over: the other table is not dropped.
	l.stop()
	few.tells("streaming published")
	b.exec("UPDATE ward SET age = (age + 1) % 80")
	b.config.Tables = whole
	l = b.start()
	l.eventually("it follows and tells that a table is halted", func() bool {
		status := l.Status()
		return status.State == Following && status.Tables[wardTable].State == Published && status.Tables[visitsTable].State == Halted
	})
	if status := l.Status().Tables[visitsTable]; !strings.Contains(status.Fix, "same configuration") {
		t.Errorf("it does not say what to do: %+v", status)
	}
	if b.generationOf("visits") != guarded {
		t.Error("the guarded table was dropped, or published afresh")
	}
	few.leave()
	l.inStep()
	if b.generationOf("visits") != guarded {
		t.Error("the guarded table lost its lineage")
	}
	b.alter()
	l.inStep()
}

// TestReloadsInEveryOrder gives two processes a third table, in either order, and takes
// it away again.
func TestReloadsInEveryOrder(t *testing.T) {
	t.Parallel()
	for _, order := range [][2]int{{0, 1}, {1, 0}} {
		t.Run(fmt.Sprint(order), func(t *testing.T) {
			t.Parallel()
			b, all := withThird(t)
			pair := [2]*live{b.start(), nil}
			pair[0].inStep()
			pair[1] = b.start()
			b.inStepBy(pair[1])
			generations := [2]int{b.generationOf("ward"), b.generationOf("visits")}
			reload := func(tables []catalog.Publication) {
				t.Helper()
				b.config.Tables = tables
				for _, i := range order {
					pair[i].Reload(tables)
					b.alter()
				}
				for _, l := range pair {
					b.inStepBy(l)
				}
			}
			reload(all)
			b.generationOf("third")
			reload(all[:2])
			if generations != [2]int{b.generationOf("ward"), b.generationOf("visits")} {
				t.Error("another table was published afresh")
			}
			// What one of them took out is dropped, whoever applies.
			pair[0].eventually("the third table is dropped or halted", func() bool {
				return !scanned[bool](b, "SELECT EXISTS (SELECT FROM kproxy_store.generation WHERE table_name = 'third' AND halted IS NULL)")
			})
		})
	}
}
