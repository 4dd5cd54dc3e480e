package integration

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

const isWithdrawn, isWell = "a table is withdrawn; all else is served", "a table is well again"

// withdrawnLast reports whether the last that a process's log says of a table is that it is withdrawn.
func withdrawnLast(p *process) bool {
	log := p.log.String()
	return strings.LastIndex(log, isWithdrawn) > strings.LastIndex(log, isWell)
}

// logsTell: the log of each process does not end with that the table is withdrawn, and one of them
// has told since before that something is wrong.
func logsTell(t *testing.T, how string, processes []*process, before []int) {
	t.Helper()
	told := false
	for i, p := range processes {
		eventually(t, "the log tells of it", func() bool { return !withdrawnLast(p) })
		log := p.log.String()
		if withdrawn, well := strings.Count(log, isWithdrawn), strings.Count(log, isWell); well > withdrawn {
			t.Errorf("process %d, %s: the log says %d times that the table is withdrawn, and %d times that it is well again:\n%s", i, how, withdrawn, well, log)
		}
		told = told || strings.Contains(log[before[i]:], isWithdrawn) || strings.Contains(log[before[i]:], "a table is halted")
	}
	if !told {
		t.Errorf("%s: no log tells that something is wrong", how)
	}
}

// TestTablesHeal takes an alteration back after the configuration has been compared with
// the altered table: by an audit, by a reload and at a start. The table is served again by
// the process that applies and by the one that follows, without anybody's doing, and the log of
// each tells that it is well again if it told that it was withdrawn. A process that is busy meanwhile
// may tell neither.
func TestTablesHeal(t *testing.T) {
	t.Parallel()
	const swap = `BEGIN; ALTER TABLE visits RENAME name TO x; ALTER TABLE visits RENAME diag TO name; ALTER TABLE visits RENAME x TO diag; COMMIT`
	for _, mode := range []string{"immediate", "guarded"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			first := newSite(t, sqlSite(`CREATE TABLE visits (id int PRIMARY KEY, age int, name text, diag varchar(30));
				INSERT INTO visits SELECT i, i % 9, 'CANARY ' || i, 'illness ' || i % 4 FROM generate_series(1, 60) i`, `tables:
  public.visits:
    constraints: [{k: 5}]
    updates: `+mode+`
    columns: {id: identifying, name: identifying, age: {role: quasi-identifying, hierarchy: numeric}, diag: sensitive}
`))
			first.kproxy(t, "setup").must(t)
			second := first.beside(t, "second.yaml")
			sites, processes := []*site{first, second}, []*process{first.serve(t), second.serve(t)}
			source := connect(t, first.admin)
			alter := func() {
				t.Helper()
				if _, err := source.Exec(t.Context(), swap, pgx.QueryExecModeSimpleProtocol); err != nil {
					t.Fatal(err)
				}
			}
			is := func(served bool) func() bool {
				return func() bool {
					for _, s := range sites {
						conn, err := pgx.Connect(t.Context(), s.url())
						if err != nil {
							return false
						}
						var rows int
						err = conn.QueryRow(t.Context(), "SELECT count(*) FROM visits").Scan(&rows)
						_ = conn.Close(t.Context())
						refused := (*pgconn.PgError)(nil)
						if served != (err == nil && rows == 60) || !served && !errors.As(err, &refused) {
							return false
						}
					}
					return true
				}
			}
			round := func(how string, compared func()) {
				t.Helper()
				eventually(t, "the table is served "+how, is(true))
				before := make([]int, len(processes))
				for i, p := range processes {
					before[i] = len(p.log.String())
				}
				alter()
				eventually(t, "the table is refused "+how, is(false))
				compared()
				eventually(t, "status names the columns "+how, func() bool {
					return strings.Contains(first.kproxy(t, "status").stdout, "it is not the table that was accepted")
				})
				alter()
				began := time.Now()
				eventually(t, "the table is served again "+how, is(true))
				t.Logf("%s: served again after %v", how, time.Since(began).Round(100*time.Millisecond))
				logsTell(t, how, processes, before)
			}
			round("after an audit", func() {
				eventually(t, "the altered table is compared with", func() bool {
					return !strings.Contains(first.kproxy(t, "status").stdout, "when the configuration was compared with it")
				})
			})
			round("after a reload", func() { first.kproxy(t, "reload").must(t) })
			alter()
			eventually(t, "the table is refused", is(false))
			processes[0].end(t, 15)
			processes[0] = first.serve(t)
			eventually(t, "the table is still refused", is(false))
			alter()
			eventually(t, "the table is served again after a start", is(true))
		})
	}
}

