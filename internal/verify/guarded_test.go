package verify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

const stays = "CREATE TABLE stays (id int PRIMARY KEY, person text, age int, born date, zip text, diagnosis text, note text)"

// staysStore is an honest lineage: 4 classes of 6 rows, those of 3 persons with 2
// rows each. Class 1 has 2 ghosts that its weight does not tell of; class 2 a record
// that has changed since; class 3 3 ghosts, of 3 persons, that its weight tells of.
// 3 records wait, and one waited in vain.
const staysStore = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record, updates, waiting, stale, ghosts, expired)
VALUES ('public', 'stays', 3, '', 5, 29, 'guarded', 3, 1, 5, 1);
INSERT INTO kproxy_store.departed (generation, hash, class, row, changed) VALUES (3, '\x01', 3, 117, ''), (4, '\x01', 9, 900, '');
CREATE TABLE kproxy_store.records_3 AS SELECT n::bigint AS kproxy_record, CASE WHEN n <= 24 THEN ((n - 1) / 6 + 1)::bigint END AS kproxy_class,
  CASE WHEN n <= 24 THEN 100 + n::bigint END AS kproxy_row, CASE WHEN n > 24 THEN timestamptz '2024-05-01 12:00Z' END AS kproxy_since, NULL::text AS kproxy_changed, n = 28 AS kproxy_expired,
  n AS id, 'p' || (n + 1) / 2 AS person, 20 + n AS age, date '1990-01-01' + n AS born, '69' || (n - 1) / 6 || n AS zip, 'D' || (n + 1) / 2 % 3 AS diagnosis, 'n' || n AS note
FROM generate_series(1, 28) n;
CREATE TABLE kproxy_store.release_3 AS SELECT r.kproxy_class, r.kproxy_row, ((r.id - 1) % 6 / 2)::bigint AS kproxy_person,
  r.kproxy_class = 4 AS kproxy_sealed,
  c.age, c.age_range, c.born, '69' || r.kproxy_class - 1 || '*' AS zip, r.diagnosis, r.note
FROM kproxy_store.records_3 r JOIN (SELECT kproxy_class, (min(age) + max(age)) / 2 AS age, int4range(min(age), max(age), '[]') AS age_range, min(born) + 2 AS born
  FROM kproxy_store.records_3 GROUP BY 1) c USING (kproxy_class);
