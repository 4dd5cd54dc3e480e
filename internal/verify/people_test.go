package verify_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
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
// of nobody and a drug of no visit. In the window of some shift, a person's rows have the
// pseudonym of the person that stands %[2]s behind in the class.
const clinicStore = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record)
SELECT 'public', name, number, '', 100, 100 FROM (VALUES ('patients', 21), ('visits', 22), ('drugs', 23), ('events', 24)) t(name, number);
SET search_path = kproxy_store;
CREATE OR REPLACE FUNCTION public.pseudonym(person int) RETURNS int LANGUAGE sql AS 'SELECT 100000 + person * 7919 %% 1009';
CREATE OR REPLACE FUNCTION public.alias(person int, shift int) RETURNS int LANGUAGE sql AS
  'SELECT public.pseudonym((person - 1) / %[1]d * %[1]d + 1 + ((person - 1) %% %[1]d + %[2]s) %% %[1]d)';
CREATE TABLE records_21 AS SELECT n::bigint AS kproxy_record, ((n - 1) / %[1]d)::bigint AS kproxy_class, n AS patient_id,
  date '1950-01-01' + 100 * n AS born, CASE n %% 2 WHEN 0 THEN 'f' ELSE 'm' END AS sex, 'B' || n %% 3 AS blood FROM generate_series(1, 12) n;
CREATE TABLE records_22 AS SELECT row_number() OVER (ORDER BY clinic, n) AS kproxy_record, NULL::bigint AS kproxy_class, clinic, n::bigint AS visit_no,
  CASE WHEN clinic < 4 THEN n ELSE 99 END AS patient_id, CASE clinic WHEN 1 THEN date '2023-01-01' + 10 * n WHEN 2 THEN date '2024-03-01' + 5 * n ELSE date '2023-09-01' + n END AS admitted,
  (ARRAY['eye', 'heart', 'skin'])[(n + clinic / 3) %% 3 + 1] AS ward
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
	return clinicReleaseOf(t, clinic)
}

func clinicReleaseOf(t *testing.T, source string) *pgx.Conn {
	t.Helper()
	policy := catalog.Policy{Tables: append([]catalog.TablePolicy(nil), clinicPolicies[:3]...)}
	for i := range policy.Tables {
		policy.Tables[i].Updates = catalog.Updates{Mode: catalog.Immediate}
		policy.Tables[i].Constraints = []privacy.Spec{{K: 3}}
	}
	return database(t, source, "", policy)
}

func clinicPublications(t *testing.T, conn *pgx.Conn, knows string, constraints ...privacy.Spec) []catalog.Publication {
	t.Helper()
	return clinicPublicationsOf(t, conn, clinicPolicies, "patient_id", knows, constraints...)
}

// clinicPublicationsOf has policies of their own, and another name for the column of persons.
func clinicPublicationsOf(t *testing.T, conn *pgx.Conn, of []catalog.TablePolicy, person, knows string, constraints ...privacy.Spec) []catalog.Publication {
	t.Helper()
	relations, err := inspect.Relations(t.Context(), conn, conn.Config().Database+"_reader")
	if err != nil {
		t.Fatal(err)
	}
	policies, byName := make(map[catalog.Name]catalog.TablePolicy), make(map[catalog.Name]catalog.Relation)
	for _, p := range of {
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
		Kind: "patient", Root: clinicName("patients"), Key: []string{person}, Knows: k, Constraints: append([]privacy.Spec{{K: 3}}, constraints...),
		Tables: []catalog.PeopleTable{
			{Table: clinicName("visits"), Person: []string{person}, Key: []string{"clinic", "visit_no"}, Order: "admitted"},
			{Table: clinicName("drugs"), Through: clinicName("visits"), By: []string{"clinic", "visit_no"}},
			{Table: clinicName("events"), Person: []string{person}},
		},
	}
	p, problems := catalog.PublishPeople(people, policies, byName)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return append([]catalog.Publication{p.Root}, p.Tables...)
}

