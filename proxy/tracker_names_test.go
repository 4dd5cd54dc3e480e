package proxy

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
)

// readingGate knows the relations of texts by the words behind FROM, and the names that
// PREPARE and DECLARE give.
type readingGate struct{ shapingGate }

func (g readingGate) Rewrite(sql string, in State) (Statement, error) {
	statement, err := g.shapingGate.Rewrite(sql, in)
	words := strings.Fields(strings.NewReplacer(";", " ; ", ",", " ").Replace(sql))
	for i, word := range words[min(1, len(words)):] {
		switch words[i] {
		case "FROM":
			statement.Reads = append(statement.Reads, word)
		case "PREPARE", "DECLARE":
			statement.Makes = append(statement.Makes, word)
		}
	}
	return statement, err
}

// reads are the relations of each statement that was told.
func (w *witness) reads() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, a := range w.answered {
		lines = append(lines, strings.TrimSpace(fmt.Sprint(strings.Join(a.Reads, " "), " ", a.SQLState)))
	}
	return lines
}

// TestReadsOfNames runs what SQL's PREPARE and DECLARE have made.
func TestReadsOfNames(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = readingGate{}, told })
	run := func(name string) []oldproto.FrontendMessage {
		return []oldproto.FrontendMessage{bind("", name), execute("", 0), syncMessage}
	}
	prepared := []oldproto.FrontendMessage{query("PREPARE a AS SELECT 1 FROM pg_am; PREPARE b AS SELECT 1"), query("PREPARE c AS SELECT 1 FROM pg_class")}
	for _, script := range []struct {
		name  string
		send  []oldproto.FrontendMessage
		ready int
		want  []string
	}{
		{"executed in SQL", []oldproto.FrontendMessage{query("EXECUTE c"), query("EXECUTE a"), query("EXECUTE c ;EXECUTE a")}, 3, []string{"pg_class", "pg_am", "pg_class pg_am"}},
		{"bound", slices.Concat(run("c"), run("a")), 2, []string{"pg_class", "pg_am"}},
		{"prepared again in vain", []oldproto.FrontendMessage{query("PREPARE c AS SELECT 1 FROM pg_type"), query("EXECUTE c")}, 2, []string{"pg_type 42P05", "pg_class"}},
		{
			"prepared again",
			[]oldproto.FrontendMessage{query("DEALLOCATE c"), query("PREPARE c AS SELECT 1 FROM pg_type"), query("EXECUTE c")},
			3,
			[]string{"", "pg_type", "pg_type"},
		},
		{"dropped behind", []oldproto.FrontendMessage{query("EXECUTE c ; DEALLOCATE ALL"), query("EXECUTE c")}, 2, []string{"pg_class", "26000"}},
		{"failing", []oldproto.FrontendMessage{query("PREPARE d AS SELECT 1/g FROM generate_series(0,1) g"), query("EXECUTE d")}, 2, []string{"generate_series(0", "generate_series(0 22012"}},
		{
			"in parts, by the protocol",
			[]oldproto.FrontendMessage{parse("e", "EXECUTE a"), bind("", "e"), execute("", 1), syncMessage},
			1,
			[]string{"pg_am"},
		},
		{
			"prepared by the protocol",
			[]oldproto.FrontendMessage{parse("", "PREPARE f AS SELECT 1 FROM pg_type"), bind("", ""), execute("", 0), syncMessage, query("EXECUTE f")},
			2,
			[]string{"pg_type", "pg_type"},
		},
		{
			"cursors",
			[]oldproto.FrontendMessage{
				query("BEGIN"), query("DECLARE x CURSOR FOR SELECT 1 FROM pg_am"), query("DECLARE y CURSOR WITH HOLD FOR SELECT 1 FROM pg_type"), query("FETCH x"),
				query("FETCH y"), query("COMMIT"), query("FETCH y"), query("FETCH x"),
			},
			8,
			[]string{"", "pg_am", "pg_type", "pg_am", "pg_type", "", "pg_am pg_type", "pg_am pg_type 34000"},
		},
	} {
		w := p.loginWire(t)
		w.send(prepared...)
		w.script(2)
		told.mu.Lock()
		told.answered = nil
		told.mu.Unlock()
		w.send(script.send...)
		w.script(script.ready)
		if got := told.reads(); !slices.Equal(got, script.want) {
			t.Errorf("%s: told %q, want %q", script.name, got, script.want)
		}
	}
}

// TestWhatSQLPreparedHasItsShape binds a statement that the protocol did not prepare.
func TestWhatSQLPreparedHasItsShape(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = readingGate{}, told })
	w := p.loginWire(t)
	w.send(query("PREPARE a AS SELECT 1"), bind("", "a"), execute("", 0), syncMessage)
	w.script(2)
	if got, want := told.told(), []string{"Q <PREPARE a AS SELECT 1> 0", "E <PREPARE a AS SELECT 1> 1"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestFailuresUseNoNameUp has more names fail than are followed.
func TestFailuresUseNoNameUp(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = readingGate{}, told })
	w := p.loginWire(t)
	const atOnce = 100
	for i := range maxObservedNames/atOnce + 1 {
		for j := range atOnce {
			w.send(parse(fmt.Sprint("s", i, "-", j), "SELECT nothing"), bind(fmt.Sprint("p", i, "-", j), "nobody"), syncMessage)
		}
		w.script(atOnce)
	}
	told.mu.Lock()
	told.answered = nil
	told.mu.Unlock()
	w.send(parse("s", "SELECT 1"), bind("p", "s"), execute("p", 0), syncMessage)
	w.script(1)
	if got, want := told.told(), []string{"E <SELECT 1> 1"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

// TestReadsBeyondThoseFollowed wants all that may have been read, where it is not known
// what was.
func TestReadsBeyondThoseFollowed(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = readingGate{}, told })
	w := p.loginWire(t)
	for i := range maxObservedNames {
		w.send(parse(fmt.Sprint("s", i), "SELECT 1"))
	}
	w.send(syncMessage, query("PREPARE x AS SELECT 1 FROM pg_type"), query("PREPARE y AS SELECT 1 FROM pg_am"), query("EXECUTE x"), bind("", "y"), execute("", 0), syncMessage)
	w.script(5)
	if got, want := told.reads(), []string{"pg_type", "pg_am", "pg_am pg_type", "pg_am pg_type"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}
