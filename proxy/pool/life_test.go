package pool_test

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/proxy/pool"
)

// TestPasswordRotates changes the reader's password.
func TestPasswordRotates(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	role := reader(t, server, server.DSN("postgres"))
	p := newPool(t, role, nil)
	kept, used := get(t, p, ann()), get(t, p, ann())
	kept.Release('I')
	settled(t, p)
	execute(t, server.DSN("postgres"), "ALTER ROLE pool_reader PASSWORD 'another'")
	another := get(t, p, ann()) // the one that is kept
	if _, err := obtain(t.Context(), p, ann()); err == nil {
		t.Fatal("a new connection under the old password")
	}
	rotated := role.Copy()
	rotated.Password = "another"
	if err := p.Reconfigure(pool.Config{Roles: map[string]*pgconn.Config{"": rotated}}); err != nil {
		t.Fatal(err)
	}
	get(t, p, ann())
	used.Release('I')
	another.Release('I')
	if s := settled(t, p); s.Idle != 0 || s.InUse != 1 {
		t.Errorf("connections of the old configuration are kept: %+v", s)
	}
}

// TestNames looks at what pg_stat_activity and the session itself show of a session.
func TestNames(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	dsn := server.DSN("postgres")
	p := newPool(t, reader(t, server, dsn), nil)
	want := ann()
	var pids []string
	for _, application := range []string{"psql", "it's\\ me", strings.Repeat("long ", 30)} {
		want.Application = application
		s := get(t, p, want)
		pids = append(pids, s.one(backend))
		seen := execute(t, dsn, "SELECT application_name FROM pg_stat_activity WHERE pid = "+pids[0])[0][0]
		shown, reported := s.one("SHOW application_name"), s.Parameters()["application_name"]
		if seen != shown || seen != reported || !strings.HasSuffix(seen, " (10.1.2.3:5555)") {
			t.Errorf("%q, %q, %q", seen, shown, reported)
		}
		s.do("RESET application_name")
		if shown := s.one("SHOW application_name"); shown != "kproxy" {
			t.Errorf("after RESET it is %q", shown)
		}
		s.do("SET application_name = 'mine'")
		s.Release('I')
		settled(t, p)
		if idle := execute(t, dsn, "SELECT application_name FROM pg_stat_activity WHERE pid = "+pids[0])[0][0]; idle != "kproxy" {
			t.Errorf("nobody's connection is named %q", idle)
		}
	}
	if pids[0] != pids[1] || pids[0] != pids[2] {
		t.Error("the connection is not reused")
	}
}

// TestServerRestarts has kept connections die.
func TestServerRestarts(t *testing.T) {
	t.Parallel()
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop() })
	p := newPool(t, reader(t, server, server.DSN("postgres")), nil)
	var all []*session
	for range 5 {
		all = append(all, get(t, p, ann()))
	}
	for _, s := range all {
		s.Release('I')
	}
	if s := settled(t, p); s.Idle != 5 {
		t.Fatalf("%+v", s)
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	get(t, p, ann()).do("SELECT 1")
	if s := p.Stats(); s.Idle != 0 || s.Places != 1 {
		t.Errorf("%+v", s)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := obtain(ctx, p, ann()); err == nil {
		t.Error("a connection to no server")
	}
	if err := server.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	eventually(t, "a connection", func() bool {
		link, err := obtain(ctx, p, ann())
		if err == nil {
			link.Release('I')
		}
		return err == nil
	})
}
