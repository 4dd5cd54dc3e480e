package pool_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/proxy/pool"
)

// everySetting is a statement for each setting that a session may try to change, which
// gives it another value.
const everySetting = `SELECT pg_catalog.format('SET %I TO %L', name, CASE vartype
	WHEN 'bool' THEN CASE setting WHEN 'on' THEN 'off' ELSE 'on' END
	WHEN 'enum' THEN (SELECT v FROM pg_catalog.unnest(enumvals) v WHERE v <> setting LIMIT 1)
	WHEN 'integer' THEN (CASE WHEN setting::int8 < max_val::int8 THEN setting::int8 + 1 ELSE setting::int8 - 1 END)::text
	WHEN 'real' THEN (CASE WHEN setting::float8 < max_val::float8 THEN setting::float8 + 0.5 ELSE setting::float8 - 0.5 END)::text
	ELSE CASE name WHEN 'TimeZone' THEN 'Asia/Tokyo' WHEN 'DateStyle' THEN 'German' WHEN 'search_path' THEN 'pg_temp, public'
		WHEN 'client_encoding' THEN 'LATIN1' WHEN 'default_text_search_config' THEN 'pg_catalog.german'
		WHEN 'datestyle' THEN 'German' ELSE 'C' END END)
FROM pg_catalog.pg_settings WHERE context IN ('user', 'superuser', 'superuser-backend', 'backend') ORDER BY name`

// visible is what a session can see of itself.
var visible = []string{
	"SELECT pg_catalog.string_agg(s::text, E'\\n') FROM pg_catalog.pg_settings s WHERE name <> 'application_name'",
	"SELECT pg_catalog.string_agg(s::text, E'\\n') FROM pg_catalog.pg_prepared_statements s",
	"SELECT pg_catalog.string_agg(s::text, E'\\n') FROM pg_catalog.pg_cursors s",
	"SELECT pg_catalog.string_agg(s, ',') FROM pg_catalog.pg_listening_channels() s",
	"SELECT pg_catalog.count(*)::text FROM pg_catalog.pg_locks WHERE pid = pg_catalog.pg_backend_pid() AND locktype = 'advisory'",
	"SELECT pg_catalog.pg_my_temp_schema()::text || current_schemas(true)::text",
	"SELECT pg_catalog.format('%s %s %s', session_user, current_user, current_setting('role'))",
	"SELECT pg_catalog.lastval()::text",
	"SELECT pg_catalog.currval('public.numbers')::text",
	"SELECT pg_catalog.count(*)::text FROM pg_catalog.pg_class WHERE relpersistence = 't'",
	"SELECT pg_catalog.current_setting('transaction_isolation') || current_setting('transaction_read_only')",
	"SHOW ALL",
}

// view is all that is visible, errors as well.
func view(s *session) []string {
	s.t.Helper()
	var all []string
	for _, sql := range visible {
		row, err := s.query(sql)
		if sql == "SHOW ALL" {
			row = nil // only its first row is kept: it must not fail
		}
		all = append(all, fmt.Sprintf("%s: %q %v", sql, row, err))
	}
	return all
}

// same expects that a session sees what another one saw.
func same(t *testing.T, before, after []string) {
	t.Helper()
	for i := range visible {
		was, is := strings.Split(before[i], `\n`), strings.Split(after[i], `\n`)
		for _, line := range is {
			if !slices.Contains(was, line) {
				t.Errorf("the next session sees %s", line)
			}
		}
		if len(is) != len(was) {
			t.Errorf("the next session sees %d lines of %s, the first one %d", len(is), visible[i], len(was))
		}
	}
}

