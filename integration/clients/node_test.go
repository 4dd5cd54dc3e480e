package clients

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestNode has the drivers of Node.js work, in the versions of package-lock.json.
func TestNode(t *testing.T) {
	t.Parallel()
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	for _, client := range []string{"node_postgres", "postgres_js"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			folder := modules(t)
			compare(t, client, program(nil, "node", filepath.Join(folder, client+".mjs")))
		})
	}
}

// node is the folder in which the programs find their modules.
var node struct {
	once   sync.Once
	folder string
	err    error
}

// modules has npm install what package-lock.json pins, unless it has done so before, and
// returns a folder with the programs and the modules.
func modules(t *testing.T) string {
	t.Helper()
	node.once.Do(func() {
		if node.folder, node.err = rig.Project("node", filepath.Join("testdata", "node")); node.err == nil {
			cleanup(func() error { return os.RemoveAll(node.folder) })
		}
	})
	if node.err != nil {
		t.Fatal(node.err)
	}
	return node.folder
}