// clinics are the stores of what can be known.
var clinics = map[string]string{
	"1/1y:2": fmt.Sprintf(clinicStore, 6, "shift"),
	"1:2":    fmt.Sprintf(clinicStore, 6, "1"),
	"all":    fmt.Sprintf(clinicStore, 3, "0"),
}

var clinicConstraints = []privacy.Spec{
	{Model: privacy.DistinctL, L: 3, Of: "public.patients.blood"},
	{Model: privacy.AlphaK, Alpha: 0.75, Of: "public.visits.ward"},
	{Model: privacy.AlphaK, Alpha: 0.67, Of: "public.drugs.drug"},
}

func TestHonestPeople(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	for knows, store := range clinics {
		execute(t, conn, undoClinic+store)
		publications := clinicPublications(t, conn, knows, clinicConstraints...)
		report := run(t, conn, publications)
		if !report.Passed() || len(report) != 4 {
			t.Errorf("%s:\n%s", knows, rendered(t, report))
		}
		for i, want := range []verify.TableReport{
			{Table: "public.patients", Records: 12, Rows: 12, Classes: 2, Smallest: 6, Largest: 6, Discernibility: 2 * 6 * 6},
			{Table: "public.visits", Records: 29, Withheld: 1, Rows: 28, Classes: 9, Smallest: 3, Largest: 4, Discernibility: 8*3*3 + 4*4 + 29},
		} {
			got := report[i]
			if knows != "all" && (got.Table != want.Table || got.Records != want.Records || got.Withheld != want.Withheld || got.Rows != want.Rows ||
				got.Classes != want.Classes || got.Smallest != want.Smallest || got.Largest != want.Largest || got.Discernibility != want.Discernibility) {
				t.Errorf("%s: got %+v, want %+v", knows, got, want)
			}
		}
		if report := run(t, conn, publications[:3]); report[0].Passed() {
			t.Errorf("%s: passes without a table", knows)
		}
	}
}

