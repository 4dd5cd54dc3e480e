package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestPoolUnderRandomSessions lets sessions of a few users come, wait, give up, work and
// go at random, on servers that fail at random, while the configuration changes, and
// checks what must hold at all times, and at the end.
func TestPoolUnderRandomSessions(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { randomSessions(t, seed) })
		})
	}
}

func randomSessions(t *testing.T, seed uint64) {
	f := newFakeWorld(t, seed)
	chance := func(percent int) bool { return f.random.IntN(100) < percent }
	f.delay = func() time.Duration { return time.Duration(f.random.IntN(20)) * time.Millisecond }
	f.failing = func(*host) error {
		if chance(5) {
			return errors.New("no route to host")
		}
		return nil
	}
	f.unclean = func() bool { return chance(10) }
	f.vanished = func() bool { return chance(10) }
	r := rand.New(rand.NewPCG(seed, 2))
	c := Config{Options: Options{
		MaxConnections: 1 + r.IntN(8), MaxPerUser: 1 + r.IntN(4), MaxQueue: 1 + r.IntN(40), MaxDials: 1 + r.IntN(4),
		QueueTimeout: time.Duration(1+r.IntN(500)) * time.Millisecond, IdleTimeout: time.Second, Lifetime: 3 * time.Second,
	}}
	p := f.newPool(c)
	c.Roles = map[string]*pgconn.Config{"": fakeRole(t)}
	var sessions sync.WaitGroup
	inUse := map[string]int{}
	for i := range 400 {
		arrival, work := time.Duration(r.IntN(4000))*time.Millisecond, time.Duration(r.IntN(60))*time.Millisecond
		patience := time.Duration(1+r.IntN(1000)) * time.Millisecond
		user, zone, status := fmt.Sprint("user", r.IntN(4)), fmt.Sprint(r.IntN(3)), "ITE\x00"[r.IntN(4)]
		sessions.Go(func() {
			time.Sleep(arrival)
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			l, err := obtain(ctx, p, Want{User: user, Parameters: map[string]string{"timezone": zone}})
			if err != nil {
				return
			}
			done := f.use(l, fmt.Sprint("session ", i))
			f.mu.Lock()
			inUse[user]++
			if inUse[user] > c.MaxPerUser {
				t.Errorf("%s has %d connections, of at most %d", user, inUse[user], c.MaxPerUser)
			}
			f.mu.Unlock()
			time.Sleep(work)
			f.mu.Lock()
			inUse[user]--
			f.mu.Unlock()
			done()
			l.Release(status)
			l.Release('I')
		})
	}
	for range 3 {
		time.Sleep(time.Second)
		if err := p.Reconfigure(c); err != nil {
			t.Error(err)
		}
		p.Reset()
	}
	sessions.Wait()
	time.Sleep(100 * time.Millisecond)
	synctest.Wait()
	s := p.Stats()
	if s.InUse != 0 || s.Waiting != 0 || s.Places != s.Idle || f.connections() != s.Idle || len(p.slots.queue.accounts) != 0 {
		t.Errorf("at the end %+v, %d connections, %d accounts", s, f.connections(), len(p.slots.queue.accounts))
	}
	for _, h := range p.hosts.all {
		if h.load != 0 {
			t.Errorf("a host with %d sessions", h.load)
		}
	}
	if f.most.live > c.MaxConnections || f.most.opening > c.MaxDials {
		t.Errorf("up to %+v, of at most %d and %d", f.most, c.MaxConnections, c.MaxDials)
	}
	p.Close()
	if f.connections() != 0 {
		t.Errorf("%d connections after the end", f.connections())
	}
	if _, err := obtain(context.Background(), p, Want{}); !errors.Is(err, errClosed) {
		t.Error(err)
	}
}

// TestQueueAgainstModel compares the queue with a list that is searched from the front.
func TestQueueAgainstModel(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		perUser := 1 + r.IntN(3)
		q := newQueue(perUser)
		var model []*waiter // who wait, as they came
		serving := map[string]int{}
		// next is the first whose user may have another connection, counting those before it.
		next := func() *waiter {
			taken := map[string]int{}
			for _, w := range model {
				if taken[w.want.User]++; serving[w.want.User]+taken[w.want.User] <= perUser {
					return w
				}
			}
			return nil
		}
		drop := func(w *waiter) {
			for i := range model {
				if model[i] == w {
					model = append(model[:i:i], model[i+1:]...)
					return
				}
			}
		}
		for range 300 {
			switch r.IntN(5) {
			case 0, 1:
				model = append(model, q.join(&want{Want: Want{User: fmt.Sprint(r.IntN(4))}}))
			case 2:
				w := q.next()
				if expected := next(); w != expected {
					t.Fatalf("next is %+v, want %+v", w, expected)
				}
				if w != nil {
					q.serve(w, grant{})
					serving[w.want.User]++
					drop(w)
				}
			case 3:
				user := fmt.Sprint(r.IntN(4))
				if serving[user] > 0 {
					serving[user]--
					q.leave(user)
				}
			default:
				if len(model) > 0 {
					w := model[r.IntN(len(model))]
					q.abandon(w)
					drop(w)
				}
			}
			if q.len() != len(model) {
				t.Fatalf("%d wait, want %d", q.len(), len(model))
			}
		}
	}
}

