package audit

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPath(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := Path(path)()
	if err != nil {
		t.Fatal(err)
	}
	_ = file.Close()
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := Path(path)(); err == nil || !strings.Contains(err.Error(), "0600") {
		t.Errorf("a file that everybody reads: %v", err)
	}
	if _, err := Path(filepath.Join(path, "below"))(); err == nil {
		t.Error("opened below a file")
	}
	device, err := Path(os.DevNull)()
	if err != nil || device.Sync() != nil {
		t.Errorf("a device: %v", err)
	}
}
