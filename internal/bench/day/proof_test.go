package main

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

// TestStatesAreCounted breaks each promise of a release of two classes once.
func TestStatesAreCounted(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	const release = `CREATE TABLE patients AS SELECT 1 + i % 2 AS kproxy_class, 1::real AS kproxy_weight, (ARRAY['A', 'B'])[1 + i / 2 % 2] AS diagnosis,
		1 + i % 2 AS birth_date, 0 AS birth_date_range, '*' AS sex, '1*' AS postcode, 'x' AS marital_status, 'y' AS occupation, 0 AS admission_date, 0 AS admission_date_range
		FROM generate_series(1, 12) i`
	for _, c := range []struct {
		change string
		broken func(state) int64
	}{
		{"", func(s state) int64 { return s.classes - 1 }},
		{"DELETE FROM patients WHERE ctid IN (SELECT ctid FROM patients WHERE kproxy_class = 2 LIMIT 2)", func(s state) int64 { return s.small }},
		{"UPDATE patients SET diagnosis = 'A' WHERE kproxy_class = 1", func(s state) int64 { return s.alike }},
		{"UPDATE patients SET birth_date = 1 + (diagnosis = 'A')::int WHERE kproxy_class = 1", func(s state) int64 { return s.mixed }},
		{"UPDATE patients SET kproxy_weight = 0.5 WHERE diagnosis = 'A' AND kproxy_class = 2", func(s state) int64 { return s.unevenWeights }},
		{"UPDATE patients SET kproxy_weight = 0 WHERE kproxy_class = 2", func(s state) int64 { return s.unevenWeights }},
	} {
		if _, err := conn.Exec(t.Context(), "DROP TABLE IF EXISTS patients; "+release+"; "+c.change); err != nil {
			t.Fatal(err)
		}
		seen, err := lookAt(t.Context(), conn)
		if err != nil {
			t.Fatal(err)
		}
		if c.broken(seen) != 1 || (seen.violation() == "") != (c.change == "") {
			t.Errorf("after %q: %+v, %q", c.change, seen, seen.violation())
		}
		if c.change == "" && (seen.rows != 12 || seen.weight != 12) {
			t.Errorf("of 12 rows it sees %+v", seen)
		}
	}
}

func TestStoreIsComparedWithTheSource(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	s := &site{generation: 3}
	const both = `CREATE SCHEMA kproxy_store; CREATE TABLE patients AS SELECT i AS patient_id, 'name ' || i AS name, 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e, 6 AS f, 7 AS g, 8 AS h, i % 7 AS cost
		FROM generate_series(1, 100) i; CREATE TABLE kproxy_store.records_3 AS SELECT 0 AS kproxy_record, patient_id, a, b, c, d, e, f, g, h, cost FROM patients`
	if _, err := conn.Exec(t.Context(), both); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		change string
		want   int64
	}{
		{"SELECT", 0},
		{"UPDATE patients SET cost = 9 WHERE patient_id = 5", 1},
		{"DELETE FROM patients WHERE patient_id = 6", 2},
		{"DELETE FROM kproxy_store.records_3 WHERE patient_id = 7", 3},
		{"UPDATE patients SET name = '' WHERE patient_id = 8", 3},
	} {
		if _, err := conn.Exec(t.Context(), step.change); err != nil {
			t.Fatal(err)
		}
		if n, err := s.different(t.Context(), conn); err != nil || n != step.want {
			t.Errorf("after %q %d are different, not %d: %v", step.change, n, step.want, err)
		}
	}
}
