package verify_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/catalog/provision"
	"github.com/kproxy/kproxy/catalog/provision/provisiontest"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
	"github.com/kproxy/kproxy/internal/verify"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

// source is a table with every kind of quasi-identifier and with sensitive
// columns that have no equality.
const source = `
CREATE TABLE patients (id int PRIMARY KEY, name text, age smallint, weight float8, born date, seen timestamptz,
  ward char(3), postcode text, member boolean, diagnosis varchar(5), notes text);
CREATE TABLE wards (ward text)`

// store makes by hand what an honest release with classes of five looks like:
// 60 records in 11 classes and one withheld of five; class 3 holds a NULL age
// and hides it.
const store = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record)
VALUES ('public', 'patients', 12, '', 12, 61);
CREATE TABLE kproxy_store.records_12 (kproxy_record bigint PRIMARY KEY, kproxy_class bigint, id int, age smallint, weight float8,
  born date, seen timestamptz, ward char(3), postcode text, member boolean, diagnosis varchar(5), notes text);
INSERT INTO kproxy_store.records_12
SELECT n, CASE WHEN n <= 55 THEN (n - 1) / 5 END, n, CASE WHEN n <> 17 THEN 20 + n END, 60 + n / 3.0::float8, date '1960-01-01' + n * 50,
  timestamptz '2024-01-01 00:00Z' + n * interval '7 hours', CASE n % 2 WHEN 0 THEN 'A1' ELSE 'A2' END,
  (69000 + n)::text, (n - 1) / 5 % 2 = 0, 'D' || n % 3, json_build_object('n', n)::text
FROM generate_series(1, 60) n;
CREATE TABLE kproxy_store.release_12 AS
SELECT c.kproxy_class, c.age, c.age_range, c.weight_range AS weight, c.born, c.seen, c.seen_range, c.ward, c.postcode, c.member, r.diagnosis, r.notes
FROM kproxy_store.records_12 r JOIN (
  SELECT kproxy_class,
    CASE WHEN count(*) = count(age) THEN ((min(age) + max(age)) / 2)::smallint END AS age,
    CASE WHEN count(*) = count(age) THEN int4range(min(age), max(age), '[]') END AS age_range,
    numrange(min(weight::text::numeric), max(weight::text::numeric), '[]') AS weight_range,
    min(born) + (max(born) - min(born)) / 2 AS born,
    min(seen) + (max(seen) - min(seen)) / 2 AS seen, tstzrange(min(seen), max(seen), '[]') AS seen_range,
    'A'::text AS ward, left(min(postcode), 4) || '*' AS postcode, format('%s', bool_and(member)) AS member
  FROM kproxy_store.records_12 WHERE kproxy_class IS NOT NULL GROUP BY kproxy_class) c USING (kproxy_class)