// A change by SQL of an honest release, and the checks that must fail, and no others.
var clinicPlants = []struct {
	name, knows, sql string
	fails            []string
}{
	{"nothing", "1/1y:2", "", nil},
	{"a row with the values of another cell", "1/1y:2", "UPDATE release_22 l SET kproxy_class = o.kproxy_class, admitted = o.admitted, admitted_range = o.admitted_range FROM release_22 o WHERE l.kproxy_row = 1 AND o.kproxy_row = 4", []string{
		"visits: every value lies within admitted_range",
		"visits: 3 persons have a row with keys that shows the same",
		"visits: distinct 3-diversity of public.patients.blood, in cells",
		"visits: (0.75,k)-anonymity of public.visits.ward, in cells",
		"drugs: 3 persons have a row with keys that shows the same",
	}},
	{"a row with the number of another cell", "1/1y:2", "UPDATE release_22 SET kproxy_class = 11 WHERE kproxy_row = 1", []string{
		"visits: every class has one generalization",
		"visits: every value lies within admitted_range",
		"visits: distinct 3-diversity of public.patients.blood, in cells",
		"visits: (0.75,k)-anonymity of public.visits.ward, in cells",
	}},
	{"pseudonyms exchanged between classes", "1/1y:2", "UPDATE release_22 l SET patient_id = o.patient_id FROM release_22 o WHERE l.kproxy_row + o.kproxy_row = 8 AND l.kproxy_row IN (1, 7)", []string{
		"visits: keys lead to the root row of a person with the same root values",
	}},
	{"pseudonyms exchanged in a class", "1/1y:2", "UPDATE release_22 l SET patient_id = o.patient_id FROM release_22 o WHERE l.kproxy_row + o.kproxy_row = 5 AND l.kproxy_row IN (1, 4)", nil},
	{"two persons in a class of their own", "1/1y:2", "UPDATE records_21 SET kproxy_class = 9 WHERE patient_id < 3; UPDATE release_21 SET kproxy_class = 9, born_range = '[1950-04-01,1950-12-31]' WHERE kproxy_row < 3", []string{
		"patients: 3 persons have the same root values",
		"patients: distinct 3-diversity of public.patients.blood",
		"patients: (0.75,k)-anonymity of public.visits.ward",
		"visits: 3 persons have a row with keys that shows the same",
		"visits: keys lead to the root row of a person with the same root values",
		"drugs: 3 persons have a row with keys that shows the same",
		"events: 3 persons have a row with keys that shows the same",
		"events: keys lead to the root row of a person with the same root values",
	}},
	{"two persons in the class of all", "all", "DELETE FROM release_21 WHERE kproxy_row = 1; DELETE FROM release_22 WHERE kproxy_row IN (1, 13, 25); DELETE FROM release_23 WHERE kproxy_row IN (1, 13); DELETE FROM release_24 WHERE kproxy_row = 1", []string{
		"patients: 3 persons have the same root values",
		"patients: distinct 3-diversity of public.patients.blood",
		"patients: (0.75,k)-anonymity of public.visits.ward",
		"visits: 3 persons have a row with keys that shows the same",
		"drugs: 3 persons have a row with keys that shows the same",
		"events: 3 persons have a row with keys that shows the same",
	}},
	{"a row of nobody", "1/1y:2", "INSERT INTO release_22 SELECT kproxy_class, 29, clinic, visit_no, patient_id, admitted, admitted_range, 'heart' FROM release_22 WHERE kproxy_row = 25; UPDATE release_22 SET ward = r.ward FROM records_22 r WHERE kproxy_record = kproxy_row", []string{
		"visits: every row belongs to a person who is published",
	}},
	{"a row of a person who is withheld", "1/1y:2", "DELETE FROM release_21 WHERE kproxy_row = 1", []string{
		"visits: every row belongs to a person who is published",
		"visits: 3 persons have a row with keys that shows the same",
		"visits: every key leads to one row of public.patients",
		"visits: keys lead to the root row of a person with the same root values",
		"drugs: every row belongs to a person who is published",
		"drugs: 3 persons have a row with keys that shows the same",
		"events: every row belongs to a person who is published",
		"events: every key leads to one row of public.patients",
		"events: keys lead to the root row of a person with the same root values",
	}},
	{"a row of no record", "1/1y:2", "UPDATE release_23 SET kproxy_row = 99 WHERE kproxy_row = 13", []string{
		"drugs: every row is that of a record, and in a class",
	}},
	{"a row twice", "1/1y:2", "INSERT INTO release_23 SELECT * FROM release_23 WHERE kproxy_row = 13", []string{
		"drugs: no record is published twice",
	}},
	{"two pooled rows", "1/1y:2", "DELETE FROM release_22 WHERE kproxy_row IN (25, 26)", []string{
		"visits: 3 persons have a row without keys that shows the same",
	}},
	{"pooled rows of two persons", "1/1y:2", "UPDATE records_22 SET patient_id = 1 WHERE clinic = 3 AND visit_no < 4", []string{
		"visits: 3 persons have a row without keys that shows the same",
		"visits: (0.75,k)-anonymity of public.visits.ward, in rows without keys",
	}},
	{"rows of two persons in a cell", "1/1y:2", "UPDATE records_22 SET patient_id = 2 WHERE kproxy_record = 1", []string{
		"patients: a person has one pseudonym in a window",
		"visits: 3 persons have a row with keys that shows the same",
		"visits: distinct 3-diversity of public.patients.blood, in cells",
		"visits: (0.75,k)-anonymity of public.visits.ward, in cells",
		"drugs: 3 persons have a row with keys that shows the same",
		"drugs: distinct 3-diversity of public.patients.blood, in cells",
		"drugs: (0.75,k)-anonymity of public.visits.ward, in cells",
	}},
	{"a cell that lies in two windows", "1/1y:2", "UPDATE records_22 SET admitted = '2022-12-31' WHERE kproxy_record = 1; UPDATE release_22 SET admitted_range = '[2022-12-31,2023-02-01]' WHERE kproxy_class = 10", []string{
		"visits: 3 persons have a row with keys that shows the same",
		"drugs: 3 persons have a row with keys that shows the same",
	}},
	{"a date that is missing", "1/1y:2", "UPDATE records_22 SET admitted = NULL WHERE kproxy_record = 1; UPDATE release_22 SET admitted = NULL, admitted_range = NULL WHERE kproxy_class = 10", []string{
		"visits: 3 persons have a row with keys that shows the same",
		"drugs: 3 persons have a row with keys that shows the same",
	}},
	{"another value", "1/1y:2", "UPDATE release_22 SET ward = 'ear' WHERE kproxy_row = 1", []string{
		"visits: values published as they are are those of the record",
	}},
	{"a range beside its value", "1/1y:2", "UPDATE records_22 SET admitted = '2023-12-31' WHERE kproxy_record = 1", []string{
		"visits: every value lies within admitted_range",
	}},
	{"a label that is not true", "1/1y:2", "UPDATE release_21 SET sex = 'f' WHERE kproxy_class = 0", []string{
		"patients: sex is true of every value",
	}},
	{"a pseudonym twice", "1/1y:2", "UPDATE release_22 SET clinic = 7002, visit_no = 7002 WHERE kproxy_row = 1", []string{
		"visits: no two rows have the same pseudonym",
		"drugs: every key leads to one row of public.visits",
		"drugs: keys lead to the row that a row belongs to",
	}},
	{"a pseudonym of a person twice", "1/1y:2", "UPDATE release_21 SET patient_id = public.pseudonym(2) WHERE kproxy_row = 1", []string{
		"patients: no two rows have the same pseudonym",
		"visits: every key leads to one row of public.patients",
		"events: every key leads to one row of public.patients",
	}},
	{"a root row without a pseudonym", "1/1y:2", "UPDATE release_21 SET patient_id = NULL WHERE kproxy_row = 1", []string{
		"patients: every class has one generalization",
		"patients: a row shows all of its keys or none",
		"visits: every key leads to one row of public.patients",
		"events: every key leads to one row of public.patients",
	}},
	{"the keys of other visits", "1/1y:2", "UPDATE release_23 l SET clinic = o.clinic, visit_no = o.visit_no FROM release_23 o WHERE l.kproxy_row + o.kproxy_row = 3", []string{
		"drugs: keys lead to the row that a row belongs to",
	}},
	{"the key of no visit", "1/1y:2", "UPDATE release_23 SET visit_no = 1 WHERE kproxy_row = 1", []string{
		"drugs: every key leads to one row of public.visits",
	}},
	{"half a key", "1/1y:2", "UPDATE release_22 SET patient_id = NULL WHERE kproxy_row = 1", []string{
		"visits: a row shows all of its keys or none",
	}},
	{"a pooled class that is a cell", "1/1y:2", "UPDATE release_22 SET clinic = 7000 + kproxy_row, visit_no = 7000 + kproxy_row, patient_id = public.alias(kproxy_row::int - 24, 1) WHERE kproxy_class = 30", nil},
	{"two pseudonyms of a person in a window", "1/1y:2", "UPDATE release_22 SET clinic = 7000 + kproxy_row, visit_no = 7000 + kproxy_row, patient_id = public.alias(kproxy_row::int - 24, 2) WHERE kproxy_class = 30", []string{
		"patients: a person has one pseudonym in a window",
		"patients: a pseudonym is that of one person in a window",
	}},
	{"windows that are one", "1:2", "UPDATE release_22 SET patient_id = public.pseudonym(CASE kproxy_row WHEN 1 THEN 3 ELSE 2 END) WHERE kproxy_row IN (1, 2)", []string{
		"patients: a person has one pseudonym in a window",
		"patients: a pseudonym is that of one person in a window",
	}},
	{"keys of the source", "1/1y:2", "UPDATE release_21 SET patient_id = kproxy_row; UPDATE release_22 SET patient_id = (patient_id - 100000) * 244 % 1009; UPDATE release_24 SET patient_id = (patient_id - 100000) * 244 % 1009", []string{
		"patients: pseudonyms are not the keys of the source",
	}},
	{"a key of the source by chance", "1/1y:2", "UPDATE release_22 SET clinic = 1, visit_no = 1 WHERE kproxy_row = 1; UPDATE release_23 SET clinic = 1, visit_no = 1 WHERE kproxy_row = 1", nil},
	{"two records with one key", "1/1y:2", "UPDATE records_22 SET visit_no = 2 WHERE kproxy_record = 1", []string{
		"visits: no two records have the same key",
		"drugs: every row belongs to a person who is published",
		"drugs: every key leads to one row of public.visits",
		"drugs: keys lead to the row that a row belongs to",
	}},
	{"too few values in a class", "1/1y:2", "UPDATE records_21 SET blood = 'B1' WHERE blood = 'B2'; UPDATE release_21 SET blood = 'B1' WHERE blood = 'B2'", []string{
		"patients: distinct 3-diversity of public.patients.blood",
		"visits: distinct 3-diversity of public.patients.blood, in cells",
		"drugs: distinct 3-diversity of public.patients.blood, in cells",
		"events: distinct 3-diversity of public.patients.blood, in cells",
	}},
	{"a frequent value in a cell", "1/1y:2", "UPDATE records_22 SET ward = 'eye' WHERE kproxy_record < 4; UPDATE release_22 SET ward = 'eye' WHERE kproxy_row < 4", []string{
		"visits: (0.75,k)-anonymity of public.visits.ward, in cells",
		"drugs: (0.75,k)-anonymity of public.visits.ward, in cells",
	}},
	{"a frequent value in another window", "1/1y:2", "UPDATE records_22 SET ward = 'eye' WHERE kproxy_record IN (13, 14, 15); UPDATE release_22 SET ward = 'eye' WHERE kproxy_row IN (13, 14, 15)", []string{
		"visits: (0.75,k)-anonymity of public.visits.ward, in cells",
	}},
	{"a frequent value in the pool", "1/1y:2", "UPDATE records_23 SET drug = 'D0' WHERE clinic = 2; UPDATE release_23 SET drug = 'D0' WHERE kproxy_class = 30", []string{
		"drugs: (0.67,k)-anonymity of public.drugs.drug, in rows without keys",
	}},
	{"a frequent value of rows that are not published", "1/1y:2", "UPDATE records_23 SET drug = 'D0' WHERE clinic = 2; DELETE FROM release_23 WHERE kproxy_class = 30", nil},
	{"another row of one person", "all", "UPDATE release_22 SET clinic = 7025, visit_no = 7025, patient_id = public.pseudonym(1), kproxy_class = 10, admitted = '2023-01-11', admitted_range = '[2023-01-01,2023-12-31]' WHERE kproxy_row = 25; UPDATE release_22 SET admitted_range = '[2023-01-01,2023-12-31]' WHERE kproxy_class = 10", []string{
		"visits: all persons of a class have the same tree",
		"drugs: all persons of a class have the same tree",
	}},
	{"a row of one person without its keys", "all", "UPDATE release_23 SET clinic = NULL, visit_no = NULL, kproxy_class = 30, dose = 10, dose_range = '[1,200]' WHERE kproxy_row = 1; UPDATE release_23 SET dose = 10, dose_range = '[1,200]' WHERE kproxy_class = 30", []string{
		"drugs: 3 persons have a row with keys that shows the same",
		"drugs: all persons of a class have the same tree",
	}},
	{"pseudonyms exchanged where all is known", "all", "UPDATE release_24 l SET patient_id = o.patient_id FROM release_24 o WHERE l.kproxy_row + o.kproxy_row = 3", []string{
		"patients: a person has one pseudonym in a window",
		"patients: a pseudonym is that of one person in a window",
		"events: keys lead to the root row of a person with the same root values",
	}},
	{"the order of rows in two trees", "all", "UPDATE release_23 l SET kproxy_class = o.kproxy_class, dose = o.dose, dose_range = o.dose_range FROM release_23 o WHERE l.kproxy_row + o.kproxy_row = 5 AND l.kproxy_row IN (1, 4); UPDATE release_23 SET dose_range = '[1,200]', dose = 20 WHERE kproxy_class < 2", []string{
		"drugs: all persons of a class have the same tree",
	}},
	{"a table that is not there", "1/1y:2", "DROP VIEW kproxy_release_public.drugs", []string{
		"patients: the data of all tables",
		"visits: the data of all tables",
		"drugs: is published",
		"drugs: the data of all tables",
		"events: the data of all tables",
	}},
	{"a column too many", "1/1y:2", "CREATE OR REPLACE VIEW kproxy_release_public.events AS SELECT patient_id, kind, kproxy_row FROM release_24", []string{
		"events: exactly the published columns",
	}},
	{"a view that leaves rows out", "1/1y:2", "CREATE OR REPLACE VIEW kproxy_release_public.events AS SELECT patient_id, kind FROM release_24 WHERE kproxy_row > 1", []string{
		"events: the published relation shows the release as it is",
	}},
}

