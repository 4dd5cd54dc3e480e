package sample_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/cmd/kproxy/sample"
	"github.com/kproxy/kproxy/internal/dataset"
	"github.com/kproxy/kproxy/internal/eval"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }

const visits = `
CREATE TABLE visits (id bigint PRIMARY KEY, patient text, age int, sex char(3), born date, smoker boolean, diagnosis text);
INSERT INTO visits SELECT i, 'p' || i / 4, 20 + i % 60, CASE i % 3 WHEN 0 THEN 'f' WHEN 1 THEN 'm' END,
  date '1990-01-01' + i, i % 2 = 0, CASE i % 5 WHEN 0 THEN '' ELSE 'd' || i % 5 END
FROM generate_series(0, 3999) i;
CREATE TABLE nobody (age int PRIMARY KEY, sex text);
CREATE TABLE keyless (age int, sex text);`

// reading begins a read-only transaction on a database of its own, whose settings are
// not those that values are read with.
func reading(t *testing.T) pgx.Tx {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), pgtest.Database(t, pgtest.Shared(t)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), visits+"SET DateStyle = 'German'"); err != nil {
		t.Fatal(err)
	}
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tx.Rollback(t.Context()) })
	return tx
}

func column(name string, kind hierarchy.Kind) catalog.ColumnPolicy {
	return catalog.ColumnPolicy{Name: name, Role: catalog.QuasiIdentifying, Hierarchy: &hierarchy.Spec{Kind: kind}}
}

func policy() catalog.TablePolicy {
	return catalog.TablePolicy{
		Table: catalog.ParseName("visits"), Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate},
		Constraints: []privacy.Spec{{Model: privacy.K, K: 5}, {Model: privacy.DistinctL, L: 2, Of: "diagnosis"}},
		Columns: []catalog.ColumnPolicy{
			column("age", hierarchy.Numeric), column("sex", hierarchy.Categorical), column("born", hierarchy.Date),
			column("smoker", hierarchy.Categorical),
			{Name: "diagnosis", Role: catalog.Sensitive},
		},
	}
}

