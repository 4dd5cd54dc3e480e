package rewrite

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

func (c *cache) entries() []*entry {
	var all []*entry
	for i := range c.shards {
		all = append(all, c.shards[i].lru.Values()...)
	}
	return all
}

func (c *cache) bytes() int {
	sum := 0
	for i := range c.shards {
		sum += c.shards[i].bytes
	}
	return sum
}

// forget drops the entries of a kind.
func (c *cache) forget(of kind) {
	for i := range c.shards {
		for _, key := range c.shards[i].lru.Keys() {
			if e, _ := c.shards[i].lru.Peek(key); e.kind == of {
				c.shards[i].lru.Remove(key)
			}
		}
	}
}

// TestCacheIsBoundedInBytes fills it with texts of very different lengths, some
// refused, some with templates.
func TestCacheIsBoundedInBytes(t *testing.T) {
	t.Parallel()
	const limit = 256 << 10
	r := New(Options{CacheBytes: limit})
	c := r.current.Load().cache
	templates := 0
	for i := range 4000 {
		sql := fmt.Sprintf("SELECT %d, '%s'%s", i, strings.Repeat("x", i%700), strings.Repeat(", 1", i%50))
		if i%3 == 0 {
			sql = fmt.Sprintf("SELECT * FROM nowhere%d", i)
		}
		_, _ = r.text(sql)
		if c.bytes() > limit {
			t.Fatalf("after %d texts the cache holds %d bytes", i+1, c.bytes())
		}
	}
	held := 0
	for _, e := range c.entries() {
		held += e.bytes()
		if e.template != nil {
			templates++
		}
	}
	if held != c.bytes() {
		t.Errorf("the cache counts %d bytes and holds %d", c.bytes(), held)
	}
	if len(c.entries()) == 0 || templates == 0 {
		t.Errorf("%d entries, %d templates", len(c.entries()), templates)
	}
}

// TestCacheStatsAreOfWhatIsHeld counts what a small cache holds, and what made room.
func TestCacheStatsAreOfWhatIsHeld(t *testing.T) {
	t.Parallel()
	r := New(Options{CacheBytes: 64 << 10})
	c := r.current.Load().cache
	for i := range 400 {
		before, entries := r.CacheStats(), len(c.entries())
		_, _ = r.text(fmt.Sprintf("SELECT * FROM nowhere%d%s", i, strings.Repeat("x", i)))
		after := r.CacheStats()
		if after.Entries != len(c.entries()) || after.Bytes != int64(c.bytes()) {
			t.Fatalf("%+v of %d entries, %d bytes", after, len(c.entries()), c.bytes())
		}
		if made := after.Evictions - before.Evictions; int(made) != entries+1-after.Entries {
			t.Fatalf("%d evictions between %+v and %+v", made, before, after)
		}
	}
	if r.CacheStats().Evictions == 0 {
		t.Error("nothing made room")
	}
}

func TestLongTextsAreNotCached(t *testing.T) {
	t.Parallel()
	r := New(Options{CacheBytes: 16 << 10})
	_, _ = r.text("SELECT " + strings.Repeat("x", 2000))
	if n := len(r.current.Load().cache.entries()); n != 0 {
		t.Errorf("%d entries", n)
	}
	r = New(Options{CacheBytes: NoCache})
	_, _ = r.text("SELECT 1")
	if n := len(r.current.Load().cache.entries()); n != 0 {
		t.Errorf("%d entries without a cache", n)
	}
}

func TestCacheGivesTheSameOutcome(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, sql := range []string{"SELECT * FROM patients", "SELECT * FROM secrets", ""} {
		first := render(r.text(sql))
		if r.current.Load().cache.get(wholeText, "", sql) == nil {
			t.Errorf("%q is not cached", sql)
		}
		if second := render(r.text(sql)); second != first {
			t.Errorf("%q: %s, then %s", sql, first, second)
		}
	}
}

// TestTextsWithoutLiteralsHaveOneEntry: there are no others of their form.
func TestTextsWithoutLiteralsHaveOneEntry(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	_, _ = r.text("SELECT age FROM patients")
	if n := len(r.current.Load().cache.entries()); n != 1 {
		t.Errorf("%d entries", n)
	}
}

// TestCacheTellsEntriesApart asks for what differs from an entry in one part of its
// name only.
func TestCacheTellsEntriesApart(t *testing.T) {
	t.Parallel()
	c := newCache(1<<20, new(atomic.Uint64))
	c.put(&entry{kind: wholeText, session: "s", text: "t"})
	if c.get(wholeText, "s", "t") == nil || c.getForm(wholeText, "s", []byte("t")) == nil {
		t.Error("the entry is not found")
	}
	if c.get(wholeText, "", "t") != nil || c.get(wholeText, "s", "u") != nil || c.get(literalForm, "s", "t") != nil ||
		c.get(wholeText, "t", "s") != nil {
		t.Error("another entry is found")
	}
	c.put(&entry{kind: wholeText, session: "s", text: "t", verbatim: make([]bool, 9)})
	if n := len(c.entries()); n != 1 || c.get(wholeText, "s", "t").verbatim == nil {
		t.Errorf("%d entries after one was replaced", n)
	}
}