ORDER BY c.kproxy_class;
UPDATE kproxy_store.release_12 SET postcode = '69*' WHERE kproxy_class IS NOT NULL;
CREATE VIEW kproxy_release_public.patients AS
SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12;`

var policy = catalog.Policy{Tables: []catalog.TablePolicy{{
	Table:  catalog.Name{Schema: "public", Relation: "patients"},
	Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
	Constraints: []privacy.Spec{{K: 5}, {Model: privacy.DistinctL, L: 3, Of: "diagnosis"}, {Model: privacy.DistinctL, L: 5, Of: "notes"}},
	Columns: []catalog.ColumnPolicy{
		{Name: "name", Role: catalog.Identifying},
		{Name: "age", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Name: "weight", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Numeric}, Publish: catalog.FormRange},
		{Name: "born", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}, Publish: catalog.FormValue},
		{Name: "seen", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Date}},
		{Name: "ward", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Categorical, Taxonomy: []hierarchy.Node{
			{Label: "A", Children: []hierarchy.Node{{Label: "A1 "}, {Label: "A2 "}}}, {Label: "B"}, {Label: "B1 "},
		}}},
		{Name: "postcode", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Prefix}},
		{Name: "member", Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: hierarchy.Categorical}},
		{Name: "diagnosis", Role: catalog.Sensitive},
		{Name: "notes", Role: catalog.Sensitive},
	},
}}}

// release is a database with the honest release.
func release(t *testing.T) (*pgx.Conn, []catalog.Publication) {
	t.Helper()
	conn := database(t, source, store, policy)
	return conn, []catalog.Publication{published(t, conn, policy.Tables[0])}
}

// database is a database after setup, with the source and what is published.
func database(t *testing.T, source, store string, policy catalog.Policy) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	execute(t, conn, source)
	name := conn.Config().Database
	in := provision.Input{Policy: policy, Owner: provision.Login{Name: name + "_owner"}, Reader: provision.Login{Name: name + "_reader"}}
	if err := provisiontest.Apply(t.Context(), conn, in); err != nil {
		t.Fatal(err)
	}
	execute(t, conn, store)
	return conn
}

func published(t *testing.T, conn *pgx.Conn, policy catalog.TablePolicy) catalog.Publication {
	t.Helper()
	relations, err := inspect.Relations(t.Context(), conn, conn.Config().Database+"_reader")
	if err != nil {
		t.Fatal(err)
	}
	for _, relation := range relations {
		if relation.Name == policy.Table {
			publication, problems := catalog.Publish(policy, relation)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			return publication
		}
	}
	t.Fatalf("there is no %s", policy.Table)
	return catalog.Publication{}
}

func execute(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.PgConn().Exec(t.Context(), sql).ReadAll(); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func run(t *testing.T, conn *pgx.Conn, publications []catalog.Publication) verify.Report {
	t.Helper()
	report, err := verify.Run(t.Context(), conn, publications, verify.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

func rendered(t *testing.T, report verify.Report) string {
	t.Helper()
	var text bytes.Buffer
	if err := report.WriteText(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestHonestReleasePasses(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	report := run(t, conn, publications)
	if !report.Passed() {
		t.Fatalf("violations:\n%s", rendered(t, report))
	}
	got := report[0]
	got.Checks = nil
	want := verify.TableReport{Table: "public.patients", Generation: 12, Records: 60, Withheld: 5, Rows: 55, Classes: 11, Smallest: 5, Largest: 5, Discernibility: 11*5*5 + 5*60}
	if got.Records != want.Records || got.Withheld != want.Withheld || got.Rows != want.Rows || got.Classes != want.Classes ||
		got.Smallest != 5 || got.Largest != 5 || got.Discernibility != want.Discernibility || got.Generation != 12 || got.Table != want.Table {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// The text is read by people, the JSON by programs.
	if text := rendered(t, report); !strings.Contains(text, "55 records in 11 classes of 5 to 5, 5 withheld") || strings.Contains(text, "FAIL") {
		t.Errorf("text:\n%s", text)
	}
	var encoded bytes.Buffer
	if err := report.WriteJSON(&encoded); err != nil {
		t.Fatal(err)
	}
	var decoded verify.Report
	if err := json.Unmarshal(encoded.Bytes(), &decoded); err != nil || !decoded.Passed() || len(decoded[0].Checks) != len(report[0].Checks) {
		t.Errorf("JSON does not read back: %v\n%s", err, encoded.String())
	}
}

// packed makes the release a view that unpacks rows.
const packed = `DROP VIEW kproxy_release_public.patients;
CREATE TABLE kproxy_store.copied_12 (kproxy_record bigint, diagnosis varchar(5), notes text);
CREATE TABLE kproxy_store.packed_12 AS SELECT kproxy_class, age, age_range, weight, born, seen, seen_range, ward, postcode, member,
	array_agg(ROW((notes::json->>'n')::bigint, diagnosis, notes)::kproxy_store.copied_12) AS kproxy_members
	FROM kproxy_store.release_12 GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10;
