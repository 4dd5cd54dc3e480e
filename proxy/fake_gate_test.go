package proxy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/kproxy/kproxy/internal/charset"
)

// refusedText is an error with all a gate can say.
type refusedText struct{ position int }

func (refusedText) Error() string    { return "column \"name\" is not published" }
func (refusedText) SQLState() string { return "42501" }
func (refusedText) Hint() string     { return "Ask for what is published." }
func (r refusedText) Position() int  { return r.position }

// testGate lets everything pass but texts that mention "forbidden", and maps
// one schema.
type testGate struct{ fakeEscaper }

const (
	publicName  = "public.patients"
	privateName = "kproxy_release_public.patients"
)

func (testGate) Open(_, reader string, parameters map[string]string) (State, map[string]string, error) {
	state, passed, err := fakeOpen(parameters)
	if begin, opened := state.(fakeState); opened && reader != "" {
		begin.audience = "of " + reader
		state = begin
	}
	return state, passed, err
}

func (testGate) Rewrite(sql string, in State) (Statement, error) {
	if before, _, found := strings.Cut(sql, "forbidden"); found {
		return Statement{}, refusedText{position: len([]rune(before)) + 1}
	}
	if strings.Contains(sql, "explode") {
		panic("the gate explodes on " + sql)
	}
	statement := fakeRewrite(sql, in)
	if strings.Contains(statement.SQL, "'hidden'") {
		return Statement{}, refusedText{}
	}
	if strings.Contains(sql, publicName) {
		statement.Reads = []string{publicName}
	}
	statement.SQL = strings.ReplaceAll(statement.SQL, publicName, privateName)
	return statement, nil
}

// Recall has no answer, so that texts are decided on aside.
func (testGate) Recall(string, State) (Statement, bool, error) { return Statement{}, false, nil }

// Position tells the position as it is, unless it is beyond the client's text.
func (testGate) Position(sql string, _ State, sent int) int {
	if sent > utf8.RuneCountInString(sql) {
		return 0
	}
	return sent
}

func (g testGate) ScrubPlan(text string) string { return g.ScrubMessage(text) }

func (testGate) ScrubMessage(text string) string {
	return strings.ReplaceAll(text, "kproxy_release_public", "public")
}

// fakeEscaper writes what is not ASCII as texts with the prefix E have it.
type fakeEscaper struct{}

