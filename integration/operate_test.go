package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Two small tables for tests of operating kproxy: every transaction counts n of all
// rows of people up, so that a reader can tell whether states go forward.
const (
	operatedRows   = 40
	operatedSchema = `
CREATE TABLE people (id int PRIMARY KEY, age int, n int NOT NULL);
INSERT INTO people SELECT i, i % 7, 0 FROM generate_series(1, 40) i;
CREATE TABLE visits (id int PRIMARY KEY, age int, ward text, days int);
INSERT INTO visits SELECT i, i % 11, 'ward ' || i % 3, i % 5 FROM generate_series(1, 60) i;
CREATE TABLE wards (name text);`

	countedPolicy = `tables:
  public.people:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      n: insensitive
`
	visitsPolicy = `  public.visits:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      ward: insensitive
      days: insensitive
`
	forward = "UPDATE people SET n = n + 1"
)

// replace changes the site's configuration itself.
func (s *site) replace(t *testing.T, oldNew ...string) {
	t.Helper()
	s.write(t, "kproxy.yaml", contents(t, s.edit(t, "next.yaml", oldNew...)))
}

func contents(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// beside is another kproxy on the same database, with a configuration of its own.
func (s *site) beside(t *testing.T, name string) *site {
	t.Helper()
	other := *s
	other.address = freeAddress(t)
	other.config = s.edit(t, name, s.address, other.address)
	return &other
}

// follower reads people again and again on one connection, which must not break, and
// holds every state against the one before.
type follower struct {
	last atomic.Int64
	seen atomic.Int64
	stop context.CancelFunc
	done chan error
}

func follow(t *testing.T, s *site) *follower {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	f := &follower{stop: cancel, done: make(chan error, 1)}
	conn := connect(t, s.url())
	go func() { f.done <- f.run(ctx, conn) }()
	return f
}

func (f *follower) run(ctx context.Context, conn *pgx.Conn) error {
	for ctx.Err() == nil {
		var least, most, rows int64
		err := conn.QueryRow(ctx, "SELECT min(n), max(n), count(*) FROM people").Scan(&least, &most, &rows)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return fmt.Errorf("after %d states: %w", f.seen.Load(), err)
		case least != most || rows != operatedRows:
			return fmt.Errorf("%d rows show from %d to %d: the middle of a transaction", rows, least, most)
		case least < f.last.Load():
			return fmt.Errorf("%d is shown after %d: a step back", least, f.last.Load())
		}
		f.last.Store(least)
		f.seen.Add(1)
		pause(ctx)
	}
	return nil
}

// reaches waits until the reader has seen a state.
func (f *follower) reaches(t *testing.T, n int64) {
	t.Helper()
	eventually(t, fmt.Sprintf("a reader sees %d", n), func() bool { return f.last.Load() >= n || len(f.done) > 0 })
	if f.last.Load() < n {
		t.Fatalf("a reader ended: %v", <-f.done)
	}
}

// end stops the reader, which must have met no error.
func (f *follower) end(t *testing.T) {
	t.Helper()
	f.stop()
	if err := <-f.done; err != nil {
		t.Error(err)
	}
	if f.seen.Load() == 0 {
		t.Error("no state was seen")
	}
}

// countRows counts the rows of a table as clients see it; the code of the refusal is empty
// where there is none.
func countRows(t *testing.T, conn *pgx.Conn, table string) (rows int, code, hint string) {
	t.Helper()
	err := conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows)
	refused := (*pgconn.PgError)(nil)
	if errors.As(err, &refused) {
		return 0, refused.Code, refused.Hint
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows, "", ""
}

// shows waits until clients see so many rows. Each look is a session of its own: one that
// has read a table ends when that is withdrawn.
func (s *site) shows(t *testing.T, table string, want int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%s shows %d rows", table, want), func() bool {
		conn := connect(t, s.url())
		defer conn.Close(context.Background())
		rows, _, _ := countRows(t, conn, table)
		return rows == want
	})
}

