package integration

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// hospitalSQL is a hospital of seeded rows: patients, their visits, and what was prescribed.
const hospitalSQL = `CREATE TABLE patients (patient_id integer PRIMARY KEY, name text, born date NOT NULL, sex text, postcode integer);
	CREATE TABLE visits (visit_id bigint PRIMARY KEY, patient_id integer NOT NULL REFERENCES patients ON DELETE CASCADE, admitted date NOT NULL, ward text);
	CREATE TABLE prescriptions (prescription_id uuid PRIMARY KEY DEFAULT gen_random_uuid(), visit_id bigint NOT NULL REFERENCES visits ON DELETE CASCADE, drug text);
	SELECT setseed(0.5);
	INSERT INTO patients SELECT i, 'Name ' || i, date '1940-01-01' + (random() * 25000)::int, CASE WHEN random() < 0.5 THEN 'f' ELSE 'm' END, 10000 + (random() * 90)::int FROM generate_series(1, 600) i;
	INSERT INTO visits SELECT 1000000 + 7 * row_number() OVER (), p.patient_id, date '2023-01-01' + (random() * 1000)::int, (ARRAY['eye', 'heart', 'skin'])[1 + (random() * 2.99)::int]
		FROM patients p, generate_series(1, 4) n WHERE random() < 0.6;
	CREATE TABLE labs (lab_id int PRIMARY KEY, visit_id bigint NOT NULL REFERENCES visits ON DELETE CASCADE, test text, value numeric);
	INSERT INTO labs SELECT row_number() OVER (), visit_id, 'HbA1c', round((4 + 4 * random())::numeric, 1) FROM visits WHERE random() < 0.05;
	INSERT INTO prescriptions (visit_id, drug) SELECT v.visit_id, (ARRAY['ramipril', 'timolol', 'metformin', 'ibuprofen'])[1 + (random() * 3.99)::int] FROM visits v, generate_series(1, 2) n WHERE random() < 0.7;
	REVOKE CREATE ON SCHEMA public FROM PUBLIC`

const hospitalTables = `tables:
  public.patients: {columns: {name: identifying, born: {role: quasi-identifying, hierarchy: date}, sex: {role: quasi-identifying, hierarchy: categorical}, postcode: {role: quasi-identifying, hierarchy: numeric}}}
  public.visits: {columns: {admitted: {role: quasi-identifying, hierarchy: date}, ward: sensitive}}
  public.prescriptions: {columns: {prescription_id: identifying, drug: sensitive}}
  public.labs: {columns: {lab_id: identifying, test: sensitive, value: sensitive}}
people:
  patient:
    root: public.patients
    key: patient_id
    knows: {rows: 1, per: 1y}
    updates: immediate
    tables:
      public.visits: {person: patient_id, key: visit_id, order: admitted}
      public.prescriptions: {through: public.visits, by: visit_id}
      public.labs: {through: public.visits, by: visit_id, known: false}
    constraints: [{k: 5}]
`

