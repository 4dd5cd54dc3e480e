package draft_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/hospital"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// database makes a database and returns its connection string.
func database(t *testing.T, load func(context.Context, *pgx.Conn) error) string {
	t.Helper()
	dsn := pgtest.Database(t, pgtest.Shared(t))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := load(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	return dsn
}

func statements(sql string) func(context.Context, *pgx.Conn) error {
	return func(ctx context.Context, conn *pgx.Conn) error {
		_, err := conn.Exec(ctx, sql)
		return err
	}
}

// proposed drafts from a database.
func proposed(t *testing.T, o draft.Options) *draft.Outcome {
	t.Helper()
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "kproxy.yaml")
	}
	o.User, o.Listen, o.Seed = "analyst", "127.0.0.1:6432", 1
	outcome, err := draft.Database(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

func table(t *testing.T, o *draft.Outcome, name string) draft.Table {
	t.Helper()
	i := slices.IndexFunc(o.Tables, func(table draft.Table) bool { return table.Table == name })
	if i < 0 {
		t.Fatalf("nothing is said of %s: %+v", name, o.Tables)
	}
	return o.Tables[i]
}

// TestSamplesShowWhatADraftMeans: the same each time, with classes of k at least.
func TestSamplesShowWhatADraftMeans(t *testing.T) {
	t.Parallel()
	dsn := database(t, func(ctx context.Context, conn *pgx.Conn) error { return hospital.Load(ctx, conn, 3000, 1) })
	o := proposed(t, draft.Options{DSN: dsn, Sample: 1000})
	patients := table(t, o, "public.patients")
	if patients.Verdict != "protected" || patients.Records != 3000 || patients.Looked != 1000 || len(patients.Effects) != 3 {
		t.Fatalf("%+v", patients)
	}
	for i, k := range []int{3, 5, 10} {
		e := patients.Effects[i]
		if e.K != k || e.Proposed != (k == 5) || e.Smallest < k || e.Median < e.Smallest || e.Largest < e.Median || e.Classes == 0 ||
			e.Loss <= 0 || e.Risk > 1/float64(k) || len(e.Columns) != 6 || len(e.Reached) != 2 || e.Reached[0].Values < 3 {
			t.Errorf("k = %d: %+v", k, e)
		}
	}
	again := proposed(t, draft.Options{DSN: dsn, Sample: 1000})
	if again.Section != o.Section {
		t.Error("the same records give another draft")
	}
	var report strings.Builder
	if err := o.Report(&report); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{"a sample of 1000 of 3000 records", "*5", "lost of each column: birth_date", "values of diagnosis at least", "practice asks for 0.09: k = 12"} {
		if !strings.Contains(report.String(), words) {
			t.Errorf("the report has no %q:\n%s", words, report.String())
		}
	}
}

// linked is a database of two tables about the same persons, with sensitive columns that
// tell them apart: the income by an index, the cost by its values, and the diagnosis as it
// agrees in both.
const linked = `
CREATE TABLE patients (id bigint PRIMARY KEY, name text, sex text, birth_date date, income int, cost numeric, salary int, diagnosis text);
CREATE UNIQUE INDEX ON patients (income) WHERE income > 10;
INSERT INTO patients SELECT i, 'Anna ' || i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, date '1950-01-01' + 37 * i, i, i * 7919 % 100003 / 100.0, 1000 * (i % 9), (ARRAY['asthma', 'angina', 'flu', 'gout'])[1 + i % 4]
FROM generate_series(1, 600) i;
CREATE TABLE treatments (id bigint PRIMARY KEY, patient_id bigint REFERENCES patients, day date, diagnosis text, cost numeric);
INSERT INTO treatments SELECT 7000 + id, id, date '2020-01-01' + id::int % 300, diagnosis, id % 5 FROM patients;`

// TestDraftsPublishNoKeys: what joins records or finds one is hidden, with the reason, and
// check has nothing to refuse. All else of the kind stays.
func TestDraftsPublishNoKeys(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(linked)), Sample: 50})
	for _, c := range []struct{ table, column, role, why string }{
		{"public.patients", "income", "identifying", "not published, since it is unique in the table"},
		{"public.patients", "cost", "identifying", "not published, since it is nearly unique: 100 % of the records"},
		{"public.patients", "salary", "sensitive", ""},
		{"public.patients", "diagnosis", "sensitive", ""},
		{"public.treatments", "diagnosis", "identifying", "not published, since it agrees with public.patients.diagnosis"},
		{"public.treatments", "cost", "sensitive", ""},
	} {
		columns := table(t, o, c.table).Columns
		i := slices.IndexFunc(columns, func(d draft.Column) bool { return d.Column == c.column })
		if i < 0 || columns[i].Role != c.role || !strings.Contains(columns[i].Why, c.why) {
			t.Errorf("%s.%s, to be %s: %+v", c.table, c.column, c.role, columns)
		}
	}
	if got := strings.Count(o.Text, ", of: public.patients.diagnosis}") + strings.Count(o.Text, ", of: public.treatments.diagnosis}"); got != 1 {
		t.Errorf("%d constraints are over the diagnosis, which one table publishes:\n%s", got, o.Text)
	}
}