// statusJSON is what kproxy status says, and its exit code.
func (s *site) statusJSON(t *testing.T) (status struct {
	Replication struct {
		Applier   *struct{ PID int }
		Processes int
		Position  string
	}
	Clients []struct {
		Process               string
		Sessions, Connections int
	}
	Silent int
	Tables []struct{ Table, State, Problem, Fix string }
	Needs  []struct{ What, Fix string }
}, code int,
) {
	t.Helper()
	o := s.kproxy(t, "status", "--json")
	if err := json.Unmarshal([]byte(o.stdout), &status); err != nil {
		t.Fatalf("%v in %s%s", err, o.stdout, o.stderr)
	}
	return status, o.code
}

// TestReload adds, changes and removes a table while another one is read.
func TestReload(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy+"# more\nreadable: [public.wards]\n"))
	s.kproxy(t, "reload").speaks(t, 1, 2, "role") // setup has not run
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").speaks(t, 1, 2, "no 'kproxy serve' is running")
	p := s.serve(t)
	conn, client := connect(t, s.admin), connect(t, s.url())
	f := follow(t, s)

	t.Log("add a table")
	s.replace(t, "# more\n", visitsPolicy)
	s.kproxy(t, "reload").speaks(t, 1, 6, "refuses the new configuration", "the old one goes on", "public.visits", "fix: ")
	if _, code, _ := countRows(t, client, "visits"); code != "42501" {
		t.Errorf("before it is added, the table is refused with %s", code)
	}
	s.kproxy(t, "setup").must(t)
	if o := s.kproxy(t, "reload", "--check").must(t); !strings.Contains(o.stdout, "would be reloaded\n  added: public.visits\n") {
		t.Errorf("reload --check says %q", o.stdout)
	}
	if o := s.kproxy(t, "reload").must(t); !strings.Contains(o.stdout, ": reloaded\n  added: public.visits\n") {
		t.Errorf("reload says %q", o.stdout)
	}
	eventually(t, "the added table is published", func() bool {
		rows, code, hint := countRows(t, client, "visits")
		if code != "" && (code != "55000" || !strings.Contains(hint, "being published")) {
			t.Fatalf("meanwhile it is refused with %s: %s", code, hint)
		}
		return rows == 60
	})
	execute(t, conn, forward)
	f.reaches(t, 1)

	t.Log("change it")
	smallest := "SELECT min(c) FROM (SELECT count(*) AS c FROM visits GROUP BY age) g"
	if n := scalar[int](t, client, smallest); n >= 15 {
		t.Fatalf("the smallest class has %d rows before the change", n)
	}
	s.replace(t, "  public.visits:\n    updates: immediate\n    constraints: [{k: 5}]", "  public.visits:\n    updates: immediate\n    constraints: [{k: 20}]")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	// What was published under the earlier policy is not for readers any more.
	eventually(t, "who has read the changed table is gone", func() bool { return client.PgConn().Ping(t.Context()) != nil })
	s.shows(t, "visits", 60)
	client = connect(t, s.url())
	if n := scalar[int](t, client, smallest); n < 20 {
		t.Errorf("the smallest class has %d rows after the change", n)
	}
	testMistakenReload(t, s, p)
	testSupersededRelease(t, s, client, smallest)

	t.Log("settings, and removing the table")
	gone := connect(t, s.url())
	if _, code, _ := countRows(t, gone, "visits"); code != "" {
		t.Fatal(code)
	}
	s.replace(t, strings.Replace(visitsPolicy, "k: 5", "k: 20", 1), "",
		"listen: "+s.address, "listen: "+freeAddress(t), "users:\n", "users:\n  - {name: second, verifier: "+clientVerifier(t)+"}\n", "slot: ", "log: {level: debug}\nslot: ")
	o := s.kproxy(t, "reload").must(t)
	for _, want := range []string{"removed: public.visits\n", "settings: users, log.level\n", "at the next start only: listen\n"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("reload does not say %q:\n%s", want, o.stdout)
		}
	}
	eventually(t, "who has read the removed table is gone", func() bool { return gone.PgConn().Ping(t.Context()) != nil })
	if _, code, _ := countRows(t, connect(t, strings.Replace(s.url(), "//"+clientUser+":", "//second:", 1)), "visits"); code != "42501" {
		t.Errorf("the removed table is refused with %s", code)
	}
	eventually(t, "the store forgets it", func() bool {
		return scalar[int](t, conn, "SELECT count(*) FROM kproxy_store.generation") == 1 &&
			scalar[bool](t, conn, `SELECT to_regclass('kproxy_release_public.visits') IS NULL`)
	})
	s.kproxy(t, "setup").must(t)
	execute(t, conn, forward)
	f.reaches(t, 2)
	f.end(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
}

