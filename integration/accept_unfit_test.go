package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// TestUnfitPolicyIsNotAccepted offers policies that a process would refuse: nothing is accepted, and
// the policy in force is applied further. Nor is a table accepted whose published column has become
// one of which each value tells one record.
func TestUnfitPolicyIsNotAccepted(t *testing.T) {
	t.Parallel()
	const block = `  public.visits:
    constraints: [{k: 5}]
    updates: immediate
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}, diag: sensitive}
`
	// The tables have a column note, unique, which no policy names.
	s := ready(t, sqlSite(`CREATE TABLE visits (id int PRIMARY KEY, age int, diag text, note text);
		INSERT INTO visits SELECT i, i % 9, 'illness ' || i % 4, 'CANARY ' || i FROM generate_series(1, 60) i;
		CREATE TABLE unset (LIKE visits INCLUDING ALL); INSERT INTO unset TABLE visits;
		CREATE TABLE telling (LIKE visits INCLUDING ALL); INSERT INTO telling SELECT id, age, note, diag FROM visits`, "tables:\n"+block))
	source := connect(t, s.admin)
	counted := func(query string) func() bool {
		return func() bool {
			found, err := s.attempt(t, "SELECT "+query+" FROM visits")
			return err == nil && found
		}
	}
	eventually(t, "the table is published", counted("count(*) = 60"))
	refused := func(when, why string, arguments ...string) {
		t.Helper()
		if out := s.kproxy(t, append([]string{"accept", "--yes"}, arguments...)...); out.code != 1 || !strings.Contains(out.stdout+out.stderr, why) {
			t.Errorf("%s: accept ends with %d and says\n%s%s", when, out.code, out.stdout, out.stderr)
		}
	}

	also := strings.ReplaceAll(block, "visits", "unset")
	s.replace(t, "tables:\n", "tables:\n"+also)
	refused("without setup", "publication kproxy does not hold the table")
	s.replace(t, also, strings.ReplaceAll(block, "visits", "telling"))
	s.kproxy(t, "setup").must(t)
	refused("with a telling column", "nearly unique")
	s.kproxy(t, "reload").speaks(t, 1, 8, "nearly unique")
	if out := s.kproxy(t, "status"); out.code != 3 || !strings.Contains(out.stdout, "table public.telling is unpublished: the configuration names it, and policy number 1, which is in force, does not") {
		t.Errorf("status ends with %d and says\n%s", out.code, out.stdout)
	}
	s.replace(t, strings.ReplaceAll(block, "visits", "telling"), "")
	execute(t, source, "DELETE FROM visits WHERE id > 40")
	eventually(t, "changes are applied further", counted("count(*) = 40"))

	const swap = "ALTER TABLE visits RENAME note TO x; ALTER TABLE visits RENAME diag TO note; ALTER TABLE visits RENAME x TO diag"
	execute(t, source, swap, pgx.QueryExecModeSimpleProtocol)
	eventually(t, "the table is halted", func() bool { return s.kproxy(t, "status").code == 3 })
	refused("with columns swapped", "nearly unique", "public.visits")
	refused("with columns swapped, and no name given", "nearly unique")
	execute(t, source, "UPDATE visits SET diag = 'illness ' || id % 4")
	s.kproxy(t, "accept", "--yes", "public.visits").must(t)
	eventually(t, "the table is published again", counted("count(*) = 40 AND count(DISTINCT diag) = 4"))
}