func TestEveryViolationOfPeopleIsFound(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	for _, plant := range clinicPlants {
		execute(t, conn, undoClinic+clinics[plant.knows]+plant.sql)
		report := run(t, conn, clinicPublications(t, conn, plant.knows, clinicConstraints...))
		var failed []string
		for _, table := range report {
			for _, c := range table.Checks {
				if !c.Passed {
					failed = append(failed, strings.TrimPrefix(table.Table, "public.")+": "+c.Name)
				}
			}
		}
		if strings.Join(failed, "; ") != strings.Join(plant.fails, "; ") {
			t.Errorf("%s:\n got %s\nwant %s", plant.name, strings.Join(failed, "; "), strings.Join(plant.fails, "; "))
		}
	}
}

// TestRowsThatNobodyKnows has two persons alone have rows of a table. They can be found by them,
// unless no outsider knows any.
func TestRowsThatNobodyKnows(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	const alone = "DELETE FROM release_24 WHERE kproxy_row > 2; DELETE FROM records_24 WHERE kproxy_record > 2"
	for knows, store := range clinics {
		for _, unknown := range []bool{false, true} {
			execute(t, conn, undoClinic+store+alone)
			publications := clinicPublications(t, conn, knows, privacy.Spec{Model: privacy.DistinctL, L: 2, Of: "public.visits.ward"})
			for _, p := range publications {
				p.Membership.People.Tables[2].Unknown = unknown
			}
			events := run(t, conn, publications)[3]
			if events.Passed() != unknown {
				t.Errorf("%s, unknown %t: %s", knows, unknown, rendered(t, verify.Report{events}))
			}
			execute(t, conn, "SET search_path = kproxy_store; UPDATE release_24 SET patient_id = NULL")
			if events := run(t, conn, publications)[3]; events.Passed() {
				t.Errorf("%s, unknown %t: two persons have rows without keys", knows, unknown)
			}
		}
	}
}