// TestFirstComeFirstServed has sessions wait for one connection.
func TestFirstComeFirstServed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Options: Options{MaxConnections: 1, MaxQueue: 10}})
		defer p.Close()
		first, err := obtain(t.Context(), p, Want{})
		if err != nil {
			t.Fatal(err)
		}
		var served []string
		for i := range 10 {
			go func() {
				l, err := obtain(t.Context(), p, Want{User: fmt.Sprint(i % 3), Parameters: map[string]string{"x": fmt.Sprint(i % 2)}})
				if err != nil {
					t.Error(err)
					return
				}
				served = append(served, fmt.Sprint(i))
				l.Release("I\x00"[i/5])
			}()
			synctest.Wait()
		}
		_, err = obtain(t.Context(), p, Want{})
		if !errors.Is(err, errQueueFull) {
			t.Errorf("the queue is full, and Get says %v", err)
		}
		first.Release('I')
		synctest.Wait()
		if got := strings.Join(served, ""); got != "0123456789" {
			t.Error(got)
		}
	})
}

// TestRefusals tells sessions apart that get no connection.
func TestRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Options: Options{MaxConnections: 2, MaxPerUser: 1, QueueTimeout: time.Second}})
		defer p.Close()
		ann, err := obtain(t.Context(), p, Want{User: "ann"})
		if err != nil {
			t.Fatal(err)
		}
		refused := make(chan error)
		try := func(user string) {
			_, err := obtain(t.Context(), p, Want{User: user})
			refused <- err
		}
		go try("ann")
		synctest.Wait()
		if _, err := obtain(t.Context(), p, Want{User: "ann"}); !errors.Is(err, errUserLimit) {
			t.Error(err)
		}
		bob, err := obtain(t.Context(), p, Want{User: "bob"}) // ann is not in the way
		if err != nil {
			t.Fatal(err)
		}
		if err := <-refused; !errors.Is(err, errUserLimit) {
			t.Error(err)
		}
		go try("eve")
		if err := <-refused; !errors.Is(err, errQueueTimeout) {
			t.Error(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		go func() {
			_, err := obtain(gone, p, Want{User: "eve"})
			refused <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-refused; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ann.Release('I')
		bob.Release(0)
		if _, err := obtain(t.Context(), p, Want{User: "eve", Role: "nobody's"}); err == nil {
			t.Error("a role that is not there")
		}
	})
}

// TestNewestIsReused keeps what is not needed idle until it is closed.
func TestNewestIsReused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Options: Options{IdleTimeout: 10 * time.Second, Lifetime: time.Hour}})
		defer p.Close()
		var links []*Link
		for range 3 {
			l, err := obtain(t.Context(), p, Want{})
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, l)
		}
		for _, l := range links {
			l.Release('I')
			time.Sleep(time.Millisecond)
		}
		for range 20 {
			time.Sleep(time.Second)
			l, err := obtain(t.Context(), p, Want{})
			if err != nil {
				t.Fatal(err)
			}
			if l.conn != links[2].conn {
				t.Fatal("not the one that was used last")
			}
			l.Release('I')
		}
		synctest.Wait()
		if s := p.Stats(); s.Idle != 1 || f.connections() != 1 {
			t.Errorf("%+v, %d connections", s, f.connections())
		}
		time.Sleep(20 * time.Second)
		synctest.Wait()
		if s := p.Stats(); s != (Stats{}) || f.connections() != 0 {
			t.Errorf("%+v, %d connections", s, f.connections())
		}
	})
}

// TestOthersMakeRoom has a session with other parameters come when all places are kept.
func TestOthersMakeRoom(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Options: Options{MaxConnections: 2}})
		defer p.Close()
		for _, zone := range []string{"a", "b", "c", "a"} {
			l, err := obtain(t.Context(), p, Want{Parameters: map[string]string{"timezone": zone}})
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
			l.Release('I')
			synctest.Wait()
		}
		if s := p.Stats(); s.Idle != 2 || f.most.live != 2 {
			t.Errorf("%+v, up to %d", s, f.most.live)
		}
	})
}
