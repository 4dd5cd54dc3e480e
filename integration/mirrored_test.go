package integration

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver"
)

const mirroredSections = `readable: []
mirrored:
  public.wards: {columns: [ward, building]}
  public.icd10: {columns: [code, description]}
`

func mirroredSite(t *testing.T) *site {
	t.Helper()
	o := hospitalSite()
	o.apart = ownServer(t, pgserver.Options{})
	o.tables = strings.Replace(o.tables, "readable: [public.icd10, public.wards]", mirroredSections, 1)
	return newSite(t, o)
}

// TestMirrored serves a hospital whose release is on another server, with tables of the source that are
// not protected: what is asked of them by clients, every command that looks at them, changes, a kill,
// and tables that leave the list and come back.
func TestMirrored(t *testing.T) {
	t.Parallel()
	s := mirroredSite(t)
	source := connect(t, s.admin)
	psql(t, s.admin, s.kproxy(t, "setup", "--print", "--side", "source").must(t).stdout).must(t)
	s.kproxy(t, "setup").must(t)
	if out := s.kproxy(t, "check").must(t); !strings.Contains(out.stdout, "1 protected tables can be published, 2 mirrored") {
		t.Errorf("the check says %s", out.stdout)
	}
	if sent := scalar[string](t, source, "SELECT string_agg(a, ' ') FROM pg_publication_tables, unnest(attnames::text[]) a WHERE tablename = 'wards'"); sent != "ward building" {
		t.Errorf("of wards the columns %s are sent", sent)
	}

	p := s.serve(t)
	conn := connect(t, s.url())
	for sql, want := range map[string]int{
		"SELECT count(*) FROM wards":   scalar[int](t, source, "SELECT count(*) FROM wards"),
		"SELECT count(*) FROM icd10 x": scalar[int](t, source, "SELECT count(*) FROM icd10"),
		"SELECT count(*) FROM patients p JOIN public.wards w USING (ward) JOIN icd10 ON code = diagnosis WHERE building IS NOT NULL": patients,
		"SELECT count(*) FROM information_schema.columns WHERE table_name = 'wards'":                                                 2,
	} {
		if got := scalar[int](t, conn, sql); got != want {
			t.Errorf("%s: %d, not %d", sql, got, want)
		}
	}
	for _, refused := range []string{"SELECT beds FROM wards", "SELECT kproxy_record FROM wards", "UPDATE wards SET building = 'x'", "SELECT ctid FROM wards", "SELECT * FROM kproxy_release_public.wards"} {
		if out := psql(t, s.url(), refused); out.code == 0 {
			t.Errorf("%s: %s", refused, out.stdout)
		}
	}
	if out := psql(t, s.url(), `\d wards`).must(t); !strings.Contains(out.stdout, "building") || strings.Contains(out.stdout, "beds") {
		t.Errorf("psql describes wards as %s", out.stdout)
	}
	s.commandsKnowMirrored(t)

	execute(t, source, "INSERT INTO wards VALUES ('attic', 'roof', 3); UPDATE wards SET building = 'moved' WHERE ward <> 'attic'; UPDATE icd10 SET description = upper(description)")
	eventually(t, "the changes are seen", func() bool {
		return scalar[int](t, conn, "SELECT count(*) FROM wards WHERE ward = 'attic' OR building <> 'moved'") == 1 && scalar[int](t, conn, "SELECT count(*) FROM icd10 WHERE description <> upper(description)") == 0
	})
	p.end(t, syscall.SIGKILL)
	execute(t, source, "DELETE FROM wards WHERE ward = 'attic'; UPDATE icd10 SET description = 'none'")
	s.serve(t)
	conn = connect(t, s.url())
	eventually(t, "what happened meanwhile is seen", func() bool {
		return scalar[int](t, conn, "SELECT (SELECT count(*) FROM wards WHERE ward = 'attic') + (SELECT count(*) FROM icd10 WHERE description <> 'none')") == 0
	})

	s.replace(t, "  public.wards: {columns: [ward, building]}\n", "")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	if out := psql(t, s.url(), "SELECT * FROM wards"); out.code == 0 {
		t.Errorf("a table that is no longer listed is shown: %s", out.stdout)
	}
	s.replace(t, "mirrored:\n", "mirrored:\n  public.wards: {columns: [beds, ward]}\n")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	beds := scalar[int](t, source, "SELECT sum(beds) FROM wards")
	eventually(t, "it is shown again, with other columns", func() bool {
		out := psql(t, s.url(), "SELECT sum(beds) FROM wards")
		return out.code == 0 && strings.TrimSpace(out.stdout) == fmt.Sprint(beds)
	})
	s.kproxy(t, "verify").must(t)
}

