package proxy

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/proxy/answers"
)

// keptGate has answers kept of statements that read the table shown, for as long as the table mark is
// as it was.
type keptGate struct{ testGate }

const keptLook = "SELECT (SELECT state FROM mark), current_user || current_setting('timezone'), current_setting('kproxy.cache', true), current_setting('statement_timeout')"

func (g keptGate) Rewrite(sql string, in State) (Statement, error) {
	s, err := g.testGate.Rewrite(sql, in)
	if strings.Contains(sql, "shown") && !strings.Contains(sql, ";") {
		s.Look = keptLook
	}
	return s, err
}

// keptProxy is a proxy that keeps answers, with an owner who writes behind it.
func keptProxy(t *testing.T, change func(*Config)) (p *testProxy, store *answers.Store, owner *pgconn.PgConn) {
	t.Helper()
	store = answers.New(8 << 20)
	p = startProxy(t, func(c *Config) {
		c.Gate, c.Answers = keptGate{}, store
		if change != nil {
			change(c)
		}
	})
	owner = dialDirect(t, p)
	must(t, owner, "CREATE TABLE mark (state text); INSERT INTO mark VALUES ('0'); CREATE TABLE shown (n int); INSERT INTO shown VALUES (1)")
	return p, store, owner
}

// show changes what readers see, and the mark with it.
func show(t *testing.T, owner *pgconn.PgConn, n int) {
	t.Helper()
	must(t, owner, fmt.Sprintf("BEGIN; UPDATE shown SET n = %d; UPDATE mark SET state = gen_random_uuid()::text; COMMIT", n))
}

func dialDirect(t *testing.T, p *testProxy) *pgconn.PgConn {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), p.direct)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// must runs a text and returns the first value of its last result.
func must(t *testing.T, conn *pgconn.PgConn, sql string) string {
	t.Helper()
	results, err := conn.Exec(t.Context(), sql).ReadAll()
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if last := results[len(results)-1]; len(last.Rows) > 0 {
		return string(last.Rows[0][0])
	}
	return ""
}

// askBound asks by Parse, Bind and Execute.
func askBound(t *testing.T, conn *pgconn.PgConn, sql string, parameters ...string) string {
	t.Helper()
	var values [][]byte
	for _, p := range parameters {
		values = append(values, []byte(p))
	}
	r := conn.ExecParams(t.Context(), sql, values, nil, nil, nil).Read()
	if r.Err != nil || len(r.Rows) == 0 {
		t.Fatalf("%s: %v", sql, r.Err)
	}
	return string(r.Rows[0][0])
}

const slowShown = "SELECT n FROM shown, pg_sleep(0.02)"

func TestKeptAnswersFollowTheMark(t *testing.T) {
	t.Parallel()
	p, store, owner := keptProxy(t, nil)
	for name, ask := range map[string]func(*pgconn.PgConn) string{
		"simple":   func(c *pgconn.PgConn) string { return must(t, c, slowShown) },
		"extended": func(c *pgconn.PgConn) string { return askBound(t, c, slowShown) },
	} {
		first, second := clientOf(t, p), clientOf(t, p)
		for round := range 4 {
			n := 10*round + len(name)
			show(t, owner, n)
			before := store.Stats().Hits
			for i := range 4 {
				for _, conn := range []*pgconn.PgConn{first, second} {
					if got := ask(conn); got != fmt.Sprint(n) {
						t.Fatalf("%s, round %d, question %d: %s, not %d", name, round, i, got, n)
					}
				}
			}
			if got := store.Stats().Hits - before; got < 4 {
				t.Errorf("%s, round %d: %d of 8 answers were kept ones", name, round, got)
			}
		}
	}
}

