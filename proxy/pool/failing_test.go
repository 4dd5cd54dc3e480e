package pool

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestCircuit counts how often a server that does not answer is asked.
func TestCircuit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		asked, down := map[string]int{}, map[string]bool{"one": true}
		f.delay = func() time.Duration { return 10 * time.Millisecond }
		f.failing = func(h *host) error {
			asked[h.host]++
			if down[h.host] {
				return errors.New("connection refused")
			}
			return nil
		}
		p := f.newPool(Config{})
		defer p.Close()
		failed := 0
		for range 10_000 {
			go func() {
				if _, err := obtain(t.Context(), p, Want{}); err != nil {
					if !strings.Contains(err.Error(), "connection refused") {
						t.Error(err)
					}
					f.mu.Lock()
					failed++
					f.mu.Unlock()
				}
			}()
			time.Sleep(time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if failed != 10_000 || asked["one"] > 60 {
			t.Errorf("asked %d times for %d sessions", asked["one"], failed)
		}
		down["one"] = false
		time.Sleep(mostBackoff)
		for range 2 {
			if _, err := obtain(t.Context(), p, Want{}); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// keep has a pool keep a number of connections.
func keep(t *testing.T, p *Pool, n int) {
	t.Helper()
	var links []*Link
	for range n {
		l, err := obtain(t.Context(), p, Want{})
		if err != nil {
			t.Fatal(err)
		}
		links = append(links, l)
	}
	for _, l := range links {
		l.Release('I')
	}
	synctest.Wait()
}

// TestKeptConnectionsServeWhileLoginsFail has a server that lets nobody in any more.
func TestKeptConnectionsServeWhileLoginsFail(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{})
		defer p.Close()
		keep(t, p, 2)
		refusal := errors.New("password authentication failed")
		f.failing = func(*host) error { return refusal }
		if _, err := obtain(t.Context(), p, Want{Parameters: map[string]string{"timezone": "UTC"}}); !errors.Is(err, refusal) {
			t.Error(err)
		}
		for range 2 {
			if _, err := obtain(t.Context(), p, Want{}); err != nil {
				t.Error(err)
			}
		}
		if _, err := obtain(t.Context(), p, Want{}); !errors.Is(err, refusal) {
			t.Error(err)
		}
	})
}

// TestStalledServer has a server whose kept connections are open and dead.
func TestStalledServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{Options: Options{ConnectTimeout: time.Second}})
		defer p.Close()
		keep(t, p, 5)
		f.stalled = func() bool { return true }
		began := time.Now()
		for range 3 {
			if _, err := obtain(t.Context(), p, Want{}); !errors.Is(err, errConnectTimeout) {
				t.Error(err)
			}
		}
		if waited := time.Since(began); waited != time.Second {
			t.Errorf("three sessions waited %v one after the other", waited)
		}
		f.stalled = func() bool { return false }
		time.Sleep(mostBackoff)
		keep(t, p, 1)
		if s := p.Stats(); s.Idle != 5 || s.Places != 5 || p.hosts.all[0].load != 0 {
			t.Errorf("%+v", s)
		}
	})
}
