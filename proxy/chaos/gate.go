package chaos

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/charset"
	"github.com/kproxy/kproxy/proxy"
)

// PassingGate lets every text pass as it is.
type PassingGate struct{}

// Open begins a session with the parameters that the client asked for.
func (PassingGate) Open(_, _ string, parameters map[string]string) (proxy.State, map[string]string, error) {
	return steady{}, parameters, nil
}

// Rewrite removes the mark of Where, so that the server's search path decides.
func (PassingGate) Rewrite(sql string, _ proxy.State) (proxy.Statement, error) {
	return proxy.Statement{SQL: strings.ReplaceAll(sql, pathMark, "")}, nil
}

// Recall is Rewrite for every other text, as if the others had not been seen yet.
func (g PassingGate) Recall(sql string, in proxy.State) (proxy.Statement, bool, error) {
	return recalled(g, sql, in)
}

// Position tells no positions.
func (PassingGate) Position(string, proxy.State, int) int { return 0 }

// Escape leaves a text as it is.
func (PassingGate) Escape(sql string) (string, bool) { return sql, true }

// Unescape leaves a position as it is.
func (PassingGate) Unescape(_ string, sent int) int { return sent }

// ScrubMessage leaves a message as it is.
func (PassingGate) ScrubMessage(text string) string { return text }

// ScrubPlan leaves a plan as it is.
func (PassingGate) ScrubPlan(text string) string { return text }

// steady is a state that nothing changes.
type steady struct{}

func (steady) SearchPath() string            { return "" }
func (steady) Encoding() string              { return charset.UTF8 }
func (steady) Audience() string              { return "" }
func (steady) After(any) proxy.State         { return steady{} }
func (steady) Synced(byte, bool) proxy.State { return steady{} }

// JudgingGate refuses what [Statement] calls Refused, puts the schema in place that
// Where is to read, and signs what it lets pass, so that [JudgingGate.Passed] knows it.
type JudgingGate struct {
	PassingGate
	key []byte
}

// NewJudgingGate returns a gate with a key of its own.
func NewJudgingGate() JudgingGate {
	key := make([]byte, 16)
	rand.Read(key) // never fails: it returns or ends the process
	return JudgingGate{key: key}
}

// refusedText is the error of a text that is refused.
type refusedText struct{ state string }

func (refusedText) Error() string      { return "the text is refused" }
func (r refusedText) SQLState() string { return r.state }
func (refusedText) Hint() string       { return "Send another one." }

// refusalOf is why the gate refuses a text, or nil.
func refusalOf(text string) *Refusal {
	for _, s := range parseTexts(text) {
		switch {
		case s.Verb == Refused && s.A == 1:
			return &Refusal{State: stateSyntaxError, Early: true}
		case s.Verb == Refused:
			return &Refusal{State: "42501"}
		}
	}
	return nil
}

// RefusalBehind is what a client is told of a text behind a proxy with a [JudgingGate];
// nil = it is not refused.
func RefusalBehind(text string) *Refusal {
	if !utf8.ValidString(text) {
		return &Refusal{State: "22021"}
	}
	return refusalOf(text)
}

// Open begins a session with the parameters that the client asked for.
func (JudgingGate) Open(_, _ string, parameters map[string]string) (proxy.State, map[string]string, error) {
	return state{}, parameters, nil
}

// Rewrite refuses a text, or qualifies and signs it.
func (g JudgingGate) Rewrite(sql string, in proxy.State) (proxy.Statement, error) {
	if r := refusalOf(sql); r != nil {
		return proxy.Statement{}, refusedText{r.State}
	}
	all := parseTexts(sql)
	now := in.(state)
	out := proxy.Statement{Effects: make([]any, len(all))}
	texts := strings.Split(sql, "/*")
	for i, s := range all {
		if i+1 < len(texts) {
			texts[i+1] = strings.ReplaceAll(texts[i+1], pathMark, fmt.Sprintf("s%d.", now.now.path+1))
		}
		out.Plans = out.Plans || s.Verb == Explain
		if s.Verb == Path || s.moves() {
			out.Effects[i] = s
			now = now.After(s).(state)
		}
	}
	if !slices.ContainsFunc(out.Effects, func(e any) bool { return e != nil }) {
		out.Effects = nil
	}
	out.SQL = g.sign(strings.Join(texts, "/*"))
	return out, nil
}

// Recall is Rewrite for every other text, as if the others had not been seen yet.
func (g JudgingGate) Recall(sql string, in proxy.State) (proxy.Statement, bool, error) {
	return recalled(g, sql, in)
}

// recalled asks a gate for every other text.
func recalled(g proxy.Gate, sql string, in proxy.State) (proxy.Statement, bool, error) {
	if len(sql)%2 == 0 {
		return proxy.Statement{}, false, nil
	}
	out, err := g.Rewrite(sql, in)
	return out, true, err
}

const signatureBytes = 8

// sign puts a comment before a text that nobody else can make.
func (g JudgingGate) sign(text string) string {
	mac := hmac.New(sha256.New, g.key)
	mac.Write([]byte(text))
	return "/*" + hex.EncodeToString(mac.Sum(nil)[:signatureBytes]) + "*/" + text
}

// Passed returns the text that the gate has signed, and whether it is one.
func (g JudgingGate) Passed(sent string) (text string, ok bool) {
	const before = len("/**/") + 2*signatureBytes
	if len(sent) < before {
		return "", false
	}
	text = sent[before:]
	return text, sent == g.sign(text)
}

// state follows what statements do to the search path.
type state struct {
	ledger
	failed bool
}

// Encoding is UTF-8 throughout.
func (state) Encoding() string { return charset.UTF8 }

// SearchPath is the schema that unqualified names are looked up in, as a client is told. What
// a failed transaction has set is taken back at once.
func (s state) SearchPath() string {
	set := s.now
	switch {
	case !s.failed:
	case len(s.points) > 0:
		set = s.points[len(s.points)-1].before
	default:
		set = s.before
	}
	return fmt.Sprintf("s%d", set.path+1)
}

// After is the state once a statement that moves, or sets the path, has run.
func (s state) After(effect any) proxy.State {
	e := effect.(Statement)
	switch e.Verb {
	case Path:
		s.now.path = e.A - 1
	case Commit:
		s.finish(!s.failed)
	case Rollback:
		s.finish(false)
	case Savepoint:
		s.savepoint(e.A)
	case Release:
		if i := s.find(e.A); i >= 0 {
			s.release(i)
		}
	case Back:
		if i := s.find(e.A); i >= 0 {
			s.back(i)
			s.failed = false
		}
	}
	return s
}

func (s *state) finish(commit bool) {
	if commit {
		s.commit()
	} else {
		s.rollback()
	}
	s.failed = false
}

// Audience is that of all sessions.
func (s state) Audience() string { return "" }

// Synced is the state once the server is ready.
func (s state) Synced(status byte, failed bool) proxy.State {
	if status == 'I' {
		s.finish(!failed)
	}
	s.failed = status == 'E'
	return s
}
