package rewrite

import (
	"testing"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestProcedureColumns holds the list of columns that name functions to the server's catalogs.
func TestProcedureColumns(t *testing.T) {
	t.Parallel()
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	result := conn.ExecParams(t.Context(), `SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.atttypid = 'regproc'::regtype AND a.attnum > 0 AND c.relkind = 'r' AND c.relnamespace = 'pg_catalog'::regnamespace`, nil, nil, nil, nil).Read()
	if result.Err != nil || len(result.Rows) == 0 {
		t.Fatalf("%d columns, %v", len(result.Rows), result.Err)
	}
	for _, row := range result.Rows {
		relation, column := string(row[0]), string(row[1])
		if !procedureColumns["pg_catalog."+catalog.QuoteIdentifier(relation)][column] {
			t.Errorf("%s.%s is not listed", relation, column)
		}
	}
}