// TestPeopleAreJoined: analysts join tables about the same persons as they are written for
// the source, and never see a key, through everything that happens to the tables.
func TestPeopleAreJoined(t *testing.T) {
	t.Parallel()
	s := ready(t, sqlSite(hospitalSQL, hospitalTables))
	admin, conn := connect(t, s.admin), connect(t, s.url())
	same := func(when, query string) {
		t.Helper()
		var want, got string
		eventually(t, query+" is answered "+when, func() bool {
			if err := admin.QueryRow(t.Context(), query).Scan(&want); err != nil {
				t.Fatal(err)
			}
			if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
				t.Fatal(err)
			}
			return got == want
		})
	}
	whole := []string{
		"SELECT count(*)::text FROM patients",
		"SELECT string_agg(ward || n, ',' ORDER BY ward) FROM (SELECT ward, count(*) AS n FROM visits GROUP BY ward) a",
		"SELECT coalesce(string_agg(drug || n, ',' ORDER BY drug), '') FROM (SELECT drug, count(*) AS n FROM prescriptions GROUP BY drug) a",
		"SELECT sum(value)::text FROM labs",
	}
	joined := map[string]float64{ // with the least share of the rows that keep their keys
		"SELECT count(*) FROM visits v JOIN patients p USING (patient_id)":                                                 0.97,
		"SELECT count(*) FROM visits v JOIN patients p ON p.patient_id = v.patient_id WHERE ward = 'eye'":                  0.9,
		"SELECT count(*) FROM prescriptions JOIN visits USING (visit_id) JOIN patients USING (patient_id)":                 0.6,
		"SELECT count(*) FROM labs l JOIN visits USING (visit_id) JOIN patients USING (patient_id) WHERE value > 6":        0.9,
		"SELECT count(*) FROM visits v WHERE EXISTS (SELECT FROM patients p WHERE p.patient_id = v.patient_id)":            0.97,
		"SELECT count(n) FROM (SELECT row_number() OVER (PARTITION BY patient_id ORDER BY admitted) AS n FROM visits v) a": 1,
	}
	all := func(when string) {
		t.Helper()
		for _, query := range whole {
			same(when, query)
		}
		for query, share := range joined {
			want, got := scalar[int](t, admin, query), scalar[int](t, conn, query)
			if got > want || float64(got) < share*float64(want) {
				t.Errorf("%s: %s is %d, in truth %d", when, query, got, want)
			}
		}
	}
	all("at first")
	for _, change := range []string{
		"INSERT INTO patients VALUES (9001, 'New', '1970-05-05', 'f', 10010); INSERT INTO visits VALUES (5, 9001, '2024-02-02', 'eye'); INSERT INTO prescriptions (visit_id, drug) VALUES (5, 'timolol')",
		"DELETE FROM patients WHERE patient_id % 50 = 3",
		"UPDATE visits SET ward = 'lung' WHERE visit_id % 10 = 1",
		"UPDATE visits SET patient_id = 9001 WHERE visit_id = (SELECT min(visit_id) FROM visits WHERE visit_id > 5)",
		"UPDATE patients SET born = born + 400 WHERE patient_id % 31 = 2",
		"TRUNCATE prescriptions",
		"INSERT INTO prescriptions (visit_id, drug) SELECT visit_id, 'ramipril' FROM visits",
	} {
		execute(t, admin, change, pgx.QueryExecModeSimpleProtocol)
		all("after " + change)
	}
	s.keysAreHidden(t, admin)
}

// keysAreHidden compares what readers see with all keys of the source.
func (s *site) keysAreHidden(t *testing.T, admin *pgx.Conn) {
	t.Helper()
	conn := connect(t, s.url())
	for query, table := range map[string]string{
		"SELECT patient_id FROM patients": "SELECT patient_id FROM patients",
		"SELECT visit_id FROM visits":     "SELECT visit_id FROM visits",
	} {
		raw := make(map[string]bool)
		rows, err := admin.Query(t.Context(), strings.Replace(table, "SELECT", "SELECT '' ||", 1))
		if err != nil {
			t.Fatal(err)
		}
		keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range keys {
			raw[key] = true
		}
		rows, err = conn.Query(t.Context(), strings.Replace(query, "SELECT", "SELECT '' ||", 1))
		if err != nil {
			t.Fatal(err)
		}
		seen, err := pgx.CollectRows(rows, pgx.RowTo[*string])
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range seen {
			if key != nil && raw[*key] {
				t.Errorf("%s: %s is a key of the source", query, *key)
			}
		}
	}
	var types string
	if err := conn.QueryRow(t.Context(), "SELECT pg_typeof(p.patient_id)::text || pg_typeof(v.patient_id)::text || pg_typeof(v.visit_id)::text FROM patients p, visits v LIMIT 1").Scan(&types); err != nil || types != "integerintegerbigint" {
		t.Errorf("the types of keys are %s, %v", types, err)
	}
	for _, command := range []string{"check", "verify", "status"} {
		t.Log(s.kproxy(t, command).must(t).stdout)
	}
}