// testMistakenReload has a configuration with several mistakes refused as a whole.
func testMistakenReload(t *testing.T, s *site, p *process) {
	good := contents(t, s.config)
	s.replace(t, "k: 20", "k: twenty", "ward: insensitive", "ward: harmless", "public.wards", "public.icd10")
	s.kproxy(t, "reload").speaks(t, 1, 6, "k must be", "harmless", "kproxy.yaml:")
	if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	if !p.awaitLog(t, "the new configuration is refused; the old one goes on.*k must be.*harmless") {
		t.Error("the process ended")
	}
	s.write(t, "kproxy.yaml", good)
	if o := s.kproxy(t, "reload").must(t); !strings.Contains(o.stdout, "nothing changed") {
		t.Errorf("after the mistakes reload says %q", o.stdout)
	}
}

// testSupersededRelease asks less of a table, and then more, where the release before may stand: a
// session reads on while the new release is made.
func testSupersededRelease(t *testing.T, s *site, client *pgx.Conn, smallest string) {
	t.Helper()
	for _, change := range []struct {
		edits []string
		ready func(smallest int) bool
	}{
		{[]string{"k: 20", "k: 10"}, func(smallest int) bool { return smallest < 20 }},
		{[]string{"k: 10", "k: 20", "slot: ", "replication: {superseded: keep}\nslot: "}, func(smallest int) bool { return smallest >= 20 }},
	} {
		s.replace(t, change.edits...)
		s.kproxy(t, "reload").must(t)
		eventually(t, fmt.Sprint("the release of the changed policy is shown after ", change.edits), func() bool {
			if rows, code, hint := countRows(t, client, "visits"); code != "" || rows != 60 {
				t.Fatalf("meanwhile the table has %d rows, or is refused with %s: %s", rows, code, hint)
			}
			return change.ready(scalar[int](t, client, smallest))
		})
	}
}

