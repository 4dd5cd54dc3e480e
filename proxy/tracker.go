package proxy

import (
	"bytes"
	"errors"

	"github.com/kproxy/kproxy/internal/charset"
)

// maxPending caps the steps that are outstanding. Each but the last ends in a
// ReadyForQuery that the server will send without further input, so a client
// that waits here waits only for its own earlier results.
const maxPending = 1024

// errOutOfStep reports a server whose answers do not fit what was sent.
var errOutOfStep = errors.New("unexpected message from the database server")

type stepKind byte

const (
	// stepExtended is a run of Parse, Bind, Describe, Execute and Close.
	stepExtended stepKind = iota
	stepSync
	stepQuery // a simple query, which ends in ReadyForQuery by itself
)

// step is a run of messages, or a single one, that has not been answered.
type step struct {
	kind    stepKind
	waiting int  // answers outstanding, for stepExtended
	touched bool // of the end of a segment: the segment may change the session state
}

// tracker follows the messages of a session: which one the server answers next, what the answer
// does to the session state, what an error takes back, and what is reported to the Observer. It
// follows the server's rule that an error in an extended-query message skips everything up to Sync
// (PostgreSQL documentation, "Extended Query").
//
// What is sent up to a ReadyForQuery, the end of a Sync or of a simple query, is a
// segment. Messages that expect an answer are numbered from 1. Only the session's event
// loop uses a tracker.
type tracker struct {
	steps    queue[step]
	skipping bool // the server skips what is sent, up to Sync
	open     bool // the open segment has something in it

	sent, at uint64         // the number of the last message, and of the one answered next
	messages queue[message] // from at to sent, those that matter
	segments int            // sent whole and not answered
	queries  int            // simple ones among them

	done      sessionState // as far as the server has answered
	named     resolutions
	status    byte // the transaction's, as it is with the server
	failed    bool // an error came since the last ReadyForQuery
	begun     bool // a message that begins a transaction was answered since
	touched   bool // the open segment may change the session state
	unsettled int  // outstanding segments that may

	// carried says that the segments from the last one on that a simple query ends behind
	// messages of a run are one implicit transaction: from PostgreSQL 18 on, it commits
	// nothing of what came before it in its segment. An error takes all of it back, up to a
	// Sync that has more to end than that query: behind it alone the server says that it is
	// idle, and is not. It fails with what comes next.
	carried bool

	// The state foreseen for the open segment; see foresee. It is stale when it began
	// with a state that is not done's any more.
	guess *sessionState
	stale bool

	counted      int // messages that are counted
	textBytes    int // of their texts
	holding      int // messages that touch statements and portals
	holdingBytes int // of the statements in them

	observation *observation // nil = there is no Observer

	database *charset.Charset // its encoding; nil where it is not known
}

func newTracker(begin State, observer Observer) *tracker {
	return &tracker{at: 1, done: sessionState{state: begin}, status: 'I', observation: newObservation(observer)}
}

// full reports whether the next message must wait. The server must be asked to flush
// then: the messages can be those of one segment, whose answers it may hold back.
func (t *tracker) full() bool {
	return t.steps.len() >= maxPending || t.counted >= maxMessages
}

// send records a message that is about to be sent, with what to remember of it; nil =
// nothing.
func (t *tracker) send(kind stepKind, m *message) {
	if t.skipping {
		if kind != stepSync {
			if m != nil {
				t.observation.forget(m)
			}
			return
		}
		t.skipping = false
	}
	t.open = kind == stepExtended
	t.sent++
	if m != nil {
		t.remember(m)
	}
	next := step{kind: kind, waiting: 1}
	if kind == stepExtended {
		if last := t.steps.len() - 1; last >= 0 && t.steps.at(last).kind == stepExtended {
			t.steps.at(last).waiting++
			return
		}
	} else {
		next.touched = t.touched
		t.endSegment()
		if kind == stepQuery {
			t.queries++
		}
	}
	t.steps.push(next)
}

// remember records the message with the number t.sent.
func (t *tracker) remember(m *message) {
	m.number = t.sent
	if m.refused == nil {
		t.count(m)
	}
	if m.counted || m.watched || m.refused != nil {
		t.messages.push(*m)
	}
}

// count keeps what the session must know of a message, within the limits.
func (t *tracker) count(m *message) {
	m.touches = t.touchedBy(m)
	if m.sql != "" && (t.counted >= maxTexts || t.textBytes+len(m.sql) > maxTextBytes) {
		m.sql, m.in = "", nil
	}
	if t.textBytes+len(m.sql)+m.resolved.size() > maxTextBytes {
		m.resolved = nil
	}
	if m.touches {
		t.touched = true
		if m.kind != messageQuery {
			t.holding++
			t.holdingBytes += m.prepared.size()
			if t.unsettled == 0 {
				t.foresee().apply(m)
			}
		}
	}
	if m.counted = m.kept(); m.counted {
		t.counted++
		t.textBytes += len(m.sql) + m.resolved.size()
	}
}