// TestKeptAnswersAreOfTheirQuestion: other parameters, settings, formats or roles are other questions.
func TestKeptAnswersAreOfTheirQuestion(t *testing.T) {
	t.Parallel()
	p, store, _ := keptProxy(t, nil)
	conn := clientOf(t, p)
	for range 3 {
		for _, n := range []string{"5", "6"} {
			if got := askBound(t, conn, "SELECT n + $1::int FROM shown, pg_sleep(0.02)", n); got != fmt.Sprint(1+int(n[0]-'0')) {
				t.Errorf("1 + %s is %s", n, got)
			}
			binary := conn.ExecParams(t.Context(), "SELECT n + $1::int FROM shown, pg_sleep(0.02)", [][]byte{[]byte(n)}, nil, nil, []int16{1}).Read()
			if len(binary.Rows) != 1 || len(binary.Rows[0][0]) != 4 {
				t.Errorf("in binary format it is %q, %v", binary.Rows, binary.Err)
			}
		}
		for _, zone := range []string{"Asia/Tokyo", "UTC"} {
			must(t, conn, "SET timezone = '"+zone+"'")
			if got := must(t, conn, "SELECT current_setting('timezone') FROM shown, pg_sleep(0.02)"); got != zone {
				t.Errorf("in %s it is %s", zone, got)
			}
		}
	}
	if store.Stats().Hits == 0 {
		t.Error("no answer was a kept one")
	}
	must(t, conn, "SET kproxy.cache = off")
	before := store.Stats()
	for range 3 {
		must(t, conn, slowShown)
	}
	if after := store.Stats(); after.Hits != before.Hits || after.Answers != before.Answers {
		t.Errorf("kept answers are off, and %+v became %+v", before, after)
	}
}

// TestWhatIsNotKept: errors, notices, what is too large, what depends on the time, and what stands in a
// transaction.
func TestWhatIsNotKept(t *testing.T) {
	t.Parallel()
	p, store, owner := keptProxy(t, nil)
	must(t, owner, "CREATE FUNCTION noticing() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(0.02); RAISE NOTICE 'here'; RETURN 1; END $$")
	conn := clientOf(t, p)
	for _, sql := range []string{
		"SELECT n / 0 FROM shown, pg_sleep(0.02)", "SELECT noticing() FROM shown", "SELECT repeat('x', 1000000) FROM shown, pg_sleep(0.02)",
		"SELECT n FROM shown, pg_sleep(0.02) WHERE 'today'::date IS NOT NULL",
	} {
		for range 4 {
			_, _ = conn.Exec(t.Context(), sql).ReadAll()
			_, _ = conn.ExecParams(t.Context(), sql, nil, nil, nil, nil).Close()
		}
		if s := store.Stats(); s.Answers != 0 {
			t.Errorf("%s is kept: %+v", sql, s)
		}
	}
	before := store.Stats()
	must(t, conn, "BEGIN")
	for range 4 {
		must(t, conn, slowShown)
		askBound(t, conn, slowShown)
	}
	must(t, conn, "COMMIT")
	if s := store.Stats(); s != before {
		t.Errorf("in a transaction %+v became %+v", before, s)
	}
}

// TestKeptQueryDropsTheUnnamedStatement, as PostgreSQL does with every Query.
func TestKeptQueryDropsTheUnnamedStatement(t *testing.T) {
	t.Parallel()
	p, store, _ := keptProxy(t, nil)
	conn := clientOf(t, p)
	for range 3 {
		must(t, conn, slowShown)
	}
	f := conn.Frontend()
	f.Send(&pgproto3.Parse{Query: "SELECT 1"})
	f.Send(&pgproto3.Sync{})
	before := store.Stats().Hits
	f.Send(&pgproto3.Query{String: slowShown})
	f.Send(&pgproto3.Bind{})
	f.Send(&pgproto3.Execute{})
	f.Send(&pgproto3.Sync{})
	if got := received(t, f, 3); got != "1 Z T D C Z E26000 Z" {
		t.Errorf("the server says %s", got)
	}
	if store.Stats().Hits != before+1 {
		t.Error("the answer was no kept one")
	}
}

