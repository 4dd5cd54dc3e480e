// Package gate puts the rewriter behind the interfaces that the proxy declares.
package gate

import (
	"cmp"
	"sync/atomic"

	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/proxy"
	"github.com/kproxy/kproxy/rewrite"
)

// Gate is the gate of all sessions, including those that began before a reload: SetLimits replaces
// the rewriters behind it.
type Gate struct {
	// Rewriter is that of the policy's own readers.
	Rewriter  atomic.Pointer[rewrite.Rewriter]
	audiences atomic.Pointer[audiences]
}

// State is a session in the form in which the proxy keeps it.
type State struct{ *opened }

// opened is a session with the reader that it runs as, and the audience of that when it began.
type opened struct {
	*rewrite.Session
	reader, audience string
}

// with is the session in another state.
func (s State) with(next *rewrite.Session) State { return State{&opened{next, s.reader, s.audience}} }

// Audience implements proxy.State. It is the one of the time when the session began.
func (s State) Audience() string { return s.audience }

// After implements proxy.State.
func (s State) After(effect any) proxy.State {
	e, _ := effect.(rewrite.Effect)
	return s.with(s.Session.After(e))
}

// Synced implements proxy.State.
func (s State) Synced(status byte, failed bool) proxy.State {
	next := s.Session.Synced(status, failed)
	if next == s.Session {
		return s
	}
	return s.with(next)
}

// session returns the wrapped session. A state of another type is a session that has done nothing.
func session(in proxy.State) *rewrite.Session {
	if s, _ := in.(State); s.opened != nil {
		return s.Session
	}
	return nil
}

// Open implements proxy.Gate.
func (g *Gate) Open(user, reader string, parameters map[string]string) (proxy.State, map[string]string, error) {
	begin := State{&opened{reader: reader, audience: g.audienceOf(reader)}}
	r, err := g.rewriter(begin)
	if err != nil {
		return nil, nil, err
	}
	passed, err := r.Startup(parameters)
	if err != nil {
		return nil, nil, err
	}
	known := map[string]string{rewrite.UserParameter: user}
	for _, name := range []string{rewrite.PathParameter, rewrite.EncodingParameter} {
		if value, given := parameters[name]; given {
			known[name] = value
		}
	}
	s, err := r.NewSession(known)
	if err != nil {
		return nil, nil, err
	}
	return begin.with(s), passed, nil
}

// Rewrite implements proxy.Gate.
func (g *Gate) Rewrite(sql string, in proxy.State) (proxy.Statement, error) {
	r, err := g.rewriter(in)
	if err != nil {
		return proxy.Statement{}, err
	}
	return rewritten(r.Rewrite(sql, session(in)))
}

// Recall implements proxy.Gate.
func (g *Gate) Recall(sql string, in proxy.State) (proxy.Statement, bool, error) {
	r, err := g.rewriter(in)
	if err != nil {
		return proxy.Statement{}, true, err
	}
	recalled, known, err := r.Recall(sql, session(in))
	if !known {
		return proxy.Statement{}, false, nil
	}
	statement, err := rewritten(&recalled, err)
	return statement, true, err
}

// FromClasses tells whether a statement is answered from the summary of classes (rewrite.Statement).
func (g *Gate) FromClasses(sql string, in proxy.State) bool {
	r, err := g.rewriter(in)
	if err != nil {
		return false
	}
	s, err := r.Rewrite(sql, session(in))
	return err == nil && s.FromClasses
}

func rewritten(s *rewrite.Statement, err error) (proxy.Statement, error) {
	if err != nil {
		return proxy.Statement{}, err
	}
	return proxy.Statement{
		SQL: s.SQL, Reads: s.ReadNames, Calls: s.Calls, Effects: effects(s.Effects), Plans: s.Plans, LeavesUTF8: rewrite.LeavesUTF8(s.Effects),
		Uses: s.Uses, Makes: s.Makes, Look: s.Look, Shape: s.Shape, Traceless: s.Traceless,
	}, nil
}

// Position implements proxy.Gate.
func (g *Gate) Position(sql string, in proxy.State, sent int) int {
	r, err := g.rewriter(in)
	if err != nil {
		return 0
	}
	return r.Position(sql, session(in), sent)
}

// Escape implements proxy.Gate.
func (g *Gate) Escape(sql string) (string, bool) { return g.Rewriter.Load().Escape(sql) }

// Unescape implements proxy.Gate.
func (g *Gate) Unescape(sql string, sent int) int { return g.Rewriter.Load().Unescape(sql, sent) }

// ScrubMessage implements proxy.Gate.
func (g *Gate) ScrubMessage(text string) string { return g.Rewriter.Load().ScrubMessage(text) }

// ScrubPlan implements proxy.Gate.
func (g *Gate) ScrubPlan(text string) string { return g.Rewriter.Load().ScrubPlan(text) }

// effects returns the effects of a text's statements in the form that the proxy passes back, nil if
// there are none.
func effects(of []rewrite.Effect) []any {
	if of == nil {
		return nil
	}
	all := make([]any, len(of))
	for i, e := range of {
		if e != nil {
			all[i] = e
		}
	}
	return all
}

// Options returns the limits of statements and of the definitions of views.
func Options(c *config.Config) rewrite.Options {
	return rewrite.Options{
		Database:          c.Database,
		CacheBytes:        cmp.Or(c.Limits.StatementCacheBytes, rewrite.NoCache),
		MaxStatementBytes: c.Limits.MaxStatementBytes,
		MaxTokens:         c.Limits.MaxTokens,
		MaxStatements:     c.Limits.MaxStatements,
		MaxDepth:          c.Limits.MaxDepth,
		Pinned:            pinnedByOperator(c.Timeouts),
		TemporaryTables:   c.TemporaryTables == config.TemporaryAllow,
	}
}

// pinnedByOperator returns the settings of the server that bound clients, and that clients must not
// change.
func pinnedByOperator(t config.Timeouts) []string {
	if t.Statement > 0 {
		return []string{"statement_timeout"}
	}
	return nil
}