// patient has sensitive values, or none.
type patient []string

// violates is the definition where somebody has no value, which is one of those who have none
// of some values. Without such a patient the definition is that of package privacy.
func violates(class []patient, spec privacy.Spec) bool {
	holders := map[string]int{}
	void := false
	for _, p := range class {
		void = void || len(p) == 0
		for _, value := range slices.Compact(slices.Sorted(slices.Values(p))) {
			holders[value]++
		}
	}
	switch {
	case !void || spec.Model == privacy.AlphaK:
		schema := privacy.Schema{Sensitive: []privacy.Sensitive{{Name: spec.Of, Values: privacy.NewDictionary()}}}
		summary := privacy.NewSubjectSummary(1)
		for i, p := range class {
			summary.AddSubject(uint32(i))
			for _, value := range p {
				summary.AddValueOf(uint32(i), 0, code(schema.Sensitive[0].Values, value))
			}
		}
		constraint, err := privacy.New(spec, schema)
		return err != nil || !constraint.Satisfied(summary, nil)
	case spec.Model == privacy.EntropyL:
		return false // there is no choice of a value for each
	case float64(len(holders)) < spec.L || spec.Model == privacy.DistinctL:
		return float64(len(holders)) < spec.L
	}
	for a, most := range holders {
		for b, other := range holders {
			without := 0
			for _, p := range class {
				if !slices.Contains(p, a) && (spec.L < 3 || !slices.Contains(p, b)) {
					without++
				}
			}
			if spec.L == 1 {
				without = len(class)
			}
			if float64(max(most, other*int(spec.L/3))) >= spec.C*float64(without) {
				return true
			}
		}
	}
	return false
}

