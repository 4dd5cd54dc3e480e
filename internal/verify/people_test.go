package verify_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/verify"
)

// clinic has a tree of tables with a composite key, and a table without quasi-identifiers.
const clinic = `
CREATE TABLE patients (patient_id int PRIMARY KEY, born date, sex text, blood text);
CREATE TABLE visits (clinic int, visit_no bigint, patient_id int, admitted date, ward text, PRIMARY KEY (clinic, visit_no));
CREATE TABLE drugs (id int PRIMARY KEY, clinic int, visit_no bigint, dose int, drug text);
CREATE TABLE events (id int PRIMARY KEY, patient_id int, kind text);`

// clinicStore is an honest release of 12 patients in classes of %[1]d. Each has a visit in
// 2023, with a drug, and one in 2024; cells have three persons. Four patients have one more
// visit in 2023, and four a drug in 2024, which are published without keys. There are a visit
// of nobody and a drug of no visit. Pseudonyms are exchanged in windows, unless %[2]d is 0.
const clinicStore = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record)
SELECT 'public', name, number, '', 100, 100 FROM (VALUES ('patients', 21), ('visits', 22), ('drugs', 23), ('events', 24)) t(name, number);
SET search_path = kproxy_store;
CREATE OR REPLACE FUNCTION public.pseudonym(person int) RETURNS int LANGUAGE sql AS 'SELECT 100000 + person * 7919 %% 1009';
CREATE OR REPLACE FUNCTION public.alias(person int, shift int) RETURNS int LANGUAGE sql AS
  'SELECT public.pseudonym((person - 1) / %[1]d * %[1]d + 1 + ((person - 1) %% %[1]d + shift * %[2]d) %% %[1]d)';
CREATE TABLE records_21 AS SELECT n::bigint AS kproxy_record, ((n - 1) / %[1]d)::bigint AS kproxy_class, n AS patient_id,
  date '1950-01-01' + 100 * n AS born, CASE n %% 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex, 'B' || n %% 3 AS blood FROM generate_series(1, 12) n;
CREATE TABLE records_22 AS SELECT row_number() OVER (ORDER BY clinic, n) AS kproxy_record, NULL::bigint AS kproxy_class, clinic, n::bigint AS visit_no,
  CASE WHEN clinic < 4 THEN n ELSE 99 END AS patient_id, CASE clinic WHEN 1 THEN date '2023-01-01' + 10 * n WHEN 2 THEN date '2024-03-01' + 5 * n ELSE date '2023-09-01' + n END AS admitted,
  (ARRAY['eye', 'heart', 'skin'])[(n + clinic) %% 3 + 1] AS ward
  FROM (SELECT 1 AS clinic, n FROM generate_series(1, 12) n UNION ALL SELECT 2, n FROM generate_series(1, 12) n UNION ALL SELECT 3, n FROM generate_series(1, 4) n UNION ALL SELECT 4, 1) v;
CREATE TABLE records_23 AS SELECT row_number() OVER (ORDER BY clinic, n) AS kproxy_record, NULL::bigint AS kproxy_class, n AS id, clinic, n::bigint AS visit_no, 10 * n AS dose, 'D' || (n + n / 4) %% 3 AS drug
  FROM (SELECT 1 AS clinic, n FROM generate_series(1, 12) n UNION ALL SELECT 2, n FROM generate_series(1, 12, 3) n UNION ALL SELECT 9, 9) d;
CREATE TABLE records_24 AS SELECT n::bigint AS kproxy_record, NULL::bigint AS kproxy_class, n AS id, n AS patient_id, 'K' || n %% 3 AS kind FROM generate_series(1, 12) n;
CREATE TABLE release_21 AS SELECT kproxy_class, kproxy_record AS kproxy_row, public.pseudonym(patient_id) AS patient_id, min(born) OVER c AS born,
  daterange(min(born) OVER c, max(born) OVER c, '[]') AS born_range, '*'::text AS sex, blood FROM records_21 WINDOW c AS (PARTITION BY kproxy_class);
CREATE TABLE release_22 AS SELECT cell AS kproxy_class, kproxy_record AS kproxy_row, CASE WHEN clinic < 3 THEN (7000 + kproxy_record)::int END AS clinic, CASE WHEN clinic < 3 THEN 7000 + kproxy_record END AS visit_no,
  CASE WHEN clinic < 3 THEN public.alias(patient_id, clinic) END AS patient_id, min(admitted) OVER c AS admitted, daterange(min(admitted) OVER c, max(admitted) OVER c, '[]') AS admitted_range, ward
  FROM (SELECT *, CASE WHEN clinic < 3 THEN 10 * clinic + (visit_no - 1) / 3 ELSE 30 END AS cell FROM records_22 WHERE clinic < 4) v WINDOW c AS (PARTITION BY cell);
CREATE TABLE release_23 AS SELECT cell AS kproxy_class, kproxy_record AS kproxy_row, CASE WHEN clinic = 1 THEN (7000 + visit_no)::int END AS clinic, CASE WHEN clinic = 1 THEN 7000 + visit_no END AS visit_no,
  min(dose) OVER c AS dose, int4range(min(dose) OVER c, max(dose) OVER c, '[]') AS dose_range, drug
  FROM (SELECT *, CASE WHEN clinic = 1 THEN (visit_no - 1) / 3 ELSE 30 END AS cell FROM records_23 WHERE clinic < 3) d WINDOW c AS (PARTITION BY cell);
