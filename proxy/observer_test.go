package proxy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	oldproto "github.com/jackc/pgproto3/v2"
)

// witness writes down what it is told.
type witness struct {
	mu        sync.Mutex
	began     []Client
	ended     []End
	answered  []Answered
	rejected  []Rejection
	canceled  []bool
	connected int
}

func (w *witness) Began(c *Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = append(w.began, *c)
}

func (w *witness) Ended(_ *Client, e End) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = append(w.ended, e)
}

func (w *witness) Answered(a *Answered) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answered = append(w.answered, *a)
}

func (w *witness) Rejected(r Rejection) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.rejected = append(w.rejected, r)
}

func (w *witness) Canceled(known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.canceled = append(w.canceled, known)
}

func (w *witness) Connected(time.Duration, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.connected++
}

// told is a line for each statement: phase, shape, rows and SQLSTATE, ! for a refusal.
func (w *witness) told() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var lines []string
	for _, a := range w.answered {
		line := fmt.Sprintf("%s %s %d %s", [...]string{"Q", "E", "P"}[a.Phase], a.Shape, a.Rows, a.SQLState)
		if a.Refused {
			line += "!"
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	return lines
}

// shapingGate gives each text the shape <text>.
type shapingGate struct{ testGate }

// shapedRefusal is a refusal of a text with a shape.
type shapedRefusal struct {
	error
	shape string
}

func (r shapedRefusal) Unwrap() error { return r.error }
func (r shapedRefusal) Shape() string { return r.shape }

func (g shapingGate) Rewrite(sql string, in State) (Statement, error) {
	statement, err := g.testGate.Rewrite(sql, in)
	if err != nil {
		return statement, shapedRefusal{err, "<" + sql + ">"}
	}
	statement.Shape = "<" + sql + ">"
	return statement, nil
}

// observedScripts are pipelines and what is told of them.
var observedScripts = []struct {
	name  string
	send  []oldproto.FrontendMessage
	ready int
	want  []string
}{
	{"simple", []oldproto.FrontendMessage{query("SELECT 1")}, 1, []string{"Q <SELECT 1> 1"}},
	{"several", []oldproto.FrontendMessage{query("SELECT 1; VALUES (1), (2)")}, 1, []string{"Q <SELECT 1; VALUES (1), (2)> 3"}},
	{"empty", []oldproto.FrontendMessage{query("")}, 1, []string{"Q  0"}},
	{"failing", []oldproto.FrontendMessage{query("SELECT 1; SELECT 1/0")}, 1, []string{"Q <SELECT 1; SELECT 1/0> 0 22012"}},
	{"refused", []oldproto.FrontendMessage{query("forbidden")}, 1, []string{"Q <forbidden> 0 42501!"}},
	{
		"refused in a failed transaction",
		[]oldproto.FrontendMessage{query("BEGIN"), query("SELECT 1/0"), query("forbidden"), query("ROLLBACK")},
		4,
		[]string{"Q <BEGIN> 0", "Q <SELECT 1/0> 0 22012", "Q <forbidden> 0 25P02", "Q <ROLLBACK> 0"},
	},
	{
		"unnamed",
		[]oldproto.FrontendMessage{parse("", "SELECT 1"), bind("", ""), describe('P', ""), execute("", 0), syncMessage},
		1,
		[]string{"E <SELECT 1> 1"},
	},
	{
		"parts",
		[]oldproto.FrontendMessage{parse("", "VALUES (1), (2), (3)"), bind("", ""), execute("", 2), execute("", 2), syncMessage},
		1,
		[]string{"E <VALUES (1), (2), (3)> 2", "E <VALUES (1), (2), (3)> 1"},
	},
	{
		"named again and again",
		[]oldproto.FrontendMessage{
			parse("a", "SELECT 1"), parse("b", "SELECT 2"), syncMessage,
			bind("p", "a"), bind("q", "b"), execute("q", 0), execute("p", 0), syncMessage,
			closing('S', "a"), parse("a", "SELECT 3"), bind("", "a"), execute("", 0), syncMessage, bind("", "a"), execute("", 0), syncMessage,
		},
		4,
		[]string{"E <SELECT 2> 1", "E <SELECT 1> 1", "E <SELECT 3> 1", "E <SELECT 3> 1"},
	},
	{
		"a name that is taken",
		[]oldproto.FrontendMessage{
			parse("a", "SELECT 1"), syncMessage, parse("a", "SELECT 2"), syncMessage, bind("", "a"), execute("", 0), syncMessage,
		},
		3,
		[]string{"P <SELECT 2> 0 42P05", "E <SELECT 1> 1"},
	},
	{
		"skipped",
		[]oldproto.FrontendMessage{
			parse("", "SELECT 1/g FROM generate_series(0, 0) g"), bind("", ""), execute("", 0), execute("", 0), syncMessage,
			parse("", "SELECT 2"), bind("", ""), execute("", 0), syncMessage,
		},
		2,
		[]string{"E <SELECT 1/g FROM generate_series(0, 0) g> 0 22012", "E <SELECT 2> 1"},
	},
	{
		"fails when it is parsed or bound",
		[]oldproto.FrontendMessage{
			parse("", "SELECT nothing"), bind("", ""), execute("", 0), syncMessage,
			parse("", "SELECT $1::int"), bind("", ""), execute("", 0), syncMessage,
		},
		2,
		[]string{"P <SELECT nothing> 0 42703", "P <SELECT $1::int> 0 08P01"},
	},
	{
		"refused in a pipeline",
		[]oldproto.FrontendMessage{
			parse("", "SELECT 1"), bind("", ""), execute("", 0), parse("", "forbidden"), bind("", ""), execute("", 0), syncMessage, query("SELECT 2"),
		},
		2,
		[]string{"E <SELECT 1> 1", "P <forbidden> 0 42501!", "Q <SELECT 2> 1"},
	},
	{
		"all are dropped",
		[]oldproto.FrontendMessage{
			parse("a", "SELECT 1"), syncMessage, query("DEALLOCATE ALL"), parse("a", "SELECT 2"), bind("", "a"), execute("", 0), syncMessage,
		},
		3,
		[]string{"Q <DEALLOCATE ALL> 0", "E <SELECT 2> 1"},
	},
}

func TestObserverIsToldOfStatements(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = shapingGate{}, told })
	for _, script := range observedScripts {
		w := p.loginWire(t)
		told.mu.Lock()
		told.answered = nil
		told.mu.Unlock()
		w.send(script.send...)
		w.script(script.ready)
		if got := told.told(); !slices.Equal(got, script.want) {
			t.Errorf("%s:\n%s\nwant\n%s", script.name, strings.Join(got, "\n"), strings.Join(script.want, "\n"))
		}
	}
}

