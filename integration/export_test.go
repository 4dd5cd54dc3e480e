package integration

import (
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/tablefile"
)

// exportedTypes has a column of every type that a file keeps.
const exportedTypes = `CREATE TABLE people (id int PRIMARY KEY, name text, age smallint, born date, seen timestamptz, weight numeric, cost numeric(10,2), dose real,
		fit boolean, noted timestamp(0), code uuid, raw bytea, word text, illness text);
	INSERT INTO people SELECT i, 'Name ' || i, 20 + i % 60, date '1950-01-01' + i * 37, timestamptz '2024-01-01 00:00+00' + i * interval '7 hours', i / 8.0, i * 1.25, i / 4.0,
		i % 2 = 0, timestamp '2024-05-05 01:02:03' + i * interval '1 minute', md5(i::text)::uuid, decode(md5(i::text), 'hex'), CASE i % 4 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a "b", c' ELSE E'two\nlines' END,
		'illness ' || i % 7 FROM generate_series(1, 200) i;
	CREATE TABLE few (id int PRIMARY KEY, age int); INSERT INTO few VALUES (1, 1), (2, 2);
	REVOKE CREATE ON SCHEMA public FROM PUBLIC`

const exportedTables = `tables:
  public.people:
    updates: immediate
    constraints: [{k: 5}, {l: 2, of: illness}]
    acknowledge: {joinable: [cost, dose, noted, code, raw]}
    columns:
      id: identifying
      name: identifying
      age: {role: quasi-identifying, hierarchy: numeric}
      born: {role: quasi-identifying, hierarchy: date, publish: range}
      seen: {role: quasi-identifying, hierarchy: date}
      weight: {role: quasi-identifying, hierarchy: numeric}
      cost: insensitive
      dose: insensitive
      fit: insensitive
      noted: insensitive
      code: insensitive
      raw: insensitive
      word: insensitive
      illness: sensitive
  public.few:
    updates: immediate
    constraints: [{k: 5}]
    columns: {id: identifying, age: {role: quasi-identifying, hierarchy: numeric}}
`

// TestExport writes a release to files, which hold what a client reads.
func TestExport(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(exportedTypes, exportedTables))
	client := connect(t, s.url())
	execute(t, client, "SET TimeZone = 'UTC'")
	rows, err := client.Query(t.Context(), "SELECT * FROM people", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for rows.Next() {
		var texts []string
		for _, value := range rows.RawValues() {
			texts = append(texts, string(value))
		}
		want = append(want, strings.Join(texts, "\x00"))
	}
	if rows.Err() != nil || len(want) != 200 {
		t.Fatalf("a client reads %d rows: %v", len(want), rows.Err())
	}
	var columns []string
	for _, f := range rows.FieldDescriptions() {
		columns = append(columns, f.Name)
	}
	slices.Sort(want)
	for _, format := range []tablefile.Format{tablefile.CSV, tablefile.Parquet} {
		path := filepath.Join(s.dir, "people."+string(format))
		o := s.kproxy(t, "export", "people", "--out", path).must(t)
		if !strings.Contains(o.stdout, "200 rows of public.people, as of ") {
			t.Errorf("it says %q", o.stdout)
		}
		names, got := rowsOfFile(t, format, path)
		if !slices.Equal(names, columns) {
			t.Errorf("the columns are %v, want %v", names, columns)
		}
		slices.Sort(got)
		for i := range want {
			if trimmed(got[i]) != trimmed(want[i]) {
				t.Fatalf("%s: row %d is %q, want %q", format, i, got[i], want[i])
			}
		}
		checkManifest(t, s, path)
	}
	first, err := os.ReadFile(filepath.Join(s.dir, "people.csv"))
	if err != nil {
		t.Fatal(err)
	}
	s.kproxy(t, "export", "people", "--out", filepath.Join(s.dir, "people.csv")).speaks(t, 1, 1, "exists", "--force")
	if o := s.kproxy(t, "export", "people", "--out", "-").must(t); o.stdout != string(first) {
		t.Error("a second export of the same release is another file")
	}
	records, err := csv.NewReader(strings.NewReader(string(first))).ReadAll()
	if err != nil || len(records) != 201 {
		t.Errorf("the CSV has %d lines: %v", len(records), err)
	}
	s.exportIsRefused(t)
}

// trimmed leaves out the last digits of numbers that Parquet writes and the server does not.
func trimmed(row string) string {
	fields := strings.FieldsFunc(row, func(r rune) bool { return strings.ContainsRune("\x00[](),", r) })
	for i, f := range fields {
		if strings.Contains(f, ".") && strings.Trim(f, "0123456789.-") == "" {
			fields[i] = strings.TrimRight(strings.TrimRight(f, "0"), ".")
		}
	}
	return strings.Join(fields, "|")
}

