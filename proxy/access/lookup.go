package access

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/scram"
)

const (
	// maxLookups bounds the answers that are kept, for users who exist or not.
	maxLookups = 1024
	// maxRunningLookups bounds the lookups under way at once.
	maxRunningLookups = 8
	// maxNameBytes is the longest name that a role can have: NAMEDATALEN - 1.
	maxNameBytes = 63
)

var errLookupTimeout = errors.New("looking up a user took too long")

// found is what a lookup says of a user.
type found struct {
	exists   bool
	usable   bool // verifier has been read
	verifier scram.Verifier
	problem  string // why it is not usable
	err      error
}

// lookups asks for users, each at most once at a time, and keeps the answers for a
// while.
type lookups struct {
	lookup            Lookup
	timeout, lifetime time.Duration
	now               func() time.Time
	running           chan struct{} // a place for each one under way

	mu      sync.Mutex
	answers map[string]*list.Element // of *answer
	order   *list.List               // oldest question first
}

// answer is a question with its answer, once it is there.
type answer struct {
	user    string
	ctx     context.Context // of the lookup
	there   chan struct{}   // closed when the rest is set
	found   found
	expires time.Time
}

func newLookups(c Config) *lookups {
	return &lookups{
		lookup: c.Lookup, timeout: c.LookupTimeout, lifetime: c.LookupLifetime, now: c.Now,
		running: make(chan struct{}, maxRunningLookups),
		answers: map[string]*list.Element{}, order: list.New(),
	}
}

// ask returns what is known of a user. It does not wait longer than the timeout, even
// for a lookup that does not heed its context.
func (l *lookups) ask(ctx context.Context, user string) found {
	if len(user) > maxNameBytes || !utf8.ValidString(user) {
		return found{} // no role has such a name
	}
	a := l.question(user)
	select {
	case <-a.there:
		return a.found
	case <-a.ctx.Done():
		// It may have been both.
		select {
		case <-a.there:
			return a.found
		default:
			return found{err: errLookupTimeout}
		}
	case <-ctx.Done():
		return found{err: fmt.Errorf("looking up a user: %w", ctx.Err())}
	}
}

// question returns an answer that is valid or under way, or asks.
func (l *lookups) question(user string) *answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	if element, ok := l.answers[user]; ok {
		a := element.Value.(*answer)
		if l.serves(a) {
			return a
		}
		l.drop(element)
	}
	if l.order.Len() >= maxLookups {
		l.drop(l.order.Front())
	}
	a := &answer{user: user, there: make(chan struct{})}
	ctx, cancel := context.WithTimeout(context.Background(), l.timeout)
	a.ctx = ctx
	l.answers[user] = l.order.PushBack(a)
	go func() {
		defer cancel()
		a.found = l.find(ctx, user)
		if a.found.err == nil {
			a.expires = l.now().Add(l.lifetime)
		}
		close(a.there)
	}()
	return a
}

// serves tells whether an answer is under way or still believed. Errors are not kept.
func (l *lookups) serves(a *answer) bool {
	select {
	case <-a.there:
		return l.now().Before(a.expires)
	default:
		return a.ctx.Err() == nil
	}
}

func (l *lookups) drop(element *list.Element) {
	l.order.Remove(element)
	delete(l.answers, element.Value.(*answer).user)
}

// find does the lookup, when there is a place for it.
func (l *lookups) find(ctx context.Context, user string) (result found) {
	defer func() {
		if p := recover(); p != nil {
			result = found{err: fmt.Errorf("looking up a user: panic of type %T", p)}
		}
	}()
	select {
	case l.running <- struct{}{}:
		defer func() { <-l.running }()
	case <-ctx.Done():
		return found{err: errLookupTimeout}
	}
	text, exists, err := l.lookup(ctx, user)
	switch {
	case err != nil:
		return found{err: fmt.Errorf("looking up a user: %w", err)}
	case !exists:
		return found{}
	}
	verifier, err := scram.Parse(text)
	if err != nil {
		return found{exists: true, problem: "the user's password is not a SCRAM-SHA-256 verifier"}
	}
	return found{exists: true, usable: true, verifier: verifier}
}
