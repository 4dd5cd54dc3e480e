package proxy

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/kproxy/kproxy/internal/charset"
)

// gatekeeper asks the Gate about the texts of a session, and remembers what relations its
// statements have read and what functions they have called. Any goroutine may call decide and
// hasNoted; everything else is for the session's event loop.
type gatekeeper struct {
	config *Config

	// think has the Gate rule on a text elsewhere and sets given afterwards; nil = here
	// and now.
	think func(sql string, in State, early bool)
	given *ruling // on a text of the message that waits

	// escapes says that the session may have had another encoding than UTF-8. Every statement
	// from then on is sent in ASCII, which the server reads the same in all encodings. It
	// changes while nothing is decided.
	escapes bool

	// fresh reports whether what the server has may be shown; nil = it always may.
	fresh func() bool

	mu    sync.Mutex // held while the Gate rules
	reads []string   // under mu: relations that the session's statements have read
	calls []string   // under mu: functions of the operator that they have called
}

// ruling is what the Gate says of a text.
type ruling struct {
	sql       string
	statement Statement
	sent      string // the statement's SQL, or the same in ASCII
	refused   *refusal
	early     bool // it was asked while earlier segments had not ended

	took     time.Duration // by the Gate, where there is an Observer
	recalled bool          // it need not think
}

// errStale refuses statements while the data of the session's server are too old.
var errStale error = stale{}

type stale struct{}

func (stale) Error() string { return "the data of this database server are too old at present" }

// Hint says what to do instead.
func (stale) Hint() string { return "Connect again: another server may have newer ones." }

// available returns the reason why nothing can be served now; nil = it can.
func (g *gatekeeper) available() error {
	if g.fresh != nil && !g.fresh() {
		return errStale
	}
	return g.config.Available()
}

// answered reports whether the Gate has ruled on the text it had to think about.
func (g *gatekeeper) answered() bool { return g.given != nil }

// rule asks the Gate about a text in a state. If it has to think, known is false, and the
// message waits until answered.
func (g *gatekeeper) rule(sql string, in State, t *tracker) (r ruling, known bool) {
	if given := g.given; given != nil {
		g.given = nil
		if given.sql == sql {
			return *given, true
		}
	}
	if err := g.available(); err != nil {
		return ruling{sql: sql, refused: newRefusal(err, stateCannotConnectNow)}, true
	}
	early := t.behind()
	if g.think == nil {
		r, known = g.decide(sql, in), true
	} else {
		r, known = g.recall(sql, in, t.observation)
	}
	if !known {
		g.think(sql, in, early)
		return ruling{}, false
	}
	r.early = early
	return r, true
}

// recall is decide for what the Gate need not think about.
func (g *gatekeeper) recall(sql string, in State, o *observation) (r ruling, known bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	statement, refused, known := g.config.decideQuickly(sql, in)
	if g.escapes && !charset.IsASCII(statement.SQL) {
		return ruling{}, false // to escape it takes as long as to rewrite it
	}
	g.note(statement)
	r = ruling{sql: sql, statement: statement, sent: statement.SQL, refused: refused, recalled: true}
	o.recalled(&r)
	return r, known
}

// decide asks the Gate and records what the statement reads and calls. Both happen under one
// lock, so that a relation or a function that the Gate begins to refuse is either refused here
// or recorded when EndReaders or EndCallers looks.
func (g *gatekeeper) decide(sql string, in State) ruling {
	g.mu.Lock()
	defer g.mu.Unlock()
	var began time.Time
	if g.config.Observer != nil {
		began = time.Now()
	}
	statement, refused := g.config.decide(sql, in)
	g.note(statement)
	r := ruling{sql: sql, statement: statement, refused: refused}
	g.write(&r)
	if g.config.Observer != nil {
		r.took = time.Since(began)
	}
	return r
}

// errUnwritable refuses a text that cannot be written in ASCII.
var errUnwritable = errors.New("the statement cannot be sent in this client_encoding")

// write makes what is to be sent of a statement.
func (g *gatekeeper) write(r *ruling) {
	r.sent = r.statement.SQL
	if !g.escapes || r.refused != nil {
		return
	}
	ok := false
	if r.sent, ok = g.config.Gate.Escape(r.sent); !ok {
		r.refused = newRefusal(errUnwritable, stateFeatureNotSupported)
	}
}

// note records what a statement reads and calls; mu is held.
func (g *gatekeeper) note(statement Statement) {
	g.reads, g.calls = union(g.reads, statement.Reads), union(g.calls, statement.Calls)
}

// hasNoted reports whether any of the names is among those recorded in g.reads or g.calls.
func (g *gatekeeper) hasNoted(noted *[]string, names []string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.ContainsFunc(names, func(name string) bool { return slices.Contains(*noted, name) })
}
