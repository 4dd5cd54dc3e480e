package proxy

import (
	"sync/atomic"
	"time"

	"github.com/kproxy/kproxy/proxy/answers"
)

// keeper answers questions of a session by answers that are kept, and has others kept. It belongs to
// a relay. docs/answers.md has the argument why no answer is another's, or of another state.
type keeper struct {
	store        *answers.Store // nil = nothing is kept
	server, role string
	// wake has the session go on; any goroutine may call it.
	wake func()

	asking  *asking  // what the client's message that waits is about
	capture *capture // of what runs

	statements map[string]*preparedKept // that are prepared, by name
	bound      *boundKept               // the portal that was bound last in the open segment; portal or nil
	portal     boundKept
	executes   question // of the Execute that is looked at
	parameters []byte   // likewise
	impossible bool     // the server does not let the session look
	reply      []byte   // what the client is to get before it is answered anything else
}

// question is what is asked of the server.
type question struct {
	sql, look  string
	parameters string
	simple     bool
	id         answers.Question
	cheap      bool // it took no time before: its parameters are not looked at
}

// asking is a question while it is not known yet who answers it.
type asking struct {
	question
	began   time.Time
	look    *look
	waiting bool // for the run of another session
	woken   atomic.Bool
	waited  bool
	refused error // why it is not to be answered
}

// outcome is what becomes of a question.
type outcome struct {
	waits   bool
	answer  *answers.Answer // to be sent; nil = the statement has to run
	capture *capture        // to be made of it; nil = none
	refused error
	since   time.Time // when it began; zero = now
}

// keeps tells whether answers are kept.
func (k *keeper) keeps() bool { return !k.impossible && k.store.Keeps() }

// ask decides who answers a question. Where that is to wait, c.until is set, and ask is called again
// for the same question. Look sends a look at the state that the statement reads.
func (c *clientSide) ask(q *question, send func(*look)) outcome {
	k := &c.keeper
	a := k.asking
	if a == nil || a.question != *q {
		if !k.store.Costly(q.id) || k.capture != nil || q.mayReadTime() {
			k.asking = nil
			return outcome{}
		}
		k.asking = &asking{question: *q, began: time.Now()}
		return c.lookFor(k.asking, send)
	}
	switch {
	case a.refused != nil:
		k.asking = nil
		return outcome{refused: a.refused}
	case a.waiting && a.woken.Load():
		a.waiting, a.waited = false, true
		return c.lookFor(a, send)
	case a.waiting:
		c.until = a.woken.Load
		return outcome{waits: true}
	case !a.look.done:
		c.until = a.look.isDone
		return outcome{waits: true}
	}
	return c.looked(a)
}

// lookFor sends a look, for which the message waits.
func (c *clientSide) lookFor(a *asking, send func(*look)) outcome {
	a.look = &look{}
	send(a.look)
	c.until = a.look.isDone
	return outcome{waits: true}
}

// errCanceled refuses what was canceled before the server had it.
var errCanceled error = canceled("canceling statement due to user request")

// errOverdue refuses what has waited for as long as it may take.
var errOverdue error = canceled("canceling statement due to statement timeout")

type canceled string

func (c canceled) Error() string { return string(c) }

// SQLState is that of PostgreSQL.
func (canceled) SQLState() string { return stateQueryCanceled }

// looked decides on a question by a look at the present state.
func (c *clientSide) looked(a *asking) outcome {
	k := &c.keeper
	switch {
	case a.look.canceled != "":
		k.asking = nil
		return outcome{refused: canceled(a.look.canceled)}
	case !a.look.usable():
		k.asking = nil
		return outcome{}
	}
	key := answers.Key{
		Server: k.server, Role: k.role, Statement: a.sql, Parameters: a.parameters,
		Settings: a.look.settings, Simple: a.simple,
	}
	if answer := k.store.Get(&key, a.look.state); answer != nil {
		k.asking = nil
		return outcome{answer: answer}
	}
	var run *answers.Run
	if a.waited || a.look.timeout != "0" || k.wake == nil {
		run = k.store.Lead(key, a.look.state)
	} else {
		first := false
		if run, first = k.store.Run(key, a.look.state, func() { a.woken.Store(true); k.wake() }); !first {
			a.waiting = true
			c.until = a.woken.Load
			return outcome{waits: true}
		}
	}
	k.asking = nil
	o := outcome{}
	if a.waited {
		o.since = a.began
	}
	if run != nil {
		o.capture = &capture{store: k.store, key: key, run: run, before: a.look, sent: time.Now()}
		k.capture = o.capture
	}
	return o
}

// after is the look that decides on what was captured.
func (k *keeper) after(of *capture) *look {
	l := &look{}
	l.then = func() {
		k.release(of)
		of.end(l)
	}
	return l
}

// release notes that a capture has ended, or is about to.
func (k *keeper) release(of *capture) {
	if k.capture == of {
		k.capture = nil
	}
}

// waits tells whether the client's message waits for another session.
func (k *keeper) waits() bool { return k.asking != nil && k.asking.waiting && !k.asking.woken.Load() }

// stop ends the wait for another session with a refusal, and reports whether there is one.
func (k *keeper) stop(reason error) bool {
	if !k.waits() {
		return false
	}
	k.asking.refused = reason
	k.asking.woken.Store(true)
	return true
}

// close ends what others may wait for.
func (k *keeper) close() {
	if k.capture != nil {
		k.capture.end(nil)
		k.capture = nil
	}
}

// keptQuery answers a Query by a kept answer if there is one, or has its answer kept.
func (c *clientSide) keptQuery(j *judgment, out *writeBuffer) (does action, done bool) {
	k, t := &c.keeper, c.tracker
	k.forgetUnnamed()
	if !k.keeps() || j.ruling.statement.Look == "" || t.open {
		return wait, false
	}
	q := question{sql: j.ruling.sent, look: j.ruling.statement.Look, simple: true}
	q.id = k.store.Question(q.sql, nil)
	if !t.idle() && k.store.Costly(q.id) {
		c.until = t.idle
		return wait, true
	}
	if !t.idle() || t.status != 'I' {
		return wait, false
	}
	m := &j.message
	if k.asking == nil && !k.store.Costly(q.id) {
		m.question, m.questioned = q.id, time.Now()
		return wait, false
	}
	o := c.ask(&q, func(l *look) { c.sendLook(l, q.look, out) })
	switch {
	case o.waits:
		return wait, true
	case o.refused != nil:
		does, _ = c.refuseQuery(newRefusal(o.refused, stateQueryCanceled), j.ruling, out)
		return does, true
	case o.answer != nil:
		k.reply = append(k.reply, o.answer.Messages...)
		k.reply = append(k.reply, appendFrame(nil, 'Z', []byte{t.status})...)
		t.observation.keptQuery(&j.ruling, o.answer)
		return drop, true
	}
	m.capture, m.question, m.questioned = o.capture, q.id, time.Now()
	if o.capture == nil && o.since.IsZero() {
		return wait, false // it runs as any other
	}
	c.sendQuery(j, out)
	c.began(o.since)
	if o.capture != nil {
		c.sendLook(k.after(o.capture), q.look, out)
	}
	return drop, true
}

// began has the time of what was sent last count from a moment before, if it is one.
func (c *clientSide) began(since time.Time) {
	if c.clock != nil && !since.IsZero() {
		c.clock.turn = since
	}
}
