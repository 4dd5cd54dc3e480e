package integration

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// drift counts the rows that only one of source and private store has.
func (s *site) drift(t *testing.T, conn *pgx.Conn, source, columns string) (missing, surplus int, err error) {
	t.Helper()
	var generation int
	err = conn.QueryRow(t.Context(), "SELECT generation FROM kproxy_store.generation WHERE table_name = $1", source).Scan(&generation)
	if err != nil {
		return 0, 0, err
	}
	side := func(a, b string) string {
		return fmt.Sprintf("(SELECT count(*) FROM (SELECT %s FROM %s EXCEPT ALL SELECT %s FROM %s) d)", columns, a, columns, b)
	}
	store := fmt.Sprintf("kproxy_store.records_%d", generation)
	err = conn.QueryRow(t.Context(), "SELECT "+side(source, store)+", "+side(store, source)).Scan(&missing, &surplus)
	return missing, surplus, err
}

// agrees waits until the private store holds exactly the source's rows, and has
// `kproxy verify` prove the release. Nothing may write meanwhile.
func (s *site) agrees(t *testing.T, source, columns string) {
	t.Helper()
	conn := connect(t, s.admin)
	defer conn.Close(t.Context())
	missing, surplus := 0, 0
	eventually(t, "the private store holds the source's rows", func() bool {
		var err error
		missing, surplus, err = s.drift(t, conn, source, columns)
		if err != nil {
			t.Fatalf("comparing store and source: %v", err)
		}
		return missing == 0 && surplus == 0
	})
	if o := s.kproxy(t, "verify"); o.code != 0 {
		t.Errorf("verify ended with %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
}
