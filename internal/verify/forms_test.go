package verify_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// trips is a table with every way to limit what a hierarchy publishes, with
// persons, and with two parts.
const trips = `CREATE TABLE trips (id int PRIMARY KEY, person text, age int, income numeric, weight float8, born date,
  seen timestamptz, gone timestamptz, code text, grade text, country text, cost numeric)`

// tripsStore is an honest release of 40 records, with 10 classes of 4 in the first
// part and 5 of 8 in the second.
const tripsStore = `
INSERT INTO kproxy_store.generation (table_schema, table_name, generation, policy_digest, next_class, next_record)
VALUES ('public', 'trips', 4, '', 41, 41);
CREATE TABLE kproxy_store.records_4 AS SELECT n::bigint AS kproxy_record, c::bigint AS kproxy_class, (n % 5 + 1)::bigint AS kproxy_class_2,
  n AS id, 'p' || n AS person, 20 + 5 * c + n % 5 AS age, 50 + 100 * c + n * 1.5 AS income, c * 0.5::float8 + n % 4 / 10.0::float8 AS weight,
  make_date(1950 + c, 1 + n % 12, 5) AS born,
  make_date(2024, 1 + n % 5, 1 + n % 20) + time '12:00' AT TIME ZONE 'UTC' AS seen, timestamptz '2024-05-01 06:00Z' + n % 5 * interval '1 day' + n * interval '1 minute' AS gone,
  '69' || n % 5 || n AS code, CASE WHEN n % 5 % 2 = 1 THEN 'high' WHEN n % 2 = 0 THEN 'low' ELSE 'middle' END AS grade,
  CASE WHEN n % 5 = 0 OR n < 20 THEN 'DE' ELSE 'FR' END AS country, n::numeric AS cost
FROM (SELECT n, (n - 1) / 4 AS c FROM generate_series(1, 40) n) s;
CREATE TABLE kproxy_store.release_4 AS SELECT kproxy_class, kproxy_class_2,
  (22 + 5 * kproxy_class)::int AS age, int4range((20 + 5 * kproxy_class)::int, (25 + 5 * kproxy_class)::int) AS age_range,
  numrange(50 + 100 * kproxy_class, 150 + 100 * kproxy_class, '[]') AS income, kproxy_class * 0.5::float8 + 0.25::float8 AS weight,
  daterange(make_date(1950 + kproxy_class::int, 1, 1), make_date(1951 + kproxy_class::int, 1, 1)) AS born,
  make_date(2024, kproxy_class_2::int, 15) + time '12:00' AT TIME ZONE 'UTC' AS seen,
  tstzrange(timestamptz '2024-05-01 00:00Z' + (kproxy_class_2 - 1) * interval '1 day', timestamptz '2024-05-01 23:59:59.999999Z' + (kproxy_class_2 - 1) * interval '1 day', '[]') AS gone,
  '69' || kproxy_class_2 - 1 || '*' AS code, CASE WHEN kproxy_class_2 IN (2, 4) THEN 'high' ELSE 'low..middle' END AS grade,
  CASE WHEN kproxy_class_2 = 1 THEN 'DE' ELSE '*' END AS country, cost
FROM kproxy_store.records_4;
CREATE VIEW kproxy_release_public.trips AS SELECT age, age_range, income, weight, born, seen, gone, code, grade, country, cost FROM kproxy_store.release_4;`