func rowsOfFile(t *testing.T, format tablefile.Format, path string) (columns, rows []string) {
	t.Helper()
	r, err := tablefile.Open(format, path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	for row, err := range r.Rows {
		if err != nil {
			t.Fatal(err)
		}
		texts := make([]string, len(row))
		for i, v := range row {
			texts[i] = v.Text
		}
		rows = append(rows, strings.Join(texts, "\x00"))
	}
	return r.Columns, rows
}

func checkManifest(t *testing.T, s *site, path string) tablefile.Manifest {
	t.Helper()
	text, err := os.ReadFile(path + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var m tablefile.Manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	admin := connect(t, s.admin)
	policy := scalar[string](t, admin, "SELECT fingerprint FROM kproxy_store.policy ORDER BY number DESC LIMIT 1")
	position := scalar[string](t, admin, "SELECT lsn::text FROM kproxy_store.position")
	if m.SHA256 != hex.EncodeToString(sum[:]) || m.Bytes != int64(len(data)) || m.File != filepath.Base(path) || m.Policy != policy || m.Position > position || m.Position == "" ||
		m.Generation < 1 || len(m.Columns) == 0 || len(m.Constraints) == 0 || m.Version == "" || m.At.IsZero() {
		t.Errorf("the manifest of %s is\n%s", path, text)
	}
	return m
}

// exportIsRefused asks for what readers cannot read.
func (s *site) exportIsRefused(t *testing.T) {
	t.Helper()
	out := filepath.Join(s.dir, "refused.csv")
	s.kproxy(t, "export", "few", "--out", out).speaks(t, 1, 2, "table public.few is withheld", "loosen the constraints")
	s.kproxy(t, "export", "nowhere", "--out", out).speaks(t, 1, 1, "protects no table public.nowhere", "public.people")
	s.kproxy(t, "export", "people", "few", "--out", out).speaks(t, 2, 2, "several tables")
	s.kproxy(t, "export", "people", "--out", filepath.Join(s.dir, "people")).speaks(t, 2, 2, "--format")
	other := s.edit(t, "other.yaml", "{k: 5}, {l", "{k: 4}, {l")
	run(t, "", []string{"KPROXY_CONFIG=" + other}, program, "export", "people", "--out", out).speaks(t, 1, 2, "is not policy number 1, which is in force", "kproxy accept")
	execute(t, connect(t, s.admin), "ALTER TABLE people ALTER age TYPE text")
	eventually(t, "the table is halted or withdrawn", func() bool { return !strings.Contains(s.kproxy(t, "status").stdout, "public.people  published") })
	s.kproxy(t, "export", "people", "--out", out).speaks(t, 1, 4, "table public.people is ")
	if _, err := os.Stat(out); err == nil {
		t.Error("a refused export has written a file")
	}
	parts, err := filepath.Glob(filepath.Join(s.dir, ".*.part"))
	if err != nil || len(parts) > 0 {
		t.Errorf("what was not finished stays: %v, %v", parts, err)
	}
}

// TestExportOfPeople writes tables about the same persons, while they change, from one snapshot: every key
// leads to a row.
func TestExportOfPeople(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(hospitalSQL, hospitalTables))
	admin := connect(t, s.admin)
	var keyed int
	for round := range 3 {
		execute(t, admin, fmt.Sprintf("DELETE FROM patients WHERE patient_id %% 40 = %d", round))
		folder := filepath.Join(s.dir, fmt.Sprintf("round%d", round))
		s.kproxy(t, "export", "patients", "visits", "prescriptions", "labs", "--out", folder, "--format", "csv", "--quiet").must(t)
		persons := columnOfFile(t, filepath.Join(folder, "patients.csv"), "patient_id")
		visits := columnOfFile(t, filepath.Join(folder, "visits.csv"), "visit_id")
		for file, keys := range map[string]map[string]int{"visits.csv/patient_id": persons, "prescriptions.csv/visit_id": visits, "labs.csv/visit_id": visits} {
			name, column, _ := strings.Cut(file, "/")
			for key := range columnOfFile(t, filepath.Join(folder, name), column) {
				if key != "" && keys[key] != 1 {
					t.Errorf("round %d: a key of %s leads to %d rows", round, name, keys[key])
				}
				keyed++
			}
		}
		position := ""
		for _, name := range []string{"patients", "visits", "prescriptions", "labs"} {
			m := checkManifest(t, s, filepath.Join(folder, name+".csv"))
			if position == "" {
				position = m.Position
			}
			if m.Position != position || len(m.Together) != 4 || !strings.Contains(m.Promise, "at least 5 persons") {
				t.Errorf("the manifest of %s says %+v", name, m)
			}
		}
	}
	if keyed < 3*600 {
		t.Errorf("only %d keys were followed", keyed)
	}
}

// columnOfFile counts the values of a column.
func columnOfFile(t *testing.T, path, column string) map[string]int {
	t.Helper()
	columns, rows := rowsOfFile(t, tablefile.CSV, path)
	at := slices.Index(columns, column)
	if at < 0 {
		t.Fatalf("%s has %v", path, columns)
	}
	values := make(map[string]int)
	for _, row := range rows {
		values[strings.Split(row, "\x00")[at]]++
	}
	return values
}
