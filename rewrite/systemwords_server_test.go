package rewrite

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

const systemWordsHead = `# What shapes of statements may name of PostgreSQL itself: the relations of its schemas,
# their columns, and the functions that begin with pg_. Other names become numbers.
# "go test -run TestSystemWords -update" adds those of another server.

`

// TestSystemWords wants shapes to show what tools ask the system catalogs, on the version
// that the list was made on.
func TestSystemWords(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	result := conn.ExecParams(t.Context(), `SELECT w FROM (
		SELECT relname::text FROM pg_class WHERE relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND relkind IN ('r', 'v')
		UNION SELECT attname FROM pg_attribute JOIN pg_class c ON c.oid = attrelid
			WHERE relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) AND relkind IN ('r', 'v')
		UNION SELECT proname FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ^@ 'pg_'
		UNION SELECT nspname FROM pg_namespace WHERE nspname IN ('pg_catalog', 'information_schema')
		UNION VALUES ('regclass'), ('regtype'), ('regproc'), ('regnamespace'), ('regrole')) s (w)
		WHERE w ~ '^[a-z_][a-z0-9_]*$'`, nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	known := words(systemWordsText)
	var missing []string
	for _, row := range result.Rows {
		if !known[string(row[0])] {
			missing = append(missing, string(row[0]))
		}
	}
	switch {
	case len(missing) == 0:
	case !*update && strings.HasPrefix(conn.ParameterStatus("server_version"), "15"):
		t.Errorf("not known: %v", missing)
	case *update:
		for word := range known {
			missing = append(missing, word)
		}
		slices.Sort(missing)
		text := systemWordsHead
		for len(missing) > 0 {
			n := min(8, len(missing))
			text += strings.Join(missing[:n], " ") + "\n"
			missing = missing[n:]
		}
		if err := os.WriteFile("systemwords.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
