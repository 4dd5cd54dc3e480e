package integration

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// alteration makes a published name stand for another column of a table.
type alteration struct{ name, sql string }

// The columns are id, age, diag, name, note; name is identifying, note is not named.
var alterations = []alteration{
	{"swapped", `BEGIN; ALTER TABLE %T RENAME name TO x; ALTER TABLE %T RENAME diag TO name; ALTER TABLE %T RENAME x TO diag; UPDATE %T SET age = age + 1; COMMIT`},
	{"dropped", `BEGIN; ALTER TABLE %T DROP diag; ALTER TABLE %T RENAME name TO diag; UPDATE %T SET age = age + 1; COMMIT`},
	// The stream describes the table as it did before: id, age, diag, name, note.
	{"disguised", `BEGIN; ALTER TABLE %T DROP diag; ALTER TABLE %T RENAME name TO diag; ALTER TABLE %T RENAME note TO name;
		ALTER TABLE %T ADD note text; UPDATE %T SET age = age + 1; COMMIT`},
	{"apart", `ALTER TABLE %T RENAME diag TO y; ALTER TABLE %T RENAME name TO diag; UPDATE %T SET age = age + 1`},
	{"retyped", `BEGIN; ALTER TABLE %T ALTER diag TYPE varchar(99) USING name; UPDATE %T SET age = age + 1; COMMIT`},
	{"silent", `BEGIN; ALTER TABLE %T RENAME name TO x; ALTER TABLE %T RENAME diag TO name; ALTER TABLE %T RENAME x TO diag; COMMIT`},
}

// alterable is a site with a table for each alteration and mode.
func alterable(modes ...string) (o siteOptions, tables []string) {
	schema, policy := "", "tables:\n"
	for _, mode := range modes {
		for _, a := range alterations {
			table := a.name + "_" + mode
			tables = append(tables, table)
			schema += strings.ReplaceAll(`CREATE TABLE %T (id int PRIMARY KEY, age int, diag text, name text, note text);
				INSERT INTO %T SELECT i, i % 9, 'illness ' || i % 4, 'CANARY ' || i, 'CANARY ' || i FROM generate_series(1, 60) i;`, "%T", table)
			policy += fmt.Sprintf(`  public.%s:
    constraints: [{k: 5}]
    updates: %s
    columns:
      age: {role: quasi-identifying, hierarchy: numeric, publish: range}
      diag: sensitive
      name: identifying
`, table, mode)
		}
	}
	return sqlSite(schema, policy), tables
}

// spy reads a table at full speed and notes the first answer that is neither the release as
// it was nor the refusal of a table that is withdrawn.
type spy struct {
	wrong   atomic.Pointer[string]
	refused atomic.Int64
	reads   atomic.Int64
	done    chan struct{}
}

func (p *spy) run(ctx context.Context, url, table string) {
	defer close(p.done)
	var conn *pgx.Conn
	for ctx.Err() == nil {
		if conn == nil || conn.IsClosed() {
			var err error
			if conn, err = pgx.Connect(ctx, url); err != nil {
				time.Sleep(50 * time.Millisecond) // kproxy is being restarted
				continue
			}
		}
		began := time.Now()
		var text *string
		err := conn.QueryRow(ctx, "SELECT string_agg(t::text, ' ') FROM "+table+" t").Scan(&text)
		p.reads.Add(1)
		server := (*pgconn.PgError)(nil)
		said := ""
		switch {
		case err == nil && text != nil && strings.Contains(*text, "CANARY"):
			said = *text
		case errors.As(err, &server) && server.Code == "55000" && strings.Contains(server.Message, "is not published now") && server.Hint != "":
			p.refused.Add(1)
		case errors.As(err, &server) && server.Severity != "FATAL" && ctx.Err() == nil:
			said = fmt.Sprintf("%s %s: %s", server.Severity, server.Code, server.Message)
		}
		if said != "" {
			p.wrong.CompareAndSwap(nil, &said)
		}
		rest(ctx, began)
	}
	if conn != nil {
		_ = conn.Close(context.WithoutCancel(ctx))
	}
}

func spies(t *testing.T, s *site, tables []string) (of map[string]*spy, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	of = make(map[string]*spy)
	for _, table := range tables {
		p := &spy{done: make(chan struct{})}
		of[table] = p
		go p.run(ctx, s.url(), table)
	}
	return of, func() {
		cancel()
		for _, p := range of {
			<-p.done
		}
	}
}

func (p *spy) check(t *testing.T, table string) {
	t.Helper()
	if wrong := p.wrong.Load(); wrong != nil {
		t.Errorf("a reader of %s was answered: %.300s", table, *wrong)
	}
}

func table(a alteration, mode string) string { return a.name + "_" + mode }

func isRefused(p *spy) func() bool {
	before := p.refused.Load()
	return func() bool { return p.refused.Load() > before }
}

// TestAlteredColumnsAreNotPublished gives the names of published columns to others while
// readers poll: online, then with kproxy started, reloaded, resynchronized and rebuilt over it.
func TestAlteredColumnsAreNotPublished(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"immediate", "guarded"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			o, tables := alterable(mode)
			s := newSite(t, o)
			s.kproxy(t, "setup").must(t)
			p := s.serve(t)
			of, stop := spies(t, s, tables)
			source := connect(t, s.admin)
			for _, table := range tables {
				eventually(t, table+" is read", func() bool { return of[table].reads.Load() > 3 })
			}
			for _, a := range alterations {
				if _, err := source.Exec(t.Context(), strings.ReplaceAll(a.sql, "%T", table(a, mode)), pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatal(a.name, err)
				}
			}
			refusedEverywhere := func(when string) {
				t.Helper()
				for _, table := range tables {
					eventually(t, table+" is refused "+when, isRefused(of[table]))
				}
			}
			refusedEverywhere("at once")
			if out := s.kproxy(t, "status"); out.code != 3 || strings.Count(out.stdout, "kproxy accept public.") < len(tables) {
				t.Errorf("status ends with %d and does not name the fix of each table:\n%s", out.code, out.stdout)
			}
			if out := s.kproxy(t, "check"); strings.Count(out.stdout+out.stderr, "it is not the table that was accepted") < len(tables)-2 {
				t.Errorf("check does not tell of each table that has all columns still:\n%s%s", out.stdout, out.stderr)
			}
			s.kproxy(t, "reload")
			s.kproxy(t, "resync", "--no-wait")
			refusedEverywhere("after a reload")
			s.kproxy(t, append([]string{"rebuild", "--new-lineage", "--no-wait"}, tables...)...)
			time.Sleep(2 * time.Second) // a rebuild would be done by then; nothing depends on it
			p.end(t, syscall.SIGKILL)
			p = s.launch(t)
			if !p.awaitLog(t, "msg=serving") {
				t.Fatal(p.log)
			}
			refusedEverywhere("after a start")
			stop()
			for _, table := range tables {
				of[table].check(t, table)
			}
		})
	}
}
