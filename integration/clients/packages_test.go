package clients

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// packages are programs for Python in a folder of testdata, with the packages that its
// requirements.txt pins.
type packages struct {
	name   string
	once   sync.Once
	folder string
	err    error
}

var orms, analysts, dbt = packages{name: "pip"}, packages{name: "pip_all"}, packages{name: "pip_dbt"}

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

// TestAnalysts has the tools of analysts work that take more packages.
func TestAnalysts(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"polars", "adbc", "ibis", "expectations", "streamlit", "notebook"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			heavy(t)
			compare(t, client, analysts.program(t, client+"_work.py"))
		})
	}
}

// TestDbt has dbt read the release, and build models in other databases that import it.
func TestDbt(t *testing.T) {
	t.Parallel()
	heavy(t)
	python, environment := dbt.install(t)
	server, err := pgserver.Start(t.Context(), pgserver.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	compare(t, "dbt", func(t *testing.T, w way) []step {
		t.Helper()
		return program(append(environment, warehouse(t, server, w)...), python, "-B", filepath.Join("testdata", dbt.name, "dbt_work.py"))(t, w)
	})
}

// warehouse makes a database on another server with the release on a way as foreign tables, as docs/warehouse.md
// does, and returns where it is for testdata/pip_dbt.
func warehouse(t *testing.T, server *pgserver.Server, w way) []string {
	t.Helper()
	// Straight, nothing names the published schema as the source's.
	name, schema := "warehouse_through", "public"
	if w == site.ways[straight] {
		name, schema = "warehouse_straight", "kproxy_release_public"
	}
	imported := fmt.Sprintf(`
		CREATE TYPE mood AS ENUM ('low', 'fair', 'good'); CREATE DOMAIN percentage AS integer; CREATE TYPE address AS (city text, zip text);
		CREATE EXTENSION postgres_fdw; CREATE SCHEMA release;
		CREATE SERVER kproxy FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1', port '%d', dbname '%s', sslmode 'require');
		CREATE USER MAPPING FOR CURRENT_USER SERVER kproxy OPTIONS (user '%s', password %s);
		IMPORT FOREIGN SCHEMA %s LIMIT TO (patients, wards) FROM SERVER kproxy INTO release;`, w.port, database, user, catalog.QuoteLiteral(password), schema)
	if err := errors.Join(execute(t.Context(), server, "postgres", "CREATE DATABASE "+name), execute(t.Context(), server, name, imported)); err != nil {
		t.Fatalf("%s: importing the release: %v", w.name, err)
	}
	to, err := pgx.ParseConfig(server.DSN(name))
	if err != nil {
		t.Fatal(err)
	}
	return []string{
		"WAREHOUSE_HOST=" + to.Host, fmt.Sprintf("WAREHOUSE_PORT=%d", to.Port), "WAREHOUSE_USER=" + to.User, "WAREHOUSE_PASSWORD=" + to.Password,
		"WAREHOUSE_DATABASE=" + name, "RELEASE_SCHEMA=" + schema,
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