// commandsKnowMirrored runs the commands that tell of tables.
func (s *site) commandsKnowMirrored(t *testing.T) {
	t.Helper()
	for _, command := range []struct{ line, says string }{
		{"status --count", "mirrored"},
		{"status --json", `"updates": "mirrored"`},
		{"verify", "public.wards (generation"},
		{"verify --json", "every row of the private store is shown as it is"},
		{"report --json", "public.wards: is mirrored"},
		{"explain", "public.wards (mirrored: rows as they are at the source"},
		{"export --format csv --out exported public.wards", ""},
		{"accept --yes", ""},
		{"resync public.wards", ""},
		{"rebuild public.icd10", ""},
	} {
		arguments := strings.Fields(strings.ReplaceAll(command.line, "exported", s.dir+"/exported"))
		if command.line == "explain" {
			arguments = append(arguments, "SELECT count(*) FROM patients JOIN wards USING (ward)")
		}
		if out := s.kproxy(t, arguments...).must(t); !strings.Contains(out.stdout, command.says) {
			t.Errorf("%s says\n%s", command.line, out.stdout)
		}
	}
	if out := s.kproxy(t, "reanonymize", "public.wards"); out.code == 0 || !strings.Contains(out.stderr, "is mirrored") {
		t.Errorf("reanonymize of a mirrored table: %d, %s", out.code, out.stderr)
	}
}

// TestMirroredJoins has clients join a protected and a mirrored table through kproxy while both change
// in the same transactions: they see both as of one commit.
func TestMirroredJoins(t *testing.T) {
	t.Parallel()
	o := sqlSite(operatedSchema+"ALTER TABLE wards ADD n int, ADD PRIMARY KEY (name); INSERT INTO wards VALUES ('all', 0)", countedPolicy+"mirrored:\n  public.wards: {columns: [n]}\n")
	o.apart = ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	s.serve(t)
	source, conn := connect(t, s.admin), connect(t, s.url())
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for i := range 300 {
			if _, err := source.Exec(ctx, fmt.Sprintf("BEGIN; UPDATE wards SET n = %[1]d; UPDATE people SET n = %[1]d; COMMIT", i+1), pgx.QueryExecModeSimpleProtocol); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	versions := map[int]bool{}
	for last := 0; last < 300; {
		var together int
		if err := conn.QueryRow(t.Context(), "SELECT max(w.n), count(*) FROM people p JOIN wards w ON p.n = w.n").Scan(&last, &together); err != nil {
			t.Fatal(err)
		}
		if together != 40 {
			t.Fatalf("%d of 40 people are of the version of wards, %d", together, last)
		}
		versions[last] = true
	}
	if err := <-done; err != nil || len(versions) < 3 {
		t.Errorf("%d versions were seen: %v", len(versions), err)
	}
}

// TestAudiencesSeeMirroredTables has users of audiences join what they see with tables of the source that are
// not protected, each under names of her own.
func TestAudiencesSeeMirroredTables(t *testing.T) {
	t.Parallel()
	o := sqlSite(audienceSchema, strings.Replace(audiencePolicy, "readable: [towns, ages]", "mirrored:\n  towns: {columns: [town]}", 1))
	o.apart = ownServer(t, pgserver.Options{})
	s := newSite(t, o)
	readers, users := "  readers:\n", "users:\n"
	for _, name := range []string{"researchers", "more", "press"} {
		readers += fmt.Sprintf("    %s: {user: %q, password_file: reader.password}\n", name, s.database+"_"+name)
		users += fmt.Sprintf("  - {name: %s, reader: %[1]s, verifier: %s}\n", name, clientVerifier(t))
	}
	s.replace(t, "users:\n", users, "slot: ", readers+"slot: ")
	psql(t, s.admin, s.kproxy(t, "setup", "--print", "--side", "source").must(t).stdout).must(t)
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	s.serve(t)
	source := connect(t, s.admin)
	for _, user := range []string{clientUser, "researchers", "more", "press"} {
		conn := connect(t, s.of(user))
		if got := scalar[int](t, conn, "SELECT count(*) FROM towns CROSS JOIN folk"); got != 1200 {
			t.Errorf("%s joins %d rows", user, got)
		}
		if got := scalar[string](t, conn, "SELECT string_agg(attname, ' ') FROM pg_attribute WHERE attrelid = 'towns'::regclass AND attnum > 0"); got != "town" {
			t.Errorf("%s sees the columns %s", user, got)
		}
		for _, refused := range []string{"SELECT size FROM towns", "SELECT kproxy_record FROM towns", "TABLE kproxy_release_public.towns", "TABLE kproxy_audience_press_public.towns", "SELECT ctid FROM towns", "DELETE FROM towns"} {
			if _, err := conn.Exec(t.Context(), refused); sqlState(t, err) == "" {
				t.Errorf("%s: %s is not refused", user, refused)
			}
		}
		execute(t, source, "INSERT INTO towns VALUES ('"+user+"', 3)")
		eventually(t, user+" sees what is new", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM towns WHERE town = '"+user+"'") == 1 })
		execute(t, source, "DELETE FROM towns WHERE town = '"+user+"'")
		eventually(t, user+" does not see what is gone", func() bool { return scalar[int](t, conn, "SELECT count(*) FROM towns") == 2 })
	}
	for _, command := range []string{"check", "status", "verify"} {
		if out := s.kproxy(t, command); out.code != 0 {
			t.Errorf("%s:\n%s%s", command, out.stdout, out.stderr)
		}
	}
	// An audience that joins sees it, and one that leaves sees it no more.
	s.replace(t, "  press:\n    readers: [press]\n", "  public:\n    readers: [press]\n")
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "reload").must(t)
	eventually(t, "the new audience sees it", func() bool {
		conn, err := pgx.Connect(t.Context(), s.of("press"))
		if err != nil {
			return false
		}
		defer conn.Close(t.Context())
		_, err = conn.Exec(t.Context(), "SELECT FROM towns, folk")
		return err == nil
	})
	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
}
