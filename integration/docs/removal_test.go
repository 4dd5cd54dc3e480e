package docs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRemoval runs the statements of docs/operations.md that remove kproxy from a
// database, and looks for what they leave.
func TestRemoval(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Removing kproxy\n")
	_, sql, _ := strings.Cut(section, "```sql\n")
	sql, _, found := strings.Cut(sql, "```")
	if !found {
		t.Fatal("docs/operations.md does not say how to remove kproxy")
	}
	s := newSite(t, "")
	s.stop()
	if printed, err := s.run(t, "psql -X -q -v ON_ERROR_STOP=1", sql); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	const left = `SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'kproxy%'
		UNION ALL SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname LIKE 'kproxy%'
		UNION ALL SELECT 'slot ' || slot_name FROM pg_replication_slots
		UNION ALL SELECT 'publication ' || pubname FROM pg_publication
		UNION ALL SELECT count(*) || ' patients' FROM patients HAVING count(*) <> 2000`
	if printed, err := s.run(t, "psql -XAt", left); err != nil || strings.TrimSpace(printed) != "" {
		t.Errorf("left in the database: %s (%v)", printed, err)
	}
}