// TestValuesAreThoseOfReplication: in the form that the published release is made from.
func TestValuesAreThoseOfReplication(t *testing.T) {
	t.Parallel()
	tx := reading(t)
	table, total, err := read(t.Context(), tx, policy(), 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	if total != 4000 || table.Records.Len() != 4000 || table.Label != -1 {
		t.Errorf("%d of %d records, label %d", table.Records.Len(), total, table.Label)
	}
	h := func(a int) hierarchy.Hierarchy { return table.Records.Attributes()[a].Hierarchy }
	for a, want := range map[int]string{0: "20", 1: "f", 2: "1990-01-01", 3: "t"} {
		if got := h(a).Generalize(table.Records.Cells(a)[:1]).Value; got[:len(want)] != want {
			t.Errorf("attribute %d of the first record is %q, want %q", a, got, want)
		}
	}
	if !hierarchy.IsOffScale(table.Records.Cells(1)[2]) {
		t.Error("NULL has a place on the scale")
	}
	if s := table.Records.Population().Summary; len(s.Sensitive[0]) != 5 {
		t.Errorf("%d diagnoses, the empty text being one of 5", len(s.Sensitive[0]))
	}
	var style string
	if err := tx.QueryRow(t.Context(), "SHOW DateStyle").Scan(&style); err != nil || style != "German, DMY" {
		t.Errorf("the transaction goes on with DateStyle %q, %v", style, err)
	}
}

func TestSamplesAreDrawnByTheirSeed(t *testing.T) {
	t.Parallel()
	tx := reading(t)
	ages := func(seed uint64) []hierarchy.Cell {
		table, total, err := read(t.Context(), tx, policy(), 500, seed)
		if err != nil {
			t.Fatal(err)
		}
		if total != 4000 || table.Records.Len() != 500 {
			t.Fatalf("%d of %d records, 500 of 4000 expected", table.Records.Len(), total)
		}
		return table.Records.Cells(0)
	}
	first := ages(1)
	if !slices.Equal(first, ages(1)) {
		t.Error("the same seed draws other records")
	}
	if slices.Equal(first, ages(2)) {
		t.Error("another seed draws the same records")
	}
	mean := 0.0
	for _, age := range first {
		mean += age / 500
	}
	if mean < 46 || mean > 53 { // 49.5, with a standard deviation of 0.8
		t.Errorf("the mean of the ages drawn is %v, of all 49.5", mean)
	}
}

// TestPersonsAreDrawnWhole: a person's records stand or fall together.
func TestPersonsAreDrawnWhole(t *testing.T) {
	t.Parallel()
	tx := reading(t)
	p := policy()
	p.Subject = "patient"
	table, total, err := read(t.Context(), tx, p, 800, 7)
	if err != nil {
		t.Fatal(err)
	}
	records := map[uint32]int{}
	for _, subject := range table.Records.Subjects() {
		records[subject]++
	}
	if total != 4000 || len(records) < 150 || len(records) > 250 { // 200, with a standard deviation of 13
		t.Errorf("%d persons of %d records", len(records), total)
	}
	for subject, n := range records {
		if n != 4 {
			t.Errorf("person %d has %d records, 4 expected", subject, n)
		}
	}
}

// TestASampleCanBeMeasured by what wants tables of files.
func TestASampleCanBeMeasured(t *testing.T) {
	t.Parallel()
	tx := reading(t)
	guarded := policy()
	guarded.Updates.Mode = catalog.Guarded
	guarded.Columns[0].Publish = catalog.FormValue
	for name, p := range map[string]catalog.TablePolicy{"immediate": policy(), "guarded": guarded} {
		table, _, err := read(t.Context(), tx, p, 1000, 7)
		if err != nil {
			t.Fatal(err)
		}
		cases, err := eval.Grid{Methods: []string{p.Method}, K: []int{5, 10}}.Cases(table)
		if err != nil || len(cases) != 2 {
			t.Fatalf("%s: %d cases, %v", name, len(cases), err)
		}
		for _, c := range cases {
			m, err := eval.Measure(t.Context(), table, c, eval.Options{Seed: 1})
			if err != nil || m.Smallest < c.K || m.Records != 1000 || m.Refused != "" {
				t.Errorf("%s: %+v, %v", name, m, err)
			}
		}
	}
}

func TestTablesOfNobody(t *testing.T) {
	t.Parallel()
	tx := reading(t)
	p := catalog.TablePolicy{
		Table: catalog.ParseName("keyless"), Method: "rounded-partition", Updates: catalog.Updates{Mode: catalog.Immediate}, Constraints: []privacy.Spec{{Model: privacy.K, K: 5}},
		Subject: "sex", Columns: []catalog.ColumnPolicy{column("age", hierarchy.Numeric), {Name: "sex", Role: catalog.Identifying}},
	}
	table, total, err := read(t.Context(), tx, p, 10, 1)
	if policyErr := (*sample.PolicyError)(nil); !errors.As(err, &policyErr) || policyErr.Problems[0].Table != p.Table {
		t.Errorf("a table without a key is read: %v", err) // it cannot be published
	}
	if table != nil || total != 0 {
		t.Errorf("%d records beside an error", total)
	}
	if _, _, err := read(t.Context(), tx, catalog.TablePolicy{Table: catalog.ParseName("missing")}, 10, 1); err == nil {
		t.Error("a table that does not exist is read")
	}
	p.Table = catalog.ParseName("nobody")
	if table, total, err = read(t.Context(), tx, p, 10, 1); err != nil || total != 0 || table.Records.Len() != 0 {
		t.Fatalf("an empty table: %d records, %v", total, err)
	}
	cases, err := eval.Grid{Methods: []string{p.Method}}.Cases(table)
	if err != nil {
		t.Fatal(err)
	}
	if m, err := eval.Measure(t.Context(), table, cases[0], eval.Options{}); err != nil || m.Classes != 0 {
		t.Errorf("an empty table: %+v, %v", m, err)
	}
	// The transaction is as usable as before.
	if table, _, err = read(t.Context(), tx, policy(), 1, 1); err != nil || table.Records.Len() != 1 {
		t.Errorf("after errors: %v", err)
	}
}

// read samples a table under a policy that has no publication yet.
func read(ctx context.Context, tx pgx.Tx, policy catalog.TablePolicy, limit int, seed uint64) (table *dataset.Table, total int64, err error) {
	if policy.Updates.Mode == 0 { // records drawn once have none
		policy.Updates.Mode = catalog.Immediate
	}
	publication, err := publicationOf(ctx, tx.Conn(), policy)
	if err != nil {
		return nil, 0, err
	}
	return sample.Records(ctx, tx, publication, limit, seed, nil)
}

// publicationOf is the table's published shape under the policy in the server's words.
func publicationOf(ctx context.Context, conn *pgx.Conn, policy catalog.TablePolicy) (catalog.Publication, error) {
	var role string
	if err := conn.QueryRow(ctx, "SELECT current_user::text").Scan(&role); err != nil {
		return catalog.Publication{}, fmt.Errorf("asking for the role: %w", err)
	}
	relations, err := inspect.Relations(ctx, conn, role)
	if err != nil {
		return catalog.Publication{}, err
	}
	publications, problems, err := inspect.Publish(ctx, conn, catalog.Policy{Tables: []catalog.TablePolicy{policy}}, relations)
	switch {
	case err != nil:
		return catalog.Publication{}, err
	case len(problems) > 0:
		return catalog.Publication{}, &sample.PolicyError{Problems: problems}
	case len(publications) == 0:
		return catalog.Publication{}, fmt.Errorf("there is no table %s", policy.Table)
	}
	return publications[0], nil
}