var tripsPolicy = catalog.TablePolicy{
	Table: catalog.Name{Schema: "public", Relation: "trips"}, Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Subject: "person",
	Constraints: []privacy.Spec{
		{K: 4, Over: []string{"age", "born"}},
		{K: 3, Over: []string{"weight", "born", "income"}},
		{K: 8, Over: []string{"seen", "gone", "code", "grade", "country"}},
		{Model: privacy.DistinctL, L: 4, Of: "cost", Over: []string{"age", "born"}},
		{Model: privacy.DistinctL, L: 8, Of: "cost", Over: []string{"seen", "gone", "code", "grade", "country"}},
	},
	Columns: []catalog.ColumnPolicy{
		quasi("age", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{5, 10}}),
		quasi("income", catalog.FormRange, hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{100}, Origin: 50}),
		quasi("weight", catalog.FormValue, hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{0.5}}),
		quasi("born", catalog.FormRange, hierarchy.Spec{Kind: hierarchy.Date, Units: []hierarchy.Unit{hierarchy.Year, hierarchy.Decade}}),
		quasi("seen", catalog.FormValue, hierarchy.Spec{Kind: hierarchy.Date, Units: []hierarchy.Unit{hierarchy.Month}}),
		quasi("gone", catalog.FormRange, hierarchy.Spec{Kind: hierarchy.Date, Units: []hierarchy.Unit{hierarchy.Day, hierarchy.Quarter}}),
		quasi("code", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Prefix, Keep: []int{3, 2}}),
		quasi("grade", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Ordered, Order: []string{"low", "middle", "high", "top"}}),
		quasi("country", catalog.FormBoth, hierarchy.Spec{Kind: hierarchy.Suppression}),
		{Name: "cost", Role: catalog.Sensitive},
	},
}

func quasi(name string, form catalog.Form, spec hierarchy.Spec) catalog.ColumnPolicy {
	return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &spec, Publish: form}
}

const (
	firstPart  = " over age, income, weight, born"
	secondPart = " over seen, gone, code, grade, country"
	copies     = "values published as they are agree in every class"
	ageBorn    = "4-anonymity over age, born"
	firstCost  = "distinct 4-diversity of cost over age, born, counted" + firstPart
	secondCost = "distinct 8-diversity of cost" + secondPart
)