// forget drops the messages before the one that the server is at.
func (t *tracker) forget() {
	for t.messages.len() > 0 && t.messages.at(0).number < t.at {
		m := t.messages.at(0)
		if m.counted {
			t.counted--
			t.textBytes -= len(m.sql) + m.resolved.size()
		}
		if m.touches && m.kind != messageQuery {
			t.holding--
			t.holdingBytes -= m.prepared.size()
		}
		t.observation.forget(m)
		m.dropped()
		t.messages.pop()
	}
}

// current returns the message that the server is at, or nil if nothing is known of it.
func (t *tracker) current() *message {
	if t.head() != nil && t.messages.len() > 0 && t.messages.at(0).number == t.at {
		return t.messages.at(0)
	}
	return nil
}

// endSegment closes the open segment.
func (t *tracker) endSegment() {
	t.segments++
	if t.touched {
		t.unsettled++
		t.touched, t.guess = false, nil
	}
}

// answered records a message of the given type that completes a message of a run, or a
// statement of a simple query; begin is the beginning of its body. It reports whether it
// is to be hidden from the client.
func (t *tracker) answered(kind byte, begin []byte) (hidden bool) {
	if head, m := t.head(), t.current(); head != nil {
		if m != nil && m.watched {
			t.observation.complete(m, kind, begin)
		}
		if head.kind == stepExtended {
			hidden = t.succeeded(head, m, kind)
		} else if kind == 'C' && m != nil && m.prepared != nil {
			t.done.ran(m.prepared.effects, m.ran)
			m.ran++
		}
	}
	switch {
	case kind != 'C':
	case deallocates(begin):
		t.done.deallocate()
		t.named = resolutions{}
		t.observation.deallocate()
	case namesStatements(begin):
		t.named.forget()
	}
	return hidden
}

// succeeded records the success of a message of a run; m is what is known of it.
func (t *tracker) succeeded(head *step, m *message, kind byte) (hidden bool) {
	// Neither Close nor Execute of an empty portal begins a transaction (postgres.c).
	t.begun = t.begun || kind != '3' && kind != 'I'
	if m != nil {
		hidden = m.hidden
		if m.touches {
			t.done.apply(m)
		}
		t.named.apply(m)
	}
	head.waiting--
	t.at++
	t.forget()
	t.head()
	return hidden
}

// deallocates reports whether a command tag is that of a statement that has dropped all
// prepared statements.
func deallocates(tag []byte) bool {
	return string(tag) == "DEALLOCATE ALL\x00" || string(tag) == "DISCARD ALL\x00"
}

// namesStatements reports whether a command tag is that of a statement that makes or
// drops prepared statements by names that the tag does not have.
func namesStatements(tag []byte) bool {
	return bytes.HasPrefix(tag, []byte("PREPARE\x00")) || bytes.HasPrefix(tag, []byte("DEALLOCATE\x00"))
}

// fail records an ErrorResponse with its SQLSTATE and message, and returns the refusal
// that it answers, or nil.
func (t *tracker) fail(state, text string) *refusal {
	t.failed = true
	head, m := t.head(), t.current()
	if head == nil {
		return nil
	}
	var refused *refusal
	if m != nil {
		if m.refused != nil && m.refused.matches(text) {
			refused = m.refused
		}
		t.observation.fail(m, refused, state)
	}
	if head.kind == stepExtended {
		t.skip()
	}
	return refused
}

// skip drops everything up to Sync.
func (t *tracker) skip() {
	touched := false
	for t.steps.len() > 0 && t.steps.at(0).kind != stepSync {
		touched = touched || t.steps.at(0).touched
		t.drop()
	}
	t.forget()
	t.skipping = t.steps.len() == 0
	// What was dropped belongs to the segment that the Sync ends.
	switch {
	case !touched:
	case t.skipping:
		t.touched = true
	case !t.steps.at(0).touched:
		t.steps.at(0).touched = true
		t.unsettled++
	}
}

// ready records a ReadyForQuery with its status.
func (t *tracker) ready(status byte) error {
	t.observation.ready(t.current(), status)
	head := t.head()
	if head == nil || head.kind == stepExtended {
		return errOutOfStep
	}
	if status == 'I' && t.carried && head.kind == stepSync && !t.begun && !t.failed {
		status = 'T'
	}
	t.carried = status == 'T' && (t.carried || head.kind == stepQuery && t.begun)
	t.drop()
	t.forget()
	t.done.synced(status, t.failed)
	t.status, t.failed, t.begun, t.stale = status, false, false, true
	return nil
}

// running reports whether the server has something to do or to answer.
func (t *tracker) running() bool { return t.head() != nil }

// head returns the step that the server is at, after dropping a run that is answered
// completely.
func (t *tracker) head() *step {
	if t.steps.len() > 0 && t.steps.at(0).kind == stepExtended && t.steps.at(0).waiting == 0 {
		t.drop()
	}
	if t.steps.len() == 0 {
		return nil
	}
	return t.steps.at(0)
}

// drop removes the first step.
func (t *tracker) drop() {
	first := t.steps.at(0)
	t.at += uint64(first.waiting)
	if first.kind != stepExtended {
		t.segments--
		if first.kind == stepQuery {
			t.queries--
		}
		if first.touched {
			t.unsettled--
		}
	}
	t.steps.pop()
}
