package observe

import (
	"cmp"
	"container/list"
	"slices"
	"sync"
	"time"

	"github.com/kproxy/kproxy/proxy"
)

// Bounds of what is remembered.
const (
	maxRefused = 1000
	maxSlow    = 500
)

// RefusedShape is a shape of statements that kproxy has refused.
type RefusedShape struct {
	SQLState string    `json:"sqlstate"`
	Shape    string    `json:"shape"` // empty where the text was refused before it was parsed
	Count    int64     `json:"count"`
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// refusedKey tells them apart.
type refusedKey struct{ state, shape string }

// refused are the shapes that were refused last.
type refused struct {
	mu    sync.Mutex
	known map[refusedKey]*list.Element
	order *list.List // of *RefusedShape, the last one refused first
}

func newRefused() *refused {
	return &refused{known: make(map[refusedKey]*list.Element), order: list.New()}
}

func (r *refused) add(a *proxy.Answered) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := refusedKey{a.SQLState, a.Shape}
	element := r.known[key]
	if element == nil {
		element = r.order.PushFront(&RefusedShape{SQLState: key.state, Shape: key.shape, First: a.At})
		r.known[key] = element
		if r.order.Len() > maxRefused {
			oldest := r.order.Remove(r.order.Back()).(*RefusedShape)
			delete(r.known, refusedKey{oldest.SQLState, oldest.Shape})
		}
	}
	shape := element.Value.(*RefusedShape)
	shape.Count++
	shape.Last = a.At
	r.order.MoveToFront(element)
}

func (r *refused) list() []RefusedShape {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := make([]RefusedShape, 0, r.order.Len())
	for e := r.order.Front(); e != nil; e = e.Next() {
		all = append(all, *e.Value.(*RefusedShape))
	}
	return all
}

// SlowShape is how long statements of one shape have taken.
type SlowShape struct {
	Shape  string        `json:"shape"`
	Tables []string      `json:"tables"`
	Count  int64         `json:"count"`
	Failed int64         `json:"failed"` // among them
	Rows   int64         `json:"rows"`
	Total  time.Duration `json:"total_ns"`
	Mean   time.Duration `json:"mean_ns"`
	Max    time.Duration `json:"max_ns"`
	Last   time.Time     `json:"last"`
}

// slow are the shapes that have taken longest.
type slow struct {
	mu    sync.Mutex
	known map[string]*SlowShape
	// least is the greatest time that a shape must have taken to be remembered where
	// there are too many; as of when the last one was dropped.
	least time.Duration
}

func newSlow() *slow { return &slow{known: make(map[string]*SlowShape)} }

func (s *slow) add(a *proxy.Answered) {
	took := a.Waited + a.Serving
	s.mu.Lock()
	defer s.mu.Unlock()
	shape := s.known[a.Shape]
	if shape == nil {
		if len(s.known) >= maxSlow && took <= s.least {
			return
		}
		shape = &SlowShape{Shape: a.Shape, Tables: a.Reads}
		s.known[a.Shape] = shape
		shape.Max = took
		s.drop()
	}
	shape.Count++
	if a.SQLState != "" {
		shape.Failed++
	}
	shape.Rows += a.Rows
	shape.Total += took
	shape.Max = max(shape.Max, took)
	shape.Last = a.At
}

// drop forgets the quickest quarter where there are too many, so that one look at all of
// them serves many new ones.
func (s *slow) drop() {
	if len(s.known) <= maxSlow {
		return
	}
	all := s.sorted()
	for _, quick := range all[maxSlow*3/4:] {
		s.least = max(s.least, quick.Max)
		delete(s.known, quick.Shape)
	}
}

// sorted are all, the slowest first.
func (s *slow) sorted() []*SlowShape {
	all := make([]*SlowShape, 0, len(s.known))
	for _, shape := range s.known {
		all = append(all, shape)
	}
	slices.SortFunc(all, func(a, b *SlowShape) int {
		return cmp.Or(cmp.Compare(b.Max, a.Max), cmp.Compare(a.Shape, b.Shape))
	})
	return all
}

func (s *slow) list() []SlowShape {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]SlowShape, 0, len(s.known))
	for _, shape := range s.sorted() {
		told := *shape
		told.Mean = told.Total / time.Duration(told.Count)
		all = append(all, told)
	}
	return all
}
