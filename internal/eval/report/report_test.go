package report_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/internal/eval/report"
)

// TestPrepare finds out before the runs what cannot be written.
func TestPrepare(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "new", "report")
	if err := report.Prepare(folder); err != nil {
		t.Fatal(err)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("error %v, %d files", err, len(entries))
	}
	file := filepath.Join(folder, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := report.Prepare(filepath.Join(file, "report")); err == nil || !strings.Contains(err.Error(), "--out") {
		t.Errorf("error %v", err)
	}
}
