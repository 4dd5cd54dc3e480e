package sync

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pglogrepl"
)

// TestFlights holds a group before its commit while others come behind it: none of them
// commits, is shown or acknowledged before it, and where it is lost, all are applied
// again, each once.
func TestFlights(t *testing.T) {
	before := groupRows
	groupRows = 5
	t.Cleanup(func() { groupRows = before })
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("lost=%v", lost), func(t *testing.T) {
			b := tablesBench(t, person("plain"))
			b.fillPersons(30, "plain")
			var armed atomic.Bool
			var passed atomic.Int64
			reached, release := make(chan struct{}), make(chan struct{})
			b.config.Failpoint = func(name string) {
				if name == FailBeforeCommit && armed.Load() && passed.Add(1) == 1 {
					close(reached)
					<-release
				}
			}
			s, _ := b.run()
			b.settled(s)
			answers := b.answersOf("SELECT count(*)::int FROM " + viewOf("plain"))
			armed.Store(true)
			for group := range 5 {
				b.script(fmt.Sprintf("INSERT INTO plain SELECT i, i %% 70, NULL, 'illness ' || i %% 5 FROM generate_series(%d, %d) i", 1000+10*group, 1009+10*group))
				if group == 0 {
					<-reached
				}
			}
			stored := s.Status().Position
			time.Sleep(2 * statusInterval) // an acknowledgement is due meanwhile
			var confirmed string
			b.scan([]any{&confirmed}, "SELECT confirmed_flush_lsn::text FROM pg_replication_slots WHERE slot_name = $1", b.config.Slot)
			if at, err := pglogrepl.ParseLSN(confirmed); err != nil || at > stored || s.Status().Position != stored || passed.Load() != 1 {
				t.Errorf("the store is at %s, was at %s, %s is acknowledged (%v), %d groups came to their commit", s.Status().Position, stored, confirmed, err, passed.Load())
			}
			if lost {
				b.exec("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_type = 'client backend' AND state LIKE 'idle in transaction%' AND usename = $1", b.config.Owner.User)
			}
			close(release)
			b.settled(s)
			var seen []int32
			for _, answer := range answers() {
				seen = append(seen, answer[0].(int32))
			}
			if seen[0] != 30 || seen[len(seen)-1] != 80 || !slices.IsSorted(seen) || slices.ContainsFunc(seen, func(n int32) bool { return n%10 != 0 }) {
				t.Errorf("readers saw %v records", seen)
			}
		})
	}
}

// TestMalformedMessages cuts messages short and gives them what they cannot hold: they are
// refused, whatever stands in them.
func TestMalformedMessages(t *testing.T) {
	t.Parallel()
	r := &relation{place: []int{0, 2}, stored: []int{0, -1, 1}}
	whole := []byte("N\x00\x03t\x00\x00\x00\x01ant\x00\x00\x00\x02bc")
	c, err := r.change(&messageReader{rest: whole})
	if want := []value{{text: "a"}, {text: "bc"}}; err != nil || !slices.Equal(c.new, want) || c.old != nil {
		t.Fatalf("read %v and %v: %v", c.old, c.new, err)
	}
	for length := 1; length < len(whole); length++ {
		if _, err := r.change(&messageReader{rest: whole[:length]}); err == nil {
			t.Errorf("%d bytes of %d are read", length, len(whole))
		}
	}
	for _, bytes := range []string{"X", "N\x00\x02nn", "N\x00\x03nnx", "N\x00\x03nnt\xff\xff\xff\xff", "N\x00\x03nnnK\x00"} {
		if _, err := r.change(&messageReader{rest: []byte(bytes)}); err == nil {
			t.Errorf("%q is read", bytes)
		}
	}
}