// wild are sessions that leave what they can. Those that leave what DISCARD ALL takes away
// are to have their connection reused: the others, to have it closed.
var wild = []struct {
	name   string
	reused bool
	texts  []string
}{
	{"prepared statements", true, []string{"PREPARE p AS SELECT 1", "PREPARE q (int) AS SELECT $1"}},
	{"cursor with hold", true, []string{"BEGIN", "DECLARE c CURSOR WITH HOLD FOR SELECT generate_series(1, 1000)", "FETCH 3 FROM c", "COMMIT"}},
	{"listen", true, []string{"LISTEN one", `LISTEN "two words"`}},
	{"advisory locks", true, []string{"SELECT pg_advisory_lock(1)::text", "SELECT pg_advisory_lock_shared(1, 2)::text"}},
	{"session characteristics", true, []string{"SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE, ISOLATION LEVEL SERIALIZABLE"}},
	{"open transaction", true, []string{"BEGIN ISOLATION LEVEL SERIALIZABLE", "SELECT pg_advisory_xact_lock(7)::text", "SET LOCAL work_mem = '1MB'"}},
	{"failed transaction", true, []string{"BEGIN", "SAVEPOINT s", "SELECT 1/0"}},
	{"sequence", true, []string{"SET default_transaction_read_only = off", "SELECT nextval('public.numbers')::text"}},
	{"role", true, []string{"SET ROLE pool_member"}},
	{"other role", true, []string{"SET ROLE postgres", "SET SESSION AUTHORIZATION pool_member"}},
	{"setting in a function", true, []string{"SELECT set_config('work_mem', '4MB', false)", "SELECT set_config('search_path', 'pg_temp', false)"}},
	{"exported snapshot", true, []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT pg_export_snapshot()"}},
	{"plans and memory", true, []string{"PREPARE big (int) AS SELECT count(*) FROM pg_class a, pg_class b WHERE a.oid > b.oid AND a.relpages = $1", "EXECUTE big(1)", "EXECUTE big(2)", "SELECT length(repeat('x', 50000000))::text"}},
	{"own setting", true, []string{"SET my.secret = 'canary'"}},
	{"settings of a transaction", true, []string{"SET transaction_isolation = 'repeatable read'", "SET transaction_deferrable = on", "SET transaction_read_only = on"}},
	{"temporary table", false, []string{"SET default_transaction_read_only = off", "CREATE TEMP TABLE left_over (a int)", "INSERT INTO left_over VALUES (1)"}},
	{"temporary function", false, []string{"SET default_transaction_read_only = off", "CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'"}},
	{"temporary operator", false, []string{
		"SET default_transaction_read_only = off", "SET search_path = pg_temp", "CREATE FUNCTION pg_temp.lie(text, text) RETURNS bool LANGUAGE sql AS 'SELECT false'",
		"CREATE OPERATOR pg_temp.= (LEFTARG = text, RIGHTARG = text, FUNCTION = pg_temp.lie)", "CREATE TEMP VIEW pg_settings AS SELECT 1",
	}},
	{"library", false, []string{"DO $$ BEGIN PERFORM 1; END $$"}},
}

// TestHostileSessions has each session leave what it can, and looks whether the next one
// sees what the first one saw.
func TestHostileSessions(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	role := reader(t, server, dsn)
	execute(t, dsn, `CREATE SEQUENCE public.numbers; GRANT ALL ON SEQUENCE public.numbers TO PUBLIC;
		DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'pool_member') THEN CREATE ROLE pool_member; END IF; END $$;
		GRANT pool_member TO pool_reader`)
	for _, w := range wild {
		t.Run(w.name, func(t *testing.T) {
			p := newPool(t, role, nil)
			first := get(t, p, ann())
			before, pid := view(first), first.one(backend)
			status := byte('I')
			for _, sql := range w.texts {
				_, _ = first.query(sql) // some are refused, on some versions
				status = first.status
			}
			first.Release(status)
			settled(t, p)
			next := get(t, p, ann())
			if reused := next.one(backend) == pid; reused != w.reused {
				t.Errorf("the connection is reused: %v", reused)
			}
			same(t, before, view(next))
			if row, _ := next.query("SELECT current_setting('my.secret', true)"); row[0] != "" {
				t.Error(row)
			}
		})
	}
}

// untestable are settings with which the test would not be answered, or not understand.
var untestable = regexp.MustCompile("client_encoding|_timeout|exit_on_error")

// TestEverySettingIsReset changes all settings that can be, one session for half of them
// in a transaction that is left open.
func TestEverySettingIsReset(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	p := newPool(t, reader(t, server, dsn), nil)
	statements := execute(t, dsn, everySetting)
	if len(statements) < 100 {
		t.Fatalf("%d settings", len(statements))
	}
	first := get(t, p, ann())
	before, pid := view(first), first.one(backend)
	changed := 0
	for _, statement := range statements {
		if untestable.MatchString(statement[0]) {
			continue
		}
		if _, err := first.query(statement[0]); err == nil {
			changed++
		}
	}
	if changed < 80 {
		t.Errorf("%d settings changed", changed)
	}
	if slices.Equal(view(first), before) {
		t.Error("nothing has changed")
	}
	first.Release('I')
	settled(t, p)
	next := get(t, p, ann())
	if next.one(backend) != pid {
		t.Error("the connection is not reused")
	}
	same(t, before, view(next))
}

// TestDeferrableSessions has a client whose every transaction waits until no other one
// can disturb it, while one goes on that can.
func TestDeferrableSessions(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	execute(t, dsn, "CREATE TABLE t (a int)")
	disturbing, err := pgconn.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = disturbing.Close(context.Background()) }()
	if _, err := disturbing.Exec(t.Context(), "BEGIN ISOLATION LEVEL SERIALIZABLE; INSERT INTO t VALUES (1)").ReadAll(); err != nil {
		t.Fatal(err)
	}
	p := newPool(t, reader(t, server, dsn), nil)
	want := ann()
	want.Parameters = map[string]string{"default_transaction_isolation": "serializable", "default_transaction_deferrable": "on"}
	first := get(t, p, want)
	first.do("SET work_mem = '1MB'")
	first.Release('I')
	if s := settled(t, p); s.Idle != 1 {
		t.Errorf("%+v", s)
	}
	get(t, p, want)
}

