package draft_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/cmd/kproxy/draft"
	"github.com/kproxy/kproxy/internal/config"
)

// omop are tables of the OMOP common data model, whose references can be declared.
const omop = `
CREATE TABLE person (person_id integer PRIMARY KEY, gender_concept_id integer NOT NULL, year_of_birth integer NOT NULL, month_of_birth integer, birth_datetime timestamp,
	race_concept_id integer NOT NULL, provider_id integer, person_source_value varchar(50), gender_source_value varchar(50));
INSERT INTO person SELECT i, 8507 + 25 * (i %% 2), 1930 + i * 7919 %% 80, 1 + i %% 12, NULL, 8515 + i %% 3, i %% 9, 'MRN' || 7 * i, 'M' FROM generate_series(1, 800) i;
CREATE TABLE visit_occurrence (visit_occurrence_id integer PRIMARY KEY, person_id integer NOT NULL %[1]s, visit_concept_id integer NOT NULL, visit_start_date date NOT NULL,
	visit_start_datetime timestamp, visit_end_date date NOT NULL, provider_id integer, preceding_visit_occurrence_id integer);
INSERT INTO visit_occurrence SELECT 10 * i, 1 + i * 7919 %% 800, 9201 + i %% 3, day, day + time '10:00', day + i %% 5, i %% 9, NULL
FROM (SELECT i, date '2020-01-01' + (i * 104729 %% 1000) AS day FROM generate_series(1, 2400) i) v;
CREATE TABLE measurement (measurement_id integer PRIMARY KEY, person_id integer NOT NULL %[1]s, measurement_concept_id integer NOT NULL, measurement_date date NOT NULL,
	value_as_number numeric, unit_concept_id integer, provider_id integer, visit_occurrence_id integer %[2]s, measurement_source_value varchar(50));
INSERT INTO measurement SELECT i, 1 + v.visit_occurrence_id / 10 * 7919 %% 800, 3000000 + i * 31 %% 40, v.visit_start_date, i %% 50, 8840, i %% 9, v.visit_occurrence_id, 'c' || i %% 40
FROM generate_series(1, 3000) i JOIN visit_occurrence v ON v.visit_occurrence_id = 10 * (1 + i %% 2400);
CREATE TABLE death (person_id integer PRIMARY KEY %[1]s, death_date date NOT NULL, cause_concept_id integer);
INSERT INTO death SELECT i, date '2022-01-01' + i %% 300, 4000 + i %% 5 FROM generate_series(1, 80) i;`

// TestPeopleOfOMOP: with foreign keys and without them, one draft keeps the codes of what was done.
func TestPeopleOfOMOP(t *testing.T) {
	t.Parallel()
	for _, references := range [][]any{{"REFERENCES person", "REFERENCES visit_occurrence"}, {"", ""}} {
		o := proposed(t, draft.Options{DSN: database(t, statements(fmt.Sprintf(omop, references...)))})
		c, err := config.Parse("kproxy.yaml", []byte(o.Text))
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Policy.People) != 1 || len(c.Policy.People[0].Tables) != 3 || !slices.Equal(c.Policy.People[0].Key, []string{"person_id"}) {
			t.Fatalf("%+v", c.Policy.People)
		}
		for column, want := range map[string]string{
			"person.gender_concept_id": "quasi-identifying", "person.year_of_birth": "quasi-identifying", "person.month_of_birth": "identifying", "person.provider_id": "identifying",
			"visit_occurrence.visit_start_date": "quasi-identifying", "visit_occurrence.visit_start_datetime": "identifying", "visit_occurrence.visit_concept_id": "sensitive",
			"measurement.measurement_concept_id": "sensitive", "measurement.value_as_number": "sensitive", "measurement.measurement_date": "quasi-identifying",
			"measurement.visit_occurrence_id": "identifying", "measurement.provider_id": "identifying", "death.cause_concept_id": "sensitive",
		} {
			name, column, _ := strings.Cut(column, ".")
			columns := table(t, o, "public."+name).Columns
			if i := slices.IndexFunc(columns, func(c draft.Column) bool { return c.Column == column }); i < 0 || columns[i].Role != want {
				t.Errorf("%s.%s, to be %s: %+v", name, column, want, columns)
			}
		}
		effectsOfPeople(t, o)
	}
}

