package integration

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

var (
	randomStatements = flag.Int("random.statements", 1000, "`number` of statements that TestRandomStatements sends")
	randomSeed       = flag.Int("random.seed", 1, "`seed` of the generator")
)

// sqlsmith is Andreas Seltenreich's generator of random queries.
const sqlsmith = "sqlsmith"

// TestRandomStatements sends what SQLsmith makes of the published tables, of the
// catalogs that clients can read, of kproxy's allowed functions and of all operators
// over its allowed types, and looks for canaries in every byte that comes back.
//
// SQLsmith reads the schema from a database of its own, which has the published
// tables under the clients' names and whose lists of functions and types are cut
// down to the allowed ones, as is that of tables: of what it would make of the whole of pg_proc nine
// statements in ten are refused.
//
// The served database has extensions, of which it must not see anything; and SQLsmith
// starts through kproxy, too, by what clients are shown of it.
func TestRandomStatements(t *testing.T) {
	t.Parallel()
	rig.Need(t, sqlsmith, rig.Program(sqlsmith) != "")
	s := canarySite(t)
	withExtensions(t, connect(t, s.admin))
	secret := rawCanaries(t, connect(t, s.admin))
	secret = append(secret, spellings("definition", "a hidden definition", hiddenMarker)...)
	secret = append(secret, spellings("name", "the store's name", "kproxy_store")...)
	schema := pgtest.Database(t, s.server)
	readableSchema(t, connect(t, schema), s.shapes(t), s.readableCatalogs(t))
	t.Run("statements", func(t *testing.T) {
		t.Run("published tables", func(t *testing.T) { t.Parallel(); sendRandom(t, s, secret, schema, "--exclude-catalog") })
		t.Run("through kproxy alone", func(t *testing.T) { t.Parallel(); startRandom(t, s) })
		t.Run("and catalogs", func(t *testing.T) { t.Parallel(); sendRandom(t, s, secret, schema) })
	})
	s.agrees(t, "people", "id, account, born, town, postcode, illness, cost")
}

// withExtensions installs what most servers' packages have.
func withExtensions(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, extension := range []string{"hstore", "pg_trgm", "citext", "btree_gist"} {
		if scalar[bool](t, conn, "SELECT EXISTS (SELECT FROM pg_available_extensions WHERE name = $1)", extension) {
			execute(t, conn, "CREATE EXTENSION "+extension)
		}
	}
	if installed := scalar[int](t, conn, "SELECT count(*)::int FROM pg_extension"); installed < 4 {
		t.Logf("only %d extensions: this server's package has no others", installed)
	}
}

// startRandom has SQLsmith read the schema from kproxy, and run the statements that it makes
// of it: what it is shown must fit together.
func startRandom(t *testing.T, s *site) {
	t.Helper()
	client, quoted := connConfig(t, s.url()), strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	command := exec.CommandContext(t.Context(), sqlsmith, "--verbose", "--exclude-catalog", fmt.Sprintf("--seed=%d", *randomSeed), fmt.Sprintf("--max-queries=%d", *randomStatements/5),
		fmt.Sprintf("--target=host=%s port=%d dbname=%s user=%s password='%s' options='-c statement_timeout=10000'",
			client.Host, client.Port, client.Database, client.User, quoted.Replace(client.Password)))
	output, err := command.CombinedOutput()
	// It writes a point for each statement that was answered, and letters for others.
	_, told, started := strings.Cut(string(output), "Generating indexes...done.\n")
	if err != nil || !started || !regexp.MustCompile(`(?m)^[eSCt]*\.`).MatchString(told) {
		t.Errorf("%s: %v\n%s", sqlsmith, err, output)
	}
	t.Logf("%s", told)
}

// sendRandom sends half of the statements and judges the answers.
func sendRandom(t *testing.T, s *site, secret canaries, schema string, flags ...string) {
	t.Helper()
	number := *randomStatements / 2
	w := dialed(t, s.url()+"&options=-cstatement_timeout%3D2000")
	sent, answered, refused := 0, 0, make(map[string]int)
	for sql := range randomQueries(t, schema, number, flags) {
		a, err := w.simple(sql)
		sent++
		if what := secret.found(w.drain()); what != "" {
			t.Errorf("statement %d shows %s:\n%s", sent, what, sql)
		}
		if err != nil {
			t.Fatalf("statement %d ends the session: %v\n%s", sent, err, sql)
		}
		if len(a.errs) == 0 {
			answered++
			continue
		}
		refused[a.errs[0]]++
		// PostgreSQL has internal errors of its own for some: invalid INTERVAL typmod.
		if strings.HasPrefix(a.errs[0], "XX") && strings.Contains(a.errs[0], "kproxy") {
			t.Errorf("statement %d is an internal error, %s:\n%s", sent, a.errs[0], sql)
		}
	}
	if err := w.recover(); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	t.Logf("%d statements, %d answered", sent, answered)
	for message, n := range refused {
		t.Logf("%6d %s", n, message)
	}
	if sent < number || answered < sent/2 {
		t.Errorf("of %d statements %d were sent and %d answered", number, sent, answered)
	}
}

