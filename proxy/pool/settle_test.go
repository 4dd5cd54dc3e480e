package pool

import (
	"context"
	"testing"
	"time"
)

// A connection whose answer to claim was never read must not be reset and kept.
func TestUnsettledIsDiscarded(t *testing.T) {
	t.Parallel()
	f := newFakeWorld(t, 1)
	p := f.newPool(Config{})
	l, err := p.Get(t.Context(), Want{User: "a"})
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Settle(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Release('I')
	for p.Report().Idle != 1 {
		time.Sleep(time.Millisecond)
	}
	l, err = p.Get(t.Context(), Want{User: "a"})
	if err != nil {
		t.Fatal(err)
	}
	f.mu.Lock()
	f.stalled = func() bool { return true }
	f.mu.Unlock()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := l.Settle(ctx); err == nil {
		t.Fatal("it is settled")
	}
	l.Release('I')
	for r := p.Report(); r.Reset+r.Discarded < 2; r = p.Report() {
		time.Sleep(time.Millisecond)
	}
	if r := p.Report(); r.Discarded != 1 || r.Idle != 0 {
		t.Errorf("a connection with an answer on its way is kept: %+v", r)
	}
}