// effectsOfPeople: the draft's own knowledge leaves nobody with fewer than k persons, and the report
// says what becomes of the tables.
func effectsOfPeople(t *testing.T, o *draft.Outcome) {
	t.Helper()
	if len(o.People) != 1 || len(o.People[0].Effects) != 3 || o.People[0].Looked != 800 {
		t.Fatalf("%+v", o.People)
	}
	for _, e := range o.People[0].Effects {
		if e.Knows != "1/1y" {
			continue
		}
		if e.Refused != "" || e.Linked < 0.9 || len(e.Risks) != 5 {
			t.Fatalf("%+v", e)
		}
		for _, r := range e.Risks[:2] { // what the draft grants
			if r.Fewest < 5 || r.Mean > 0.2 {
				t.Errorf("%+v", r)
			}
		}
	}
	var report strings.Builder
	if err := o.Report(&report); err != nil {
		t.Fatal(err)
	}
	for _, words := range []string{
		"Released together, since they are about the same persons (person): public.person, public.death, public.measurement, public.visit_occurrence", "of all 800 persons", "*1/1y  5",
		"public.measurement: ", "of 3000 rows keep their keys; lost of each column: measurement_date", "pseudonyms         person_id, measurement_id",
	} {
		if !strings.Contains(report.String(), words) {
			t.Errorf("the report has no %q:\n%s", words, report.String())
		}
	}
}

// TestSamplesOfPeople have all rows of the persons that are drawn, the same each time.
func TestSamplesOfPeople(t *testing.T) {
	t.Parallel()
	dsn := database(t, statements(fmt.Sprintf(omop, "", "")))
	o := proposed(t, draft.Options{DSN: dsn, Sample: 1000})
	people := o.People[0]
	if people.Persons != 800 || people.Looked < 150 || people.Looked > 400 {
		t.Fatalf("%d of %d persons", people.Looked, people.Persons)
	}
	for _, table := range people.Effects[0].Tables {
		if table.Orphans > 0 {
			t.Errorf("%+v: rows of other persons are looked at", table)
		}
	}
	if again := proposed(t, draft.Options{DSN: dsn, Sample: 1000}); again.Section != o.Section {
		t.Error("the same records give another draft")
	}
}

// TestColumnsThatWouldBeLostAreLeftOut: of an age and a sex something remains, also beside postcodes
// of which nothing would.
func TestColumnsThatWouldBeLostAreLeftOut(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(`
CREATE TABLE patients (patient_id int PRIMARY KEY, last_name text, birth_date date, sex text, zip text, religion text, suffix text);
INSERT INTO patients SELECT i, 'Miller ' || i, date '1930-01-01' + i * 7919 % 25000, (ARRAY['f', 'm'])[1 + i * 31 % 2], lpad((i * 104729 % 99991)::text, 5, '0'), (ARRAY['a', 'b', 'c'])[1 + i * 17 % 3], NULL
FROM generate_series(1, 500) i;
CREATE TABLE visits (visit_id int PRIMARY KEY, patient_id int REFERENCES patients, admitted date, discharged date, ward text);
INSERT INTO visits SELECT i, 1 + i * 7919 % 500, date '2023-01-01' + i * 31 % 700, NULL, (ARRAY['eye', 'skin'])[1 + i % 2] FROM generate_series(1, 1500) i;`))})
	for column, want := range map[string][2]string{
		"patients.birth_date": {"quasi-identifying", ""}, "patients.sex": {"quasi-identifying", ""}, "patients.zip": {"identifying", "of it would be lost"},
		"patients.suffix": {"identifying", "no record has a value"}, "visits.admitted": {"quasi-identifying", ""}, "visits.discharged": {"identifying", "no record has a value"},
	} {
		name, column, _ := strings.Cut(column, ".")
		columns := table(t, o, "public."+name).Columns
		i := slices.IndexFunc(columns, func(c draft.Column) bool { return c.Column == column })
		if i < 0 || columns[i].Role != want[0] || !strings.Contains(columns[i].Why, want[1]) {
			t.Errorf("%s.%s, to be %s: %+v", name, column, want, columns)
		}
	}
	for _, e := range o.People[0].Effects {
		if e.Knows == "1/1y" && e.Root.Loss > 0.5 {
			t.Errorf("%+v", e.Root)
		}
	}
}

