package pool

import (
	"context"
	"errors"
	"net"
	"runtime"
	"testing"
	"testing/synctest"
)

// TestGrantThatComesTooLate has a session given its turn in the moment in which it gives
// up: the turn goes to the next one.
func TestGrantThatComesTooLate(t *testing.T) {
	t.Parallel()
	for range 100 {
		synctest.Test(t, func(t *testing.T) {
			f := newFakeWorld(t, 1)
			p := f.newPool(Config{Options: Options{MaxConnections: 1}})
			defer p.Close()
			first, err := obtain(t.Context(), p, Want{User: "ann"})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			go func() {
				if l, err := obtain(ctx, p, Want{User: "bob"}); err == nil {
					l.Release(0)
				}
			}()
			synctest.Wait()
			p.mu.Lock()
			cancel()
			runtime.Gosched() // so that it sometimes finds the one first, sometimes the other
			p.slots.taken++
			p.slots.queue.serve(p.slots.queue.next(), grant{})
			p.mu.Unlock()
			synctest.Wait()
			first.Release('I')
			synctest.Wait()
			if s := p.Stats(); s.Places != 1 || s.Idle != 1 || s.Waiting != 0 || len(p.slots.queue.accounts) != 0 {
				t.Errorf("%+v, %d accounts", s, len(p.slots.queue.accounts))
			}
		})
	}
}

// TestCancelRequestsEndBeforeReuse releases a connection while a cancel request for it is
// under way.
func TestCancelRequestsEndBeforeReuse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFakeWorld(t, 1)
		p := f.newPool(Config{})
		defer p.Close()
		l, err := obtain(t.Context(), p, Want{})
		if err != nil {
			t.Fatal(err)
		}
		arrived := make(chan struct{})
		l.conn.cancels.dial = func(context.Context, string, string) (net.Conn, error) {
			<-arrived
			return nil, errors.New("that is enough")
		}
		go func() { _ = l.Cancel(t.Context()) }()
		synctest.Wait()
		l.Release('I')
		synctest.Wait()
		if s := p.Stats(); s.Idle != 0 || s.Places != 1 {
			t.Errorf("while it is under way: %+v", s)
		}
		if err := l.Cancel(t.Context()); !errors.Is(err, errReleased) {
			t.Error(err)
		}
		close(arrived)
		synctest.Wait()
		if s := p.Stats(); s.Idle != 1 {
			t.Errorf("afterwards: %+v", s)
		}
	})
}
