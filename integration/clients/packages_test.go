package clients

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// packages are programs for Python in a folder of testdata, with the packages that its
// requirements.txt pins.
type packages struct {
	name   string
	once   sync.Once
	folder string
	err    error
}

var orms = packages{name: "pip"}

// TestPackages has the tools work that pip installs and that people use with any database.
func TestPackages(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"django", "sqlalchemy2", "pandas"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			compare(t, client, orms.program(t, client+"_work.py"))
		})
	}
}

// program is a worker that runs one of the programs.
func (p *packages) program(t *testing.T, name string, arguments ...string) worker {
	t.Helper()
	python, environment := p.install(t)
	return program(environment, python, append([]string{"-B", filepath.Join("testdata", p.name, name)}, arguments...)...)
}

// install has pip install the packages, unless it has done so before, and returns an
// interpreter with the environment in which it finds them.
func (p *packages) install(t *testing.T) (python string, environment []string) {
	t.Helper()
	python = rig.Python()
	rig.Need(t, "python3-pip with Python 3.11 or later", python != "")
	p.once.Do(func() {
		p.folder, p.err = rig.Packages(p.name, python, filepath.Join("testdata", p.name, "requirements.txt"))
	})
	if p.err != nil {
		t.Fatal(p.err)
	}
	shared, err := filepath.Abs(filepath.Join("testdata", "python")) // report.py
	if err != nil {
		t.Fatal(err)
	}
	path := strings.Join([]string{p.folder, shared}, string(os.PathListSeparator))
	// With another seed each time, sets are printed in another order each time.
	return python, []string{"PYTHONPATH=" + path, "PYTHONNOUSERSITE=1", "PYTHONHASHSEED=0"}
}
