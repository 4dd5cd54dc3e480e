package clients

import (
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// pythons are the programs in testdata/python, with the modules that each needs and the
// Debian packages that have them.
var pythons = []struct{ program, modules, packages string }{
	{"psycopg2", "psycopg2", "python3-psycopg2"},
	{"psycopg3", "psycopg", "python3-psycopg"},
	{"asyncpg", "asyncpg", "python3-asyncpg"},
	{"odbc", "pyodbc; assert 'PostgreSQL Unicode' in pyodbc.drivers()", "odbc-postgresql with python3-pyodbc"},
	{"pgcli", "pgcli", "pgcli"},
	{"sqlalchemy", "sqlalchemy, psycopg2, asyncpg", "python3-sqlalchemy with python3-psycopg2 and python3-asyncpg"},
}

func TestPython(t *testing.T) {
	t.Parallel()
	for _, p := range pythons {
		t.Run(p.program, func(t *testing.T) {
			t.Parallel()
			interpreter := python(p.modules)
			rig.Need(t, p.packages, interpreter != "")
			path := filepath.Join("testdata", "python", p.program+"_work.py")
			compare(t, p.program, program(nil, interpreter, "-B", path))
		})
	}
}

// python is an interpreter that has the modules; empty if there is none.
func python(modules string) string {
	for _, name := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(name, "-c", "import "+modules).Run() == nil {
			return name
		}
	}
	return ""
}