// TestDraftsPublishNothingThatNarrows: a column that follows from a quasi-identifier, or is NULL as
// that is, is hidden with the reason.
func TestDraftsPublishNothingThatNarrows(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(`
CREATE TABLE patients (id bigint PRIMARY KEY, name text, sex text, birth_date date, diagnosis text, treatment text, salary int);
INSERT INTO patients SELECT i, 'Anna ' || i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, born, (ARRAY['asthma', 'angina', 'flu', 'gout', 'acne', 'gastritis', 'migraine'])[extract(isodow FROM born)],
  CASE WHEN extract(month FROM born) < 7 THEN 'surgery' END, 1000 * (i % 9)
FROM (SELECT i, date '1950-01-01' + i * 7919 % 20000 AS born FROM generate_series(1, 3000) i) p;`))})
	columns := table(t, o, "public.patients").Columns
	for column, hidden := range map[string]bool{"diagnosis": true, "treatment": true, "salary": false} {
		i := slices.IndexFunc(columns, func(d draft.Column) bool { return d.Column == column })
		if i < 0 || columns[i].Role != map[bool]string{true: "identifying", false: "sensitive"}[hidden] || hidden && !strings.Contains(columns[i].Why, "not published, since it follows from birth_date") {
			t.Errorf("%s: %+v", column, columns)
		}
	}
}

// odd is a database with all that keeps a table from being published as it is.
const odd = `
CREATE SCHEMA other;
CREATE TYPE mood AS ENUM ('good', 'bad');
CREATE TABLE patients (id bigint PRIMARY KEY, name text, sex text, born date, mood mood, born_year int GENERATED ALWAYS AS (extract(year FROM born)) STORED,
	photo bytea, place point, diagnosis text);
INSERT INTO patients (id, name, sex, born, mood, photo, place, diagnosis)
SELECT i, 'Anna ' || i, CASE i % 2 WHEN 0 THEN 'f' ELSE 'm' END, date '1950-01-01' + 37 * i, 'good', '\x00', '(1,2)', 'healthy'
FROM generate_series(1, 300) i;
CREATE TABLE other.students (name text, sex text, age int);
INSERT INTO other.students SELECT 'Ben ' || i, 'm', 20 + i % 5 FROM generate_series(1, 50) i;
CREATE TABLE members (id int PRIMARY KEY, last_name text, sex text, height int);
CREATE TABLE visits (patient_id bigint REFERENCES patients, day date, PRIMARY KEY (patient_id, day)) PARTITION BY RANGE (day);
CREATE TABLE visits_2020 PARTITION OF visits FOR VALUES FROM ('2020-01-01') TO ('2021-01-01');
INSERT INTO visits SELECT 1 + i % 300, date '2020-01-01' + i % 360 FROM generate_series(0, 899) i;
CREATE TABLE settings (key text PRIMARY KEY, value jsonb);
CREATE VIEW grown AS SELECT * FROM patients;
CREATE TABLE nothing ();`

// TestOddDatabases: what can be published is, all else is left out with the reason.
func TestOddDatabases(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(odd))})
	for name, want := range map[string][2]string{
		"public.patients": {"protected", ""},
		"public.members":  {"protected", ""},
		"public.visits":   {"protected", ""},
		"other.students":  {"left out", "REPLICA IDENTITY FULL"},
		"public.settings": {"left out", "jsonb"},
		"public.grown":    {"left out", "view"},
		"public.nothing":  {"left out", "no columns"},
	} {
		if got := table(t, o, name); got.Verdict != want[0] || !strings.Contains(got.Why, want[1]) {
			t.Errorf("%s is %s: %s", name, got.Verdict, got.Why)
		}
	}
	if len(o.Tables) != 7 {
		t.Errorf("%d tables are told of, 7 expected: a partition is part of its table", len(o.Tables))
	}
	roles := map[string]string{}
	for _, c := range table(t, o, "public.patients").Columns {
		roles[c.Column] = c.Role
	}
	for column, want := range map[string]string{
		"born_year": "not named", "photo": "identifying", "place": "identifying", "name": "identifying", "born": "quasi-identifying", "diagnosis": "sensitive",
	} {
		if roles[column] != want {
			t.Errorf("%s is %s, %s expected", column, roles[column], want)
		}
	}
	if visits := table(t, o, "public.visits"); visits.Kind != "patient" || !slices.Equal(visits.Keys, []string{"patient_id"}) || visits.Records != 900 {
		t.Errorf("%+v", visits)
	}
	for _, words := range []string{"no alpha for public.patients.diagnosis: all have the same value", "The table is empty", "person: patient_id"} {
		if !strings.Contains(o.Text, words) {
			t.Errorf("the configuration has no %q:\n%s", words, o.Text)
		}
	}
	if _, err := config.Parse("kproxy.yaml", []byte(o.Text)); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(o.Text, "# yaml-language-server: $schema=config.schema.json\n") {
		t.Errorf("editors find no schema: %.100s", o.Text)
	}
}

