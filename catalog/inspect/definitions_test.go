package inspect_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
)

// TestDefinitionsUnderLocks has sessions hold, or wait for, what views read. Nobody waits for
// them: their views are told of as unread, and all others are read.
func TestDefinitionsUnderLocks(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	execute(t, p.admin, `CREATE TYPE pair AS (a int, b int); CREATE FUNCTION made() RETURNS pair LANGUAGE sql AS 'SELECT ROW(1, 2)::pair';
		CREATE VIEW typed AS SELECT ROW(1, 2)::pair AS p; CREATE VIEW called AS SELECT made.a FROM made(); CREATE VIEW plain AS SELECT 1 AS one`)
	p.in.Policy.Readable = append(p.in.Policy.Readable, public("typed"), public("called"), public("plain"))
	for _, c := range []struct {
		lock     string
		waits    bool
		unread   []string
		relation string
	}{
		{"LOCK TABLE wards", false, []string{"adults", "beds"}, "public.wards"},
		{"LOCK TABLE wards", true, []string{"adults", "beds"}, "public.wards"},
		{"ALTER TABLE patients ADD x int", false, []string{"adults"}, "public.patients"},
		{"ALTER VIEW adults SET (security_barrier = false)", false, []string{"adults", `Old "Ones"`}, "public.adults"},
		{"ALTER TYPE pair ADD ATTRIBUTE c int", false, []string{"typed", "called"}, "public.pair"},
		{"LOCK TABLE wards IN EXCLUSIVE MODE", false, nil, ""},
	} {
		process, release := hold(t, p, c.lock, c.waits)
		views, err := inspect.Views(t.Context(), p.owner, p.in.Policy, new(inspect.Definitions))
		if err != nil {
			t.Fatalf("%s: %v", c.lock, err)
		}
		readables, err := inspect.Readables(t.Context(), p.owner, p.in.Policy, new(inspect.Definitions))
		if err != nil {
			t.Fatalf("%s: %v", c.lock, err)
		}
		if report := p.audit().Errors(); len(report) > 0 {
			t.Errorf("%s: the audit found %v", c.lock, report)
		}
		read := make(map[string]string) // what is told of each view
		for _, v := range views {
			if v.Publishable() && (v.Unread == "") != (v.Definition != "") {
				t.Errorf("%s: %s is unread as %q, its definition is %q", c.lock, v.Name, v.Unread, v.Definition)
			}
			read[v.Name.Relation] = v.Unread
		}
		for name, r := range readables {
			if _, protected := read[name.Relation]; !protected {
				read[name.Relation] = r.Unread
			}
		}
		for relation, unread := range read {
			want := ""
			for _, name := range c.unread {
				if name == relation {
					want = fmt.Sprintf("process %d %s an ACCESS EXCLUSIVE lock on %s", process, map[bool]string{false: "holds", true: "waits for"}[c.waits], c.relation)
				}
			}
			if unread != want {
				t.Errorf("%s: of %s is told %q, want %q", c.lock, relation, unread, want)
			}
		}
		if len(read) < 8 {
			t.Fatalf("%s: only %v were found", c.lock, read)
		}
		release()
	}
}

// TestDefinitionsStandIn has a definition that was read before stand in under a lock, as long as
// nothing has changed that it is written from.
func TestDefinitionsStandIn(t *testing.T) {
	t.Parallel()
	p := withViews(t)
	execute(t, p.admin, `CREATE SCHEMA far; CREATE TABLE far.away (a int, b int, c int); CREATE VIEW near AS SELECT a FROM far.away`)
	near := public("near")
	p.in.Policy.Readable = append(p.in.Policy.Readable, near)
	var known inspect.Definitions
	look := func() catalog.ReadableRelation {
		t.Helper()
		found, err := inspect.Readables(t.Context(), p.owner, p.in.Policy, &known)
		if err != nil {
			t.Fatal(err)
		}
		return found[near]
	}
	before := look()
	if !strings.Contains(before.Definition, "far.away") {
		t.Fatalf("the definition is %q", before.Definition)
	}
	for _, change := range []string{
		"SELECT", "ALTER SCHEMA far RENAME TO gone", "ALTER SCHEMA gone RENAME TO far",
		"ALTER TABLE far.away RENAME TO off", "ALTER TABLE far.off RENAME TO away",
		"ALTER TABLE far.away RENAME a TO z; ALTER TABLE far.away RENAME b TO a", "ALTER TABLE far.away RENAME a TO b; ALTER TABLE far.away RENAME z TO a",
		"CREATE OR REPLACE VIEW near AS SELECT a FROM far.away WHERE b > 0", "CREATE OR REPLACE VIEW near AS SELECT a FROM far.away",
	} {
		execute(t, p.admin, change)
		_, release := hold(t, p, "LOCK TABLE near", false)
		now := look()
		same := change == "SELECT"
		if (now.Unread == "") != same || same && now.Definition != before.Definition {
			t.Errorf("%s: unread as %q, with the definition %q", change, now.Unread, now.Definition)
		}
		release()
		if now = look(); now.Unread != "" || now.Definition == "" {
			t.Errorf("%s, without a lock: %+v", change, now)
		}
	}
	if now := look(); now.Definition != before.Definition {
		t.Errorf("the definition is %q, want %q", now.Definition, before.Definition)
	}
}

// hold has a session hold what the statement locks in a transaction, or wait for it, until it is
// released. It gives the session's process.
func hold(t *testing.T, p prepared, statement string, waits bool) (process uint32, release func()) {
	t.Helper()
	begin := func() *pgx.Conn {
		conn, err := pgx.ConnectConfig(t.Context(), p.admin.Config())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close(context.Background()) })
		execute(t, conn, "BEGIN")
		return conn
	}
	conn := begin()
	if !waits {
		execute(t, conn, statement)
		return conn.PgConn().PID(), func() { execute(t, conn, "ROLLBACK") }
	}
	other := begin()
	execute(t, other, statement+" IN ACCESS SHARE MODE")
	done := make(chan error)
	go func() {
		_, err := conn.Exec(t.Context(), statement)
		done <- err
	}()
	for waiting := false; !waiting; time.Sleep(10 * time.Millisecond) {
		if err := p.admin.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE pid = $1 AND NOT granted)", conn.PgConn().PID()).Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
	return conn.PgConn().PID(), func() {
		execute(t, other, "ROLLBACK")
		if err := <-done; err != nil {
			t.Error(err)
		}
		execute(t, conn, "ROLLBACK")
	}
}
