package sync

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kproxy/kproxy/catalog"
)

// clock is a wall clock that can be set.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time        { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *clock) wrong(d time.Duration) { c.offset.Store(int64(d)) }

const day = 24 * time.Hour

// TestClockJumps lets the clock jump by days while guarded tables change, with restarts
// in between; every version is compared with the one before.
func TestClockJumps(t *testing.T) {
	t.Parallel()
	tables := map[string]catalog.TablePolicy{
		"within":   guardedVisits("within", "rounded-partition", "", catalog.Updates{Crowd: 1, Within: time.Hour}, ofSize),
		"deadline": guardedVisits("deadline", "rounded-partition", "", catalog.Updates{Crowd: 2, Deadline: day}, ofSize),
		"combined": guardedVisits("combined", "datafly", "person", catalog.Updates{Crowd: 2, Within: time.Hour, Deadline: 3 * day}, ofSize),
	}
	b := newLiveBench(t, tables, 120)
	c := &clock{}
	b.config.Now = c.now
	r := rand.New(rand.NewPCG(11, 0))
	l := b.start()
	l.inStep()
	versions := map[string]map[int64]shown{}
	for name := range tables {
		versions[name] = b.shownRows(name)
	}
	jumps := []time.Duration{2 * time.Hour, 5 * day, -3 * day, -40 * day, 0, 400 * day, 0, -time.Minute, 30 * time.Minute, 0}
	for i, jump := range jumps {
		for name := range tables {
			b.revisit(r, name, 5+r.IntN(20))
		}
		c.wrong(jump)
		if i%4 == 2 {
			l.stop()
			l = b.start()
		}
		for name := range tables {
			b.revisit(r, name, 1+r.IntN(5))
		}
		l.inStep()
		for name := range tables {
			now := b.shownRows(name)
			b.compareVersions(name, ofSize.K, versions[name], now)
			versions[name] = now
		}
	}
}

// TestWaitingEndsWithTheRightClock has records come while the clock is wrong, and sees
// to it that they wait no longer than they should once it is right, although nothing
// more happens.
func TestWaitingEndsWithTheRightClock(t *testing.T) {
	t.Parallel()
	for name, wrong := range map[string]time.Duration{"behind": -3 * day, "ahead": 3 * day} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newLiveBench(t, map[string]catalog.TablePolicy{
				"came":    guardedVisits("came", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 1000, Within: 2 * time.Second}, ofSize),
				"expires": guardedVisits("expires", "rounded-partition", "", catalog.Updates{Crowd: 1, Batch: 1000, Deadline: 2 * time.Second}, ofSize),
			}, 50)
			c := &clock{}
			b.config.Now = c.now
			l := b.start()
			l.inStep()
			status := func(table string) TableStatus {
				return l.Status().Tables[catalog.Name{Schema: "public", Relation: table}]
			}
			for _, table := range []string{"came", "expires"} {
				b.exec("INSERT INTO " + table + " SELECT " + visit("i") + " FROM generate_series(100, 105) i")
			}
			l.eventually("they wait", func() bool { return status("came").Waiting == 6 && status("expires").Waiting == 6 })
			c.wrong(wrong)
			time.Sleep(2500 * time.Millisecond) // a timer that was set before comes to nothing
			c.wrong(0)
			l.eventually("those that came are published", func() bool { return len(b.shownRows("came")) == 56 })
			l.eventually("those that waited in vain are withheld", func() bool { return status("expires").Expired == 6 })
			b.checkStore(l.Syncer)
		})
	}
}
