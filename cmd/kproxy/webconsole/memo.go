package webconsole

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
)

// memo caches a value that is expensive to compute. One goroutine at a time computes it, and the
// value is valid ten times as long as that took, at most half a minute: the console uses a tenth of
// a connection's time, unless a computation takes longer than three seconds.
type memo[T any] struct {
	mutex    sync.Mutex
	known    bool // value is valid until then
	computed bool // value was computed once
	value    T
	until    time.Time
	under    map[catalog.Name]status.Condition
}

const (
	memoLeast  = 2 * time.Second
	memoFactor = 10
	memoMost   = 30 * time.Second
)

// get returns the cached value or computes it. A value that was computed under other conditions of
// the tables is not valid: that a table needs attention must be visible at once. Errors are not
// cached.
func (m *memo[T]) get(ctx context.Context, under map[catalog.Name]status.Condition, find func(context.Context) (T, error)) (T, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.known && time.Now().Before(m.until) && maps.Equal(m.under, under) {
		return m.value, nil
	}
	began := time.Now()
	value, err := find(ctx)
	if err != nil {
		return value, err
	}
	now := time.Now()
	m.known, m.computed, m.value, m.under = true, true, value, under
	m.until = now.Add(min(memoMost, max(memoLeast, memoFactor*now.Sub(began))))
	return value, nil
}

// last returns the value that was computed last, however old, and false if there is none. It is for the
// function that computes it.
func (m *memo[T]) last() (value T, known bool) { return m.value, m.computed }

// forget invalidates the value.
func (m *memo[T]) forget() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.known = false
}
