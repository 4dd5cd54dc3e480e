package clients

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// TestNode has the drivers of Node.js work, and what is built on them, in the versions of
// package-lock.json.
func TestNode(t *testing.T) {
	t.Parallel()
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	for project, clients := range map[*modules][]string{&node: {"node_postgres", "postgres_js"}, &orm: {"typeorm", "drizzle", "builders"}} {
		for _, client := range clients {
			t.Run(client, func(t *testing.T) {
				t.Parallel()
				folder := project.install(t)
				compare(t, client, program([]string{"FOLDER=" + folder}, "node", filepath.Join(folder, client+".mjs")))
			})
		}
	}
}

// modules are programs in a folder of testdata, with what they need.
type modules struct {
	name   string
	once   sync.Once
	folder string
	err    error
}

var node, orm = modules{name: "node"}, modules{name: "orm"}

// install has npm install what package-lock.json pins, unless it has done so before, and
// returns a folder with the programs and the modules.
func (m *modules) install(t *testing.T) string {
	t.Helper()
	m.once.Do(func() {
		if m.folder, m.err = rig.Project(m.name, filepath.Join("testdata", m.name)); m.err == nil {
			cleanup(func() error { return os.RemoveAll(m.folder) })
		}
	})
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m.folder
}
