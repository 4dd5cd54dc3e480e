package metadata

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// answers splits what a client prints into its sections.
func answers(t *testing.T, output string, err error) []section {
	t.Helper()
	if err != nil {
		t.Errorf("the client fails: %v\n%s", err, output)
	}
	var sections []section
	for _, part := range parts(output) {
		asked, shown, _ := strings.Cut(part, "\n")
		sections = append(sections, section{asked: asked, shown: shown})
	}
	if len(sections) == 0 {
		t.Fatalf("the client prints nothing:\n%s", output)
	}
	return sections
}

// TestJDBC has pgjdbc tell what its DatabaseMetaData finds: the base of DBeaver,
// Metabase, Tableau, DataGrip.
func TestJDBC(t *testing.T) {
	t.Parallel()
	const driver = "/usr/share/java/postgresql.jar"
	_, err := os.Stat(driver)
	rig.Need(t, "libpostgresql-jdbc-java with a JDK", err == nil && rig.Program("javac") != "")
	start(t)
	classes := t.TempDir()
	if output, err := run(t, "javac", "-d", classes, filepath.Join("testdata", "Metadata.java")); err != nil {
		t.Fatalf("compiling: %v\n%s", err, output)
	}
	output, err := run(t, "java", "-XX:TieredStopAtLevel=1", "-cp", classes+":"+driver, "Metadata")
	compare(t, "jdbc", answers(t, output, err))
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

// TestSQLAlchemy has SQLAlchemy reflect the tables, as Superset does.
func TestSQLAlchemy(t *testing.T) {
	t.Parallel()
	interpreter := python("sqlalchemy, psycopg2")
	rig.Need(t, "python3-sqlalchemy with python3-psycopg2", interpreter != "")
	start(t)
	output, err := run(t, interpreter, filepath.Join("testdata", "reflect.py"))
	compare(t, "sqlalchemy", answers(t, output, err))
}

// TestODBC has psqlODBC answer ODBC's catalog functions: the base of Tableau, Excel
// and Qlik.
func TestODBC(t *testing.T) {
	t.Parallel()
	interpreter := python("pyodbc; assert 'PostgreSQL Unicode' in pyodbc.drivers()")
	rig.Need(t, "odbc-postgresql with python3-pyodbc", interpreter != "")
	start(t)
	output, err := run(t, interpreter, filepath.Join("testdata", "catalog.py"))
	compare(t, "odbc", answers(t, output, err))
}

// TestDump wants pg_dump to be refused with a reason and to write nothing.
func TestDump(t *testing.T) {
	t.Parallel()
	rig.Need(t, "pg_dump", rig.Program("pg_dump") != "" && rig.Program("psql") != "")
	start(t)
	if psqlMajor(t) < site.server.Version().Major {
		t.Skip("pg_dump itself refuses servers that are newer than it")
	}
	for _, arguments := range [][]string{nil, {"--schema-only"}, {"-t", "patients"}, {"--data-only", "-t", "public.wards"}} {
		file := filepath.Join(t.TempDir(), "dump.sql")
		output, err := run(t, "pg_dump", append(arguments, "-f", file)...)
		if err == nil || !strings.Contains(output, "ERROR:") {
			t.Errorf("pg_dump %v is not refused: %v\n%s", arguments, err, output)
		}
		if !strings.Contains(output, "use COPY ... TO STDOUT") {
			t.Errorf("pg_dump %v does not learn what to use instead:\n%s", arguments, output)
		}
		if found := hidden.FindString(output); found != "" {
			t.Errorf("pg_dump %v shows %q:\n%s", arguments, found, output)
		}
		if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
			t.Errorf("pg_dump %v writes a part:\n%s", arguments, text)
		}
	}
}