func (fakeEscaper) Escape(sql string) (string, bool) {
	var b strings.Builder
	for _, r := range sql {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String(), !strings.Contains(sql, "unwritable")
}

func (e fakeEscaper) Unescape(sql string, sent int) int {
	position, written := 0, 0
	for _, r := range sql {
		escaped, _ := e.Escape(string(r))
		if written += len(escaped); written <= sent {
			position++
		}
	}
	return position
}

// fakeState follows SET search_path as PostgreSQL does, by keeping what a rollback
// leads back to.
type fakeState struct {
	path          fakePath
	encoding      string // "" = UTF8
	audience      string
	levels        []fakeLevel // the open transaction and its savepoints
	block, failed bool
}

// fakePath is the value now and the one that stays after a commit.
type fakePath struct{ now, session string }

// fakeLevel is a transaction, whose name is empty, or a savepoint.
type fakeLevel struct {
	name   string
	before fakePath
}

// fakeEffect is a statement: its verb, and a value or a savepoint's name.
type fakeEffect struct{ verb, name string }

// fakeBound is SET search_path to the value of $1.
type fakeBound struct{}

const fakeBoundText = "SELECT $1::text AS search_path"

func (fakeBound) With(value *string) (any, error) {
	switch {
	case value == nil:
		return fakeEffect{"set", fakeDefaultPath}, nil
	case *value == "forbidden":
		return nil, refusedText{}
	}
	return fakeEffect{"set", *value}, nil
}

const fakeDefaultPath = `"$user", public`

// SearchPath makes PostgreSQL 18's report of the parameter.
func (s fakeState) SearchPath() string { return s.path.now }

func (s fakeState) Encoding() string { return cmp.Or(s.encoding, charset.UTF8) }

func (s fakeState) Audience() string { return s.audience }

func (s fakeState) After(effect any) State {
	if _, open := effect.(fakeBound); open {
		return s
	}
	e := effect.(fakeEffect)
	s.levels = slices.Clone(s.levels)
	if len(s.levels) == 0 {
		s.levels = []fakeLevel{{before: s.path}}
	}
	at := slices.IndexFunc(s.levels, func(l fakeLevel) bool { return l.name == e.name })
	for i, l := range s.levels {
		if l.name == e.name {
			at = i // the innermost
		}
	}
	switch e.verb {
	case "set":
		s.path = fakePath{e.name, e.name}
	case "local":
		s.path.now = e.name
	case "encode":
		s.encoding = e.name
	case "begin":
		s.block = true
	case "commit":
		s.end(!s.failed)
	case "rollback":
		s.end(false)
	case "savepoint":
		s.levels = append(s.levels, fakeLevel{e.name, s.path})
	case "release":
		if at > 0 {
			s.levels = s.levels[:at]
		}
	case "back":
		if at > 0 {
			s.path, s.failed = s.levels[at].before, false
			s.levels = s.levels[:at+1]
		}
	}
	return s
}

func (s *fakeState) end(commit bool) {
	if len(s.levels) > 0 && !commit {
		s.path = s.levels[0].before
	}
	s.path.now = s.path.session
	s.levels, s.block, s.failed = nil, false, false
}

func (s fakeState) Synced(status byte, failed bool) State {
	if status == 'I' {
		s.end(!failed)
	}
	s.failed = status == 'E'
	return s
}

// fakeOpen begins a session and lets all parameters pass but the path and "role".
func fakeOpen(parameters map[string]string) (State, map[string]string, error) {
	path, given := parameters["search_path"]
	if !given {
		path = fakeDefaultPath
	}
	if _, asked := parameters["role"]; asked || strings.Contains(path, "forbidden") {
		return nil, nil, refusedText{}
	}
	passed := maps.Clone(parameters)
	delete(passed, "search_path")
	return fakeState{path: fakePath{path, path}, encoding: parameters["client_encoding"]}, passed, nil
}

// fakeRewrite puts the path in place of each @, and knows the effects of statements
// that are written as in these tests.
func fakeRewrite(sql string, in State) Statement {
	now := in.(fakeState)
	var statement Statement
	var sent []string
	for text := range strings.SplitSeq(sql, ";") {
		text = strings.ReplaceAll(text, "@", now.path.now)
		sent = append(sent, text)
		effect, found := fakeEffectOf(strings.TrimSpace(text))
		switch {
		case text == fakeBoundText:
			statement.Effects = append(statement.Effects, fakeBound{})
		case !found:
			statement.Effects = append(statement.Effects, nil)
		default:
			statement.Effects = append(statement.Effects, effect)
			now = now.After(effect).(fakeState)
			statement.LeavesUTF8 = statement.LeavesUTF8 || now.Encoding() != charset.UTF8
		}
		statement.Plans = statement.Plans || strings.HasPrefix(strings.TrimSpace(text), "EXPLAIN")
	}
	statement.Uses = fakeUses(sql)
	if !slices.ContainsFunc(statement.Effects, func(e any) bool { return e != nil }) {
		statement.Effects = nil
	}
	statement.SQL = strings.Join(sent, ";")
	return statement
}

// fakeUses are the last words of EXECUTE and FETCH.
func fakeUses(sql string) (names []string) {
	for text := range strings.SplitSeq(sql, ";") {
		if words := strings.Fields(text); len(words) > 1 && (words[0] == "EXECUTE" || words[0] == "FETCH") {
			names = append(names, words[len(words)-1])
		}
	}
	return names
}

func fakeEffectOf(text string) (fakeEffect, bool) {
	for _, known := range []struct{ prefix, verb string }{
		{"SET search_path TO ", "set"},
		{"SET LOCAL search_path TO ", "local"},
		{"SET client_encoding TO ", "encode"},
		{"BEGIN", "begin"},
		{"COMMIT", "commit"},
		{"ROLLBACK TO ", "back"},
		{"ROLLBACK", "rollback"},
		{"SAVEPOINT ", "savepoint"},
		{"RELEASE ", "release"},
	} {
		if name, found := strings.CutPrefix(text, known.prefix); found {
			return fakeEffect{known.verb, name}, true
		}
	}
	return fakeEffect{}, false
}