// TestNamesBeyondThoseFollowed looks for shapes that many names hide.
func TestNamesBeyondThoseFollowed(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = shapingGate{}, told })
	w := p.loginWire(t)
	for i := range maxObservedNames {
		w.send(parse(fmt.Sprint("s", i), "SELECT 1"))
	}
	w.send(parse("last", "SELECT 'the last'"), bind("", "last"), execute("", 0), syncMessage)
	w.script(1)
	if got, want := told.told(), []string{"P <SELECT 'the last'> 0", "E  1"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
}

func TestObserverIsToldOfSessions(t *testing.T) {
	t.Parallel()
	told := &witness{}
	p := startProxy(t, func(c *Config) { c.Gate, c.Observer = shapingGate{}, told })
	w := p.loginWire(t)
	w.send(query("SELECT pg_sleep(30)"))
	running := func() bool {
		for _, s := range p.Sessions(deadline(t)) {
			if s.Shape == "<SELECT pg_sleep(30)>" && s.State == "active" && s.User == testUser && !s.StatementSince.IsZero() {
				return true
			}
		}
		return false
	}
	eventually(t, "the statement is listed", running)
	_ = w.Close()
	eventually(t, "the end is told", func() bool { told.mu.Lock(); defer told.mu.Unlock(); return len(told.ended) == 1 })
	if got, want := told.told(), []string{"Q <SELECT pg_sleep(30)> 0 08006"}; !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	if told.ended[0].SQLState != stateConnectionFailure || len(told.began) != 1 || told.began[0].Session != 1 || told.connected != 1 {
		t.Errorf("told of %+v, %+v and %d connections", told.began, told.ended, told.connected)
	}
	if left := p.Sessions(deadline(t)); len(left) != 0 {
		t.Errorf("%+v are left", left)
	}
}

func TestObserverIsToldOfRejections(t *testing.T) {
	t.Parallel()
	told := &witness{}
	c := nowhere(t)
	c.Observer = told
	p := serve(t, c)
	try := func(user, password, database string) {
		w := dialWire(t, p.addr)
		w.startup(user, database)
		w.scram(password)
		_ = w.Close()
	}
	try(testUser, "wrong", published)
	try("nobody", "wrong", published)
	try(testUser, testPassword, "elsewhere")
	try(testUser, testPassword, published)
	eventually(t, "four are told of", func() bool { told.mu.Lock(); defer told.mu.Unlock(); return len(told.rejected) == 4 })
	var got []string
	for _, r := range told.rejected {
		got = append(got, fmt.Sprintf("%s %s %s", r.User, r.Reason, r.SQLState))
	}
	slices.Sort(got)
	want := []string{"ann database 3D000", "ann password 28P01", "ann upstream 08006", "nobody password 28P01"}
	if !slices.Equal(got, want) {
		t.Errorf("told %q, want %q", got, want)
	}
	for _, r := range told.rejected {
		if !slices.Contains(Reasons(), r.Reason) {
			t.Errorf("%s is not among the reasons", r.Reason)
		}
	}
}

func TestReasons(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want Reason
	}{
		{errStopping, ReasonShutdown},
		{errNoPending, ReasonCrowded},
		{errThrottled, ReasonThrottled},
		{errCrowded, ReasonCrowded},
		{&denial{newFatal(stateCannotConnectNow, ""), ""}, ReasonLookup},
		{&denial{newFatal(stateInvalidAuthorization, ""), ""}, ReasonPassword},
		{newFatal(stateInvalidAuthorization, ""), ReasonRule},
		{newFatal(stateQueryCanceled, ""), ReasonTimeout},
		{violation(""), ReasonProtocol},
		{newFatal(stateInvalidParameterValue, ""), ReasonParameter},
		{refusedParameter(refusedText{}), ReasonParameter},
		{newFatal(stateCannotConnectNow, ""), ReasonUnavailable},
		{&panicError{}, ReasonCrash},
		{context.DeadlineExceeded, ReasonGone},
		{errors.New("anything"), ReasonGone},
	} {
		if got := reasonOf(test.err); got != test.want {
			t.Errorf("%v is %s, want %s", test.err, got, test.want)
		}
	}
}
