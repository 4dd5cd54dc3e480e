package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// partsSchema has a table whose homes are protected apart from jobs and towns.
const partsSchema = `CREATE TABLE folk (id int PRIMARY KEY, age int NOT NULL, zip text NOT NULL, job text NOT NULL, town text NOT NULL, illness text NOT NULL, cost int NOT NULL);
INSERT INTO folk SELECT i, i * 7 % 90, (10000 + i * 13 % 500)::text, 'job' || i * 11 % 9, 'town' || i * 3 % 8, 'illness ' || i % 11, i % 7 FROM generate_series(1, 600) i`

const partsPolicy = `tables:
  folk:
    updates: immediate
    constraints: [{k: 5, over: [age, zip]}, {k: 4, over: [job, town]}, {l: 2, of: illness, over: [age, zip]}]
    hide: [cost]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
      zip: {role: quasi-identifying, hierarchy: prefix}
      job: {role: quasi-identifying, hierarchy: categorical}
      town: {role: quasi-identifying, hierarchy: categorical}
      illness: sensitive
      cost: sensitive
audiences:
  research:
    readers: [researchers, more]
    tables:
      folk:
        constraints: [{k: 15, over: [age, zip]}]
        columns:
          age: {steps: [10, 50, 100], publish: range}
  press:
    readers: [press]
    tables:
      folk:
        constraints: [{k: 60, over: [age, zip]}, {k: 40, over: [town, job]}]
        hide: [job, town]
        show: [cost]
`

