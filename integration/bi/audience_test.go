package bi

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
)

// audiences is a database of its own on the demonstration's server, served to users of two audiences
// under the names of the demonstration's tables.
type audiences struct {
	url  string // the superuser's
	port int    // of kproxy
}

const (
	audienceTables = `CREATE TABLE patients (id int PRIMARY KEY, birth_date date, sex text, marital_status text, ward text, diagnosis text, cost int);
INSERT INTO patients SELECT i, DATE '1940-01-01' + i * 53 % 25000, (ARRAY['F', 'M'])[1 + i % 2], (ARRAY['single', 'married', 'widowed', 'divorced'])[1 + i % 7 % 4],
  'ward ' || i % 5, 'D' || i % 11, 500 + 150 * (i % 40) FROM generate_series(1, 800) i;
CREATE TABLE wards (ward text PRIMARY KEY, building text, beds int);
CREATE TABLE icd10 (code text PRIMARY KEY, description text, chapter text);
INSERT INTO icd10 SELECT 'D' || i, 'diagnosis ' || i, 'chapter ' || i % 3 FROM generate_series(0, 10) i;
CREATE VIEW stays AS SELECT sex, ward, diagnosis FROM patients`
	audienceConfiguration = `listen: 127.0.0.1:%d
database: clinic
upstream:
  owner: {host: 127.0.0.1, port: %s, database: clinic, user: clinic_owner, password_file: password, sslmode: disable}
  reader: {user: clinic_reader, password_file: password}
  readers:
    partner: {user: clinic_partner, password_file: password}
    press: {user: clinic_press, password_file: password}
users:
  - {name: ann, reader: partner, verifier: %[3]s}
  - {name: eve, reader: press, verifier: %[3]s}
slot: clinic
publication: clinic
tables:
  public.patients:
    updates: immediate
    constraints: [{k: 3}]
    columns:
      birth_date: {role: quasi-identifying, hierarchy: date, publish: value}
      sex: {role: quasi-identifying, hierarchy: categorical}
      marital_status: {role: quasi-identifying, hierarchy: categorical}
      ward: insensitive
      diagnosis: sensitive
      cost: sensitive
readable: [public.wards, public.icd10, public.stays]
audiences:
  partners:
    readers: partner
    tables:
      public.patients: {constraints: [{k: 10}]}
  press:
    readers: press
    tables:
      public.patients: {constraints: [{k: 200}], hide: [ward]}
`
)

// startAudiences sets the database up and serves it until the test ends.
func startAudiences(t *testing.T) audiences {
	t.Helper()
	source, err := url.Parse(site.Source)
	if err != nil {
		t.Fatal(err)
	}
	admin := *source
	admin.Path = "/clinic"
	a := audiences{url: admin.String()}
	execute(t, site.Source, "CREATE DATABASE clinic")
	execute(t, a.url, audienceTables)
	if a.port, err = rig.FreePort(); err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	verifier := exec.Command(site.Program, "password")
	verifier.Stdin = strings.NewReader("of a test\n")
	text, err := verifier.Output()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(folder, "kproxy.yaml")
	for path, text := range map[string]string{
		config:                            fmt.Sprintf(audienceConfiguration, a.port, source.Port(), strings.TrimSpace(string(text))),
		filepath.Join(folder, "password"): "of a role\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	environment := append(os.Environ(), "KPROXY_CONFIG="+config, "KPROXY_ADMIN_URL="+a.url)
	run(t, folder, environment, site.Program, "setup")
	cmd, told := exec.Command(site.Program, "serve"), &rig.Log{}
	cmd.Env, cmd.Stdout, cmd.Stderr = environment, told, told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("kproxy says:\n%s", told)
		}
	})
	for _, user := range []string{"ann", "eve"} {
		a.await(t, user)
	}
	return a
}

// await waits until a user can read the table, and the view over it that shows what she sees.
func (a audiences) await(t *testing.T, user string) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		var conn *pgx.Conn
		if conn, err = pgx.Connect(t.Context(), fmt.Sprintf("postgres://%s:of%%20a%%20test@127.0.0.1:%d/clinic", user, a.port)); err != nil {
			continue
		}
		_, err = conn.Exec(t.Context(), "SELECT FROM patients, stays")
		_ = conn.Close(t.Context())
		if err == nil {
			return
		}
	}
	t.Fatalf("%s cannot read: %v", user, err)
}

func execute(t *testing.T, url, sql string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// connections are those of users who give their names as tokens.
func (a audiences) connections() string {
	all := make(map[string]map[string]string)
	for _, user := range []string{"ann", "eve"} {
		all[user] = map[string]string{"host": "127.0.0.1", "port": strconv.Itoa(a.port), "database": "clinic", "user": user, "password": "of a test"}
	}
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // texts can be written
	}
	return string(text)
}

// ask has both users see the dashboard, each her own release.
func (a audiences) ask(t *testing.T, cube cube) {
	t.Helper()
	seen := make(map[string][][]string)
	for user, audience := range map[string]string{"ann": "partners", "eve": "press"} {
		compared := 0
		for _, p := range dashboard(t) {
			if !slices.Contains([]string{"total", "by two generalized dimensions", "a join", "by a dimension, the largest first"}, p.Name) {
				continue
			}
			rows, failure := cube.load(t, user, p.Query)
			if user == "eve" && strings.Contains(p.SQL, "ward") {
				if !strings.Contains(failure, "ward does not exist") {
					t.Errorf("%s of %s: Cube says %q of a column that she does not see", p.Name, user, failure)
				}
				continue
			}
			if failure != "" {
				t.Fatalf("%s of %s: %s", p.Name, user, failure)
			}
			agree(t, p.shown(rows), publishedIn(t, a.url, "kproxy_audience_"+audience+"_public", p.SQL))
			seen[user] = append(seen[user], p.shown(rows)...)
			compared++
		}
		if compared < 3 {
			t.Errorf("%d panels of %s are compared", compared, user)
		}
	}
	if fmt.Sprint(seen["ann"]) == fmt.Sprint(seen["eve"]) {
		t.Errorf("both see the same: %v", seen["ann"])
	}
}
