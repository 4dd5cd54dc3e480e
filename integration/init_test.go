package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// around are tables beside the hospital's: records about its patients, one that says who
// did something, and a view.
const around = `
CREATE TABLE lab_results (id bigint PRIMARY KEY, patient_id bigint NOT NULL REFERENCES patients, taken date NOT NULL,
	test_code text NOT NULL, value numeric NOT NULL);
INSERT INTO lab_results SELECT 3 * patient_id + i, patient_id, admission_date + i, (ARRAY['HB', 'CRP', 'NA', 'K'])[1 + (patient_id + i) % 4], 10 * i + patient_id % 7
FROM patients, generate_series(0, 2) i;
CREATE TABLE audit_log (id bigint PRIMARY KEY, actor text, what text);
INSERT INTO audit_log SELECT i, 'dr.' || i, 'looked at ' || i FROM generate_series(1, 50) i;
CREATE VIEW adults AS SELECT birth_date, sex FROM patients WHERE birth_date < '2000-01-01';
UPDATE patients SET occupation = 'astronaut' WHERE patient_id = (SELECT min(patient_id) FROM patients);
ANALYZE;`

// initiated makes a database on a server of its own and runs init on it, with the
// password that it shows.
func initiated(t *testing.T) (s *site, password string) {
	t.Helper()
	s = &site{server: ownServer(t, pgserver.Options{}), dir: scratch(t), address: freeAddress(t)}
	s.admin = pgtest.Database(t, s.server)
	s.release = s.admin
	s.database = connConfig(t, s.admin).Database
	conn := connect(t, s.admin)
	if err := hospital.Load(t.Context(), conn, 2000, 1); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, around)
	s.config = filepath.Join(s.dir, "kproxy.yaml")
	o := run(t, "", nil, program, "init", "--dsn", s.admin, "--out", s.config, "--listen", s.address, "--user", "ann").must(t)
	for _, words := range []string{
		"public.patients", "public.lab_results", "Released together, since they are about the same persons (patient): public.patients, public.lab_results", "kproxy setup -c " + s.config, "all 2000 persons",
		"Readable as they are:\n  public.icd10", "public.audit_log: ", "public.adults: not a table", "postgresql://ann@" + s.address + "/" + s.database,
	} {
		if !strings.Contains(o.stdout, words) {
			t.Errorf("init does not say %q:\n%s", words, o.stdout)
		}
	}
	m := regexp.MustCompile(`The password of ann, shown this once: (\S+)`).FindStringSubmatch(o.stdout)
	if m == nil {
		t.Fatalf("init shows no password:\n%s", o.stdout)
	}
	return s, m[1]
}

// TestInitToServe goes from a database to what is published without editing anything.
func TestInitToServe(t *testing.T) {
	t.Parallel()
	s, password := initiated(t)
	files, err := os.ReadDir(s.dir)
	if err != nil || len(files) != 3 {
		t.Fatalf("%d files: %v", len(files), err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s has the mode %v, %v", f.Name(), info.Mode(), err)
		}
	}
	text := read(t, s.config)
	for _, secret := range []string{"astronaut", password, "dr.1"} {
		if strings.Contains(text, secret) {
			t.Errorf("%q stands in the configuration:\n%s", secret, text)
		}
	}
	again := run(t, "", nil, program, "init", "--dsn", s.admin, "--out", s.config)
	again.speaks(t, 1, 1, s.config, "exists", "kproxy setup -c")
	if read(t, s.config) != text {
		t.Error("the configuration was replaced")
	}

	s.kproxy(t, "setup").must(t)
	s.kproxy(t, "check").must(t)
	s.serve(t)
	at := (&url.URL{Scheme: "postgresql", User: url.UserPassword("ann", password), Host: s.address, Path: "/" + s.database}).String()
	if n := psql(t, at, "SELECT count(*) FROM patients").must(t).stdout; strings.TrimSpace(n) != "2000" {
		t.Errorf("%s patients are published", n)
	}
	o := psql(t, at, "SELECT count(*) FROM lab_results;", "SELECT count(DISTINCT ward) > 2 FROM patients JOIN wards USING (ward);").must(t).stdout
	var results int
	if n, err := fmt.Sscan(o, &results); n != 1 || err != nil || results < 5800 || results > 6000 || !strings.HasSuffix(strings.TrimSpace(o), "t") { // few rows wait for others
		t.Errorf("of lab_results and wards there is\n%s", o)
	}
	o = psql(t, at, "SELECT count(*) FROM lab_results JOIN patients USING (patient_id);").must(t).stdout
	joined, err := strconv.Atoi(strings.TrimSpace(o))
	if err != nil || joined < 5000 || joined > 6000 {
		t.Errorf("%s of 6000 rows of lab_results lead to their patients", o)
	}
	raw := scalar[int](t, connect(t, s.admin), "SELECT max(patient_id) FROM patients")
	if o := psql(t, at, fmt.Sprintf("SELECT count(*) > 100 FROM lab_results WHERE patient_id <= %d;", raw)).must(t).stdout; strings.TrimSpace(o) != "f" {
		t.Error("keys of the source are published")
	}
	for _, hidden := range []string{"SELECT name FROM patients", "TABLE audit_log", "TABLE adults"} {
		if o := psql(t, at, hidden); o.code == 0 {
			t.Errorf("%s gives\n%s", hidden, o.stdout)
		}
	}
	s.kproxy(t, "verify").must(t)
}

