package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestReaddedTableIsHalted takes a table out of the configuration, swaps two of its columns and
// puts it back. It is not what was accepted, and status says so as for a table that was published
// before; once it is accepted, it is published.
func TestReaddedTableIsHalted(t *testing.T) {
	t.Parallel()
	const block = `  public.visits:
    constraints: [{k: 5}]
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, diag: sensitive, name: identifying}
`
	s := ready(t, sqlSite(`CREATE TABLE visits (id int PRIMARY KEY, age int, diag text, name text);
		INSERT INTO visits SELECT i, i % 9, 'illness ' || i % 4, 'CANARY ' || i % 4 FROM generate_series(1, 60) i;
		CREATE TABLE others (LIKE visits INCLUDING ALL); INSERT INTO others TABLE visits`, "tables:\n"+block+strings.ReplaceAll(block, "visits", "others")))
	source := connect(t, s.admin)
	published := func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 60 AND min(diag) LIKE 'illness%' FROM visits")
		return err == nil && found
	}
	eventually(t, "the table is published", published)

	s.replace(t, block, "")
	s.kproxy(t, "reload").must(t)
	const swap = "ALTER TABLE visits RENAME name TO x; ALTER TABLE visits RENAME diag TO name; ALTER TABLE visits RENAME x TO diag"
	execute(t, source, swap, pgx.QueryExecModeSimpleProtocol)
	s.replace(t, "tables:\n", "tables:\n"+block)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "status tells of it", func() bool {
		out := s.kproxy(t, "status")
		return out.code == 3 && strings.Contains(out.stdout, "table public.visits is halted: it is not the table that was accepted") &&
			strings.Contains(out.stdout, "kproxy accept public.visits")
	})
	if _, err := s.attempt(t, "SELECT count(*) > 0 FROM visits"); err == nil || !strings.Contains(err.Error(), "55000") {
		t.Errorf("a reader gets %v", err)
	}

	execute(t, source, swap, pgx.QueryExecModeSimpleProtocol)
	eventually(t, "the table is published as it was", published)
	s.kproxy(t, "status").must(t)
	execute(t, source, swap, pgx.QueryExecModeSimpleProtocol)
	eventually(t, "status tells of it again", func() bool { return s.kproxy(t, "status").code == 3 })
	s.kproxy(t, "accept", "public.visits", "--yes").must(t)
	eventually(t, "the table is published as it is", func() bool {
		found, err := s.attempt(t, "SELECT count(*) = 60 AND min(diag) LIKE 'CANARY%' FROM visits")
		return err == nil && found
	})
}
