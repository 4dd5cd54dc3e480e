package rewrite

import (
	"hash/maphash"
	"math"
	"sync"
	"sync/atomic"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// entryOverhead is what an entry costs in addition to its texts: map slot, list node and headers,
// in bytes, rounded up.
const entryOverhead = 384

// nameOverhead is what a name costs in addition to its texts, in bytes; pieceOverhead is what a
// literal's place in a template costs.
const (
	nameOverhead  = 32
	pieceOverhead = 24
)

// shards is the number of parts of a cache that have a lock of their own, so that
// thousands of sessions do not wait for one. Each is bounded to its share of the
// bytes, which is also the greatest entry.
const shards = 16

// kind says what an entry's text is and what it holds.
type kind uint8

const (
	// wholeText is a client's text with its outcome.
	wholeText kind = iota
	// literalForm is a text with all its literals replaced; see template.go.
	literalForm
	// templateForm is a text with those literals replaced that do not matter.
	templateForm
)

type outcome struct {
	statement *Statement
	refusal   *Refusal
}

// entry is what the cache holds; shared and never changed.
type entry struct {
	kind          kind
	session, text string
	outcome       outcome
	// verbatim is for a literalForm: the literals that matter. It is nil for one that was
	// seen only once.
	verbatim []bool
	// template is for a templateForm, nil for one that was seen only once, and for a
	// literalForm of whose literals none matters, so that it need not be looked for twice.
	template *template
}

func (e *entry) bytes() int {
	size := entryOverhead + len(e.session) + len(e.text) + len(e.verbatim)
	if s := e.outcome.statement; s != nil {
		size += s.bytes()
	}
	if r := e.outcome.refusal; r != nil {
		size += len(r.message) + len(r.hint) + len(r.shape)
	}
	if t := e.template; t != nil {
		size += t.statement.bytes() + pieceOverhead*len(t.places)
	}
	return size
}

func (s *Statement) bytes() int {
	size := len(s.SQL) + len(s.Shape) + len(s.Look) + effectOverhead*len(s.Effects)
	for _, name := range s.Reads {
		size += 2 * (nameOverhead + len(name.Schema) + len(name.Relation)) // in ReadNames, too
	}
	for _, names := range [][]string{s.Calls, s.Uses, s.Makes} {
		for _, name := range names {
			size += nameOverhead + len(name)
		}
	}
	return size
}

// effectOverhead is what an effect costs at most, in bytes; its names stand in the
// text itself.
const effectOverhead = 256

// cache remembers outcomes and templates by the client's text, least recently used
// first out, and is bounded by the bytes it holds: texts differ in length by a factor
// of a million, so that a bound in entries is no bound.
type cache struct {
	seed   maphash.Seed
	made   *atomic.Uint64 // room: entries that were dropped for others
	shards [shards]shard
}

// shard holds entries by the hash of their text, which nobody outside can foresee; of
// two texts with one hash the later stays.
type shard struct {
	mu    sync.Mutex
	limit int
	bytes int
	lru   *simplelru.LRU[uint64, *entry]
	_     [64]byte // the next one's lock is in another line of the processor's cache
}

func newCache(limit int, made *atomic.Uint64) *cache {
	c := &cache{seed: maphash.MakeSeed(), made: made}
	for i := range c.shards {
		s := &c.shards[i]
		s.limit = limit / shards
		// The error is only for a size below one.
		s.lru, _ = simplelru.NewLRU(math.MaxInt, func(_ uint64, e *entry) { s.bytes -= e.bytes() })
	}
	return c
}

// get finds the entry for a text in a kind of session; nil if there is none.
func (c *cache) get(of kind, session, text string) *entry {
	if e := c.find(c.sum(of, session, maphash.String(c.seed, text))); e.of(of, session) && e.text == text {
		return e
	}
	return nil
}

// getForm is get for a text that is not a string.
func (c *cache) getForm(of kind, session string, text []byte) *entry {
	if e := c.find(c.sum(of, session, maphash.Bytes(c.seed, text))); e.of(of, session) && e.text == string(text) {
		return e
	}
	return nil
}

func (e *entry) of(k kind, session string) bool {
	return e != nil && e.kind == k && e.session == session
}

func (c *cache) find(sum uint64) *entry {
	s := &c.shards[sum%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	e, _ := s.lru.Get(sum)
	return e
}

// sum is the hash of an entry by that of its text.
func (c *cache) sum(of kind, session string, sum uint64) uint64 {
	sum += uint64(of) << 32
	if session != "" {
		sum ^= maphash.String(c.seed, session) * 0x9e3779b97f4a7c15 // an odd number
	}
	return sum
}

// put adds an entry or replaces the one for the same text.
func (c *cache) put(e *entry) {
	size := e.bytes()
	sum := c.sum(e.kind, e.session, maphash.String(c.seed, e.text))
	s := &c.shards[sum%shards]
	if size > s.limit {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lru.Remove(sum)
	for s.bytes+size > s.limit {
		if _, _, ok := s.lru.RemoveOldest(); !ok {
			return
		}
		c.made.Add(1)
	}
	s.bytes += size
	s.lru.Add(sum, e)
}

// CacheStats are the numbers of a Rewriter's cache at a moment.
type CacheStats struct {
	Entries   int
	Bytes     int64
	Evictions uint64 // entries that made room for others, since the Rewriter was made
}

// CacheStats returns the numbers of now.
func (r *Rewriter) CacheStats() CacheStats {
	stats := CacheStats{Evictions: r.evictions.Load()}
	c := r.current.Load().cache
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		stats.Entries += s.lru.Len()
		stats.Bytes += int64(s.bytes)
		s.mu.Unlock()
	}
	return stats
}