// received are the types of messages up to so many ReadyForQuery, with the SQLSTATE of errors.
func received(t *testing.T, f *pgproto3.Frontend, ready int) string {
	t.Helper()
	if err := f.Flush(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for ready > 0 {
		m, err := f.Receive()
		if err != nil {
			t.Fatalf("after %v: %v", said, err)
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			said = append(said, "E"+m.Code)
		case *pgproto3.ReadyForQuery:
			said = append(said, "Z")
			ready--
		case *pgproto3.RowDescription:
			said = append(said, "T")
		case *pgproto3.DataRow:
			said = append(said, "D")
		case *pgproto3.CommandComplete:
			said = append(said, "C")
		case *pgproto3.ParseComplete:
			said = append(said, "1")
		case *pgproto3.BindComplete:
			said = append(said, "2")
		case *pgproto3.CloseComplete:
			said = append(said, "3")
		default:
			said = append(said, fmt.Sprintf("%T", m))
		}
	}
	return strings.Join(said, " ")
}

// TestKeptExecuteInPipelines: what a name stands for is what the server says.
func TestKeptExecuteInPipelines(t *testing.T) {
	t.Parallel()
	p, store, _ := keptProxy(t, nil)
	conn := clientOf(t, p)
	other := "SELECT n, n FROM shown, pg_sleep(0.02)"
	for range 4 {
		askBound(t, conn, slowShown)
		askBound(t, conn, other)
	}
	before := store.Stats().Hits
	if before == 0 {
		t.Fatal("nothing is kept")
	}
	f := conn.Frontend()
	for name, script := range map[string]struct {
		send []pgproto3.FrontendMessage
		want string
	}{
		"several in one segment": {[]pgproto3.FrontendMessage{
			&pgproto3.Parse{Query: slowShown}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{},
		}, "1 2 D C 2 D C Z"},
		"once more": {[]pgproto3.FrontendMessage{
			&pgproto3.Parse{Query: slowShown}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Execute{}, &pgproto3.Sync{},
		}, "1 2 D C E34000 Z"},
		"a named portal": {[]pgproto3.FrontendMessage{
			&pgproto3.Parse{Name: "s", Query: slowShown}, &pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s"}, &pgproto3.Execute{Portal: "p"},
			&pgproto3.Close{ObjectType: 'P', Name: "p"}, &pgproto3.Close{ObjectType: 'S', Name: "s"}, &pgproto3.Sync{},
		}, "1 2 D C 3 3 Z"},
		"a part of the rows": {[]pgproto3.FrontendMessage{
			&pgproto3.Parse{Query: slowShown}, &pgproto3.Bind{}, &pgproto3.Execute{MaxRows: 5}, &pgproto3.Sync{},
		}, "1 2 D C Z"},
		"behind an error": {[]pgproto3.FrontendMessage{
			&pgproto3.Parse{Query: "SELECT 1/0"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Parse{Query: slowShown}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{},
		}, "1 E22012 Z"},
	} {
		for _, m := range script.send {
			f.Send(m)
		}
		if got := received(t, f, 1); got != script.want {
			t.Errorf("%s: %s, not %s", name, got, script.want)
		}
	}
	// A Parse that the server skips does not change what the unnamed statement is.
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Parse{Query: slowShown}, &pgproto3.Sync{},
		&pgproto3.Bind{PreparedStatement: "missing"}, &pgproto3.Parse{Query: other}, &pgproto3.Sync{},
		&pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{},
	} {
		f.Send(m)
	}
	if got := received(t, f, 3); got != "1 Z E26000 Z 2 T D C Z" {
		t.Errorf("a Parse that is skipped: %s", got)
	}
}

// TestOneRunsForMany has sessions wait for the run of another one, and end their wait.
func TestOneRunsForMany(t *testing.T) {
	t.Parallel()
	p, store, owner := keptProxy(t, nil)
	const slow = "SELECT n FROM shown, pg_sleep(1)"
	leader, waiter, stopped := clientOf(t, p), clientOf(t, p), clientOf(t, p)
	must(t, leader, slow) // which tells that it is worth it
	for _, conn := range []*pgconn.PgConn{leader, waiter, stopped} {
		must(t, conn, "SET statement_timeout = 0")
	}
	show(t, owner, 7)
	began := time.Now()
	told := make(chan string, 2)
	go func() { told <- asked(leader, slow) }()
	awaitRuns(t, owner, 1)
	go func() { told <- asked(waiter, slow) }()
	refused := make(chan string, 1)
	go func() { refused <- asked(stopped, slow) }()
	for store.Stats().Shared < 2 && time.Since(began) < patience {
		time.Sleep(time.Millisecond)
	}
	if err := stopped.CancelRequest(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := <-refused; got != "57014" {
		t.Errorf("who has canceled is told %s", got)
	}
	for range 2 {
		if got := <-told; got != "7" {
			t.Errorf("the answer is %s", got)
		}
	}
	if got := asked(stopped, "SELECT 3"); got != "3" {
		t.Errorf("after a cancel request: %s", got)
	}

	show(t, owner, 8)
	go func() { told <- asked(leader, slow) }()
	awaitRuns(t, owner, 1)
	go func() { told <- asked(waiter, slow) }()
	for store.Stats().Shared < 3 && time.Since(began) < 2*patience {
		time.Sleep(time.Millisecond)
	}
	_ = leader.Conn().Close() // who runs it goes away
	answers := []string{<-told, <-told}
	if answers[0] != "8" && answers[1] != "8" {
		t.Errorf("the one who is left is told %v", answers)
	}
}

// asked is what a session is told: a value or an SQLSTATE.
func asked(conn *pgconn.PgConn, sql string) string {
	results, err := conn.Exec(context.Background(), sql).ReadAll()
	var failed *pgconn.PgError
	switch {
	case errors.As(err, &failed):
		return failed.Code
	case err != nil:
		return "gone"
	}
	return string(results[0].Rows[0][0])
}

// awaitRuns waits until so many sessions run the slow statement.
func awaitRuns(t *testing.T, owner *pgconn.PgConn, sessions int) {
	t.Helper()
	began := time.Now()
	for must(t, owner, "SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%shown, pg_sleep(_)' AND datname = current_database()") != fmt.Sprint(sessions) {
		if time.Since(began) > patience {
			t.Fatal("it does not run")
		}
	}
}

// TestWaitingCountsAgainstTheTimeout of the statement.
func TestWaitingCountsAgainstTheTimeout(t *testing.T) {
	t.Parallel()
	p, store, owner := keptProxy(t, func(c *Config) { c.Timeouts.Statement = 4 * time.Second })
	const slow = "SELECT n FROM shown, pg_sleep(3)"
	leader, waiter := clientOf(t, p), clientOf(t, p)
	must(t, leader, slow)
	show(t, owner, 7)
	told := make(chan string, 1)
	go func() { told <- asked(leader, slow) }()
	awaitRuns(t, owner, 1)
	began := time.Now()
	late := make(chan string, 1)
	go func() { late <- asked(waiter, slow) }()
	for store.Stats().Shared < 1 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(2500 * time.Millisecond)
	_ = leader.Conn().Close()
	<-told
	if got := <-late; got != "57014" {
		t.Errorf("after %v it is told %s", time.Since(began), got)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Logf("it took %v, on a busy machine", took)
	}
}

func TestNamesTime(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"": false, "now": true, "NOW": true, "a now b": true, "'today'::date": true, "{Tomorrow}": true, "x='yesterday'": true, "[now,)": true,
		"\x00\x00\x00atoday   ": true, "unknown": false, "nowhere": false, "todays": false, "n o w": false, "now1": true,
	} {
		if namesTime(text) != want {
			t.Errorf("namesTime of %q is not %v", text, want)
		}
	}
}

func clientOf(t *testing.T, p *testProxy) *pgconn.PgConn {
	t.Helper()
	return connectPgx(t, p.url("")).PgConn()
}

// askedBound is asked by Parse, Bind and Execute.
func askedBound(conn *pgconn.PgConn, sql string) string {
	r := conn.ExecParams(context.Background(), sql, nil, nil, nil, nil).Read()
	var failed *pgconn.PgError
	switch {
	case errors.As(r.Err, &failed):
		return failed.Code
	case r.Err != nil:
		return "gone"
	}
	return string(r.Rows[0][0])
}

// waysToAsk are the two ways of the protocol to ask for what is shown.
var waysToAsk = map[string]func(*pgconn.PgConn) string{
	"simple":   func(c *pgconn.PgConn) string { return asked(c, slowShown) },
	"extended": func(c *pgconn.PgConn) string { return askedBound(c, slowShown) },
}

// heldLook has a question wait for its look, does something, and lets the look go on.
func heldLook(t *testing.T, owner *pgconn.PgConn, ask func() string, do func()) (answer string) {
	t.Helper()
	must(t, owner, "BEGIN; LOCK mark")
	answered := make(chan string, 1)
	go func() { answered <- ask() }()
	for must(t, owner, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'mark'::regclass") == "0" {
		time.Sleep(time.Millisecond)
	}
	do()
	must(t, owner, "COMMIT")
	return <-answered
}

// TestALookIsForOneQuestion: a question that is refused after its look leaves nothing that the same
// question, asked again after a change, is answered by.
func TestALookIsForOneQuestion(t *testing.T) {
	t.Parallel()
	closed := &atomic.Bool{}
	p, _, owner := keptProxy(t, func(c *Config) {
		c.Available = func() error {
			if closed.Load() {
				return errors.New("closed")
			}
			return nil
		}
	})
	for name, ask := range waysToAsk {
		conn := clientOf(t, p)
		show(t, owner, 1)
		for range 4 {
			ask(conn)
		}
		if got := heldLook(t, owner, func() string { return ask(conn) }, func() { closed.Store(true) }); got != "57P03" {
			t.Errorf("%s: while nothing is served it is answered %s", name, got)
		}
		closed.Store(false)
		show(t, owner, 2)
		for i := range 3 {
			if got := ask(conn); got != "2" {
				t.Errorf("%s: question %d after the change is answered %s", name, i, got)
			}
		}
	}
}

// TestACanceledLookLeavesNothing: the questions after it are answered.
func TestACanceledLookLeavesNothing(t *testing.T) {
	t.Parallel()
	p, _, owner := keptProxy(t, nil)
	for name, ask := range waysToAsk {
		conn := clientOf(t, p)
		for range 4 {
			ask(conn)
		}
		got := heldLook(t, owner, func() string { return ask(conn) }, func() {
			if err := conn.CancelRequest(t.Context()); err != nil {
				t.Error(err)
			}
			for must(t, owner, "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'mark'::regclass") != "0" {
				time.Sleep(time.Millisecond)
			}
		})
		if got != "57014" {
			t.Errorf("%s: the canceled question is answered %s", name, got)
		}
		for i := range 6 {
			if got := ask(conn); got != "1" {
				t.Errorf("%s: question %d after it is answered %s", name, i, got)
			}
		}
	}
}

// TestImpossibleLooks: where the marks must not be read, nothing is kept, and questions are answered.
func TestImpossibleLooks(t *testing.T) {
	t.Parallel()
	p, store, owner := keptProxy(t, nil)
	conn := clientOf(t, p)
	asked(conn, slowShown)
	must(t, owner, "ALTER TABLE mark RENAME TO gone")
	failed := 0
	for range 6 {
		if got := askedBound(conn, slowShown); got != "1" {
			failed++
		}
	}
	if s := store.Stats(); failed > 1 || s.Answers > 0 {
		t.Errorf("%d questions failed, %+v", failed, s)
	}
}

// TestMayReadTime has moments in whatever a session can write for the elements of arrays and ranges.
func TestMayReadTime(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]bool{
		`SELECT lower('[n\ow,)'::tstzrange)`: true, `SELECT ('{"n\ow"}'::timestamptz[])[1]`: true, `SELECT a && '[2025-01-01,to"d"ay)'`: true,
		`SELECT E'n\\ow'`: true, `SELECT $$today$$`: true, `SELECT $x$to"day$x$`: true, `SELECT /* ' */ 'to"day'`: true, "SELECT 1 -- '\n, 'to\"day'": true,
		`SELECT 'it''s "now"ish'`: true, `SELECT 'a`: true, `SELECT "a""b", 'c', $1 FROM "x'y"`: false, `SELECT 'it''s', "n\ow"`: false, `SELECT a->'b' - 1`: false,
	} {
		if got := (&question{sql: sql}).mayReadTime(); got != want {
			t.Errorf("%s: %t", sql, got)
		}
	}
	for parameters, want := range map[string]bool{`[n\ow,)`: true, `{"n` + "ow" + `"}`: true, "2025-01-01": false} {
		if got := (&question{sql: "SELECT $1", parameters: parameters}).mayReadTime(); got != want {
			t.Errorf("%q: %t", parameters, got)
		}
	}
	for _, oid := range []byte{0xF2, 0xF6} { // timetz and its array
		if !declaresTimeOfDay([]byte{0, 2, 0, 0, 0, 23, 0, 0, 4, oid}) {
			t.Errorf("type %x is none", oid)
		}
	}
	if declaresTimeOfDay([]byte{0, 2, 0, 0, 0, 23, 0, 0, 0, 0}) || declaresTimeOfDay([]byte{0, 0}) {
		t.Error("other types are times of day")
	}
}
