package proxy

import (
	"errors"
	"sync"
)

// maxPending caps the steps of a pipeline. Each but the last ends in a
// ReadyForQuery that the server will send without further input, so a client
// that waits here waits only for its own earlier results.
const maxPending = 1024

// errPipelineClosed ends a wait for room.
var errPipelineClosed = errors.New("the session has ended")

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
}

// pipeline models what the server has yet to answer: one side pushes before it
// sends, the other pops as answers arrive. It follows the server's rule that an
// error in an extended-query message skips everything up to Sync (PostgreSQL
// documentation, "Extended Query").
type pipeline struct {
	mu       sync.Mutex
	room     sync.Cond
	steps    []step
	skipping bool
	closed   bool
	idle     chan struct{} // signaled when the last step has been answered
}

func newPipeline() *pipeline {
	p := &pipeline{idle: make(chan struct{}, 1)}
	p.room.L = &p.mu
	return p
}

// full reports whether the next push must wait.
func (p *pipeline) full() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.steps) >= maxPending
}

// waitForRoom returns when a step can be pushed.
func (p *pipeline) waitForRoom() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for len(p.steps) >= maxPending && !p.closed {
		p.room.Wait()
	}
	if p.closed {
		return errPipelineClosed
	}
	return nil
}

// close ends waits for room, now and later.
func (p *pipeline) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	p.room.Broadcast()
}

// push appends what is about to be sent.
func (p *pipeline) push(kind stepKind, r *refusal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.skipping {
		if kind != stepSync {
			return
		}
		p.skipping = false
	}
	if last := len(p.steps) - 1; kind == stepExtended && last >= 0 && p.steps[last].kind == stepExtended {
		p.steps[last].waiting++
		p.steps[last].refusal = r
		return
	}
	p.steps = append(p.steps, step{kind: kind, waiting: 1, refusal: r})
}

// answered takes note of a message that completes one message of a run. Inside
// a simple query it means nothing.
func (p *pipeline) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if head := p.head(); head != nil && head.kind == stepExtended {
		head.waiting--
		p.head()
	}
}

// failed takes note of an ErrorResponse and returns the refusal it answers, or
// nil.
func (p *pipeline) failed(message string) *refusal {
	p.mu.Lock()
	defer p.mu.Unlock()
	head := p.head()
	if head == nil {
		return nil
	}
	r := head.refusal
	if r != nil && !r.matches(message) {
		r = nil
	}
	if head.kind == stepExtended {
		for len(p.steps) > 0 && p.steps[0].kind != stepSync {
			p.drop()
		}
		p.skipping = len(p.steps) == 0
	}
	return r
}

// ready takes note of a ReadyForQuery.
func (p *pipeline) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if head := p.head(); head == nil || head.kind == stepExtended {
		return errOutOfStep
	}
	p.drop()
	if p.head() == nil {
		select {
		case p.idle <- struct{}{}:
		default:
		}
	}
	return nil
}

// running reports whether the server has something to do or to answer.
func (p *pipeline) running() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.head() != nil
}

// head returns the step the server is at, after it has dropped a run that is
// answered completely; p.mu is held.
func (p *pipeline) head() *step {
	if len(p.steps) > 0 && p.steps[0].kind == stepExtended && p.steps[0].waiting == 0 {
		p.drop()
	}
	if len(p.steps) == 0 {
		return nil
	}
	return &p.steps[0]
}

// drop removes the first step; p.mu is held.
func (p *pipeline) drop() {
	p.steps[0] = step{}
	p.steps = p.steps[1:]
	if len(p.steps) == 0 {
		p.steps = nil
	}
	p.room.Signal()
}
