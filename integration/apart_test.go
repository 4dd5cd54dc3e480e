package integration

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver"
)

// TestApart serves a hospital whose release is on another server: setting up from both sides, every
// command that looks at a database, changes, and what there is of the source on either server.
func TestApart(t *testing.T) {
	t.Parallel()
	o := hospitalSite()
	o.apart = ownServer(t, pgserver.Options{})
	o.tables = strings.Replace(o.tables, "readable: [public.icd10, public.wards]", "readable: []", 1)
	s := newSite(t, o)
	source := connect(t, s.admin)
	s.prepareSides(t)
	s.leavesLittle(t)

	p := s.serve(t)
	conn := connect(t, s.url())
	was := scalar[int](t, conn, "SELECT count(*) FROM patients")
	execute(t, source, "DELETE FROM patients WHERE patient_id % 10 = 3")
	left := scalar[int](t, source, "SELECT count(*) FROM patients")
	eventually(t, "the deletions are published", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM patients") == left })
	if was != patients || left >= was {
		t.Errorf("%d patients were published, and %d are left", was, left)
	}
	s.servesAlone(t, p)
	for _, command := range [][]string{
		{"status"},
		{"status", "--count", "--json"},
		{"verify"},
		{"report", "--json"},
		{"accept", "--yes"},
		{"explain", "SELECT count(*) FROM patients"},
		{"reload"},
		{"reanonymize", "public.patients"},
		{"resync"},
	} {
		s.kproxy(t, command...).must(t)
	}
	for _, refused := range []string{"SELECT * FROM kproxy_store.position", "SELECT name FROM patients"} {
		if out := psql(t, s.url(), refused); out.code == 0 {
			t.Errorf("%s: %s", refused, out.stdout)
		}
	}
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	p = s.startsAlone(t)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}

	// Identifying values are in no file of the release's server, its log of writes among them.
	name := scalar[string](t, source, "SELECT name FROM patients ORDER BY length(name) DESC, patient_id LIMIT 1")
	if at := holding(t, o.apart.DataDir(), name); at != "" {
		t.Errorf("%s holds the name %q", at, name)
	}
	execute(t, source, "CHECKPOINT")
	if holding(t, s.server.DataDir(), name) == "" {
		t.Error("the source's server does not hold the name either")
	}
}

// prepareSides prepares the source by a printed script, and the release by setup.
func (s *site) prepareSides(t *testing.T) {
	t.Helper()
	if out := s.kproxy(t, "setup", "--print"); out.code != 2 || !strings.Contains(out.stderr, "--side source") {
		t.Errorf("setup --print: %d, %s", out.code, out.stderr)
	}
	psql(t, s.admin, s.kproxy(t, "setup", "--print", "--side", "source").must(t).stdout).must(t)
	s.kproxy(t, "setup", "--side", "source").must(t) // sets the password
	if out := s.kproxy(t, "check"); out.code == 0 {
		t.Error("the check finds nothing wrong with a release that is not prepared")
	}
	s.kproxy(t, "setup", "--side", "release").must(t)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
}

// leavesLittle looks at what kproxy has at the source.
func (s *site) leavesLittle(t *testing.T) {
	t.Helper()
	source, role := connect(t, s.admin), "'source_"+s.database+"'"
	for what, count := range map[string]int{
		"SELECT count(*) FROM pg_namespace WHERE nspname ~ 'kproxy'":                       0,
		"SELECT count(*) FROM pg_class WHERE relowner = " + role + "::regrole":             0,
		"SELECT count(*) FROM pg_auth_members WHERE member = " + role + "::regrole":        0,
		"SELECT count(*) FROM pg_publication":                                              1,
		"SELECT count(*) FROM pg_publication_tables WHERE 'name' = ANY (attnames::text[])": 0,
	} {
		if strings.Contains(what, "attnames") && s.server.Version().Major < 15 {
			continue
		}
		if got := scalar[int](t, source, what); got != count {
			t.Errorf("%s: %d", what, got)
		}
	}
}