// A change by SQL of the release, or of the records, and the checks that must
// fail, and no others.
var tripPlants = []struct {
	name, sql string
	fails     []string
}{
	{"nothing", "", nil},
	{"one person", "UPDATE records_4 SET person = 'p5' WHERE kproxy_class = 1", []string{
		ageBorn, "3-anonymity over weight, born, income", firstCost,
	}},
	{"two records of nobody", "UPDATE records_4 SET person = NULL WHERE id IN (5, 6)", []string{ageBorn, firstCost}},
	{"a person in two classes", "UPDATE records_4 SET person = 'p1' WHERE id IN (2, 13)", []string{ageBorn, firstCost}},
	{"persons of the second part", "UPDATE records_4 SET person = 'p1' WHERE id IN (1, 6)", []string{
		"8-anonymity" + secondPart, secondCost,
	}},
	{"few enough persons in the projection of one constraint", "UPDATE records_4 SET person = 'p1' WHERE id = 2; UPDATE release_4 SET age = NULL, age_range = NULL, born = NULL", []string{
		firstCost,
	}},
	{"off the grid", "UPDATE release_4 SET age_range = '[21,26)', age = 23 WHERE kproxy_class = 0", []string{"age_range is an interval of the policy"}},
	{"between two widths", "UPDATE release_4 SET age_range = '[15,30)' WHERE kproxy_class = 0", []string{"age_range is an interval of the policy"}},
	{"a wider interval", "UPDATE release_4 SET age_range = '[20,30)', age = 24 WHERE kproxy_class = 0", nil},
	{"an exact value beside an interval", "UPDATE release_4 SET age = 21 WHERE kproxy_class = 0", []string{"age is the middle of age_range"}},
	{"another interval", "UPDATE release_4 SET age_range = '[30,35)', age = 32 WHERE kproxy_class = 0", []string{"every value lies within age_range"}},
	{"an open range", "UPDATE release_4 SET age_range = '[20,)' WHERE kproxy_class = 0", []string{"age_range is an interval of the policy"}},
	{"off the grid's origin", "UPDATE release_4 SET income = '[0,100]' WHERE kproxy_class = 0", []string{"income is an interval of the policy"}},
	{"a value of another interval", "UPDATE release_4 SET weight = 0.55 WHERE kproxy_class = 0", []string{"weight lies among the values of its class"}},
	{"a value of the interval", "UPDATE release_4 SET weight = 0.45 WHERE kproxy_class = 0", nil},
	{"half a year", "UPDATE release_4 SET born = '[1950-01-01,1950-07-01)' WHERE kproxy_class = 0", []string{"born is an interval of the policy"}},
	{"a year from February", "UPDATE release_4 SET born = '[1950-02-01,1951-02-01)' WHERE kproxy_class = 0", []string{"born is an interval of the policy"}},
	{"a decade", "UPDATE release_4 SET born = '[1950-01-01,1960-01-01)' WHERE kproxy_class = 0", nil},
	{"a decade of its own", "UPDATE release_4 SET born = '[1945-01-01,1955-01-01)' WHERE kproxy_class = 0", []string{"born is an interval of the policy"}},
	{"another month", "UPDATE release_4 SET seen = '2024-03-01 00:00Z' WHERE kproxy_class_2 = 2", []string{"seen lies among the values of its class"}},
	{"another day of the month", "UPDATE release_4 SET seen = '2024-02-29 00:00Z' WHERE kproxy_class_2 = 2", nil},
	{"less than a day", "UPDATE release_4 SET gone = '[2024-05-01 00:00Z,2024-05-01 12:00Z]' WHERE kproxy_class_2 = 1", []string{"gone is an interval of the policy"}},
	{"a month", "UPDATE release_4 SET gone = '[2024-05-01 00:00Z,2024-06-01 00:00Z)' WHERE kproxy_class_2 = 1", []string{"gone is an interval of the policy"}},
	{"a quarter", "UPDATE release_4 SET gone = '[2024-04-01 00:00Z,2024-07-01 00:00Z)' WHERE kproxy_class_2 = 1", nil},
	{"fewer characters", "UPDATE release_4 SET code = '69**' WHERE kproxy_class_2 = 1", nil},
	{"no character", "UPDATE release_4 SET code = '*' WHERE kproxy_class_2 = 1", nil},
	{"one character", "UPDATE release_4 SET code = '6*' WHERE kproxy_class_2 = 1", []string{"code is true of every value"}},
	{"other characters", "UPDATE release_4 SET code = '691*' WHERE kproxy_class_2 = 1", []string{"code is true of every value"}},
	{"no mask", "UPDATE release_4 SET code = '690' WHERE kproxy_class_2 = 1", []string{"code is true of every value"}},
	{"too many characters", "UPDATE records_4 SET code = '6905' WHERE kproxy_class_2 = 1; UPDATE release_4 SET code = '6905' WHERE kproxy_class_2 = 1", []string{"code is true of every value"}},
	{"a short code", "UPDATE records_4 SET code = '690' WHERE kproxy_class_2 = 1; UPDATE release_4 SET code = '690' WHERE kproxy_class_2 = 1", nil},
	{"a range too short", "UPDATE release_4 SET grade = 'low' WHERE kproxy_class_2 = 1", []string{"grade is true of every value"}},
	{"a wider range", "UPDATE release_4 SET grade = 'low..top' WHERE kproxy_class_2 = 1", nil},
	{"a range beside", "UPDATE release_4 SET grade = 'middle..top' WHERE kproxy_class_2 = 1", []string{"grade is true of every value"}},
	{"a range from high to low", "UPDATE release_4 SET grade = 'middle..low' WHERE kproxy_class_2 = 1", []string{"grade is true of every value"}},
	{"a range of no order", "UPDATE release_4 SET grade = 'a..b' WHERE kproxy_class_2 = 1", []string{"grade is true of every value"}},
	{"a value of no order", "UPDATE records_4 SET grade = 'best' WHERE id = 5", []string{"grade is true of every value"}},
	{"a value that not all have", "UPDATE release_4 SET country = 'DE' WHERE kproxy_class_2 = 2", []string{"country is true of every value"}},
	{"a value suppressed", "UPDATE release_4 SET country = '*', grade = NULL, born = NULL", nil},
	{
		"a row moved in the second part", "UPDATE release_4 l SET kproxy_class_2 = o.kproxy_class_2, seen = o.seen, gone = o.gone, code = o.code, grade = o.grade, country = o.country FROM release_4 o WHERE o.cost = 2 AND l.cost = 1",
		[]string{"every class has as many rows as records," + secondPart, copies},
	},
	{
		"two rows exchanged in the second part", "UPDATE release_4 l SET kproxy_class_2 = o.kproxy_class_2, seen = o.seen, gone = o.gone, code = o.code, grade = o.grade, country = o.country FROM release_4 o WHERE o.cost + l.cost = 3",
		[]string{copies},
	},
	{"two generalizations in the second part", "UPDATE release_4 SET country = '*' WHERE cost = 5", []string{"every class has one generalization," + secondPart}},
	{
		"a row without a class in the second part", "UPDATE release_4 SET kproxy_class_2 = NULL WHERE cost = 1",
		[]string{"no withheld record is published", "every class has as many rows as records," + secondPart, copies},
	},
	{
		"a record without a class in the second part", "UPDATE records_4 SET kproxy_class_2 = NULL WHERE id = 1",
		[]string{
			ageBorn, "8-anonymity" + secondPart, firstCost, secondCost,
			"every class has as many rows as records," + firstPart, "every class has as many rows as records," + secondPart, copies,
		},
	},
	{
		"no second class in the release", "DROP VIEW kproxy_release_public.trips; ALTER TABLE release_4 DROP kproxy_class_2;" +
			"CREATE VIEW kproxy_release_public.trips AS SELECT age, age_range, income, weight, born, seen, gone, code, grade, country, cost FROM release_4",
		[]string{"exactly the release's columns", "the data"},
	},
	{"no persons in the store", "ALTER TABLE records_4 DROP person", []string{"the private store is complete", "the data"}},
}