// shop is a shop whose payments cannot be replicated, and whose parcels are through them.
const shop = `
CREATE TABLE customers (customer_id bigint PRIMARY KEY, email text, birth_date date, country text);
INSERT INTO customers SELECT i, 'a' || i || '@example.org', date '1950-01-01' + i * 7919 % 20000, (ARRAY['DE', 'AT', 'CH'])[1 + i % 3] FROM generate_series(1, 500) i;
CREATE TABLE orders (order_id bigint PRIMARY KEY, customer_id bigint REFERENCES customers, ordered_at timestamptz, status text, total smallint);
INSERT INTO orders SELECT i, 1 + i * 7919 % 500, timestamptz '2023-01-01 10:00+00' + i * interval '5 hours', (ARRAY['paid', 'sent'])[1 + i % 2], i % 90 FROM generate_series(1, 1500) i;
CREATE TABLE items (order_id bigint REFERENCES orders, line_no int, product_id int, PRIMARY KEY (order_id, line_no));
INSERT INTO items SELECT i, j, 1 + (i + j) * 31 % 40 FROM generate_series(1, 1500) i, generate_series(1, 2) j;
CREATE TABLE payments (payment_id int, order_id bigint REFERENCES orders, amount numeric, UNIQUE (payment_id));
CREATE TABLE parcels (parcel_id int PRIMARY KEY, payment_id int REFERENCES payments (payment_id), carrier text);
CREATE TABLE reviews (review_id smallint PRIMARY KEY, customer_id bigint REFERENCES customers, written date, rating int);
INSERT INTO reviews SELECT i, i, date '2024-01-01' + i % 300, i % 5 FROM generate_series(1, 200) i;`

// TestPeopleThatCannotBePublished: a key that can hold no pseudonym is not published, tables that
// cannot be protected are left out with those through them, and all are proposed apart where the
// root is one of them.
func TestPeopleThatCannotBePublished(t *testing.T) {
	t.Parallel()
	o := proposed(t, draft.Options{DSN: database(t, statements(shop))})
	for name, want := range map[string][2]string{
		"public.orders": {"protected", "customer_id order_id"}, "public.items": {"protected", "order_id"}, "public.reviews": {"protected", "customer_id"},
		"public.payments": {"left out", "REPLICA IDENTITY"}, "public.parcels": {"left out", "public.payments"},
	} {
		got := table(t, o, name)
		if got.Verdict != want[0] || want[0] == "protected" && strings.Join(got.Keys, " ") != want[1] || want[0] != "protected" && !strings.Contains(got.Why, want[1]) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	apart := proposed(t, draft.Options{DSN: database(t, statements(shop+"ALTER TABLE customers REPLICA IDENTITY NOTHING;"))})
	if orders := table(t, apart, "public.orders"); len(apart.People) != 0 || orders.Verdict != "protected" || orders.Subject != "customer_id" || len(orders.Effects) != 3 {
		t.Errorf("%+v, %+v", apart.People, orders)
	}
	if customers := table(t, apart, "public.customers"); customers.Verdict != "left out" {
		t.Errorf("%+v", customers)
	}
}