// shapes are the definitions of what clients can read.
func (s *site) shapes(t *testing.T) []string {
	t.Helper()
	rows, err := connect(t, s.admin).Query(t.Context(), `
		SELECT format('CREATE TABLE public.%I (%s)', c.relname,
		              string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' ORDER BY a.attnum))
		FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = 'kproxy_release_public'::regnamespace
		GROUP BY c.oid, c.relname`)
	if err != nil {
		t.Fatal(err)
	}
	shapes, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	if len(shapes) < 3 {
		t.Fatalf("only %d tables can be read", len(shapes))
	}
	return shapes
}

// readableCatalogs are the system relations that clients can read through kproxy, as
// SQL literals of their full names.
func (s *site) readableCatalogs(t *testing.T) string {
	t.Helper()
	rows, err := connect(t, s.admin).Query(t.Context(), `SELECT relnamespace::regnamespace || '.' || relname FROM pg_catalog.pg_class c
		WHERE relkind IN ('r', 'v') AND relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)`)
	if err != nil {
		t.Fatal(err)
	}
	relations, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	client := connect(t, s.url())
	var readable []string
	for _, relation := range relations {
		if _, err := client.Exec(t.Context(), "SELECT FROM "+relation+" LIMIT 0"); err == nil {
			readable = append(readable, "'"+relation+"'")
		}
	}
	if len(readable) < 40 {
		t.Fatalf("clients can read only %d of %d system relations", len(readable), len(relations))
	}
	return strings.Join(readable, ", ")
}

// readableSchema makes a database look to SQLsmith as clients may use it. It asks
// for pg_proc and pg_type without a schema, so that views which stand before
// pg_catalog on the search path answer; pg_operator itself is cut.
func readableSchema(t *testing.T, conn *pgx.Conn, tables []string, catalogs string) {
	t.Helper()
	functions, types := allowlist(t, "functions.txt"), allowlist(t, "types.txt")
	execute(t, conn, "SET allow_system_table_mods = on")
	execute(t, conn, fmt.Sprintf(`CREATE VIEW information_schema.allowed AS SELECT oid FROM pg_catalog.pg_type
		WHERE typnamespace = 'pg_catalog'::regnamespace AND typname IN (%s) AND typname NOT LIKE 'reg%%' AND typtype <> 'p'`, types))
	// Of what makes large values a few statements would take all of the time.
	execute(t, conn, fmt.Sprintf(`CREATE VIEW information_schema.pg_proc AS SELECT p.* FROM pg_catalog.pg_proc p
		WHERE pronamespace = 'pg_catalog'::regnamespace AND proname IN (%s)
		  AND proname NOT IN ('repeat', 'lpad', 'rpad', 'generate_series', 'factorial', 'pow', 'power')
		  AND prorettype IN (SELECT oid FROM information_schema.allowed)
		  AND proargtypes::oid[] <@ ARRAY(SELECT oid FROM information_schema.allowed)`, functions))
	execute(t, conn, `DELETE FROM pg_catalog.pg_operator
		WHERE NOT ARRAY[oprleft, oprright, oprresult] <@ (ARRAY(SELECT oid FROM information_schema.allowed) || 0::oid)`)
	for _, table := range tables {
		execute(t, conn, table)
	}
	execute(t, conn, "ALTER VIEW information_schema.tables RENAME TO all_tables")
	execute(t, conn, fmt.Sprintf(`CREATE VIEW information_schema.tables AS SELECT * FROM information_schema.all_tables
		WHERE table_schema = 'public' OR table_schema || '.' || table_name IN (%s)`, catalogs))
}

// allowlist reads one of the rewriter's lists as one of SQL literals.
func allowlist(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile("../rewrite/" + file)
	if err != nil {
		t.Fatal(err)
	}
	var literals []string
	for line := range strings.Lines(string(text)) {
		line, _, _ = strings.Cut(line, "#")
		for _, name := range strings.Fields(line) {
			literals = append(literals, "'"+name+"'")
		}
	}
	return strings.Join(literals, ", ")
}

// randomQueries has SQLsmith write statements. It ends with the test.
func randomQueries(t *testing.T, database string, number int, flags []string) func(yield func(string) bool) {
	t.Helper()
	return func(yield func(string) bool) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		target := connConfig(t, database)
		command := exec.CommandContext(ctx, sqlsmith, append(flags, "--dry-run",
			fmt.Sprintf("--seed=%d", *randomSeed), fmt.Sprintf("--max-queries=%d", number),
			fmt.Sprintf("--target=host=%s port=%d dbname=%s user=%s password='%s' options='-c search_path=information_schema,pg_catalog,public'",
				target.Host, target.Port, target.Database, target.User, target.Password))...)
		var complaints bytes.Buffer
		command.Stderr = &complaints
		output, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(output)
		var sql strings.Builder
		for err == nil {
			var line string
			line, err = lines.ReadString('\n')
			sql.WriteString(line)
			if !strings.HasSuffix(line, ";\n") {
				continue
			}
			if !yield(sql.String()) {
				return
			}
			sql.Reset()
		}
		if waited := command.Wait(); waited != nil || !errors.Is(err, io.EOF) {
			t.Fatalf("%s: %v, %v\n%s", sqlsmith, waited, err, complaints.String())
		}
	}
}