DELETE FROM kproxy_store.records_3 WHERE id IN (5, 6, 13, 15, 17);
UPDATE kproxy_store.records_3 SET kproxy_since = '2024-05-01 12:00Z', kproxy_changed = '1', person = 'p1', age = 99, born = NULL, zip = '70', diagnosis = 'D9', note = NULL WHERE id = 8;
CREATE TABLE kproxy_store.cellweight_3 (kproxy_class bigint PRIMARY KEY, kproxy_weight real NOT NULL, kproxy_discounted bigint NOT NULL, kproxy_leavers bigint NOT NULL);
INSERT INTO kproxy_store.cellweight_3 VALUES (3, 0.5, 3, 3);
CREATE VIEW kproxy_release_public.stays AS SELECT age, age_range, born, zip, diagnosis, note, kproxy_class, ` + ratedWeight + ` FROM ` + weighedRelease + `;`

const (
	ratedWeight    = "(coalesce(w.kproxy_weight, 1) * coalesce(a.whole, 1))::real AS kproxy_weight"
	weighedRelease = "kproxy_store.release_3 LEFT JOIN kproxy_store.cellweight_3 w USING (kproxy_class) LEFT JOIN (SELECT kproxy_weight AS whole FROM kproxy_store.cellweight_3 WHERE kproxy_class = 0) a ON true"
)

var staysPolicy = catalog.TablePolicy{
	Table: catalog.Name{Schema: "public", Relation: "stays"}, Method: "rounded-partition", Subject: "person",
	Updates: catalog.Updates{Mode: catalog.Guarded},
	// Two parts, which guarded updates tie into one.
	Constraints: []privacy.Spec{
		{K: 2, Over: []string{"age", "zip"}},
		{K: 3, Over: []string{"born"}},
		{Model: privacy.DistinctL, L: 3, Of: "diagnosis"},
	},
	Columns: []catalog.ColumnPolicy{
		quasi("age", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Numeric}),
		quasi("born", catalog.FormValue, hierarchy.Spec{Kind: hierarchy.Date}),
		quasi("zip", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Prefix}),
		{Name: "diagnosis", Role: catalog.Sensitive},
		{Name: "note", Role: catalog.Insensitive},
	},
}

func TestHonestLineagePasses(t *testing.T) {
	t.Parallel()
	conn := database(t, stays, staysStore, catalog.Policy{Tables: []catalog.TablePolicy{staysPolicy}})
	bySubject := published(t, conn, staysPolicy)
	policy := staysPolicy
	policy.Subject = ""
	policy.Constraints = []privacy.Spec{{K: 6}, {Model: privacy.AlphaK, Alpha: 0.34, Of: "diagnosis"}}
	for _, p := range []catalog.Publication{bySubject, published(t, conn, policy)} {
		report := run(t, conn, []catalog.Publication{p})
		if !report.Passed() {
			t.Fatalf("violations:\n%s", rendered(t, report))
		}
		got := report[0]
		got.Checks = nil
		figures, err := json.Marshal(got)
		const want = `{"table":"public.stays","generation":3,"records":23,"withheld":4,"stale":1,"ghosts":5,"rows":24,` +
			`"classes":4,"smallest":6,"largest":6,"discernibility":236,"checks":null}`
		if err != nil || string(figures) != want {
			t.Errorf("got %s", figures)
		}
		if text := rendered(t, report); !strings.Contains(text, "19 records in 4 classes of 6 to 6, 4 withheld, DM 236, 24 rows published, 1 of them as they were and 5 for nobody\n") {
			t.Errorf("text:\n%s", text)
		}
	}
	execute(t, conn, "TRUNCATE kproxy_store.records_3, kproxy_store.release_3, kproxy_store.cellweight_3, kproxy_store.departed; UPDATE kproxy_store.generation SET waiting = 0, stale = 0, ghosts = 0, expired = 0")
	if report := run(t, conn, []catalog.Publication{bySubject}); !report.Passed() || report[0].Classes != 0 {
		t.Errorf("an empty one:\n%s", rendered(t, report))
	}
}

// The names of promises that several plants break.
const (
	hasRow    = "every published record has a row of its class"
	weighs    = "weights tell of no more ghosts than there are or have come back"
	grouped   = "weights that tell of more than their class's ghosts are those of groups"
	ownNumber = "every row has a number of its own, and a class"
	fresh     = "the store tells how fresh the release is"
	sealed    = "every class is sealed as a whole or not at all"
	changed   = "what has changed is said of the records that are published as they were"
	departed  = "every hash of who has left leads to a row of nobody"
	persons   = "the persons of every class are told apart as they are"
	ofRecord  = "values published as they are are those of the record"
	twoOver   = "2-anonymity over age, zip"
	threeOver = "3-anonymity over born"
	threeAll  = "3-anonymity"
	diverse   = "distinct 3-diversity of diagnosis"
)

const weight = "INSERT INTO kproxy_store.cellweight_3 VALUES "

const view = "CREATE OR REPLACE VIEW kproxy_release_public.stays AS SELECT "

var lineagePlants = []struct {
	name, sql string
	fails     []string
}{
	{"a person less", "DELETE FROM kproxy_store.release_3 WHERE kproxy_class = 1 AND kproxy_person = 2", []string{threeOver, diverse, threeAll, fresh}},
	{"a person twice in place of another", "UPDATE kproxy_store.release_3 SET kproxy_person = 1 WHERE kproxy_row = 101 OR kproxy_class = 1 AND kproxy_person = 0", []string{threeOver, diverse, threeAll, persons}},
	{"a ghost without its diversity", "UPDATE kproxy_store.release_3 SET diagnosis = 'D2' WHERE kproxy_row IN (113, 114); UPDATE kproxy_store.records_3 SET diagnosis = 'D2' WHERE id = 14", []string{diverse}},
	{"a ghost of another diagnosis", "UPDATE kproxy_store.release_3 SET diagnosis = 'D7' WHERE kproxy_row = 105", nil},
	{"one number for several persons", "UPDATE kproxy_store.release_3 SET kproxy_person = 3 - kproxy_person WHERE kproxy_row IN (120, 121)", []string{diverse, persons}},
	{"several numbers for one person", "UPDATE kproxy_store.release_3 SET kproxy_person = 7 WHERE kproxy_row = 120", []string{persons}},
	{"other numbers", "UPDATE kproxy_store.release_3 SET kproxy_person = 7 - kproxy_person WHERE kproxy_class = 4", nil},
	{"a row that is gone", "DELETE FROM kproxy_store.release_3 WHERE kproxy_row = 124", []string{hasRow}},
	{"a record of another class", "UPDATE kproxy_store.records_3 SET kproxy_class = 2 WHERE id = 24", []string{hasRow, "every value lies within age_range", "zip is true of every value"}},
	{"a row without its class", "UPDATE kproxy_store.records_3 SET kproxy_class = NULL WHERE id = 24", []string{hasRow}},
	{"a class without its row", "UPDATE kproxy_store.records_3 SET kproxy_class = 2 WHERE id = 25", []string{hasRow}},
	{"a shared row", "UPDATE kproxy_store.records_3 SET kproxy_row = 124, diagnosis = 'D0', note = 'n24' WHERE id = 23; UPDATE kproxy_store.generation SET ghosts = 6", []string{"no two records share a row"}},
	{"a row twice", "INSERT INTO kproxy_store.release_3 SELECT * FROM kproxy_store.release_3 WHERE kproxy_row = 105; UPDATE kproxy_store.generation SET ghosts = 6", []string{ownNumber}},
	{"a row without a number", "UPDATE kproxy_store.release_3 SET kproxy_row = NULL WHERE kproxy_row = 105", []string{ownNumber}},
	{"a row without a class", "UPDATE kproxy_store.release_3 SET kproxy_class = NULL WHERE kproxy_row = 105", []string{twoOver, threeOver, diverse, threeAll, ownNumber, fresh}},
	{"an expired record in a class", "UPDATE kproxy_store.records_3 SET kproxy_expired = true WHERE id = 24", []string{"no withheld record is published"}},
	{"a weight too low", weight + "(1, 0.6, 0, 0)", []string{grouped}},
	{"a weight of a group", weight + "(1, 0.6, 0, 0), (-1, 0, 3, 3)", nil},
	{"two weights of a group", weight + "(1, 0.6, 0, 0), (2, 0.7, 0, 0), (-1, 0, 3, 3), (-9223372036854775808, 0, 1, 0)", []string{grouped}},
	{"a weight too high", weight + "(1, 0.9, 2, 1)", []string{weighs}},
	{"a weight that tells of all", weight + "(1, 4 / 6.0, 2, 1)", nil},
	{"a weight that tells of more", weight + "(1, 0.5, 3, 2)", []string{weighs}},
	{"a weight of nobody's leaving", weight + "(4, 5 / 6.0, 1, 1)", []string{weighs}},
	{"a weight above 1", weight + "(4, 1.5, 0, 0)", []string{weighs}},
	{"no weight", weight + "(4, 0, 0, 0); DELETE FROM kproxy_store.records_3 WHERE kproxy_class = 4; UPDATE kproxy_store.generation SET ghosts = 11", []string{weighs, grouped}},
	{"not a number", weight + "(4, 'NaN', 0, 0)", []string{weighs}},
	{"a weight of nothing", weight + "(9, 0.5, 3, 3)", []string{"every weight is that of a class"}},
	{"the weight of the table", weight + "(0, 0.9, 3, 3)", nil},
	{"two generalizations", "UPDATE kproxy_store.release_3 SET zip = '*' WHERE kproxy_row = 124", []string{"every class has one generalization"}},
	{"another copied value", "UPDATE kproxy_store.release_3 SET note = 'n23' WHERE kproxy_row = 124", []string{ofRecord}},
	{"swapped values", "UPDATE kproxy_store.release_3 SET note = CASE kproxy_row WHEN 123 THEN 'n24' ELSE 'n23' END WHERE kproxy_row IN (123, 124)", []string{ofRecord}},
	{"a missing value", "UPDATE kproxy_store.records_3 SET note = NULL WHERE id = 24", []string{ofRecord}},
	{"a value of what has changed", "UPDATE kproxy_store.release_3 SET note = 'n7' WHERE kproxy_row = 108", nil},
	{"a class half sealed", "UPDATE kproxy_store.release_3 SET kproxy_sealed = true WHERE kproxy_row = 107", []string{sealed}},
	{"a class perhaps sealed", "UPDATE kproxy_store.release_3 SET kproxy_sealed = NULL WHERE kproxy_class = 1", []string{sealed}},
	{"a class not sealed", "UPDATE kproxy_store.release_3 SET kproxy_sealed = false", nil},
	{"an unknown change", "UPDATE kproxy_store.records_3 SET kproxy_changed = NULL WHERE id = 8", []string{changed}},
	{"a change of what waits", "UPDATE kproxy_store.records_3 SET kproxy_changed = '1' WHERE id = 25", []string{changed}},
	{"a change of what is as it is", "UPDATE kproxy_store.records_3 SET kproxy_changed = '1' WHERE id = 24", []string{changed}},
	{"a change that is not told", "UPDATE kproxy_store.records_3 SET kproxy_since = NULL, kproxy_changed = NULL WHERE id = 8", []string{ofRecord, fresh, persons, "every value lies within age_range", "born lies among the values of its class", "zip is true of every value"}},
	{"a value outside", "UPDATE kproxy_store.records_3 SET age = 90 WHERE id = 24", []string{"every value lies within age_range"}},
	{"a wrong label", "UPDATE kproxy_store.release_3 SET zip = '692*' WHERE kproxy_class = 4", []string{"zip is true of every value"}},
	{"a representative far off", "UPDATE kproxy_store.release_3 SET born = '2020-01-01' WHERE kproxy_class = 4", []string{"born lies among the values of its class"}},
	{"a representative of ghosts", "UPDATE kproxy_store.release_3 SET born = '1990-01-14' WHERE kproxy_class = 3", nil},
	{"a hash that leads nowhere", "UPDATE kproxy_store.departed SET row = 1 WHERE generation = 3", []string{departed}},
	{"a hash of another class", "UPDATE kproxy_store.departed SET class = 1 WHERE generation = 3", []string{departed}},
	{"a hash of somebody who is there", "UPDATE kproxy_store.departed SET class = 4, row = 124 WHERE generation = 3", []string{departed}},
	{"two hashes of one row", "INSERT INTO kproxy_store.departed VALUES (3, '\\x02', 3, 117, '')", []string{departed}},
	{"two hashes", "INSERT INTO kproxy_store.departed VALUES (3, '\\x02', 3, 115, '')", nil},
	{"more waiting than told", "UPDATE kproxy_store.generation SET waiting = 2, expired = 2", []string{fresh}},
	{"fewer ghosts than told", "DELETE FROM kproxy_store.release_3 WHERE kproxy_row = 105", []string{fresh}},
	{"a view of other rows", view + "age, age_range, born, zip, diagnosis, note, kproxy_class, " + ratedWeight + " FROM " + weighedRelease + " WHERE note <> 'n24'", []string{"the published relation shows the release as it is"}},
	{"a view of other weights", view + "age, age_range, born, zip, diagnosis, note, kproxy_class, 1::real AS kproxy_weight FROM kproxy_store.release_3", []string{"the published relation shows the release as it is"}},
	{"a view that tells rows apart", view + "age, age_range, born, zip, diagnosis, note, kproxy_class, " + ratedWeight + ", kproxy_row FROM " + weighedRelease, []string{"exactly the published columns"}},
	{"a release without persons", "ALTER TABLE kproxy_store.release_3 DROP kproxy_person", []string{"exactly the release's columns", "the data"}},
	{"a store without times", "ALTER TABLE kproxy_store.records_3 DROP kproxy_since", []string{"the private store is complete", "the data"}},
}

func TestEveryViolationOfALineageIsFound(t *testing.T) {
	t.Parallel()
	conn := database(t, stays, staysStore, catalog.Policy{Tables: []catalog.TablePolicy{staysPolicy}})
	publications := []catalog.Publication{published(t, conn, staysPolicy)}
	const undo = "DROP TABLE IF EXISTS kproxy_store.records_3, kproxy_store.release_3, kproxy_store.cellweight_3 CASCADE; DELETE FROM kproxy_store.generation; DELETE FROM kproxy_store.departed;"
	for _, plant := range lineagePlants {
		execute(t, conn, undo+staysStore+plant.sql)
		report := run(t, conn, publications)
		failed := failures(report[0])
		if strings.Join(failed, "; ") != strings.Join(plant.fails, "; ") {
			t.Errorf("%s:\n got %s\nwant %s\n%s", plant.name, strings.Join(failed, "; "), strings.Join(plant.fails, "; "), rendered(t, report))
		}
		if text := rendered(t, report); strings.Contains(text, "D0") || strings.Contains(text, "'n") || strings.Contains(text, "p1") {
			t.Errorf("%s: the report holds a value:\n%s", plant.name, text)
		}
	}
}

// failures are the names of the promises that are broken, in the report's order.
func failures(t verify.TableReport) []string {
	var names []string
	for _, c := range t.Checks {
		if !c.Passed {
			names = append(names, c.Name)
		}
	}
	return names
}

// TestWeightsThatDoNotAddUp: where every record is a person, the weights of all rows are those of the
// records that are there, but for k.
func TestWeightsThatDoNotAddUp(t *testing.T) {
	t.Parallel()
	policy := staysPolicy
	policy.Subject, policy.Constraints = "", []privacy.Spec{{K: 4}}
	const addsUp = "weights add up to the rows that stand for somebody, but for 4"
	for _, plant := range []struct {
		name, sql string
		fails     []string
	}{
		{"2 more", "", nil},
		{"as many", weight + "(0, 19 / 21.0, 5, 5)", nil},
		{"5 fewer", weight + "(0, 14 / 21.0, 10, 10)", []string{addsUp}},
		{"half as many ghosts of classes", weight + "(0, 1.5, 2, 2)", nil},
		{"5 more", "DELETE FROM kproxy_store.cellweight_3", []string{addsUp}},
		{"a group", weight + "(-1, 0, 5, 5), (1, 0.75, 0, 0), (2, 0.75, 0, 0)", nil},
	} {
		conn := database(t, stays, staysStore+plant.sql, catalog.Policy{Tables: []catalog.TablePolicy{policy}})
		if strings.Contains(plant.sql, "1.5") {
			execute(t, conn, view+"age, age_range, born, zip, diagnosis, note, kproxy_class, (1 - (2 - a.whole) * (1 - coalesce(w.kproxy_weight, 1)))::real AS kproxy_weight FROM "+weighedRelease)
		}
		report := run(t, conn, []catalog.Publication{published(t, conn, policy)})
		if failed := failures(report[0]); !slices.Equal(failed, plant.fails) {
			t.Errorf("%s: %q, want %q\n%s", plant.name, failed, plant.fails, rendered(t, report))
		}
	}
}
