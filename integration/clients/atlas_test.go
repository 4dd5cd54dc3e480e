package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestAtlas has Atlas look at a schema: the module that its commands are made of. It has a
// go.mod of its own, as kproxy needs nothing of it.
func TestAtlas(t *testing.T) {
	heavy(t)
	t.Parallel()
	path := filepath.Join(t.TempDir(), "atlas")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, ".")
	cmd.Dir, cmd.Env = filepath.Join("testdata", "atlas"), append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, output)
	}
	compare(t, "atlas", program(nil, path))
}
