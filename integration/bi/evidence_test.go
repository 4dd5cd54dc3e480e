package bi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEvidence has Evidence run the sources of a report and compares what it stores for
// the report's pages.
func TestEvidence(t *testing.T) {
	heavy(t)
	start(t)
	folder := project(t, "evidence")
	// TZ: node-postgres takes a date for midnight where it runs.
	way := append(os.Environ(), "TZ=UTC", "SEND_ANONYMOUS_USAGE_STATS=no",
		"EVIDENCE_SOURCE__hospital__host="+site.Analyst.Hostname(), "EVIDENCE_SOURCE__hospital__port="+site.Analyst.Port(), "EVIDENCE_SOURCE__hospital__password="+password())
	run(t, folder, way, "node", filepath.Join("node_modules", "@evidence-dev", "evidence", "cli.js"), "sources", "--strict")
	for _, source := range []string{"chapters", "patients"} {
		t.Run(source, func(t *testing.T) {
			sql, err := os.ReadFile(filepath.Join("testdata", "evidence", "sources", "hospital", source+".sql"))
			if err != nil {
				t.Fatal(err)
			}
			shown := run(t, folder, way, "node", "rows.mjs", source)
			agree(t, table(shown), published(t, strings.TrimSpace(string(sql))))
		})
	}
}