// TestValuesOfPersons compares verdicts about classes of persons with the definition.
func TestValuesOfPersons(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	bounds := []privacy.Spec{
		{Model: privacy.DistinctL, L: 1},
		{Model: privacy.DistinctL, L: 2},
		{Model: privacy.DistinctL, L: 3},
		{Model: privacy.EntropyL, L: 1.7},
		{Model: privacy.EntropyL, L: 2.5},
		{Model: privacy.RecursiveCL, C: 1, L: 2},
		{Model: privacy.RecursiveCL, C: 2, L: 2},
		{Model: privacy.RecursiveCL, C: 2, L: 3},
		{Model: privacy.RecursiveCL, C: 0.8, L: 1},
		{Model: privacy.AlphaK, Alpha: 0.5},
		{Model: privacy.AlphaK, Alpha: 0.4, Values: []string{"w0", "w2"}},
	}
	for i := range bounds {
		bounds[i].Of = "public.visits.ward"
	}
	random := rand.New(rand.NewPCG(22, 1))
	classes := make([][]patient, 150)
	var patients, visits []string
	for number := range classes {
		for range 3 + random.IntN(5) {
			var p patient
			for range min(number%3, 1) + random.IntN(3) {
				p = append(p, fmt.Sprint("w", min(random.IntN(4), random.IntN(5))))
				visits = append(visits, fmt.Sprintf("(%d, %d, '%s')", len(visits), len(patients), p[len(p)-1]))
			}
			classes[number] = append(classes[number], p)
			patients = append(patients, fmt.Sprintf("(%d, %d)", number, len(patients)))
		}
	}
	execute(t, conn, undoClinic+clinics["all"]+fmt.Sprintf(`TRUNCATE records_21, records_22, records_23, records_24, release_21, release_22, release_23, release_24;
		INSERT INTO records_21 SELECT person, class, person, date '1950-01-01' + class, 'f', 'B' FROM (VALUES %s) p(class, person);
		INSERT INTO release_21 SELECT kproxy_class, kproxy_record, public.pseudonym(patient_id), born, daterange(born, born, '[]'), sex, blood FROM records_21;
		INSERT INTO records_22 SELECT visit, NULL, 1, visit, person, '2023-01-01', ward FROM (VALUES %s) v(visit, person, ward)`, strings.Join(patients, ", "), strings.Join(visits, ", ")))
	report := run(t, conn, clinicPublications(t, conn, "all", bounds...))
	checks := report[0].Checks[len(report[0].Checks)-len(bounds):]
	for i, spec := range bounds {
		want := 0
		for _, class := range classes {
			if violates(class, spec) {
				want++
			}
		}
		if int(checks[i].Violations) != want || checks[i].Name != spec.String() {
			t.Errorf("%s: %s has %d violations, want %d", spec, checks[i].Name, checks[i].Violations, want)
		}
		if want == len(classes) || want == 0 && spec.L != 1 {
			t.Errorf("%s: %d of %d classes violate it, which tells nothing", spec, want, len(classes))
		}
	}
}
