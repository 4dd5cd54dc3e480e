package demo

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/internal/config"
	"github.com/kproxy/kproxy/internal/hospital"
)

// source is the data that a demonstration publishes.
type source interface {
	// configure completes the configuration with database name and policy.
	configure(c *config.Config) error
	// load creates and fills the tables.
	load(ctx context.Context, conn *pgx.Conn) error
	// queries are statements worth trying, the first ones through kproxy, the
	// others at the source, by whether updates are guarded.
	queries(guarded bool) (analyst, owner []string)
}

func (s *stage) source() (source, error) {
	if s.CSV == "" {
		return hospitalSource{persons: s.Persons, patients: s.Patients, seed: s.Seed}, nil
	}
	policy, err := config.LoadPolicy(s.Policy)
	if err != nil {
		return nil, fmt.Errorf("the policy cannot be used:\n%w", err)
	}
	own, warnings, err := newCSVSource(s.CSV, policy)
	if err != nil {
		return nil, err
	}
	for _, w := range warnings {
		fmt.Fprintf(s.Err, "kproxy: warning: %s\n", w)
	}
	return own, nil
}

// base is the example configuration, whose settings the demonstration shares.
func base() (*config.Config, error) {
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		return nil, fmt.Errorf("reading the example configuration: %w", err)
	}
	return c, nil
}

type hospitalSource struct {
	persons, patients int
	seed              uint64
}

// configure has the example, which is the hospital's, and the staff and the persons besides.
func (h hospitalSource) configure(c *config.Config) error {
	if err := employ(&c.Policy); err != nil {
		return err
	}
	return addPeople(&c.Policy)
}

func (h hospitalSource) load(ctx context.Context, conn *pgx.Conn) error {
	if err := hospital.Load(ctx, conn, h.patients, h.seed); err != nil {
		return err
	}
	if err := loadStaff(ctx, conn); err != nil {
		return err
	}
	return loadPeople(ctx, conn, h.persons, h.seed)
}

func (h hospitalSource) queries(guarded bool) (analyst, owner []string) {
	analyst = []string{
		`SELECT description, count(DISTINCT person_id) AS persons, round(avg(days), 1) AS days`,
		`FROM persons JOIN stays USING (person_id) JOIN diagnoses USING (stay_id) JOIN icd10 USING (code)`,
		`WHERE admission_date >= '2025-01-01' GROUP BY 1 ORDER BY 2 DESC LIMIT 5;   -- a year, since persons are followed within one`,
		`SELECT * FROM persons JOIN stays USING (person_id) WHERE person_id = (SELECT max(person_id) FROM stays);   -- keys are pseudonyms`,
		`\d patients`,
		`SELECT sex, birth_date_range, postcode, marital_status, diagnosis FROM patients LIMIT 5;`,
		`SELECT chapter, count(*), round(avg(cost)) AS cost FROM patients JOIN icd10 ON code = diagnosis GROUP BY 1 ORDER BY 2 DESC;`,
		`SELECT date_trunc('year', birth_date)::date AS born, count(*) FROM patients GROUP BY 1 ORDER BY 1;`,
		`COPY (SELECT ward, count(*) FROM patients GROUP BY ward) TO STDOUT CSV HEADER;`,
		`SELECT ward, count(*), round(avg(sick_days), 1) AS sick_days FROM staff GROUP BY 1 ORDER BY 3 DESC;`,
		`SELECT name, national_id FROM patients;              -- refused: not published`,
		`SELECT query_to_xml('SELECT * FROM patients', true, true, '');   -- refused: not a reading function`,
	}
	owner = []string{
		`DELETE FROM persons WHERE person_id % 10 = 0;   -- gone from all five tables at once`,
		`SELECT count(*) FROM patients WHERE diagnosis = 'I10';`,
		`UPDATE patients SET diagnosis = 'I10' WHERE patient_id <= 1000;   -- and count through kproxy again`,
		`DELETE FROM patients WHERE patient_id % 10 = 0;`,
		`DELETE FROM staff WHERE staff_id = 1;   -- and nobody who counts the staff can tell`,
	}
	if guarded {
		analyst = append(analyst, `SELECT count(*), round(sum(kproxy_weight)), max(kproxy_class) FROM patients;   -- as often as you like`)
		owner = []string{
			`DELETE FROM patients WHERE patient_id % 2 = 0;   -- rows vanish where k others do`,
			`UPDATE patients SET cost = cost + 1;   -- seen in classes that nobody has left`,
			`CREATE TABLE moved AS SELECT * FROM patients LIMIT 30; DELETE FROM patients WHERE patient_id IN (SELECT patient_id FROM moved);`,
			`INSERT INTO patients SELECT * FROM moved;   -- new classes, together, soon after`,
		}
	}
	return analyst, owner
}
