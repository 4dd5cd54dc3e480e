package bi

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// project is a folder of testdata as its tool works in it: a copy, in a new folder with
// the modules that npm installs as package-lock.json pins them.
func project(t *testing.T, name string) string {
	t.Helper()
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	folder, err := rig.Project(name, filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}
