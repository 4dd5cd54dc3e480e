package webconsole

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/cmd/kproxy/status"
)

// memo remembers what is dear to find out. However many ask, it is found out by one at a
// time, and rests ten times as long as that took, half a minute at most: looking at
// figures takes a tenth of a connection's time, unless it takes longer than three seconds.
type memo[T any] struct {
	mutex sync.Mutex
	known bool
	value T
	until time.Time
	under map[catalog.Name]status.Condition
}

const (
	memoLeast  = 2 * time.Second
	memoFactor = 10
	memoMost   = 30 * time.Second
)

// get returns what is known or finds it out. What was found out under other conditions of the
// tables is not known any more: that somebody is needed must be seen at once. A failure is
// not remembered.
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
	m.known, m.value, m.under = true, value, under
	m.until = now.Add(min(memoMost, max(memoLeast, memoFactor*now.Sub(began))))
	return value, nil
}

// peek returns what is known, however old; false while it is being found out or was never
// asked for.
func (m *memo[T]) peek() (value T, known bool) {
	if !m.mutex.TryLock() {
		return value, false
	}
	defer m.mutex.Unlock()
	return m.value, m.known
}

// forget has the next one find out afresh.
func (m *memo[T]) forget() {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.known = false
}
