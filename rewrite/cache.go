package rewrite

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// entryOverhead is what an entry costs beside its texts: map slot, list node
// and headers, in bytes, rounded up.
const entryOverhead = 256

// nameOverhead is what a name costs beside its texts, in bytes.
const nameOverhead = 32

// largestShare is the part of the cache one entry may take: 1/largestShare.
const largestShare = 16

type outcome struct {
	statement *Statement
	refusal   *Refusal
}

// cacheKey is a text in a kind of session.
type cacheKey struct{ session, text string }

// cache remembers outcomes by the client's text, least recently used first out,
// and is bounded by the bytes it holds: texts differ in length by a factor of a
// million, so that a bound in entries is no bound.
type cache struct {
	mu    sync.Mutex
	limit int
	bytes int
	lru   *simplelru.LRU[cacheKey, outcome]
}

func newCache(limit int) *cache {
	c := &cache{limit: limit}
	// The error is only for a size below one.
	c.lru, _ = simplelru.NewLRU(math.MaxInt, func(key cacheKey, o outcome) { c.bytes -= entryBytes(key, o) })
	return c
}

func entryBytes(key cacheKey, o outcome) int {
	size := entryOverhead + len(key.session) + len(key.text)
	if o.statement != nil {
		size += len(o.statement.SQL)
		for _, name := range o.statement.Reads {
			size += nameOverhead + len(name.Schema) + len(name.Relation)
		}
	}
	if o.refusal != nil {
		size += len(o.refusal.message) + len(o.refusal.hint)
	}
	return size
}

func (c *cache) get(session, text string) (outcome, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lru.Get(cacheKey{session, text})
}

func (c *cache) put(session, text string, o outcome) {
	key := cacheKey{session, text}
	size := entryBytes(key, o)
	if size > c.limit/largestShare {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lru.Contains(key) {
		return
	}
	for c.bytes+size > c.limit {
		if _, _, ok := c.lru.RemoveOldest(); !ok {
			return
		}
	}
	c.bytes += size
	c.lru.Add(key, o)
}