// TestTablesStandAlone drops a column that one policy needs: that table alone is
// withdrawn, also after a restart, until the policy is mended.
func TestTablesStandAlone(t *testing.T) {
	t.Parallel()
	s := newSite(t, sqlSite(operatedSchema, countedPolicy+visitsPolicy))
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	f := follow(t, s)
	conn, reader := connect(t, s.admin), connect(t, s.url())
	if rows, _, _ := countRows(t, reader, "visits"); rows != 60 {
		t.Fatalf("%d rows", rows)
	}
	if status, code := s.statusJSON(t); code != 0 || len(status.Needs) != 0 || status.Replication.Applier == nil || status.Replication.Processes != 1 {
		t.Errorf("all is well, but the exit code is %d and %+v", code, status)
	}

	execute(t, conn, "ALTER TABLE visits DROP COLUMN ward")
	execute(t, conn, "INSERT INTO visits (id, age, days) VALUES (1000, 5, 1)")
	eventually(t, "who has read the table is gone", func() bool { return reader.PgConn().Ping(t.Context()) != nil })
	withdrawn := func() {
		t.Helper()
		_, code, hint := countRows(t, connect(t, s.url()), "visits")
		if code != "55000" || !strings.Contains(hint, "no longer be kept in step") || strings.Contains(hint, "ward") {
			t.Errorf("the table is refused with %s: %s", code, hint)
		}
		status, exit := s.statusJSON(t)
		if exit != 3 || len(status.Needs) != 1 || !strings.Contains(status.Needs[0].What, "public.visits") || status.Needs[0].Fix == "" {
			t.Errorf("status ends with %d and says %+v", exit, status.Needs)
		}
		if status.Tables[0].State != "published" || status.Tables[1].State != "halted" || status.Tables[1].Problem == "" {
			t.Errorf("the tables are %+v", status.Tables)
		}
	}
	withdrawn()
	if !strings.Contains(p.log.String(), "a table is withdrawn") {
		t.Error("the log does not tell of it")
	}
	execute(t, conn, forward)
	f.reaches(t, 1)
	f.end(t)

	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	p = s.serve(t) // with one table that does not fit its policy
	withdrawn()
	f = follow(t, s)
	execute(t, conn, forward)
	f.reaches(t, 2)
	s.replace(t, "      ward: insensitive\n", "")
	s.kproxy(t, "reload").must(t)
	s.shows(t, "visits", 61)
	f.end(t)
	eventually(t, "all is well again", func() bool { _, code := s.statusJSON(t); return code == 0 })
	if !p.awaitLog(t, "a table is well again") {
		t.Error("the process ended")
	}
	s.kproxy(t, "verify").must(t)
	testWishes(t, s)
	testReplaced(t, s)
}

// testReplaced puts another table in the place of a published one.
func testReplaced(t *testing.T, s *site) {
	conn := connect(t, s.admin)
	execute(t, conn, "DROP TABLE visits")
	execute(t, conn, "CREATE TABLE visits AS SELECT i AS id, i % 9 AS age, 1::int AS days FROM generate_series(1, 45) i")
	execute(t, conn, "ALTER TABLE visits ADD PRIMARY KEY (id)")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "accept", "visits", "--yes").must(t)
	s.kproxy(t, "reload").must(t)
	s.shows(t, "visits", 45)
}

// testWishes has tables published afresh and compared while they are read.
func testWishes(t *testing.T, s *site) {
	f := follow(t, s)
	conn := connect(t, s.admin)
	before := scalar[int](t, conn, "SELECT generation FROM kproxy_store.generation WHERE table_name = 'visits'")
	if o := s.kproxy(t, "rebuild", "visits").must(t); o.stdout != "public.visits: published afresh\n" {
		t.Errorf("rebuild says %q", o.stdout)
	}
	if after := scalar[int](t, conn, "SELECT generation FROM kproxy_store.generation WHERE table_name = 'visits'"); after <= before {
		t.Errorf("generation %d after %d", after, before)
	}
	if o := s.kproxy(t, "resync", "--timeout", "1m").must(t); o.stdout != "public.people: resynchronized\npublic.visits: resynchronized\n" {
		t.Errorf("resync says %q", o.stdout)
	}
	s.kproxy(t, "rebuild", "nowhere").speaks(t, 1, 2, "protects no table public.nowhere")
	s.kproxy(t, "resync", "--no-wait", "people").must(t)
	f.end(t)
}

// TestAlarm has the log say once that the server keeps too much of its log.
func TestAlarm(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, countedPolicy)
	o.settings = "replication: {alarm: {retained: 1B}}"
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	execute(t, connect(t, s.admin), forward)
	if !p.awaitLog(t, `level=WARN msg="the server keeps much of its write-ahead log.* fix=`) {
		t.Fatal("the process ended")
	}
	s.replace(t, "retained: 1B", "retained: 0")
	s.kproxy(t, "reload").must(t)
	time.Sleep(100 * time.Millisecond)
	if n := strings.Count(p.log.String(), "keeps much"); n != 1 {
		t.Errorf("it is said %d times", n)
	}
}