// servesAlone locks kproxy out of the source: readers go on, and what they could reach at the release
// is still found.
func (s *site) servesAlone(t *testing.T, p *process) {
	t.Helper()
	source, release := connect(t, s.admin), connect(t, s.release)
	serves := func() bool { return psql(t, s.url(), "SELECT count(*) FROM patients").code == 0 }
	s.endAudits(t, p)
	execute(t, source, "ALTER ROLE source_"+s.database+" NOLOGIN")
	p.awaitLog(t, "is not permitted to log in")
	if !serves() {
		t.Error("readers are refused while the source is away")
	}
	execute(t, source, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'source_"+s.database+"'") // that of replication, too
	eventually(t, "replication is tried again", func() bool {
		for line := range strings.Lines(p.log.String()) {
			if strings.Contains(line, "replication interrupted; trying again") && strings.Contains(line, "not permitted to log in") {
				return true
			}
		}
		return false
	})
	if !serves() || strings.Contains(p.log.String(), "the protected tables are withdrawn") {
		t.Error("readers are refused while the source lets nobody replicate")
	}
	execute(t, release, "GRANT USAGE ON SCHEMA kproxy_store TO "+s.reader+"; GRANT SELECT ON ALL TABLES IN SCHEMA kproxy_store TO "+s.reader)
	eventually(t, "readers are refused", func() bool { return !serves() })
	execute(t, release, "REVOKE USAGE ON SCHEMA kproxy_store FROM "+s.reader+"; REVOKE SELECT ON ALL TABLES IN SCHEMA kproxy_store FROM "+s.reader)
	execute(t, source, "ALTER ROLE source_"+s.database+" LOGIN")
	eventually(t, "readers are served again", serves)
	eventually(t, "replication goes on", func() bool { return s.kproxy(t, "status").code == 0 })
}

// endAudits ends the sessions of kproxy at the source, one of an audit among them: readers go on.
func (s *site) endAudits(t *testing.T, p *process) {
	t.Helper()
	holder, admin := connect(t, s.admin), connect(t, s.admin)
	execute(t, holder, "BEGIN; LOCK pg_publication")
	eventually(t, "the end of an audit is logged", func() bool {
		execute(t, admin, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND usename = 'source_"+s.database+"'")
		return strings.Contains(p.log.String(), "the session at the source ended")
	})
	execute(t, holder, "ROLLBACK")
	if psql(t, s.url(), "SELECT count(*) FROM patients").code != 0 || strings.Contains(p.log.String(), "the audit failed") {
		t.Error("readers are refused, as the source ended a session")
	}
}

// holding is a file in a folder that holds a text; empty where none does.
func holding(t *testing.T, folder, text string) (path string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(at string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || path != "" {
			return nil //nolint:nilerr // files come and go while a server runs
		}
		if content, err := os.ReadFile(at); err == nil && bytes.Contains(content, []byte(text)) {
			path = at
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestMoveApart moves store and release of a guarded table to another server, as docs/apart.md says:
// its lineage goes on.
func TestMoveApart(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema, strings.ReplaceAll(countedPolicy, "updates: immediate", "updates: {mode: guarded, batch: 20, within: 1s}"))
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	p := s.serve(t)
	const lineage = "SELECT string_agg(g::text, ' ') FROM (SELECT table_name, generation, created_at FROM kproxy_store.generation) g"
	rows, first := scalar[int](t, connect(t, s.url()), "SELECT count(*) FROM people"), scalar[string](t, connect(t, s.release), lineage)
	if code := p.end(t, syscall.SIGTERM); code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	execute(t, connect(t, s.admin), forward)

	dump := run(t, "", nil, "pg_dump", "--version").must(t).stdout
	if version := regexp.MustCompile(`\d+`).FindString(dump); version < strconv.Itoa(s.server.Version().Major) {
		t.Skipf("pg_dump %s does not dump servers of version %d", version, s.server.Version().Major)
	}
	other := ownServer(t, pgserver.Options{})
	moved := *s
	moved.release = other.DSN("moved")
	execute(t, connect(t, other.DSN("postgres")), "CREATE DATABASE moved")
	moved.config = s.write(t, "kproxy.yaml", moved.render(t, o)) // where it was: another file would be another configuration's
	moved.kproxy(t, "setup").must(t)                             // for the roles
	release := connect(t, moved.release)
	execute(t, release, scalar[string](t, release, "SELECT string_agg(format('DROP SCHEMA %I CASCADE', nspname), ';') FROM pg_namespace WHERE nspname ~ '^kproxy'"))
	psql(t, moved.release, run(t, "", nil, "pg_dump", "--schema", "kproxy*", s.admin).must(t).stdout).must(t)
	moved.kproxy(t, "setup").must(t)
	moved.kproxy(t, "check").must(t)
	moved.serve(t)
	conn := connect(t, moved.url())
	if now := scalar[int](t, conn, "SELECT count(*) FROM people"); now < rows {
		t.Errorf("%d rows are published, and %d were", now, rows)
	}
	eventually(t, "the changes are published", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM people WHERE n = 1") > 0 })
	if now := scalar[string](t, release, lineage); now != first {
		t.Errorf("the lineage is %s, and was %s", now, first)
	}
	moved.kproxy(t, "verify").must(t)
}