// TestAudiencesOfTablesOfParts has psql ask as a user of each audience of a table whose constraints are over columns
// apart from others, follows a change, and reads what commands say of it.
func TestAudiencesOfTablesOfParts(t *testing.T) {
	t.Parallel()
	// A constraint of an audience may name no column that is hidden from it.
	hiding := strings.Replace(partsPolicy, ", {k: 40, over: [town, job]}]\n        hide: [job, town]", "]\n        hide: [job, town]", 1)
	s := siteWithReaders(t, sqlSite(partsSchema, hiding), "researchers", "more", "press")
	s.serve(t)
	psql := func(user, sql string) string {
		o := run(t, sql+"\n", nil, "psql", "-X", "-A", "-t", "-q", s.of(user))
		return strings.TrimSpace(o.stdout + o.stderr)
	}
	least := func(user, columns string, k int) {
		t.Helper()
		if got := psql(user, fmt.Sprintf("SELECT min(n) >= %d FROM (SELECT count(*) AS n FROM folk GROUP BY %s) g", k, columns)); got != "t" {
			t.Errorf("%s sees a group of less than %d by %s: %s", user, k, columns, got)
		}
	}
	groups := func() {
		t.Helper()
		least(clientUser, "age_range, zip", 5)
		least(clientUser, "job, town", 4)
		least("researchers", "age, zip", 15)
		least("more", "job, town", 4)
		least("press", "age, zip", 60)
	}
	const shape = "SELECT string_agg(column_name || ' ' || data_type, ', ' ORDER BY ordinal_position) FROM information_schema.columns WHERE table_name = 'folk'"
	for user, want := range map[string]string{
		clientUser:    "age integer, age_range int4range, zip text, job text, town text, illness text",
		"researchers": "age int4range, zip text, job text, town text, illness text",
		"press":       "age int4range, zip text, illness text, cost integer",
	} {
		if got := psql(user, shape); got != want {
			t.Errorf("%s sees %s, not %s", user, got, want)
		}
		if got := psql(user, "SELECT count(*) FROM folk"); got != "600" {
			t.Errorf("%s counts %s", user, got)
		}
	}
	for _, command := range []string{`\d+ folk`, `\dd`, `\d+`, "SELECT * FROM kproxy.describe('folk')", "SELECT * FROM kproxy.tables()", "EXPLAIN (VERBOSE) TABLE folk"} {
		if got := psql("press", command); strings.Contains(got, "town") || strings.Contains(got, "job") {
			t.Errorf("the press is told of hidden columns by %s:\n%s", command, got)
		}
	}
	admin := connect(t, s.admin)
	for _, sql := range []string{
		"INSERT INTO folk SELECT i, i * 7 % 90, (10000 + i * 13 % 500)::text, 'job' || i * 11 % 9, 'town' || i * 3 % 8, 'illness ' || i % 11, i % 7 FROM generate_series(601, 700) i",
		"UPDATE folk SET age = age + 5, job = 'job0' WHERE id % 7 = 0", "DELETE FROM folk WHERE id % 5 = 0",
	} {
		if _, err := admin.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	for _, user := range []string{clientUser, "researchers", "press"} {
		eventually(t, user+" sees the changes", func() bool { return psql(user, "SELECT count(*) FROM folk") == "560" })
	}
	groups()
	if o := s.kproxy(t, "verify"); o.code != 0 || !strings.Contains(o.stdout, "classes are unions of the finer ones, over age, zip") || !strings.Contains(o.stdout, "4-anonymity over job, town, with hidden columns") {
		t.Errorf("verify:\n%s%s", o.stdout, o.stderr)
	}
	s.checkTellsOfParts(t)
	s.commandsTellOfParts(t)
}

// checkTellsOfParts reads what holds for readers who pool what they have.
func (s *site) checkTellsOfParts(t *testing.T) {
	t.Helper()
	o := s.kproxy(t, "check")
	for _, want := range []string{
		"public.folk: its own readers with any of research, press: 5-anonymity over age, zip, 4-anonymity over job, town, distinct 2-diversity of illness over age, zip; they join cost (of press)",
		"public.folk: research with press: 4-anonymity over job, town, distinct 2-diversity of illness over age, zip, 15-anonymity over age, zip; they join cost (of press)",
	} {
		if o.code != 0 || !strings.Contains(o.stdout, want) {
			t.Errorf("check does not say %q:\n%s%s", want, o.stdout, o.stderr)
		}
	}
}

// commandsTellOfParts reads a manifest, and a dossier with the attack on the part that the press sees.
func (s *site) commandsTellOfParts(t *testing.T) {
	t.Helper()
	path := filepath.Join(s.dir, "press.csv")
	s.kproxy(t, "export", "folk", "--audience", "press", "--out", path).must(t)
	if m := checkManifest(t, s, path); m.Audience != "press" || strings.Join(m.Constraints, "; ") != "distinct 2-diversity of illness over age, zip; 60-anonymity over age, zip" {
		t.Errorf("the manifest is %+v", m)
	}
	if o := s.kproxy(t, "status"); !strings.Contains(o.stdout, "press") {
		t.Errorf("status says\n%s", o.stdout)
	}
	folder := filepath.Join(s.dir, "dossier")
	s.kproxy(t, "report", "--out", folder).must(t)
	text, err := os.ReadFile(filepath.Join(folder, "dossier.json"))
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Tables []struct{ Audiences []toldAudience }
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	admin := connect(t, s.admin)
	for i, name := range []string{"research", "press"} {
		a := d.Tables[0].Audiences[i]
		release := "kproxy_store.release_" + name + "_1"
		sizes := fmt.Sprintf("(SELECT count(*) AS n FROM %[1]s GROUP BY kproxy_class UNION ALL SELECT count(*) FROM %[1]s GROUP BY kproxy_class_2) g", release)
		if n := scalar[int64](t, admin, "SELECT count(*) FROM "+sizes); n != a.Classes {
			t.Errorf("%s sees %d classes, and the dossier says %d", name, n, a.Classes)
		}
		if least, most := scalar[int64](t, admin, "SELECT min(n) FROM "+sizes), scalar[int64](t, admin, "SELECT max(n) FROM "+sizes); least != a.Smallest || most != a.Largest {
			t.Errorf("%s sees classes of %d to %d, and the dossier says %d to %d", name, least, most, a.Smallest, a.Largest)
		}
		if a.State != "published" || a.Rows != 560 || a.Loss == nil || len(a.Risks) != 2 || len(a.Attack.Parts) != 2 {
			t.Errorf("%+v", a)
		}
		if r := a.Risks[0]; r.Smallest < []int64{15, 60}[i] || a.Attack.Parts[0].Highest > 1/float64(r.Smallest)+1e-9 {
			t.Errorf("%s: %+v, and the attacker achieves %+v", name, r, a.Attack.Parts[0])
		}
	}
}

// TestAudiencesOfPartsAreRefused: constraints that would divide the table into other parts are refused when the
// configuration is read.
func TestAudiencesOfPartsAreRefused(t *testing.T) {
	t.Parallel()
	s := siteWithReaders(t, sqlSite(partsSchema, strings.Replace(partsPolicy, "        hide: [job, town]\n", "", 1)), "researchers", "more", "press")
	for constraint, want := range map[string]string{
		"{k: 15}":                     "the constraints of table public.folk are over columns apart from others, and 15-anonymity is over all of them",
		"{k: 15, over: [age, town]}":  "15-anonymity over age, town is over columns that the constraints of table public.folk are over apart from each other",
		"{l: 3, of: illness}":         "distinct 3-diversity of illness is over all of them",
		"{k: 5, over: [age, zip]}":    "5-anonymity over age, zip holds for the table's own readers already",
		"{k: 15, over: [age, plant]}": "",
	} {
		s.replace(t, "[{k: 15, over: [age, zip]}]", "["+constraint+"]")
		o := s.kproxy(t, "check")
		if o.code == 0 || !strings.Contains(o.stdout+o.stderr, want) {
			t.Errorf("of %s it says\n%s%s", constraint, o.stdout, o.stderr)
		}
		s.replace(t, "["+constraint+"]", "[{k: 15, over: [age, zip]}]")
	}
	s.kproxy(t, "check").must(t)
}
