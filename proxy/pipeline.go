package proxy

import "errors"

// maxPending caps the steps of a pipeline. Each but the last ends in a
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

// step is a part of the pipeline that has been sent and not been answered.
type step struct {
	kind    stepKind
	waiting int      // answers outstanding, for stepExtended
	refusal *refusal // of the query, or of the last message of the run; nil = none
	touched bool     // of the end of a segment: the segment may change the holdings
}

// pipeline models what the server has yet to answer: one side pushes before it
// sends, the other pops as answers arrive. It follows the server's rule that an
// error in an extended-query message skips everything up to Sync (PostgreSQL
// documentation, "Extended Query").
//
// What is sent up to a ReadyForQuery, the end of a Sync or of a simple query, is a
// segment. Messages that expect an answer are numbered from 1.
type pipeline struct {
	steps    queue[step]
	skipping bool
	open     bool // the open segment has something in it

	sent, at uint64      // the number of the last message, and of the one to be answered next
	notes    queue[note] // of messages from at to sent
	segments int         // that have been sent whole and not been answered
	queries  int         // simple ones among them

	done      holdings // as far as the server has answered
	named     resolutions
	failed    bool // an error came since the last ReadyForQuery
	begun     bool // a message of a run was answered since, of those that begin a transaction
	touched   bool // the open segment may change the holdings
	unsettled int  // segments outstanding that may

	// carried says that the segments from the last one on that a simple query ends behind
	// messages of a run are one implicit transaction: from PostgreSQL 18 on, it commits
	// nothing of what came before it in its segment. An error takes all of it back, up to a
	// Sync that has more to end than that query: behind it alone the server says that it is
	// idle, and is not. It fails with what comes next.
	carried bool

	// Of the open segment: see foresee. The guess is stale when its state began with
	// one that is not done's any more.
	guess *holdings
	stale bool

	textBytes    int // of the texts in notes
	holding      int // notes that touch statements and portals
	holdingBytes int // of the statements in them
}

func newPipeline(begin State) *pipeline {
	return &pipeline{at: 1, done: holdings{state: begin}}
}

// crowded reports whether the next push must wait. The server must be asked to flush
// then: notes can be those of one segment, whose answers it may hold back.
func (p *pipeline) crowded() bool {
	return p.steps.len() >= maxPending || p.notes.len() >= maxNotes
}

// push appends what is about to be sent, with what is to be remembered of it; nil =
// nothing.
func (p *pipeline) push(kind stepKind, r *refusal, n *note) {
	if p.skipping {
		if kind != stepSync {
			return
		}
		p.skipping = false
	}
	p.open = kind == stepExtended
	p.sent++
	if n != nil {
		p.remember(n)
	}
	next := step{kind: kind, waiting: 1, refusal: r}
	if kind == stepExtended {
		if last := p.steps.len() - 1; last >= 0 && p.steps.at(last).kind == stepExtended {
			p.steps.at(last).waiting++
			p.steps.at(last).refusal = r
			return
		}
	} else {
		next.touched = p.touched
		p.endSegment()
		if kind == stepQuery {
			p.queries++
		}
	}
	p.steps.push(next)
}

// endSegment closes the open segment.
func (p *pipeline) endSegment() {
	p.segments++
	if p.touched {
		p.unsettled++
		p.touched, p.guess = false, nil
	}
}

// answered takes note of a message of the given type that completes a message of a
// run, or a statement of a simple query. It tells whether the client is not to see it.
func (p *pipeline) answered(kind byte) (hidden bool) {
	head := p.head()
	if head == nil {
		return false
	}
	n := p.current()
	switch {
	case head.kind == stepExtended:
		// Neither Close nor Execute of an empty portal begins a transaction (postgres.c).
		p.begun = p.begun || kind != '3' && kind != 'I'
		if n != nil {
			hidden = n.hidden
			p.succeeded(n)
		}
		head.waiting--
		p.at++
		p.forget()
		p.head()
	case kind == 'C' && n != nil && n.prepared != nil:
		p.done.ran(n.prepared.effects, n.ran)
		n.ran++
	}
	return hidden
}

// succeeded does what a message of a run does.
func (p *pipeline) succeeded(n *note) {
	if n.touches {
		p.done.apply(n)
	}
	switch {
	case n.statement == "" || n.kind != noteParse && n.kind != noteCloseStatement:
	case n.hidden && n.kind == noteCloseStatement:
		p.named.lose(n.statement)
	case n.resolved == nil:
		p.named.remove(n.statement)
	default:
		p.named.put(n.statement, n.resolved)
	}
}

// failing returns what is remembered of the message that an ErrorResponse would be about
// now, or nil.
func (p *pipeline) failing() *note {
	if p.head() == nil {
		return nil
	}
	return p.current()
}

// fail takes note of an ErrorResponse and returns the refusal it answers, or nil.
func (p *pipeline) fail(message string) *refusal {
	p.failed = true
	head := p.head()
	if head == nil {
		return nil
	}
	r := head.refusal
	if r != nil && !r.matches(message) {
		r = nil
	}
	if head.kind == stepExtended {
		p.skip()
	}
	return r
}

// skip drops everything up to Sync.
func (p *pipeline) skip() {
	touched := false
	for p.steps.len() > 0 && p.steps.at(0).kind != stepSync {
		touched = touched || p.steps.at(0).touched
		p.drop()
	}
	p.forget()
	p.skipping = p.steps.len() == 0
	// What was dropped belongs to the segment that the Sync ends.
	switch {
	case !touched:
	case p.skipping:
		p.touched = true
	case !p.steps.at(0).touched:
		p.steps.at(0).touched = true
		p.unsettled++
	}
}

// ready takes note of a ReadyForQuery with its status and returns the state.
func (p *pipeline) ready(status byte) (State, error) {
	head := p.head()
	if head == nil || head.kind == stepExtended {
		return nil, errOutOfStep
	}
	if status == 'I' && p.carried && head.kind == stepSync && !p.begun && !p.failed {
		status = 'T'
	}
	p.carried = status == 'T' && (p.carried || head.kind == stepQuery && p.begun)
	p.drop()
	p.forget()
	p.done.synced(status, p.failed)
	p.failed, p.begun, p.stale = false, false, true
	return p.done.state, nil
}

// running reports whether the server has something to do or to answer.
func (p *pipeline) running() bool { return p.head() != nil }

// head returns the step the server is at, after it has dropped a run that is
// answered completely.
func (p *pipeline) head() *step {
	if p.steps.len() > 0 && p.steps.at(0).kind == stepExtended && p.steps.at(0).waiting == 0 {
		p.drop()
	}
	if p.steps.len() == 0 {
		return nil
	}
	return p.steps.at(0)
}

// drop removes the first step.
func (p *pipeline) drop() {
	first := p.steps.at(0)
	p.at += uint64(first.waiting)
	if first.kind != stepExtended {
		p.segments--
		if first.kind == stepQuery {
			p.queries--
		}
		if first.touched {
			p.unsettled--
		}
	}
	p.steps.pop()
}

// deallocate takes note of the end of all prepared statements.
func (p *pipeline) deallocate() {
	p.done.deallocate()
	p.named = resolutions{}
}
