package integration

import (
	"fmt"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// fenced are the blocks of a page.
var fenced = regexp.MustCompile("(?s)```[a-z]*\n(.*?)```")

// poolerRecipe is what docs/poolers.md says of a pooler in session mode: its settings, and
// those of the role without and with temporary tables.
func poolerRecipe(t *testing.T) (settings, role, withTemporary string) {
	t.Helper()
	var found []string
	for _, block := range fenced.FindAllStringSubmatch(contents(t, "../docs/poolers.md"), -1) {
		found = append(found, block[1])
	}
	if len(found) != 3 || !strings.Contains(found[0], "pgbouncer.ini") || !strings.Contains(found[1], "= on;") || !strings.Contains(found[2], "= off;") {
		t.Fatalf("docs/poolers.md has another recipe: %q", found)
	}
	return found[0], found[1], found[2]
}

// TestPoolerRecipe follows docs/poolers.md with a pooler in session mode between kproxy and
// the readers' server.
func TestPoolerRecipe(t *testing.T) {
	t.Parallel()
	settings, role, withTemporary := poolerRecipe(t)
	o := sqlSite(operatedSchema, countedPolicy)
	o.server = ownServer(t, pgserver.Options{})
	o.settings = "limits: {max_connections: 50}"
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	for _, c := range []struct{ name, role, add string }{
		{"read-only", role, ""},
		{"temporary tables", withTemporary, "temporary_tables: allow\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.replace(t, "limits:", c.add+"limits:")
			s.kproxy(t, "setup").must(t)
			s.followRecipe(t, settings, c.role, c.add != "")
		})
	}
	testRecipeMissed(t, s, settings)
}

// through has readers go through a new pooler, until the function that it returns is called.
func (s *site) through(t *testing.T, settings string) (back func()) {
	t.Helper()
	const reader = "    password_file: reader.password\n"
	host, port := pgbouncerWith(t, fmt.Sprintf("127.0.0.1:%d", s.server.Port()), s.reader, readerPassword, settings)
	through := reader + "    host: " + host + "\n    port: " + port + "\n"
	s.replace(t, reader, through)
	return func() { s.replace(t, through, reader) }
}

// followRecipe has readers served through a pooler.
func (s *site) followRecipe(t *testing.T, settings, role string, temporary bool) {
	t.Helper()
	admin := connect(t, s.admin)
	execute(t, admin, strings.ReplaceAll(role, "kproxy_reader", s.reader))
	defer s.through(t, settings)()
	if out := s.kproxy(t, "check"); out.code != 0 || !strings.Contains(out.stdout+out.stderr, "a pooler in session mode") {
		t.Errorf("kproxy check ends with %d and %s%s", out.code, out.stdout, out.stderr)
	}
	p := s.serve(t)
	for range 3 {
		conn := connect(t, s.url())
		if n := scalar[int](t, conn, "SELECT count(*)::int FROM people"); n != operatedRows {
			t.Errorf("%d rows", n)
		}
		_, err := conn.Exec(t.Context(), "CREATE TEMPORARY TABLE mine AS SELECT n FROM people")
		if (err == nil) != temporary {
			t.Errorf("a temporary table: %v", err)
		}
		_ = conn.Close(t.Context())
	}
	// A client's own setting is not the next one's.
	first := connect(t, s.url())
	execute(t, first, "SET statement_timeout = '7min'")
	_ = first.Close(t.Context())
	for range 3 {
		if set := scalar[string](t, connect(t, s.url()), "SELECT current_setting('statement_timeout')"); set != "0" {
			t.Errorf("statement_timeout is %s", set)
		}
	}
	if !temporary && strings.Contains(p.log.String(), "an upstream connection is not used again") {
		t.Error("connections are not used again")
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("kproxy serve ends with %d", code)
	}
}

// testRecipeMissed leaves out the lines for the role, and the pooler's.
func testRecipeMissed(t *testing.T, s *site, settings string) {
	t.Helper()
	execute(t, connect(t, s.admin), "ALTER ROLE "+s.reader+" RESET ALL; ALTER ROLE "+s.reader+" SET default_transaction_read_only = on")
	for text, told := range map[string]string{
		settings: `(?s)drops settings of readers' sessions.*ALTER ROLE .* SET search_path = "kproxy_release_public";\s+ALTER ROLE .* SET default_transaction_read_only = off;`,
		strings.Replace(settings, "ignore_startup_parameters = ", "; ", 1): "refuses the settings of readers' sessions",
	} {
		back := s.through(t, text)
		if out := s.kproxy(t, "check"); out.code != 1 || !regexp.MustCompile(told).MatchString(out.stdout) {
			t.Errorf("kproxy check ends with %d and %s%s, want %s", out.code, out.stdout, out.stderr, told)
		}
		back()
	}
}
