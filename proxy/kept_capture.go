package proxy

import (
	"time"

	"github.com/kproxy/kproxy/proxy/answers"
)

// capture gathers the server's answer to a statement while it passes, to keep it.
type capture struct {
	store    *answers.Store
	key      answers.Key
	run      *answers.Run // which others may wait for
	before   *look        // at the state, before the statement ran
	sent     time.Time
	took     time.Duration
	messages []byte
	reserved int
	rows     int64
	complete bool // CommandComplete has come
	broken   bool // it is none that can be kept
	ended    bool
}

// keeps reports whether a message belongs to an answer that can be kept.
func (c *capture) keeps(kind byte) bool {
	switch kind {
	case 'T', 'D', 'C':
		return !c.complete
	default:
		return false
	}
}

// message takes note of a message of the server about the statement, and reports whether its bytes
// are to be added.
func (c *capture) message(kind byte, begin []byte) bool {
	switch {
	case c.broken, kind == 'S', kind == 'A', kind == 'Z': // what comes of itself, and the end
		return false
	case !c.keeps(kind):
		c.breakOff()
		return false
	}
	if kind == 'C' {
		c.complete, c.rows, c.took = true, rowsInTag(begin), time.Since(c.sent)
	}
	return true
}

// add adds bytes of the answer, as long as there is room.
func (c *capture) add(b []byte) {
	if c.broken || c.ended {
		return
	}
	if int64(len(c.messages)+len(b)) > c.store.Greatest() || !c.store.Reserve(len(b)) {
		c.breakOff()
		return
	}
	c.reserved += len(b)
	c.messages = append(c.messages, b...)
}

// breakOff gives up what was gathered. Who waits for the answer is woken, since there will be none.
func (c *capture) breakOff() {
	c.broken, c.messages = true, nil
	c.store.Release(c.reserved)
	c.reserved = 0
	c.store.End(c.run)
}

// end keeps the answer if the state after it, by a second look, is the one before it: then it was
// that in between. Nil is no look. Who waits for the answer is woken.
func (c *capture) end(after *look) {
	if c.ended {
		return
	}
	c.ended = true
	if after != nil && c.complete && !c.broken && c.before.same(after) {
		c.store.Put(c.key, c.before.state, &answers.Answer{Messages: c.messages, Rows: c.rows}, c.took)
	}
	c.breakOff()
}