// TestUnreadableTablesHeal takes the right to read a table away while it is compared with its source,
// and gives it back: the table goes on without anybody's doing.
func TestUnreadableTablesHeal(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE visits (id int PRIMARY KEY, age int); INSERT INTO visits SELECT i, i % 9 FROM generate_series(1, 60) i`, `tables:
  public.visits:
    constraints: [{k: 5}]
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
`))
	source := connect(t, s.admin)
	served := func(rows int) func() bool { return func() bool { return s.rows(t, "visits") == rows } }
	eventually(t, "the table is served", served(60))
	for i, c := range []struct{ take, give string }{
		{"ALTER TABLE visits ENABLE ROW LEVEL SECURITY", "ALTER TABLE visits DISABLE ROW LEVEL SECURITY"},
		{"REVOKE SELECT ON visits FROM " + s.owner, "GRANT SELECT ON visits TO " + s.owner},
	} {
		execute(t, source, c.take)
		s.kproxy(t, "resync", "public.visits", "--no-wait")
		eventually(t, "the table is halted by "+c.take, func() bool { return strings.Contains(s.kproxy(t, "status").stdout, "table public.visits is halted") })
		execute(t, source, "DELETE FROM visits WHERE id = $1", i+1)
		execute(t, source, c.give)
		eventually(t, "the table is served again by "+c.give, served(59-i))
		// An audit that began before may withdraw it once more.
		eventually(t, "nothing needs the operator", func() bool { return s.kproxy(t, "status").code == 0 })
		eventually(t, "the table is served", served(59-i))
	}
}

// TestRefusedBatches: records that violate their constraints together are not published when
// others come, and not when they change; status says so, and what it names brings them back.
func TestRefusedBatches(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(`CREATE TABLE visits (id int PRIMARY KEY, age int, diag text);
		INSERT INTO visits SELECT i, i % 50, CASE WHEN i % 10 < 7 THEN 'flu' ELSE 'illness ' || i % 9 END FROM generate_series(1, 200) i`, `tables:
  public.visits:
    constraints: [{k: 5}, {alpha: 0.5, of: diag}]
    updates: {mode: guarded, batch: 100, within: 1s}
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, diag: sensitive}
`))
	source := connect(t, s.admin)
	status := func(want ...string) func() bool {
		return func() bool {
			out := s.kproxy(t, "status").stdout
			for _, words := range want {
				if !strings.Contains(out, words) {
					return false
				}
			}
			return true
		}
	}
	const way = "kproxy rebuild public.visits --new-lineage"
	eventually(t, "the table is withheld", status("visits  withheld", "200 records are withheld for good", way))
	execute(t, source, "INSERT INTO visits SELECT i, i % 50, 'illness ' || i % 9 FROM generate_series(201, 1000) i")
	eventually(t, "more records are published", status("visits  published", "200 records of public.visits are withheld for good", way))
	eventually(t, "all others are published", func() bool { return s.rows(t, "visits") == 800 })
	execute(t, source, "UPDATE visits SET diag = 'illness ' || id % 9 WHERE id <= 200")
	execute(t, source, "INSERT INTO visits SELECT i, i % 50, 'illness ' || i % 9 FROM generate_series(1001, 1200) i")
	eventually(t, "the next batch is published", func() bool { return s.rows(t, "visits") == 1000 })
	if !status("200 records of public.visits are withheld for good", way)() {
		t.Error("status does not tell of the records that were refused")
	}
	s.kproxy(t, "rebuild", "public.visits", "--new-lineage").must(t)
	eventually(t, "all records are published", func() bool { return s.rows(t, "visits") == 1200 })
	if out := s.kproxy(t, "status").stdout; strings.Contains(out, "withheld for good") {
		t.Error(out)
	}
}

// rows is how many rows readers count, or -1.
func (s *site) rows(t *testing.T, table string) int {
	t.Helper()
	conn := connect(t, s.url())
	var rows int
	if conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&rows) != nil {
		rows = -1
	}
	_ = conn.Close(t.Context())
	return rows
}
