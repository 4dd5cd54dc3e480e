package verify_test

import (
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/verify"
)

func risksOf(t *testing.T, conn *pgx.Conn, publications []catalog.Publication) ([]verify.Risk, error) {
	t.Helper()
	tx, err := conn.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(t.Context()) }()
	return verify.MeasureRisks(t.Context(), tx, publications, 0.05)
}

// TestRisksOfPersonsNeedAllTheirTables: the risks of tables that are released together are counted over all of them. Without
// one of those, none are counted, and the error says which one is missing.
func TestRisksOfPersonsNeedAllTheirTables(t *testing.T) {
	t.Parallel()
	conn := clinicRelease(t)
	execute(t, conn, clinics["1/1y:2"])
	all := clinicPublications(t, conn, "1/1y:2", clinicConstraints...)
	risks, err := risksOf(t, conn, all)
	if err != nil {
		t.Fatal(err)
	}
	counted := make(map[string]verify.Risk)
	for _, r := range risks {
		counted[r.Table] = r
	}
	for _, p := range all {
		name := p.Policy.Table.String()
		if r := counted[name]; r.Unit != "persons" || p.Policy.Table == clinicName("patients") && r.Smallest < 3 {
			t.Errorf("the risks of %s are %+v", name, r)
		}
	}
	for i, missing := range all {
		var rest []catalog.Publication
		rest = append(append(rest, all[:i]...), all[i+1:]...)
		found, err := risksOf(t, conn, rest)
		if err == nil || !strings.Contains(err.Error(), missing.Policy.Table.String()+" is released with others") || found != nil {
			t.Errorf("without %s: %+v, %v", missing.Policy.Table, found, err)
		}
	}
}