// TestInitWritesNothing without a table of persons, with --print, or where a password's
// file is not its own; and it never writes to the database.
func TestInitWritesNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t, siteOptions{load: func(ctx context.Context, conn *pgx.Conn) error { return hospital.Load(ctx, conn, 200, 1) }})
	conn := connect(t, s.admin)
	fingerprint := func() string {
		return scalar[string](t, conn, `SELECT concat_ws(' ', (SELECT count(*) FROM pg_class), (SELECT count(*) FROM pg_namespace),
			(SELECT count(*) FROM pg_publication), (SELECT md5(string_agg(p::text, ',' ORDER BY p::text)) FROM patients p))`)
	}
	before, out := fingerprint(), filepath.Join(scratch(t), "new.yaml")
	o := run(t, "", nil, program, "init", "--dsn", s.admin, "--table", "icd10", "--out", out)
	if o.code != 1 || !strings.Contains(o.stderr, "no table with data of persons") || !strings.Contains(o.stdout, "public.icd10") {
		t.Errorf("%d, %s\n%s", o.code, o.stderr, o.stdout)
	}
	printed := run(t, "", nil, program, "init", "--dsn", s.admin, "--print", "--out", out).must(t)
	if !strings.HasPrefix(printed.stdout, "tables:\n") || strings.Contains(printed.stdout, "verifier") {
		t.Errorf("--print gives\n%s", printed.stdout)
	}
	var told struct {
		Tables   []struct{ Table, Verdict string }
		Password string
	}
	if err := json.Unmarshal([]byte(run(t, "", nil, program, "init", "--dsn", s.admin, "--print", "--json", "--out", out).must(t).stdout), &told); err != nil || len(told.Tables) != 3 || told.Password != "" {
		t.Errorf("%+v, %v", told, err)
	}
	run(t, "", nil, program, "init", "--dsn", s.admin, "--out", filepath.Join(out, "nowhere.yaml")).speaks(t, 1, 1, out, "no such")
	if left, err := os.ReadDir(filepath.Dir(out)); err != nil || len(left) > 0 {
		t.Errorf("there are files: %v, %v", left, err)
	}
	if after := fingerprint(); before != after {
		t.Errorf("the database was changed: %s and %s", before, after)
	}
	run(t, "", nil, program, "init", "--dsn", s.admin, "--table", "public.nothing").speaks(t, 1, 1, "no table public.nothing")
	run(t, "", nil, program, "init", "--dsn", s.admin, "--sample", "-1").speaks(t, 2, 2, "--sample")
	run(t, "", nil, program, "init", "--data", "x", "--dsn", s.admin).speaks(t, 2, 2, "--data FILE", "--dsn")
}