// What two parts keep says nothing of who knows the columns of both: rows that are
// alike in all of them have one cost.
func TestTwoPartsAreNotDiverseOverAllColumns(t *testing.T) {
	t.Parallel()
	conn := database(t, trips, tripsStore, catalog.Policy{Tables: []catalog.TablePolicy{tripsPolicy}})
	for subject, diverse := range map[string]string{"": "distinct 4-diversity of cost", "person": "every class has one generalization"} {
		policy := tripsPolicy
		policy.Subject, policy.Constraints = subject, slices.Clone(tripsPolicy.Constraints)
		policy.Constraints[3].Over = nil
		report := run(t, conn, []catalog.Publication{published(t, conn, policy)})
		failed := map[string]bool{}
		for _, c := range report[0].Checks {
			if !c.Passed {
				failed[c.Name] = true
			}
		}
		if !failed[diverse] || !failed["exactly the release's columns"] {
			t.Errorf("subject %q:\n%s", subject, rendered(t, report))
		}
	}
}

func TestEveryViolationOfAFormIsFound(t *testing.T) {
	t.Parallel()
	conn := database(t, trips, tripsStore, catalog.Policy{Tables: []catalog.TablePolicy{tripsPolicy}})
	publication := published(t, conn, tripsPolicy)
	const undo = "DROP SCHEMA kproxy_release_public CASCADE; CREATE SCHEMA kproxy_release_public;" +
		"DROP TABLE kproxy_store.records_4, kproxy_store.release_4 CASCADE; DELETE FROM kproxy_store.generation;"
	for _, plant := range tripPlants {
		execute(t, conn, undo+tripsStore+"SET LOCAL search_path = kproxy_store;"+plant.sql)
		report := run(t, conn, []catalog.Publication{publication})
		var failed []string
		for _, c := range report[0].Checks {
			if !c.Passed {
				failed = append(failed, c.Name)
			}
		}
		if strings.Join(failed, "; ") != strings.Join(plant.fails, "; ") {
			t.Errorf("%s:\n got %s\nwant %s\n%s", plant.name, strings.Join(failed, "; "), strings.Join(plant.fails, "; "), rendered(t, report))
		}
		if text := rendered(t, report); strings.Contains(text, "FR") || strings.Contains(text, "high") || strings.Contains(text, "'p") {
			t.Errorf("%s: the report holds a value:\n%s", plant.name, text)
		}
	}
}
