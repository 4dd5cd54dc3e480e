package proxy

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
)

func TestQueue(t *testing.T) {
	var q queue[int]
	next := 0
	for i := range 10_000 {
		q.push(i)
		if i%3 > 0 {
			if got := *q.at(0); got != next {
				t.Fatalf("%d comes before %d", got, next)
			}
			q.pop()
			next++
		}
	}
	if cap(q.list) > 4*q.len() {
		t.Errorf("%d places for %d elements", cap(q.list), q.len())
	}
	for ; q.len() > 0; next++ {
		if got := *q.at(0); got != next {
			t.Fatalf("%d comes before %d", got, next)
		}
		q.pop()
	}
	if cap(q.list) > idleQueue {
		t.Errorf("%d places are kept for nothing", cap(q.list))
	}
	if allocated := testing.AllocsPerRun(1000, func() { q.push(1); q.push(2); q.pop(); q.pop() }); allocated != 0 {
		t.Errorf("%v allocations", allocated)
	}
}

// TestTextsAreBounded remembers texts for positions until there are too many bytes or
// too many of them.
func TestTextsAreBounded(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ texts, bytes, kept int }{
		{10, 1, 10},
		{3 * maxTexts, 1, maxTexts},
		{10, maxTextBytes / 3, 3},
		{10, maxTextBytes + 1, 0},
	} {
		p := newTracker(fakeState{}, nil)
		sql := strings.Repeat("x", c.bytes)
		for range c.texts {
			p.send(stepExtended, &message{kind: messageParse, sql: sql, in: fakeState{}})
		}
		if p.messages.len() != c.kept || p.textBytes != c.kept*c.bytes {
			t.Errorf("%d texts of %d bytes: %d are kept, %d bytes", c.texts, c.bytes, p.messages.len(), p.textBytes)
		}
		for i := range c.texts {
			var about message
			if i < c.texts-1 {
				p.answered('1', nil)
			} else {
				if n := p.current(); n != nil {
					about = *n
				}
				p.fail("", "an error")
			}
			if kept := c.texts == c.kept; i == c.texts-1 && (about.sql == sql) != kept {
				t.Errorf("%d texts of %d bytes: the last one is %d bytes", c.texts, c.bytes, len(about.sql))
			}
		}
		if p.messages.len()+p.textBytes != 0 {
			t.Errorf("%d notes, %d bytes are left", p.messages.len(), p.textBytes)
		}
	}
}

// TestHoldingsAreBounded prepares statements that are remembered until no more are.
func TestHoldingsAreBounded(t *testing.T) {
	t.Parallel()
	p := newTracker(fakeState{}, nil)
	add := func(name string, bytes int) bool {
		n := &message{kind: messageParse, statement: name, prepared: &prepared{effects: []any{fakeEffect{"set", "a"}}, bytes: bytes}}
		if !p.canHold(n) {
			return false
		}
		p.send(stepExtended, n)
		return true
	}
	if !add("a", maxPreparedBytes/2+1) || add("b", maxPreparedBytes/2+1) {
		t.Error("what is on its way does not count")
	}
	p.answered('1', nil)
	if add("b", maxPreparedBytes/2+1) {
		t.Error("what is there does not count")
	}
	if !add("a", 1) {
		t.Error("what is replaced counts")
	}
	p.answered('1', nil)
	held := 1
	for ; add(strings.Repeat("n", held), 1); held++ {
		p.answered('1', nil)
	}
	if held != maxPrepared || p.done.bytes != maxPrepared {
		t.Errorf("%d statements of %d bytes are held", held, p.done.bytes)
	}
	p.send(stepExtended, &message{kind: messageCloseStatement, statement: "a"})
	p.answered('3', nil)
	if !add("b", 1) {
		t.Error("what is closed counts")
	}
}

// TestNamedTextsAreBounded remembers texts of named statements until there are too many
// bytes of them.
func TestNamedTextsAreBounded(t *testing.T) {
	t.Parallel()
	var named resolutions
	text := strings.Repeat("x", maxResolvedBytes/10)
	for i := range 100 {
		named.put(strings.Repeat("n", i%25), &resolved{sql: text})
		total := 0
		for _, r := range named.all {
			total += r.size()
		}
		if total != named.bytes || total > maxResolvedBytes {
			t.Fatalf("%d bytes are remembered, %d counted", total, named.bytes)
		}
	}
	for i := range 3 * maxResolvedBytes / heldOverhead {
		named.put(strconv.Itoa(i), &resolved{})
	}
	if most := maxResolvedBytes / heldOverhead; len(named.all) > most {
		t.Errorf("%d statements are remembered, of at most %d", len(named.all), most)
	}
	long := message{in: fakeState{}}
	long.name(parseMessage{name: bytes.Repeat([]byte("n"), 1<<20)}, Statement{})
	if len(long.statement) != maxNameBytes {
		t.Errorf("a name of %d bytes is remembered", len(long.statement))
	}
	p := newTracker(fakeState{}, nil)
	for range maxMessages {
		n := &message{kind: messageParse, sql: text, in: fakeState{}}
		n.name(parseMessage{name: []byte("s"), sql: text}, Statement{SQL: text})
		p.send(stepExtended, n)
	}
	if p.textBytes > maxTextBytes {
		t.Errorf("%d bytes are on their way", p.textBytes)
	}
	for range maxMessages {
		p.answered('1', nil)
	}
	if p.textBytes != 0 || p.named.all["s"] != nil {
		t.Errorf("%d bytes are left; a text that was not kept left another one: %v", p.textBytes, p.named.all["s"] != nil)
	}
}