// TestChosenTables are those whose names match.
func TestChosenTables(t *testing.T) {
	t.Parallel()
	dsn := database(t, statements(odd))
	for _, row := range []struct {
		tables, schemas []string
		want            string
	}{
		{[]string{"pat*"}, nil, "public.patients"},
		{[]string{"public.m*", "other.*"}, nil, "other.students public.members"},
		{nil, []string{"other"}, "other.students"},
	} {
		var names []string
		for _, table := range proposed(t, draft.Options{DSN: dsn, Tables: row.tables, Schemas: row.schemas}).Tables {
			names = append(names, table.Table)
		}
		if got := strings.Join(names, " "); got != row.want {
			t.Errorf("%q %q: %s, want %s", row.tables, row.schemas, got, row.want)
		}
	}
	for _, o := range []draft.Options{{Tables: []string{"no*"}, Schemas: []string{"other"}}, {Tables: []string{"public.x"}}, {Schemas: []string{"nowhere"}}, {Tables: []string{"["}}} {
		o.DSN = dsn
		if _, err := draft.Database(t.Context(), o); err == nil {
			t.Errorf("%q %q: no error", o.Tables, o.Schemas)
		}
	}
}

// TestWhatIsThereStays: files are not replaced, passwords beside the configuration are
// used again, and names that the server has for other databases are not taken.
func TestWhatIsThereStays(t *testing.T) {
	t.Parallel()
	dsn := database(t, statements(odd))
	conn, err := pgx.Connect(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	dir := t.TempDir()
	out := filepath.Join(dir, "kproxy.yaml")
	first := proposed(t, draft.Options{DSN: dsn, Out: out, Tables: []string{"patients"}})
	if err := first.Write(); err != nil {
		t.Fatal(err)
	}
	secrets := map[string]string{}
	for _, p := range first.Passwords {
		text, err := os.ReadFile(p.File)
		if err != nil || len(strings.TrimSpace(string(text))) < 20 {
			t.Fatalf("%s: %q, %v", p.File, text, err)
		}
		secrets[p.File] = string(text)
		if strings.Contains(first.Text, strings.TrimSpace(string(text))) {
			t.Error("a password stands in the configuration")
		}
	}
	if _, err := config.Load(out); err != nil {
		t.Errorf("the configuration as it was written: %v", err)
	}
	if err := first.Write(); err == nil {
		t.Error("the configuration is replaced")
	}
	if err := draft.CheckOut(out); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("error %v", err)
	}
	second := proposed(t, draft.Options{DSN: dsn, Out: filepath.Join(dir, "second.yaml"), Tables: []string{"patients"}})
	if err := second.Write(); err != nil {
		t.Fatal(err)
	}
	for _, p := range second.Passwords {
		text, err := os.ReadFile(p.File)
		if !p.Existed || err != nil || string(text) != secrets[p.File] {
			t.Errorf("%+v: another password, %v", p, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "CREATE ROLE kproxy_owner"); err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = conn.Exec(context.WithoutCancel(t.Context()), "DROP ROLE kproxy_owner") }()
	if third := proposed(t, draft.Options{DSN: dsn, Tables: []string{"patients"}}); third.Passwords[0].Role == "kproxy_owner" || strings.Contains(third.Text, "user: kproxy_owner") {
		t.Errorf("another database's role is taken: %+v", third.Passwords)
	}
}

// TestOutcomesShowNoValues: neither the report nor its JSON has anything of a record.
func TestOutcomesShowNoValues(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(odd)), Schemas: []string{"public"}})
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var report strings.Builder
	if err := o.Report(&report); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"Anna", "1950-02", "healthy"} {
		if strings.Contains(string(text), value) || strings.Contains(report.String(), value) || strings.Contains(o.Text, value) {
			t.Errorf("%q is shown", value)
		}
	}
}
