package integration

import (
	"context"
	"errors"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const (
	accepted = "CREATE OR REPLACE FUNCTION twice(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (2 * $1)::text'"
	replaced = "CREATE OR REPLACE FUNCTION twice(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (3 * $1)::text'"
	another  = "CREATE OR REPLACE FUNCTION twice(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (4 * $1)::text'"
)

// calledSite lists a function, and a view that calls it.
func calledSite() siteOptions {
	o := referredSite()
	o.tables = strings.Replace(o.tables, "public.years]", "public.years, public.doubled]", 1) + "functions: [public.twice]\n"
	load := o.load
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		if err := load(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, accepted+"; CREATE VIEW doubled AS SELECT code, twice(chapter) AS n FROM codes", pgx.QueryExecModeSimpleProtocol)
		return err
	}
	return o
}

// calls reports whether a new session gets the answer from the function, and the SQLSTATE where it is
// refused.
func (s *site) calls(t *testing.T, sql string) (yes bool, state string) {
	t.Helper()
	yes, err := s.attempt(t, sql)
	if refused := (*pgconn.PgError)(nil); errors.As(err, &refused) {
		return false, refused.Code
	}
	return yes, ""
}

// TestListedFunctionsAreAccepted gives a listed function another definition, or its owner's rights
// alone. It is refused as what was not accepted, so is a view that calls it, and sessions end
// that have called it, whatever they hold. All comes back with the definition that was accepted.
func TestListedFunctionsAreAccepted(t *testing.T) {
	t.Parallel()
	s := ready(t, calledSite())
	admin := connect(t, s.admin)
	for _, c := range []struct{ change, back string }{
		{replaced, accepted},
		{"ALTER FUNCTION twice(int) SECURITY DEFINER", "ALTER FUNCTION twice(int) SECURITY INVOKER"},
	} {
		for _, sql := range []string{"SELECT twice(1) = '2'", "SELECT count(*) > 0 FROM doubled WHERE n = '2'"} {
			eventually(t, sql+" before "+c.change, func() bool { yes, _ := s.calls(t, sql); return yes })
		}
		sessions := map[string]*pgx.Conn{}
		for again, before := range map[string][]string{
			"SELECT twice(1)":      {"SELECT twice(1)"},
			"EXECUTE called":       {"PREPARE called AS SELECT twice(1)", "EXECUTE called"},
			"FETCH ALL FROM open":  {"BEGIN", "DECLARE open CURSOR FOR SELECT twice(i) FROM generate_series(1, 9) i", "FETCH 1 FROM open"},
			"FETCH ALL FROM shown": {"BEGIN", "DECLARE shown CURSOR FOR SELECT n FROM doubled", "FETCH 1 FROM shown"},
			"SELECT twice(2)":      {"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM people"},
			"SELECT n FROM doubled": {
				"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT count(*) FROM people",
			},
		} {
			sessions[again] = connect(t, s.url())
			for _, sql := range before {
				execute(t, sessions[again], sql, pgx.QueryExecModeSimpleProtocol)
			}
		}
		bystander := connect(t, s.url())
		execute(t, bystander, "BEGIN; SELECT count(*) FROM people", pgx.QueryExecModeSimpleProtocol)
		execute(t, admin, c.change)
		for _, sql := range []string{"SELECT twice(1) IS NOT NULL", "SELECT count(*) > 0 FROM doubled"} {
			eventually(t, sql+" is refused after "+c.change, func() bool {
				_, state := s.calls(t, sql)
				return state == "55000" || state == "57P03" && c.change != replaced // the audit has found it
			})
		}
		for sql, conn := range sessions {
			eventually(t, sql+" is refused in a session from before "+c.change, func() bool {
				_, err := textsIn(t, conn, sql)
				return err != nil
			})
		}
		if c.change == replaced {
			execute(t, bystander, "SELECT count(*) FROM people")
		}
		if out := s.kproxy(t, "status"); out.code != 3 || !strings.Contains(out.stdout, "public.twice(integer) has another definition, or another owner") {
			t.Errorf("status ends with %d:\n%s", out.code, out.stdout)
		}
		execute(t, admin, c.back)
		s.kproxy(t, "reload").must(t)
	}
	eventually(t, "the accepted one comes back", func() bool { yes, _ := s.calls(t, "SELECT twice(1) = '2'"); return yes })
}

