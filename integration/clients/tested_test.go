package clients

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/integration/rig"
)

// tested is a row of the table in docs/clients.md: clients whose names match, who they are and
// what they do.
type tested struct{ names, client, does, version string }

// clientsOf are the rows in their order. A version is "kind what ...": see versionOf.
var clientsOf = []tested{
	{"psql_work", "psql", "scripts: all types, formats, `\\gset`, `\\gexec`, `\\crosstabview`, `\\copy`, `FETCH_COUNT`, cursors, `ON_ERROR_ROLLBACK`, `\\c`", "psql system 17 18"},
	{"psql_interrupted", "psql", "Ctrl-C", "psql system 17 18"},
	{"psql_bind", "psql", "`\\bind`, chunked `FETCH_COUNT`", "psql 17 18"},
	{"psql_pipeline", "psql", "`\\parse`, `\\bind_named`, `\\close_prepared`, pipelines with errors, Sync and Flush", "psql 18"},
	{"psql_encoding_*", "psql", "a script in LATIN1, WIN1252, KOI8R, SJIS, EUC_JP, GBK and UHC: names, texts, errors, plans, COPY, `\\encoding`", "psql system"},
	{"libpq_*", "libpq 17 and 18", "from C's side: direct TLS, ALPN, TLS 1.2 and 1.3, protocol 3.0 to 3.2, single rows, chunks, pipelines, Close, encrypted cancel", "libpq 17 18"},
	{"negotiation", "the startup message", "versions 3.0 to 3.9999 and unknown `_pq_.` options, as libpq 19 probes", ""},
	{"pgbouncer_psql", "PgBouncer before kproxy", "session pooling: psql's script; pgx's work, as above", "run pgbouncer"},
	{"pgbouncer_reset", "PgBouncer before kproxy", "`DISCARD ALL` between clients of one connection", "run pgbouncer"},
	{"pgbouncer_leftovers", "PgBouncer before kproxy", "transaction pooling: what clients leave to others", "run pgbouncer"},
	{"pgbouncer_exec", "PgBouncer before kproxy", "transaction pooling: pgx by `exec`", "run pgbouncer"},
	{"pgbouncer_simple_protocol", "PgBouncer before kproxy", "transaction pooling: pgx by the simple protocol", "run pgbouncer"},
	{"pgbouncer_secrets", "PgBouncer before kproxy", "secrets of SCRAM passed on, cancel", "run pgbouncer"},
	{"haproxy_checks", "HAProxy before kproxy", "`tcp-check`, a check that asks for TLS, `pgsql-check`, a server that is not there; psql's script through it with TLS, with and without the PROXY protocol, as above", "haproxy"},
	{"pgbench", "pgbench", "simple, extended, prepared; `-C`, several scripts, `-R`, pipelines, errors", "run pgbench"},
	{"pgx_*", "pgx", "five execution modes: parameters, batches, pipelines, COPY, cancel by context, savepoints, types, a pool", "go github.com/jackc/pgx/v5"},
	{"sql_pgx", "database/sql with pgx", "prepared statements, transactions, cancel by context, concurrent use", "go github.com/jackc/pgx/v5"},
	{"sql_pq*", "database/sql with lib/pq", "the same, with and without `binary_parameters`; several results, a listener", "go github.com/lib/pq"},
	{"jdbc", "pgjdbc of Debian", "four query modes and forced binary transfer: past `prepareThreshold`, fetch sizes, batches, `CopyManager`, autosave, `setQueryTimeout`, cancel, parameter metadata", "debian libpostgresql-jdbc-java"},
	{"pgjdbc", "pgjdbc", "the same", "pom jvm postgresql"},
	{"hikaricp", "HikariCP", "limits, validation, reset of isolation, autocommit and read-only between users, leaks, eviction, schema, concurrent use", "pom jvm HikariCP"},
	{"hibernate", "Hibernate ORM", "`hbm2ddl.auto`, entities with relations, fetch joins, graphs, HQL, criteria, scrolling, native queries, locks", "pom jvm hibernate-core"},
	{"jooq", "jOOQ", "queries that it builds, `MULTISET`, plain SQL, its parser, transactions, `meta()`, code generation", "pom jvm jooq"},
	{"spark", "Spark", "tables and queries by partitions, pushdown of filters, aggregates, limits and offsets, its JDBC catalog", "pom spark spark-sql_2.13"},
	{"trino", "Trino's connector", "`SHOW TABLES`, `DESCRIBE`, `SHOW STATS`, pushdown, joins", "pom trino trino-postgresql"},
	{"odbc", "psqlODBC with pyodbc", "six configurations: `UseDeclareFetch`, `UseServerSidePrepare` on and off, rollback by statement and by transaction; cancel", "debian odbc-postgresql"},
	{"psycopg2", "psycopg2", "named and scrollable cursors, `copy_expert`, `async_`, cancel, adapters", "debian python3-psycopg2"},
	{"psycopg3", "psycopg 3", "text and binary, pipelines with errors, `stream`, server cursors, prepared statements, COPY by block and by row, asyncio", "debian python3-psycopg"},
	{"asyncpg", "asyncpg", "prepared statements, cursors, COPY, scripts, time limits and cancel, a pool with `RESET`", "debian python3-asyncpg"},
	{"sqlalchemy", "SQLAlchemy 1.4 with psycopg2 and asyncpg", "Core, the ORM, savepoints, streaming, isolation levels, reflection", "debian python3-sqlalchemy"},
	{"sqlalchemy2", "SQLAlchemy 2 with psycopg 3, with and without asyncio", "Core, the ORM with its ways of loading, savepoints, streaming, isolation levels, the inspector, reflection, automap", "pins pip sqlalchemy psycopg"},
	{"django", "Django with psycopg 3", "unmanaged models: lookups, aggregates, window functions, `select_related`, prefetch, raw queries, savepoints, server-side cursors, introspection, `inspectdb`", "pins pip django psycopg"},
	{"pandas", "pandas over SQLAlchemy", "`read_sql`, `read_sql_table`, parameters, chunks, dates, types with nulls, grouping", "pins pip pandas"},
	{"polars", "polars over SQLAlchemy, psycopg 3 and connectorx", "`read_database`, batches, each type, `read_database_uri` by four protocols and in parts", "pins pip_all polars connectorx"},
	{"adbc", "ADBC's PostgreSQL driver, polars over it", "Arrow tables, types, parameters, its catalog, transactions", "pins pip_all adbc-driver-postgresql"},
	{"ibis", "ibis", "lists and schemas of tables, expressions, aggregates, joins, windows, sets, arrays, pivots, to pandas, polars and Arrow", "pins pip_all ibis-framework"},
	{"expectations", "Great Expectations", "a data source, table and query assets, 32 expectations, monthly batches, a checkpoint", "pins pip_all great-expectations"},
	{"streamlit", "Streamlit", "a page with `st.connection(\"sql\")`, its widgets, cache and session", "pins pip_all streamlit"},
	{"notebook", "JupyterLab's notebooks by nbclient", "cells with SQLAlchemy, pandas and psycopg, exported to HTML", "pins pip_all jupyterlab nbclient"},
	{"dbt", "dbt-postgres", "`debug`, `show`, tests and freshness of sources, `docs generate`; in another database, which imports the release: `build` twice with all kinds of models, snapshot and tests", "pins pip_dbt dbt-postgres dbt-core"},
	{"ogr", "ogr2ogr, ogrinfo", "lists and structures of layers, `-where`, `-sql`, by number, OGR's own SQL, CSV, GeoJSON, PGDump", "run ogrinfo"},
	{"php", "PDO and PHP's pgsql", "statements prepared by server and driver, scrolling, transactions, COPY, metadata, several results", "run php"},
	{"active_record", "Active Record", "models, relations, `includes`, `find_each`, transactions, savepoints, prepared statements, the catalogs, the schema's dump, time limits", "debian ruby-activerecord"},
	{"atlas", "Atlas (its Go module) with lib/pq", "inspection of a schema and of the realm, as SQL and HCL, differences, locks", "gomod atlas ariga.io/atlas"},
	{"pgcli", "pgcli", "statements, backslash commands, completion", "debian pgcli"},
	{"rpostgresql", "RPostgreSQL", "parameters, fetches by part, transactions, `dbReadTable`, the catalogs", "debian r-cran-rpostgresql"},
	{"rodbc", "RODBC", "all types, `sqlFetch`, `sqlTables`, `sqlColumns`, `sqlTypeInfo`, transactions", "debian r-cran-rodbc"},
	{"dbplyr", "dbplyr over RPostgreSQL", "joins, aggregates, window functions, dates, texts, `explain`, `compute`", "debian r-cran-dbplyr"},
	{"node_postgres", "node-postgres", "parameters, named statements, cursors, streams, `pg-copy-streams`, a pool, a client that dies", "lock node pg"},
	{"postgres_js", "postgres.js", "parameters, pipelines with errors, cursors, COPY, cancel, savepoints, with and without prepared statements", "lock node postgres"},
	{"typeorm", "TypeORM", "connecting, entities, the query builder, transactions, what it asks the catalogs", "lock orm typeorm"},
	{"drizzle", "Drizzle, drizzle-kit", "queries, relational queries, prepared ones, transactions; `drizzle-kit introspect`", "lock orm drizzle-orm drizzle-kit"},
	{"builders", "Sequelize, Knex, Kysely", "queries, streams, transactions, descriptions of tables", "lock orm sequelize knex kysely"},
	{"postgraphile", "PostGraphile with its filters", "the schema that it makes, connections, conditions, filters, ordering, offsets, `totalCount`", "lock schema postgraphile"},
	{"prisma", "Prisma with adapter-pg", "`prisma generate`; queries, filters, JSON, cursors, aggregates, `groupBy`, enums, raw SQL, transactions", "lock schema prisma"},
	{"tokio_postgres", "tokio-postgres with native-tls", "types, prepared and pipelined statements, portals, COPY, cancel, savepoints, notices", "cargo rust tokio-postgres"},
	{"sqlx", "sqlx", "a pool, records, streams, `describe`, COPY, savepoints, a listener", "cargo rust sqlx"},
	{"diesel", "Diesel over libpq", "queries that it builds and checks, joins, COPY, row by row, transactions", "cargo rust diesel"},
}