// TestSeedIsNotInherited has a session choose the seed of random().
func TestSeedIsNotInherited(t *testing.T) {
	server := pgtest.Shared(t)
	p := newPool(t, reader(t, server, pgtest.Database(t, server)), nil)
	const sequence = "SELECT string_agg(random()::text, ' ') FROM generate_series(1, 200)"
	first := get(t, p, ann())
	pid := first.one(backend)
	first.do("SELECT setseed(0.25)")
	foreseen := first.one(sequence)
	first.do("SELECT setseed(0.25)")
	first.Release('I')
	settled(t, p)
	next := get(t, p, ann())
	if next.one(backend) != pid {
		t.Fatal("the connection is not reused")
	}
	if drawn := strings.Fields(next.one(sequence))[0]; strings.Contains(foreseen, drawn) {
		t.Error("the next session draws what the first one could foresee")
	}
}

// TestExtendedLeftovers leaves named statements and portals of the extended protocol.
func TestExtendedLeftovers(t *testing.T) {
	server := pgtest.Shared(t)
	p := newPool(t, reader(t, server, pgtest.Database(t, server)), nil)
	first := get(t, p, ann())
	pid := first.one(backend)
	first.do("BEGIN")
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Parse{Name: "s", Query: "SELECT set_config('work_mem', '5MB', false) FROM generate_series(1, 3)"},
		&pgproto3.Bind{PreparedStatement: "s", DestinationPortal: "p"},
		&pgproto3.Execute{Portal: "p", MaxRows: 1},
		&pgproto3.Parse{Query: "SELECT 1"},
		&pgproto3.Bind{},
		&pgproto3.Sync{},
	} {
		first.front.Send(m)
	}
	if _, err := first.answer(); err != nil {
		t.Fatal(err)
	}
	if first.status != 'T' {
		t.Fatalf("status %c", first.status)
	}
	first.Release('T')
	settled(t, p)
	next := get(t, p, ann())
	if next.one(backend) != pid {
		t.Error("the connection is not reused")
	}
	for _, m := range []pgproto3.FrontendMessage{
		&pgproto3.Bind{PreparedStatement: "s"}, &pgproto3.Sync{}, &pgproto3.Bind{}, &pgproto3.Sync{}, &pgproto3.Execute{Portal: "p"}, &pgproto3.Sync{},
	} {
		next.front.Send(m)
		if _, sync := m.(*pgproto3.Sync); sync {
			if _, err := next.answer(); err == nil {
				t.Error("something of the first session is there")
			}
		}
	}
}

// TestUnfinishedSegments has sessions end before they have sent Sync.
func TestUnfinishedSegments(t *testing.T) {
	server := pgtest.Shared(t)
	p := newPool(t, reader(t, server, pgtest.Database(t, server)), nil)
	for _, sql := range []string{"SELECT", "SELECT 1/0", "SELECT 1 FROM nowhere", "SELECT pg_advisory_lock(3)"} {
		s := get(t, p, ann())
		pid := s.one(backend)
		for _, m := range []pgproto3.FrontendMessage{&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{}} {
			s.front.Send(m)
		}
		if err := s.front.Flush(); err != nil {
			t.Fatal(err)
		}
		for done := false; !done; {
			m, err := s.front.Receive()
			if err != nil {
				t.Fatal(err)
			}
			switch m.(type) {
			case *pgproto3.ErrorResponse, *pgproto3.CommandComplete:
				done = true
			}
		}
		began := time.Now()
		s.Release('I')
		settled(t, p)
		if next := get(t, p, ann()); next.one(backend) != pid {
			t.Errorf("after %q and %v the connection is not reused", sql, time.Since(began))
		} else {
			next.Release('I')
		}
		settled(t, p)
	}
}

// TestDoubtfulConnectionsAreClosed gives back what must not be used again.
func TestDoubtfulConnectionsAreClosed(t *testing.T) {
	server := pgtest.Shared(t)
	dsn := pgtest.Database(t, server)
	p := newPool(t, reader(t, server, dsn), nil)
	for name, leave := range map[string]func(*session) byte{
		"not to be used again": func(*session) byte { return 0 },
		"unread answer": func(s *session) byte {
			s.front.Send(&pgproto3.Query{String: "SELECT 1"})
			if err := s.front.Flush(); err != nil {
				t.Fatal(err)
			}
			return 'I'
		},
		"terminated": func(s *session) byte {
			execute(t, dsn, "SELECT pg_terminate_backend("+s.one(backend)+")")
			return 'I'
		},
		"inside a copy": func(s *session) byte {
			s.front.Send(&pgproto3.Query{String: "COPY (SELECT generate_series(1, 1000000)) TO STDOUT"})
			if err := s.front.Flush(); err != nil {
				t.Fatal(err)
			}
			return 'I'
		},
	} {
		s := get(t, p, ann())
		s.Release(leave(s))
		if stats := settled(t, p); stats != (pool.Stats{}) {
			t.Errorf("%s: %+v", name, stats)
		}
	}
}