CREATE TABLE release_24 AS SELECT ((patient_id - 1) / %[1]d)::bigint AS kproxy_class, kproxy_record AS kproxy_row, public.alias(patient_id, 3) AS patient_id, kind FROM records_24;
CREATE VIEW kproxy_release_public.patients AS SELECT patient_id, born, born_range, sex, blood FROM release_21;
CREATE VIEW kproxy_release_public.visits AS SELECT clinic, visit_no, patient_id, admitted, admitted_range, ward FROM release_22;
CREATE VIEW kproxy_release_public.drugs AS SELECT clinic, visit_no, dose, dose_range, drug FROM release_23;
CREATE VIEW kproxy_release_public.events AS SELECT patient_id, kind FROM release_24;`

const undoClinic = `RESET search_path; DROP SCHEMA IF EXISTS kproxy_release_public CASCADE; CREATE SCHEMA kproxy_release_public; DELETE FROM kproxy_store.generation;
DROP TABLE IF EXISTS kproxy_store.records_21, kproxy_store.records_22, kproxy_store.records_23, kproxy_store.records_24 CASCADE;
DROP TABLE IF EXISTS kproxy_store.release_21, kproxy_store.release_22, kproxy_store.release_23, kproxy_store.release_24 CASCADE;`

func clinicName(table string) catalog.Name {
	return catalog.Name{Schema: "public", Relation: table}
}

var clinicPolicies = []catalog.TablePolicy{
	{Table: clinicName("patients"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{
		quasi("born", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Date}), quasi("sex", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Categorical}), {Name: "blood", Role: catalog.Sensitive},
	}},
	{Table: clinicName("visits"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{
		quasi("admitted", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Date}), {Name: "ward", Role: catalog.Sensitive},
	}},
	{Table: clinicName("drugs"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{
		quasi("dose", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Numeric}), {Name: "drug", Role: catalog.Sensitive},
	}},
	{Table: clinicName("events"), Method: "rounded-partition", Columns: []catalog.ColumnPolicy{{Name: "kind", Role: catalog.Sensitive}}},
}

// clinicRelease is a database in which clinicStore can be made.
func clinicRelease(t *testing.T) *pgx.Conn {
	t.Helper()
	policy := catalog.Policy{Tables: append([]catalog.TablePolicy(nil), clinicPolicies[:3]...)}
	for i := range policy.Tables {
		policy.Tables[i].Updates = catalog.Updates{Mode: catalog.Immediate}
		policy.Tables[i].Constraints = []privacy.Spec{{K: 3}}
	}
	return database(t, clinic, "", policy)
}

func clinicPublications(t *testing.T, conn *pgx.Conn, knows string, constraints ...privacy.Spec) []catalog.Publication {
	t.Helper()
	relations, err := inspect.Relations(t.Context(), conn, conn.Config().Database+"_reader")
	if err != nil {
		t.Fatal(err)
	}
	policies, byName := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	for _, p := range clinicPolicies {
		policies[p.Table] = p
	}
	for _, r := range relations {
		byName[r.Name] = r
	}
	k, err := catalog.ParseKnowledge(knows)
	if err != nil {
		t.Fatal(err)
	}
	people := catalog.People{
		Kind: "patient", Root: clinicName("patients"), Key: []string{"patient_id"}, Knows: k, Constraints: append([]privacy.Spec{{K: 3}}, constraints...),
		Tables: []catalog.PeopleTable{
			{Table: clinicName("visits"), Person: []string{"patient_id"}, Key: []string{"clinic", "visit_no"}, Order: "admitted"},
			{Table: clinicName("drugs"), Through: clinicName("visits"), By: []string{"clinic", "visit_no"}},
			{Table: clinicName("events"), Person: []string{"patient_id"}},
		},
	}
	p, problems := catalog.PublishPeople(people, policies, byName)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return append([]catalog.Publication{p.Root}, p.Tables...)
}

// failures are the failed checks, with their tables.
func failures(report verify.Report) string {
	var failed []string
	for _, table := range report {
		for _, c := range table.Checks {
			if !c.Passed {
				failed = append(failed, strings.TrimPrefix(table.Table, "public.")+": "+c.Name)
			}
		}
	}
	return strings.Join(failed, "; ")
}

func TestHonestPeople(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	constraints := []privacy.Spec{
		{Model: privacy.DistinctL, L: 3, Of: "public.patients.blood"},
		{Model: privacy.AlphaK, Alpha: 0.67, Of: "public.visits.ward"},
		{Model: privacy.AlphaK, Alpha: 0.67, Of: "public.drugs.drug"},
	}
	for knows, size := range map[string]int{"1/1y:2": 6, "1:2": 6, "all": 3} {
		exchanged := 1
		if knows == "all" {
			exchanged = 0
		}
		execute(t, conn, undoClinic+fmt.Sprintf(clinicStore, size, exchanged))
		report := run(t, conn, clinicPublications(t, conn, knows, constraints...))
		t.Logf("%s:\n%s", knows, rendered(t, report))
	}
}