DROP TABLE kproxy_store.release_12;
CREATE VIEW kproxy_store.release_12 AS SELECT kproxy_class, age, age_range, weight, born, seen, seen_range, ward, postcode, p.member, m.diagnosis, m.notes
	FROM kproxy_store.packed_12 p, unnest(kproxy_members) m;
CREATE VIEW kproxy_release_public.patients AS SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12;`

// A violation planted by SQL, and the checks that must fail, and no others.
var plants = []struct {
	name, sql string
	fails     []string
}{
	{
		"a class of k-1", "DELETE FROM kproxy_store.records_12 WHERE id = 8; DELETE FROM kproxy_store.release_12 WHERE notes::json->>'n' = '8'",
		[]string{"5-anonymity", "distinct 3-diversity of diagnosis", "distinct 5-diversity of notes"},
	},
	{
		"too few sensitive values", "UPDATE kproxy_store.records_12 SET diagnosis = 'D0' WHERE kproxy_class = 4; UPDATE kproxy_store.release_12 SET diagnosis = 'D0' WHERE kproxy_class = 4",
		[]string{"distinct 3-diversity of diagnosis"},
	},
	{
		"NULL is one value", "UPDATE kproxy_store.records_12 SET diagnosis = NULLIF(diagnosis, 'D0') WHERE kproxy_class = 4; UPDATE kproxy_store.release_12 SET diagnosis = NULLIF(diagnosis, 'D0') WHERE kproxy_class = 4",
		nil,
	},
	{
		"a missing record", "DELETE FROM kproxy_store.release_12 WHERE notes::json->>'n' = '8'",
		[]string{"5-anonymity", "distinct 3-diversity of diagnosis", "distinct 5-diversity of notes", "every class has as many rows as records", "values published as they are agree in every class"},
	},
	{
		"a record too many", "INSERT INTO kproxy_store.release_12 SELECT * FROM kproxy_store.release_12 WHERE notes::json->>'n' = '8'",
		[]string{"every class has as many rows as records", "values published as they are agree in every class"},
	},
	{
		"a class that does not exist", "UPDATE kproxy_store.release_12 SET kproxy_class = 99 WHERE kproxy_class = 1",
		[]string{"every class has as many rows as records", "values published as they are agree in every class"},
	},
	{"a wrong range", "UPDATE kproxy_store.release_12 SET age_range = int4range(26, 30), age = 27 WHERE kproxy_class = 1", []string{"every value lies within age_range"}},
	{"a wrong range of floats", "UPDATE kproxy_store.records_12 SET weight = weight + 1e-13 WHERE id = 5", []string{"every value lies within weight"}},
	{"a wrong range of times", "UPDATE kproxy_store.records_12 SET seen = seen + interval '1 us' WHERE id = 5", []string{"every value lies within seen_range"}},
	{"a range that hides a NULL", "UPDATE kproxy_store.records_12 SET age = NULL WHERE id = 30", []string{"every value lies within age_range"}},
	{"an empty range", "UPDATE kproxy_store.release_12 SET age_range = 'empty' WHERE kproxy_class = 1", []string{"age lies among the values of its class", "every value lies within age_range"}},
	{"a representative outside of its range", "UPDATE kproxy_store.release_12 SET age = 90 WHERE kproxy_class = 1", []string{"age lies among the values of its class"}},
	{"a representative without its range", "UPDATE kproxy_store.release_12 SET age_range = NULL WHERE kproxy_class = 1", []string{"age lies among the values of its class"}},
	{"a representative far off", "UPDATE kproxy_store.release_12 SET born = '2020-01-01' WHERE kproxy_class = 1", []string{"born lies among the values of its class"}},
	{"a hidden column", "UPDATE kproxy_store.release_12 SET age = NULL, age_range = NULL, weight = NULL, born = NULL, ward = NULL, postcode = '*' WHERE kproxy_class = 1", nil},
	{"a wrong ancestor", "UPDATE kproxy_store.release_12 SET ward = 'B' WHERE kproxy_class = 1", []string{"ward is true of every value"}},
	{"a sibling as the label", "UPDATE kproxy_store.release_12 SET ward = 'A1 ' WHERE kproxy_class = 1", []string{"ward is true of every value"}},
	{"a wrong prefix", "UPDATE kproxy_store.release_12 SET postcode = '68*' WHERE kproxy_class = 1", []string{"postcode is true of every value"}},
	{"an unmasked prefix", "UPDATE kproxy_store.release_12 SET postcode = '69' WHERE kproxy_class = 1", []string{"postcode is true of every value"}},
	{"a wrong flat label", "UPDATE kproxy_store.release_12 SET member = 'f' WHERE kproxy_class = 2", []string{"member is true of every value"}},
	{
		"two generalizations in a class", "UPDATE kproxy_store.release_12 SET postcode = '*' WHERE notes::json->>'n' = '8'",
		[]string{"5-anonymity", "distinct 3-diversity of diagnosis", "distinct 5-diversity of notes", "every class has one generalization"},
	},
	{
		"a withheld row", "INSERT INTO kproxy_store.release_12 SELECT NULL, age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, '{}' FROM kproxy_store.release_12 WHERE notes::json->>'n' = '8'",
		[]string{"no withheld record is published"},
	},
	{
		"a withheld row in a class", "INSERT INTO kproxy_store.release_12 SELECT kproxy_class, age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, '{\"n\": 60}' FROM kproxy_store.release_12 WHERE notes::json->>'n' = '8'",
		[]string{"every class has as many rows as records", "values published as they are agree in every class"},
	},
	{
		"swapped sensitive values", "UPDATE kproxy_store.release_12 SET notes = CASE WHEN notes::json->>'n' = '8' THEN '{\"n\" : 13}' ELSE '{\"n\" : 8}' END WHERE notes::json->>'n' IN ('8', '13')",
		[]string{"values published as they are agree in every class"},
	},
	{
		"values paired anew within a class", "UPDATE kproxy_store.release_12 SET diagnosis = CASE diagnosis WHEN 'D0' THEN 'D1' WHEN 'D1' THEN 'D0' ELSE diagnosis END WHERE kproxy_class = 1",
		[]string{"values published as they are agree in every class"},
	},
	{
		"a view that leaves rows out", "CREATE OR REPLACE VIEW kproxy_release_public.patients AS SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12 WHERE notes::json->>'n' <> '8'",
		[]string{"5-anonymity", "distinct 3-diversity of diagnosis", "distinct 5-diversity of notes", "the published relation shows the release as it is"},
	},
	{
		"an extra column", "CREATE OR REPLACE VIEW kproxy_release_public.patients AS SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes, kproxy_class FROM kproxy_store.release_12",
		[]string{"exactly the published columns"},
	},
	{
		"columns in another order", "DROP VIEW kproxy_release_public.patients; CREATE VIEW kproxy_release_public.patients AS SELECT age_range, age, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12",
		[]string{"exactly the published columns"},
	},
	{"an extra column in the release", "ALTER TABLE kproxy_store.release_12 ADD id int", []string{"exactly the release's columns"}},
	{
		"a missing column", "ALTER TABLE kproxy_store.release_12 DROP notes CASCADE; CREATE VIEW kproxy_release_public.patients AS SELECT age FROM kproxy_store.release_12",
		[]string{"exactly the published columns", "exactly the release's columns", "the data"},
	},
	{
		"another type", "DROP VIEW kproxy_release_public.patients; CREATE VIEW kproxy_release_public.patients AS SELECT age::text, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12",
		[]string{"exactly the published columns", "the data"},
	},
	{
		"a view that reads the source", "CREATE OR REPLACE VIEW kproxy_release_public.patients AS SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12 WHERE NOT EXISTS (SELECT FROM patients)",
		[]string{"the published relation reads its release alone"},
	},
	{
		"a view that calls a function", "CREATE FUNCTION public.f() RETURNS boolean LANGUAGE sql AS 'SELECT true'; CREATE OR REPLACE VIEW kproxy_release_public.patients AS SELECT age, age_range, weight, born, seen, seen_range, ward, postcode, member, diagnosis, notes FROM kproxy_store.release_12 WHERE public.f()",
		[]string{"the published relation reads its release alone"},
	},
	{"a packed release", packed, nil},
	{
		"a record among the members of another class", packed + "UPDATE kproxy_store.packed_12 SET kproxy_members[1].kproxy_record = 60 WHERE kproxy_class = 1",
		[]string{"every record lies once among the members of its class"},
	},
	{
		"a record twice among the members", packed + "UPDATE kproxy_store.packed_12 SET kproxy_members[2].kproxy_record = kproxy_members[1].kproxy_record WHERE kproxy_class = 1",
		[]string{"every record lies once among the members of its class", "every member is another record"},
	},
	{
		"a release that reads the source", packed + `CREATE OR REPLACE VIEW kproxy_store.release_12 AS SELECT kproxy_class, age, age_range, weight, born, seen, seen_range, ward, postcode, p.member, m.diagnosis, m.notes
			FROM kproxy_store.packed_12 p, unnest(kproxy_members) m WHERE NOT EXISTS (SELECT FROM patients)`,
		[]string{"the published relation reads its release alone"},
	},
	{"an incomplete store", "ALTER TABLE kproxy_store.records_12 DROP ward", []string{"the private store is complete", "the data"}},
	{"no published relation", "DROP VIEW kproxy_release_public.patients", []string{"is published"}},
	{"no generation", "DELETE FROM kproxy_store.generation", []string{"is published"}},
}

func TestEveryViolationIsFound(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	const undo = "DROP SCHEMA IF EXISTS kproxy_release_public CASCADE; CREATE SCHEMA kproxy_release_public; DROP FUNCTION IF EXISTS public.f();" +
		"DROP TABLE IF EXISTS kproxy_store.packed_12, kproxy_store.copied_12 CASCADE; DROP TABLE IF EXISTS kproxy_store.records_12, kproxy_store.release_12 CASCADE; DELETE FROM kproxy_store.generation;"
	for _, plant := range plants {
		execute(t, conn, undo+store+plant.sql)
		report := run(t, conn, publications)
		var failed []string
		for _, c := range report[0].Checks {
			if !c.Passed {
				failed = append(failed, c.Name)
				if c.Violations == 0 || len(c.Examples) == 0 {
					t.Errorf("%s: check %q gives no example", plant.name, c.Name)
				}
			}
		}
		if strings.Join(failed, "; ") != strings.Join(plant.fails, "; ") {
			t.Errorf("%s:\n got %s\nwant %s\n%s", plant.name, strings.Join(failed, "; "), strings.Join(plant.fails, "; "), rendered(t, report))
		}
		// Examples are told without values.
		if text := rendered(t, report); strings.Contains(text, "D0") || strings.Contains(text, "69") || strings.Contains(text, "{") {
			t.Errorf("%s: the report holds a value:\n%s", plant.name, text)
		}
	}
}

func TestEmptyReleasePasses(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	execute(t, conn, "TRUNCATE kproxy_store.records_12, kproxy_store.release_12")
	if report := run(t, conn, publications); !report.Passed() || report[0].Classes != 0 || report[0].Smallest != 0 {
		t.Errorf("%s", rendered(t, report))
	}
}

func TestRunNeedsATransactionOfItsOwn(t *testing.T) {
	t.Parallel()
	conn, publications := release(t)
	execute(t, conn, "BEGIN")
	if _, err := verify.Run(t.Context(), conn, publications, verify.Options{}); err == nil {
		t.Error("no error inside of a transaction")
	}
	execute(t, conn, "ROLLBACK")
	run(t, conn, publications)
	var open bool
	if err := conn.QueryRow(t.Context(), "SELECT pg_current_xact_id_if_assigned() IS NOT NULL").Scan(&open); err != nil || open || conn.PgConn().TxStatus() != 'I' {
		t.Errorf("a transaction is left: %v", err)
	}
}