// outcomeOf is what a run of a client came to, as testdata/outcomes has it.
type outcomeOf struct {
	Version       string
	Steps, Differ int
}

func outcomePath(name string) string { return filepath.Join("testdata", "outcomes", name+".json") }

// record judges that a client's run came to what docs/clients.md says of it, or writes that.
func record(t *testing.T, name string, steps, differ int) {
	t.Helper()
	row := slices.IndexFunc(clientsOf, func(c tested) bool { is, _ := path.Match(c.names, name); return is })
	if row < 0 {
		t.Fatalf("no row of clientsOf describes %s", name)
	}
	if *update {
		text, err := json.Marshal(outcomeOf{Version: versionOf(t, clientsOf[row].version), Steps: steps, Differ: differ})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(outcomePath(name), append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if was := outcome(t, name); site.server.Version().Major == goldenMajor && (was.Steps != steps || was.Differ != differ) {
		t.Errorf("docs/clients.md says of %s that of %d steps %d differ; of %d it is %d", name, was.Steps, was.Differ, steps, differ)
	}
}

func outcome(t *testing.T, name string) (o outcomeOf) {
	t.Helper()
	text, err := os.ReadFile(outcomePath(name))
	if err == nil {
		err = json.Unmarshal(text, &o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// TestTable judges that the table in docs/clients.md is what the last runs came to, or writes it.
// Versions that files pin are those of the files.
func TestTable(t *testing.T) {
	const page, head = "../../docs/clients.md", "| Client | Version | Run as | Steps | Differ |\n| --- | --- | --- | --- | --- |\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), head)
	if !found {
		t.Fatalf("%s has no table", page)
	}
	_, after, _ := strings.Cut(rest, "\n\n")
	var table strings.Builder
	for _, c := range clientsOf {
		table.WriteString(c.row(t))
	}
	made := before + head + table.String() + "\n" + after
	if *update {
		if err := os.WriteFile(page, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if made != string(text) {
		t.Errorf("the table of %s is not what the runs came to: go test ./integration/clients -run TestTable -update", page)
	}
}

func (c tested) row(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(outcomePath(c.names))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		return "" // it was never run
	}
	var versions, steps, differ []string
	for _, file := range files {
		o := outcome(t, strings.TrimSuffix(filepath.Base(file), ".json"))
		if kind, _, _ := strings.Cut(c.version, " "); slices.Contains([]string{"go", "gomod", "lock", "pins", "pom", "cargo"}, kind) && o.Version != versionOf(t, c.version) {
			t.Errorf("%s was run in version %s, and is pinned at %s", c.names, o.Version, versionOf(t, c.version))
		}
		versions, steps, differ = append(versions, o.Version), append(steps, fmt.Sprint(o.Steps)), append(differ, fmt.Sprint(o.Differ))
	}
	each := ""
	if len(files) > 1 {
		each = " each"
	}
	one := func(values []string) string { return strings.Join(slices.Compact(values), ", ") }
	return fmt.Sprintf("| %s | %s | %s | %s%s | %s |\n", c.client, one(versions), c.does, one(steps), each, one(differ))
}

// versionOf reads a version: of a module in go.mod, of packages in a folder of testdata that
// pins them, of a Debian package, or of a program.
func versionOf(t *testing.T, of string) string {
	t.Helper()
	fields := strings.Fields(of)
	if len(fields) == 0 {
		return ""
	}
	kind, names := fields[0], fields[1:]
	pinned := func(file, pattern string) string {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var versions []string
		for _, name := range names {
			found := regexp.MustCompile(fmt.Sprintf(pattern, regexp.QuoteMeta(name))).FindSubmatch(text)
			if found == nil {
				t.Fatalf("%s does not pin %s", file, name)
			}
			versions = append(versions, string(found[1]))
		}
		return strings.Join(versions, ", ")
	}
	folder := ""
	if len(names) > 0 {
		folder = filepath.Join("testdata", names[0])
	}
	switch kind {
	case "go":
		return pinned("../../go.mod", `\s%s v(\S+)`)
	case "gomod":
		names = names[1:]
		return pinned(filepath.Join(folder, "go.mod"), `\s%s v(\S+)`)
	case "haproxy":
		return numberOf(t, rig.Program("haproxy", "/usr/sbin/haproxy"), "-v")
	case "lock":
		names = names[1:]
		return pinned(filepath.Join(folder, "package-lock.json"), `"node_modules/%s": \{\s*"version": "([^"]+)"`)
	case "pins":
		names = names[1:]
		return pinned(filepath.Join(folder, "requirements.txt"), `(?m)^%s(?:\[\w+\])?==(\S+)`)
	case "pom":
		names = names[1:]
		return pinned(filepath.Join(folder, "pom.xml"), `<artifactId>%s</artifactId><version>([0-9.]*[0-9])`)
	case "cargo":
		names = names[1:]
		return pinned(filepath.Join(folder, "Cargo.lock"), `name = "%s"\s*version = "([^"]+)"`)
	case "debian":
		return numberOf(t, "dpkg-query", "-W", "-f", "${Version}", names[0])
	case "psql":
		var versions []string
		for _, version := range names {
			versions = append(versions, numberOf(t, psqlOf(t, version), "--version"))
		}
		return strings.Join(versions, ", ")
	case "libpq":
		var versions []string
		for _, major := range names {
			const script = "import ctypes, sys; v = ctypes.CDLL(sys.argv[1]).PQlibVersion(); print(f'{v // 10000}.{v % 10000}')"
			versions = append(versions, numberOf(t, python("ctypes"), "-c", script, libpqOf(t, major)))
		}
		return strings.Join(versions, ", ")
	default:
		return numberOf(t, rig.Program(names[0]), "--version")
	}
}

// numberOf is the first version in what a program prints, without an epoch and the part that is a distributor's.
func numberOf(t *testing.T, name string, arguments ...string) string {
	t.Helper()
	output, err := exec.CommandContext(t.Context(), name, arguments...).Output()
	found := regexp.MustCompile(`(?:^|[\s:])([0-9]+[0-9.]*[0-9])`).FindSubmatch(output)
	if err != nil || found == nil {
		t.Fatalf("%s %v: %v\n%s", name, arguments, err, output)
	}
	return string(found[1])
}
