package answers

import (
	"container/heap"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"
)

// Key is what an answer is of. Two askers with the same key, and the same state of what is read,
// get the same answer from the server.
type Key struct {
	Server, Role string // whose answer it is
	Statement    string // as the server gets it
	Parameters   string // their types, formats and values, and the formats of the result
	Settings     string // those of the session that an answer may depend on
	Simple       bool   // the answer is one to a Query, with its RowDescription
}

// size is what the key takes, in bytes.
func (k *Key) size() int {
	return len(k.Server) + len(k.Role) + len(k.Statement) + len(k.Parameters) + len(k.Settings)
}

// Answer is what the server has sent. It is never changed.
type Answer struct {
	Messages []byte
	Rows     int64
}

const (
	// overhead is what an entry costs beside its texts and messages, in bytes, rounded up.
	overhead = 512
	// greatest is which part of the store one answer may take.
	greatest = 16
	// underWay is which part of it answers may take together that are yet to be kept.
	underWay = 4
)

// Store holds answers. Any goroutine may use it.
type Store struct {
	// LeastTime is set before the store is used.
	LeastTime time.Duration

	limit    atomic.Int64
	gathered atomic.Int64 // bytes of answers that are yet to be kept
	hits     atomic.Uint64
	misses   atomic.Uint64
	shared   atomic.Uint64
	seed     maphash.Seed
	costly   [costlySlots]atomic.Uint64

	mu      sync.Mutex
	bytes   int
	floor   float64 // the worth of what was dropped last
	entries map[Key]*entry
	order   order
	runs    map[running]*Run
}

// entry is a kept answer.
type entry struct {
	key    Key
	state  string
	answer *Answer
	took   time.Duration
	size   int
	worth  float64
	place  int // in the order
}

// New returns a store of at most so many bytes; with none, nothing is kept.
func New(limit int64) *Store {
	s := &Store{LeastTime: LeastTime, entries: make(map[Key]*entry), runs: make(map[running]*Run), seed: maphash.MakeSeed()}
	s.limit.Store(limit)
	return s
}

// Resize changes how many bytes the store may take.
func (s *Store) Resize(limit int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit.Store(limit)
	s.makeRoom(0)
}

// Keeps tells whether anything is kept.
func (s *Store) Keeps() bool { return s != nil && s.limit.Load() > 0 }

// Greatest is the size in bytes of the greatest answer that is kept.
func (s *Store) Greatest() int64 { return s.limit.Load() / greatest }

// Get returns the answer that was read in a state; nil if none is kept.
func (s *Store) Get(key *Key, state string) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.entries[*key]
	if e == nil || e.state != state {
		s.misses.Add(1)
		return nil
	}
	s.hits.Add(1)
	e.worth = s.floor + e.value() // it is of use again
	heap.Fix(&s.order, e.place)
	return e.answer
}

// Put keeps an answer that took so long to be made and was read in a state, in place of the one
// before.
func (s *Store) Put(key Key, state string, answer *Answer, took time.Duration) {
	e := &entry{key: key, state: state, answer: answer, took: took}
	e.size = overhead + key.size() + len(state) + len(answer.Messages)
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.entries[key]; before != nil {
		s.drop(before)
	}
	if int64(len(answer.Messages)) > s.Greatest() || int64(e.size) > s.limit.Load() {
		return
	}
	s.makeRoom(e.size)
	e.worth = s.floor + e.value()
	s.bytes += e.size
	s.entries[key] = e
	heap.Push(&s.order, e)
}

// value is the time that a use saves for each byte. What was not used for long is overtaken by the
// floor, which rises with what is dropped (GreedyDual-Size: Cao and Irani 1997).
func (e *entry) value() float64 { return float64(e.took) / float64(e.size) }

// makeRoom drops what is worth least until there is room for so many bytes; mu is held.
func (s *Store) makeRoom(size int) {
	for len(s.order) > 0 && int64(s.bytes+size) > s.limit.Load() {
		least := s.order[0]
		s.floor = least.worth
		s.drop(least)
	}
}

func (s *Store) drop(e *entry) {
	heap.Remove(&s.order, e.place)
	delete(s.entries, e.key)
	s.bytes -= e.size
}

// Reserve takes room for bytes of an answer that is yet to be kept; false if there is none. Release
// gives it back.
func (s *Store) Reserve(bytes int) bool {
	if s.gathered.Add(int64(bytes)) > s.limit.Load()/underWay {
		s.gathered.Add(-int64(bytes))
		return false
	}
	return true
}

// Release gives back what was reserved.
func (s *Store) Release(bytes int) { s.gathered.Add(-int64(bytes)) }

// Stats are the figures of a store.
type Stats struct {
	Answers int    `json:"answers"` // kept now
	Bytes   int    `json:"bytes"`   // that they take
	Limit   int64  `json:"limit"`   // that they may take
	Hits    uint64 `json:"hits"`    // questions that were answered by a kept answer
	Misses  uint64 `json:"misses"`  // and those that were not, where one was looked for
	Shared  uint64 `json:"shared"`  // questions that waited for the answer to another one
}

// Plus returns the figures of two stores together.
func (s Stats) Plus(other Stats) Stats {
	return Stats{
		Answers: s.Answers + other.Answers, Bytes: s.Bytes + other.Bytes, Limit: s.Limit + other.Limit,
		Hits: s.Hits + other.Hits, Misses: s.Misses + other.Misses, Shared: s.Shared + other.Shared,
	}
}

// Stats returns the figures of now.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return Stats{
		Answers: len(s.entries), Bytes: s.bytes, Limit: s.limit.Load(),
		Hits: s.hits.Load(), Misses: s.misses.Load(), Shared: s.shared.Load(),
	}
}

// order is a heap of entries, the one of least worth first.
type order []*entry

func (o order) Len() int           { return len(o) }
func (o order) Less(i, j int) bool { return o[i].worth < o[j].worth }
func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].place, o[j].place = i, j
}

// Push implements heap.Interface.
func (o *order) Push(x any) {
	e := x.(*entry) //nolint:forcetypeassert // the heap has nothing else
	e.place = len(*o)
	*o = append(*o, e)
}

// Pop implements heap.Interface.
func (o *order) Pop() any {
	last := len(*o) - 1
	e := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	return e
}