// TestHitAllocatesNothing: the path that nearly all texts take.
func TestHitAllocatesNothing(t *testing.T) {
	r, sql := clinicRewriter(), query2K()
	if n := testing.AllocsPerRun(100, func() {
		if _, err := r.Rewrite(sql, nil); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestRecalledTemplateAllocatesItsText: a text that is new but for its form costs the
// memory of what it becomes, and no other.
func TestRecalledTemplateAllocatesItsText(t *testing.T) {
	r := clinicRewriter()
	text := func(i int) string {
		return fmt.Sprintf("SELECT age FROM patients WHERE age = %d AND ward = 'w'", 100+i)
	}
	for i := range 2 {
		if _, err := r.text(text(i)); err != nil {
			t.Fatal(err)
		}
	}
	sql := text(5)
	if n := testing.AllocsPerRun(100, func() {
		if s, known, err := r.Recall(sql, nil); err != nil || !known || !strings.Contains(s.SQL, "105") {
			t.Errorf("%q, %v, %v", s.SQL, known, err)
		}
	}); n != 1 {
		t.Errorf("%v allocations", n)
	}
}

// TestSizesOfEntries counts all that an entry of the cache holds: each byte more of any part
// is one more, or as many as times as it is held.
func TestSizesOfEntries(t *testing.T) {
	t.Parallel()
	name := catalog.Name{Schema: "public", Relation: "patients"}
	whole := func() *entry {
		return &entry{
			session: "session", text: "text", verbatim: make([]bool, 3),
			outcome: outcome{
				statement: &Statement{SQL: "sql", Shape: "shape", Reads: []catalog.Name{name}, Uses: []string{"u"}, Makes: []string{"m"}, Effects: make([]Effect, 1)},
				refusal:   &Refusal{message: "message", hint: "hint", shape: "shape"},
			},
			template: &template{statement: &Statement{SQL: "template"}, places: make([]place, 1)},
		}
	}
	parts := 3 * nameOverhead
	want := entryOverhead + len("session"+"text") + 3 +
		len("sql"+"shape") + effectOverhead + 2*(nameOverhead+len("public"+"patients")) + 2*(nameOverhead+1) +
		len("message"+"hint"+"shape") + len("template") + pieceOverhead
	if got := whole().bytes(); got != want {
		t.Errorf("%d bytes, want %d", got, want)
	}
	more := whole()
	more.outcome.statement.Reads = append(more.outcome.statement.Reads, name)
	more.outcome.statement.Uses = append(more.outcome.statement.Uses, "ab")
	more.template.places = append(more.template.places, place{})
	if got, added := more.bytes()-whole().bytes(), parts+2*len("public"+"patients")+2+pieceOverhead; got != added {
		t.Errorf("%d bytes more, want %d", got, added)
	}
	if got := (&entry{}).bytes(); got != entryOverhead {
		t.Errorf("an empty entry has %d bytes", got)
	}
}

// TestCacheKeepsWhatFits puts entries into it that fill a shard to its limit, and beyond.
func TestCacheKeepsWhatFits(t *testing.T) {
	t.Parallel()
	limit := 3*entryOverhead + 300
	r := New(Options{CacheBytes: limit * shards})
	c := r.current.Load().cache
	put := func(session, text string) bool {
		c.put(&entry{kind: wholeText, session: session, text: text, outcome: outcome{statement: &Statement{SQL: text}}})
		return c.get(wholeText, session, text) != nil
	}
	most := strings.Repeat("x", (limit-entryOverhead)/2)
	if rest := (limit - entryOverhead) % 2; !put(strings.Repeat("s", rest), most) {
		t.Error("what fills a shard is not kept")
	}
	if put("ss", most) {
		t.Error("what is greater than a shard is kept")
	}
	if stats := r.CacheStats(); stats.Entries != 1 || stats.Bytes != int64(limit) || stats.Evictions != 0 {
		t.Errorf("%+v", stats)
	}
	for range 2 { // the second time in the place of the first
		put("", "again")
	}
	if e := c.get(wholeText, "", "again"); e == nil || e.outcome.statement.SQL != "again" {
		t.Errorf("it holds %+v", e)
	}
	for _, of := range []struct{ session, text string }{{"x", "again"}, {"", "other"}} {
		if e := c.get(wholeText, of.session, of.text); e != nil {
			t.Errorf("%+v is found as %+v", of, e)
		}
	}
	if c.get(literalForm, "", "again") != nil || c.getForm(literalForm, "", []byte("again")) != nil || c.getForm(wholeText, "", []byte("again")) == nil {
		t.Error("an entry of another kind is found, or none of its own")
	}
	held := 0
	for _, e := range c.entries() {
		held += e.bytes()
	}
	if stats := r.CacheStats(); stats.Bytes != int64(held) || stats.Entries != len(c.entries()) || !slices.ContainsFunc(c.entries(), func(e *entry) bool { return e.text == "again" }) {
		t.Errorf("%+v, but it holds %d bytes", stats, held)
	}
}