// textsIn are the texts that a statement gives in a session.
func textsIn(t *testing.T, conn *pgx.Conn, sql string) ([]string, error) {
	t.Helper()
	rows, err := conn.Query(t.Context(), sql, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// TestFunctionsAreAcceptedAtOnce has two operators accept the same function, and a third definition
// that neither was shown.
func TestFunctionsAreAcceptedAtOnce(t *testing.T) {
	t.Parallel()
	s := ready(t, calledSite())
	admin := connect(t, s.admin)
	execute(t, admin, replaced)
	eventually(t, "another definition is refused", func() bool { _, state := s.calls(t, "SELECT twice(1) = '3'"); return state == "55000" })
	var both sync.WaitGroup
	outcomes := make([]outcome, 2)
	for i := range outcomes {
		both.Go(func() { outcomes[i] = s.kproxy(t, "accept", "--yes", "public.twice") })
	}
	both.Wait()
	for _, o := range outcomes {
		o.must(t)
	}
	eventually(t, "what both accepted is called", func() bool { yes, _ := s.calls(t, "SELECT twice(1) = '3'"); return yes })
	execute(t, admin, another)
	eventually(t, "what neither has seen is refused", func() bool { _, state := s.calls(t, "SELECT twice(1) = '4'"); return state == "55000" })
}

// waiting are the sessions that want to note what is accepted, and cannot yet.
const waiting = "FROM pg_locks WHERE relation = 'kproxy_store.accepted'::regclass AND NOT granted"

// listsLate has a reload list the function late in the place of twice, and stops it before it notes
// the function. The locker's transaction holds it up.
func listsLate(t *testing.T) (s *site, p *process, locker *pgx.Conn, reloading *sync.WaitGroup) {
	t.Helper()
	o := calledSite()
	load := o.load
	o.load = func(ctx context.Context, conn *pgx.Conn) error {
		if err := load(ctx, conn); err != nil {
			return err
		}
		_, err := conn.Exec(ctx, "CREATE FUNCTION late(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT $1::text'")
		return err
	}
	s = newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p = s.serve(t)
	locker = connect(t, s.admin)
	s.replace(t, "[public.twice]", "[public.late]")
	s.kproxy(t, "setup").must(t)
	execute(t, locker, "BEGIN; LOCK TABLE kproxy_store.accepted IN SHARE ROW EXCLUSIVE MODE", pgx.QueryExecModeSimpleProtocol)
	reloading = new(sync.WaitGroup)
	reloading.Go(func() { s.kproxy(t, "reload", "--timeout", "25s") })
	eventually(t, "kproxy is about to note the function", func() bool { return scalar[int](t, locker, "SELECT count(*) "+waiting) == 1 })
	return s, p, locker, reloading
}

// TestListedFunctionsAreNotedFirst stops kproxy before it notes a function that a reload lists.
// Nobody calls it until then. A process that is killed there has accepted nothing, and one that
// is killed before it has seen another definition refuses that when it comes back.
func TestListedFunctionsAreNotedFirst(t *testing.T) {
	t.Parallel()
	s, p, locker, reloading := listsLate(t)
	admin := connect(t, s.admin)
	if yes, state := s.calls(t, "SELECT late(1) = '1'"); yes || state == "" {
		t.Error("a function is called before it is accepted")
	}
	p.end(t, syscall.SIGKILL)
	execute(t, admin, "SELECT pg_terminate_backend(pid) "+waiting)
	eventually(t, "its session is gone", func() bool { return scalar[int](t, admin, "SELECT count(*) "+waiting) == 0 })
	reloading.Wait()
	execute(t, locker, "ROLLBACK")
	if n := scalar[int](t, admin, "SELECT count(*) FROM kproxy_store.accepted WHERE accepted_name = 'late'"); n != 0 {
		t.Error("what was not noted is accepted")
	}
	p = s.serve(t)
	if yes, state := s.calls(t, "SELECT late(1) = '1'"); !yes {
		t.Errorf("the function that is accepted at the start is refused with %q", state)
	}
	execute(t, admin, "CREATE OR REPLACE FUNCTION late(int) RETURNS text LANGUAGE sql STABLE AS 'SELECT (-$1)::text'")
	p.end(t, syscall.SIGKILL)
	s.serve(t)
	if _, state := s.calls(t, "SELECT late(1) IS NOT NULL"); state != "55000" {
		t.Errorf("the first statement after the start ends with %q", state)
	}
	// A function that was listed before is compared with what it was then.
	execute(t, admin, replaced)
	s.replace(t, "[public.late]", "[public.late, public.twice]")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").speaks(t, 1, 8, "public.twice(integer) has another definition, or another owner", "kproxy accept public.twice")
	if yes, state := s.calls(t, "SELECT twice(1) IS NOT NULL"); yes || state == "" {
		t.Errorf("a function that is listed again ends with %q", state)
	}
	s.kproxy(t, "accept", "--yes", "public.twice").must(t)
	s.kproxy(t, "reload").must(t)
	if yes, state := s.calls(t, "SELECT twice(1) = '3'"); !yes {
		t.Errorf("a function that is accepted ends with %q", state)
	}
}

// TestFunctionsAreNotedOnce has another process accept a function as it was a moment ago. What
// this process has seen of it does not take the place of that.
func TestFunctionsAreNotedOnce(t *testing.T) {
	t.Parallel()
	s, _, locker, reloading := listsLate(t)
	execute(t, locker, `INSERT INTO kproxy_store.accepted (kind, accepted_schema, accepted_name, identity) VALUES ('function', 'public', 'late', '{"integer": "as it was"}')`)
	execute(t, locker, "COMMIT")
	reloading.Wait()
	if _, state := s.calls(t, "SELECT late(1) IS NOT NULL"); state != "55000" {
		t.Errorf("a function that is not as it was accepted ends with %q", state)
	}
}

// TestUnlistedFunctionsEndCallers takes a function off the list: sessions that have prepared calls of
// it end.
func TestUnlistedFunctionsEndCallers(t *testing.T) {
	t.Parallel()
	s := ready(t, calledSite())
	caller, bystander := connect(t, s.url()), connect(t, s.url())
	execute(t, caller, "PREPARE called AS SELECT twice(1)", pgx.QueryExecModeSimpleProtocol)
	execute(t, bystander, "SELECT 1")
	s.replace(t, "functions: [public.twice]\n", "", ", public.doubled", "")
	s.kproxy(t, "reload").must(t)
	if texts, err := textsIn(t, caller, "EXECUTE called"); err == nil {
		t.Errorf("a prepared call gives %q", texts)
	}
	execute(t, bystander, "SELECT 1")
}

// TestRefusedReloadsAcceptNoFunction has a reload fail after it has accepted a function: the function
// is accepted as it is when a reload succeeds.
func TestRefusedReloadsAcceptNoFunction(t *testing.T) {
	t.Parallel()
	s := ready(t, calledSite())
	admin := connect(t, s.admin)
	execute(t, admin, `CREATE FUNCTION later(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 5 * $1';
		CREATE FUNCTION last(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT $1';
		CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
		CREATE TRIGGER refuse BEFORE INSERT ON kproxy_store.accepted FOR EACH ROW WHEN (NEW.accepted_name = 'last') EXECUTE FUNCTION refuse()`, pgx.QueryExecModeSimpleProtocol)
	s.replace(t, "[public.twice]", "[public.twice, public.later, public.last]")
	s.kproxy(t, "reload").speaks(t, 1, 6, "not now")
	if n := scalar[int](t, admin, "SELECT count(*) FROM kproxy_store.accepted WHERE kind = 'function' AND accepted_name = 'later'"); n != 0 {
		t.Error("a reload that was refused has accepted a function")
	}
	execute(t, admin, `DROP TRIGGER refuse ON kproxy_store.accepted;
		CREATE OR REPLACE FUNCTION later(int) RETURNS int LANGUAGE sql IMMUTABLE AS 'SELECT 6 * $1'`, pgx.QueryExecModeSimpleProtocol)
	s.kproxy(t, "reload").must(t)
	if yes, state := s.calls(t, "SELECT later(1) = 6"); !yes {
		t.Errorf("a function that was never served ends with %q", state)
	}
}
