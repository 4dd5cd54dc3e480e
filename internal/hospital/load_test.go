package hospital

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

func count(t *testing.T, conn *pgx.Conn, sql string) int {
	t.Helper()
	var n int
	if err := conn.QueryRow(t.Context(), sql).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func TestLoad(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	const n = 2000
	if err := Load(t.Context(), conn, n, sampleSeed); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `
		SELECT patient_id AS id, name, national_id, birth_date, sex, postcode, marital_status,
		       occupation, ward, admission_date, diagnosis, (cost * 100)::bigint AS cents
		FROM patients ORDER BY patient_id`)
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := pgx.CollectRows(rows, pgx.RowToStructByPos[Patient])
	if err != nil {
		t.Fatal(err)
	}
	if len(loaded) != n {
		t.Fatalf("%d rows", len(loaded))
	}
	for i, p := range loaded {
		if p != sample[i] {
			t.Fatalf("row %d is %+v, generated was %+v", i, p, sample[i])
		}
	}
	joined := count(t, conn, "SELECT count(*) FROM patients JOIN icd10 ON code = diagnosis JOIN wards USING (ward)")
	if joined != n {
		t.Errorf("%d rows after the join with the reference tables", joined)
	}
	if err := Load(t.Context(), conn, 1, 1); err == nil {
		t.Error("loaded twice")
	}
	if after := count(t, conn, "SELECT count(*) FROM patients"); after != n {
		t.Errorf("a refused load left %d rows", after)
	}
}

// TestChangesApply runs changes on a small hospital, so that discharged and
// admitted patients are soon chosen again, and expects each to hit one row.
func TestChangesApply(t *testing.T) {
	t.Parallel()
	conn := connect(t)
	const n, changes = 50, 1500
	if err := Load(t.Context(), conn, n, sampleSeed); err != nil {
		t.Fatal(err)
	}
	kinds := make(map[Kind]int)
	want, done := n, 0
	for change := range Changes(n, sampleSeed) {
		tag, err := conn.Exec(t.Context(), change.SQL, change.Args...)
		if err != nil {
			t.Fatalf("change %d, a %s: %v", done, change.Kind, err)
		}
		if tag.RowsAffected() != 1 {
			t.Fatalf("change %d, a %s of patient %d, hit %d rows", done, change.Kind, change.PatientID, tag.RowsAffected())
		}
		kinds[change.Kind]++
		switch change.Kind {
		case Admission:
			want++
		case Discharge:
			want--
		case Move, Wedding, Correction:
		}
		if done++; done == changes {
			break
		}
	}
	if got := count(t, conn, "SELECT count(*) FROM patients"); got != want {
		t.Errorf("%d patients are left, want %d", got, want)
	}
	for _, kind := range []Kind{Admission, Discharge, Move, Wedding, Correction} {
		if kinds[kind] < changes/100 {
			t.Errorf("%d changes are a %s", kinds[kind], kind)
		}
	}
	for name, sql := range map[string]string{
		"pregnant men":     "SELECT count(*) FROM patients WHERE sex = 'M' AND diagnosis LIKE 'O%'",
		"married children": "SELECT count(*) FROM patients WHERE admission_date < birth_date + interval '18 years' AND marital_status <> 'single'",
	} {
		if found := count(t, conn, sql); found != 0 {
			t.Errorf("%d %s", found, name)
		}
	}
}

// TestChangesOfAnEmptyHospital begins with nobody there.
func TestChangesOfAnEmptyHospital(t *testing.T) {
	t.Parallel()
	present := 0
	done := 0
	for change := range Changes(0, 3) {
		switch change.Kind {
		case Admission:
			present++
		case Discharge:
			present--
		case Move, Wedding, Correction:
		}
		if present < 0 {
			t.Fatalf("change %d discharges nobody", done)
		}
		if done++; done == 1000 {
			break
		}
	}
}
