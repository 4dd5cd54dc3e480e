package rewrite

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

const builtinsHead = `# The names of the other functions of pg_catalog, PostgreSQL 13 to 18, but for those that
# begin with pg_: what is not here, and not in functions.txt, is told to clients as
# missing. "go test -run TestBuiltinsAreKnown -update" adds those of another server.

`

// TestBuiltinsAreKnown wants each function of the server to be one that clients are told
// of as forbidden where they may not call it.
func TestBuiltinsAreKnown(t *testing.T) {
	conn := connect(t, pgtest.Database(t, pgtest.Shared(t)), nil)
	result := conn.ExecParams(t.Context(), `SELECT DISTINCT proname::text FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace`, nil, nil, nil, nil).Read()
	if result.Err != nil {
		t.Fatal(result.Err)
	}
	var missing []string
	for _, row := range result.Rows {
		if name := string(row[0]); !isBuiltin([]string{name}) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	if !*update {
		t.Fatalf("not known: %v", missing)
	}
	for name := range builtinFunctions {
		missing = append(missing, name)
	}
	slices.Sort(missing)
	var text strings.Builder
	text.WriteString(builtinsHead)
	width := 0
	for _, name := range missing {
		if width > 0 && width+len(name) > 110 {
			text.WriteByte('\n')
			width = 0
		} else if width > 0 {
			text.WriteByte(' ')
		}
		text.WriteString(name)
		width += len(name) + 1
	}
	text.WriteByte('\n')
	if err := os.WriteFile("builtins.txt", []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
