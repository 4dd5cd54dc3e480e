package answers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func answerOf(bytes int) *Answer { return &Answer{Messages: make([]byte, bytes), Rows: 1} }

func TestStoreTellsAnswersApart(t *testing.T) {
	t.Parallel()
	s := New(1 << 20)
	all := Key{Server: "h:1", Role: "bi", Statement: "SELECT 1", Parameters: "p", Settings: "UTC", Simple: true}
	s.Put(all, "one", answerOf(10), time.Second)
	if s.Get(&all, "one") == nil {
		t.Fatal("it is not there")
	}
	if s.Get(&all, "two") != nil {
		t.Error("the answer is one of another state")
	}
	for name, change := range map[string]func(*Key){
		"server": func(k *Key) { k.Server = "h:2" }, "role": func(k *Key) { k.Role = "" }, "statement": func(k *Key) { k.Statement += " " },
		"parameters": func(k *Key) { k.Parameters = "" }, "settings": func(k *Key) { k.Settings = "CET" }, "protocol": func(k *Key) { k.Simple = false },
	} {
		other := all
		if change(&other); s.Get(&other, "one") != nil {
			t.Errorf("the answer is one to a question with another %s", name)
		}
	}
}

// TestStoreIsBounded puts answers of all sizes, and uses some of them again and again.
func TestStoreIsBounded(t *testing.T) {
	t.Parallel()
	const limit = 1 << 20
	s, rng := New(limit), rand.New(rand.NewPCG(1, 1))
	used := Key{Statement: "used"}
	for i := range 5000 {
		if s.Get(&used, "now") == nil {
			if i > 100 {
				t.Fatalf("what is used is gone after %d", i)
			}
			s.Put(used, "now", answerOf(1000), time.Second)
		}
		s.Put(Key{Statement: fmt.Sprint("once ", i)}, "now", answerOf(rng.IntN(limit/8)), time.Duration(rng.IntN(int(time.Second))))
		stats, sum := s.Stats(), 0
		if stats.Bytes > limit || stats.Answers != len(s.entries) || len(s.order) != len(s.entries) {
			t.Fatalf("%+v, %d in order", stats, len(s.order))
		}
		for _, e := range s.entries {
			sum += e.size
		}
		if sum != stats.Bytes {
			t.Fatalf("%d bytes, not %d", sum, stats.Bytes)
		}
	}
	s.Resize(0)
	if stats := s.Stats(); stats.Answers != 0 || stats.Bytes != 0 || s.Keeps() {
		t.Errorf("%+v are left of nothing", stats)
	}
	s.Put(used, "now", answerOf(10), time.Second)
	if s.Get(&used, "now") != nil {
		t.Error("a store without room keeps something")
	}
}

func TestStoreKeepsWhatCostsMost(t *testing.T) {
	t.Parallel()
	s := New(64 << 10)
	dear, cheap := Key{Statement: "dear"}, Key{Statement: "cheap"}
	s.Put(dear, "now", answerOf(3000), 10*time.Second)
	s.Put(cheap, "now", answerOf(3000), time.Millisecond)
	for i := range 30 {
		s.Put(Key{Statement: fmt.Sprint(i)}, "now", answerOf(3000), 100*time.Millisecond)
	}
	if s.Get(&dear, "now") == nil || s.Get(&cheap, "now") != nil {
		t.Error("the answer that cost least was not dropped first")
	}
	if s.Put(dear, "now", answerOf(int(s.Greatest())+1), time.Second); s.Get(&dear, "now") != nil {
		t.Error("an answer beyond the greatest is kept, or the one before it")
	}
}

func TestReserveIsBounded(t *testing.T) {
	t.Parallel()
	s := New(400)
	if !s.Reserve(100) || s.Reserve(1) {
		t.Error("a quarter may be gathered at once")
	}
	if s.Release(100); !s.Reserve(100) {
		t.Error("what was given back is not there")
	}
}

func TestCostlyIsWhatTookLong(t *testing.T) {
	t.Parallel()
	s := New(1)
	q, other := s.Question("SELECT 1", []byte("a")), s.Question("SELECT 1", []byte("b"))
	if q == other || q == 0 || q != s.Question("SELECT 1", []byte("a")) {
		t.Fatal("questions are not told apart")
	}
	if s.Took(q, time.Second); !s.Costly(q) || s.Costly(other) {
		t.Error("it took a second")
	}
	if s.Took(q, LeastTime-1); s.Costly(q) {
		t.Error("it takes no time any more")
	}
}

// TestOneRunsForAll has many ask at once: one runs, the others are woken once when it ends.
func TestOneRunsForAll(t *testing.T) {
	t.Parallel()
	s, key := New(1<<20), Key{Statement: strings.Repeat("x", 100)}
	var leads, woken atomic.Int32
	var leader atomic.Pointer[Run]
	var all sync.WaitGroup
	for range 50 {
		all.Go(func() {
			if run, first := s.Run(key, "now", func() { woken.Add(1) }); first {
				leads.Add(1)
				leader.Store(run)
			}
		})
	}
	all.Wait()
	if leads.Load() != 1 || woken.Load() != 0 || s.Lead(key, "now") != nil {
		t.Fatalf("%d run it, %d were woken", leads.Load(), woken.Load())
	}
	if _, first := s.Run(key, "another state", func() {}); !first {
		t.Error("it waits for a run in another state")
	}
	s.End(leader.Load())
	s.End(leader.Load())
	if woken.Load() != 49 {
		t.Errorf("%d were woken", woken.Load())
	}
	if run := s.Lead(key, "now"); run == nil {
		t.Error("the run has not ended")
	}
}
