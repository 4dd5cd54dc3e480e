package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

var (
	regressFolder = flag.String("regress.folder", "", "`folder` of PostgreSQL's source, src/test/regress, of the server's major version")
	regressUpdate = flag.Bool("regress.update", false, "write the golden file of TestRegress anew")
)

// regressFiles are the parts of PostgreSQL's regression tests that read: types,
// expressions and queries. The others are about writing, definitions and plans.
var regressFiles = strings.Fields(`boolean char name varchar text int2 int4 int8 oid float4 float8 bit numeric uuid enum
	rangetypes strings numerology point lseg line box path polygon circle date time timetz timestamp timestamptz interval
	inet macaddr macaddr8 multirangetypes geometry horology tstypes regex comments expressions unicode select select_distinct
	select_distinct_on select_implicit select_having subselect union case join aggregates portals arrays groupingsets
	tablesample tsrf limit window with json jsonb json_encoding jsonpath jsonpath_encoding jsonb_jsonpath xml tsearch
	rowtypes prepare functional_deps select_views select_parallel`)

// TestRegress runs the reading statements of PostgreSQL's own regression tests twice:
// straight as the reader role, and through kproxy. Every answer must be the same to
// the character, errors with their positions included, or a refusal of kproxy. What
// is refused and what differs is held against a golden file, which was reviewed.
func TestRegress(t *testing.T) {
	t.Parallel()
	if *regressFolder == "" {
		t.Skip("PostgreSQL's regression tests are not there: make regress fetches and runs them")
	}
	s := regressSite(t)
	var report strings.Builder
	total, same := 0, 0
	for _, file := range regressFiles {
		r := newRegression(t, s)
		for _, sql := range regressStatements(t, file) {
			if !reads(sql) {
				continue
			}
			total++
			r.run(t, sql)
		}
		same += r.same
		r.report(&report, file)
	}
	t.Logf("%d statements, %d answered alike", total, same)
	const golden = "testdata/regress15.golden"
	if *regressUpdate {
		if err := os.WriteFile(golden, []byte(report.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != report.String() {
		written := filepath.Join(t.ArtifactDir(), "regress15.golden")
		t.Errorf("the report is not %s; it is in %s, and what is only there begins with\n%s", golden, written, onlyIn(report.String(), string(want)))
		if err := os.WriteFile(written, []byte(report.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

// onlyIn are the first lines of a text that another does not have.
func onlyIn(text, other string) string {
	var only []string
	lines := strings.Split(other, "\n")
	for line := range strings.Lines(text) {
		if line = strings.TrimSuffix(line, "\n"); !slices.Contains(lines, line) && len(only) < 40 {
			only = append(only, line)
		}
	}
	return strings.Join(only, "\n")
}

// regressSite has the tables of the regression tests, all but one of them readable,
// beside a protected one.
func regressSite(t *testing.T) *site {
	t.Helper()
	o := siteOptions{
		load: loadRegress,
		tables: `
tables:
  hidden.person_protected:
    method: rounded-partition
    updates: immediate
    constraints: [{k: 2}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
readable: []
`,
	}
	s := newSite(t, o)
	// The type of inttest calls a function in PL/pgSQL to compare, which 'kproxy check' refuses.
	rows, err := connect(t, s.admin).Query(t.Context(), `SELECT 'public.' || relname FROM pg_class
		WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND relname ~ '^[a-z0-9_]+$' AND relname <> 'inttest' ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	s.config = s.edit(t, "regress.yaml", "readable: []", "readable: ["+strings.Join(names, ", ")+"]")
	s.kproxy(t, "setup").must(t)
	// For the way straight to the tables; setup leaves the role what stands for them alone.
	execute(t, connect(t, s.admin), "GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+s.reader)
	s.serve(t)
	awaitReadable(t, s, names)
	return s
}

// awaitReadable waits until something stands for each of the relations, or kproxy refuses it for
// good: that there are many may take longer than the first look at them. Whatever else fails, the
// session's end among it, says nothing about the relation.
func awaitReadable(t *testing.T, s *site, names []string) {
	t.Helper()
	conn := connect(t, s.url(""))
	for _, name := range names {
		eventually(t, name+" is served or refused", func() bool {
			if conn.IsClosed() {
				conn = connect(t, s.url(""))
			}
			_, err := conn.Exec(t.Context(), "SELECT FROM "+name+" LIMIT 0")
			var refused *pgconn.PgError
			if !errors.As(err, &refused) {
				return err == nil
			}
			return slices.Contains([]string{"42501", "55000"}, refused.Code) && refused.Hint != "It is being published; try again later."
		})
	}
}

// loadRegress runs what the files do besides reading. Whatever fails, fails: much is
// meant to, and some needs PostgreSQL's test library.
func loadRegress(ctx context.Context, conn *pgx.Conn) error {
	if _, err := conn.Exec(ctx, `CREATE SCHEMA hidden; CREATE TABLE hidden.person_protected (id serial PRIMARY KEY, age integer);
		INSERT INTO hidden.person_protected (age) SELECT i FROM generate_series(1, 20) i`); err != nil {
		return err
	}
	for _, file := range append([]string{"test_setup"}, regressFiles...) {
		text, err := os.ReadFile(filepath.Join(*regressFolder, "sql", file+".sql"))
		if err != nil {
			return err
		}
		for _, step := range splitSQL(string(text)) {
			if step.copied != "" {
				if err := copyData(ctx, conn, step); err != nil {
					return err
				}
				continue
			}
			if !reads(step.sql) && !notPrepared.MatchString(step.sql) {
				_, _ = conn.Exec(ctx, step.sql)
			}
		}
		if conn.PgConn().TxStatus() != 'I' {
			_, _ = conn.Exec(ctx, "ROLLBACK")
		}
	}
	// The audit wants it so.
	_, err := conn.Exec(ctx, "REVOKE CREATE ON SCHEMA public FROM PUBLIC; REVOKE EXECUTE ON ALL ROUTINES IN SCHEMA public FROM PUBLIC")
	return err
}

// notPrepared are statements of the preparation that are left out: what takes the
// tables away again, what would stay with the session, and transactions, which end in
// ROLLBACK for the most part.
var notPrepared = regexp.MustCompile(`(?is)^(drop|set|reset|begin|start|commit|end|rollback|abort|savepoint|release|` +
	`create\s+(or\s+replace\s+)?(local\s+)?temp|prepare|execute|deallocate|vacuum|delete\s+from\s+onek)\b`)

// copyData loads one of the files beside the tests.
func copyData(ctx context.Context, conn *pgx.Conn, step sqlStep) error {
	file, err := os.Open(filepath.Join(*regressFolder, step.copied))
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = conn.PgConn().CopyFrom(ctx, file, step.sql)
	return err
}

func regressStatements(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(*regressFolder, "sql", file+".sql"))
	if err != nil {
		t.Fatal(err)
	}
	var statements []string
	for _, step := range splitSQL(string(text)) {
		if step.copied == "" {
			statements = append(statements, step.sql)
		}
	}
	return statements
}

var readingVerbs = regexp.MustCompile(`(?is)^\(*\s*(select|values|with|table|set|reset|show|begin|start|commit|end|rollback|abort|savepoint|` +
	`release|declare|fetch|move|close|prepare|execute|deallocate)\b`)

var changing = regexp.MustCompile(`(?is)\binto\s+(temp|table|[a-z_0-9]+\s+from)|nextval|setval|set_config|pg_sleep|pg_notify|pg_current_xact|` +
	`\b(insert\s+into|delete\s+from|update\s+[a-z_0-9]+\s+set|merge\s+into)\b|\b(role|session\s+authorization)\b`)

// reads says whether a statement is one that a client may expect to be answered.
func reads(sql string) bool { return readingVerbs.MatchString(sql) && !changing.MatchString(sql) }

// regression compares one file's answers.
type regression struct {
	direct, proxied *wire
	same            int
	refused         map[string]int
	differ          []string
}

func newRegression(t *testing.T, s *site) *regression {
	t.Helper()
	// As pg_regress sets them. One statement takes up to ten seconds either way, on a busy machine more.
	const settings = "options=-cdatestyle%3DPostgres,MDY%20-ctimezone%3DPST8PDT%20-cintervalstyle%3Dpostgres_verbose%20-cstatement_timeout%3D120000"
	return &regression{
		direct:  dialed(t, s.readerURL()+"&"+settings),
		proxied: dialed(t, s.url(settings)),
		refused: make(map[string]int),
	}
}

// refusals are messages that only kproxy sends, with what varies in them.
var refusals = []*regexp.Regexp{
	regexp.MustCompile(`^(42501 permission denied for (function|table|operator|collation)|42501 permission denied to (set|examine) parameter|` +
		`42501 kproxy publishes read-only views: [A-Z /a-z]+|0A000 kproxy supports [a-z_]+|0A000 kproxy does not support|` +
		`42704 type "|42883 function |42P01 relation "|22023 parameter "[a-z_]+" cannot be set|25006 |54\d\d\d |XX000 |0A000 )`),
}

// run sends a statement both ways.
func (r *regression) run(t *testing.T, sql string) {
	t.Helper()
	want, got := r.direct.full(t, sql), r.proxied.full(t, sql)
	switch {
	case want.text == got.text, want.err == "" && got.err == "" && sorted(want.text) == sorted(got.text):
		// Ties and groups come in an order that depends on the plan and the moment.
		r.same++
	case want.err == got.err && strings.HasPrefix(want.err, "42501 permission denied for"):
		r.same++ // PostgreSQL knows no position then
	case got.err != "" && got.err != want.err && refusals[0].MatchString(got.err):
		r.refused[refusals[0].FindString(got.err)]++
	default:
		if again := r.direct.full(t, sql); again.text != want.text {
			r.same++ // random, or of the moment: alike at another
			break
		}
		r.differ = append(r.differ, fmt.Sprintf("%s\n--- PostgreSQL\n%s\n--- kproxy\n%s", sql, want.brief(), got.brief()))
	}
	if want.status != got.status {
		r.direct.full(t, "ROLLBACK")
		r.proxied.full(t, "ROLLBACK")
	}
}

// sorted puts lines in order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func (r *regression) report(b *strings.Builder, file string) {
	fmt.Fprintf(b, "# %s: %d alike\n", file, r.same)
	for _, message := range slices.Sorted(maps.Keys(r.refused)) {
		fmt.Fprintf(b, "%6d refused: %s\n", r.refused[message], message)
	}
	for _, difference := range r.differ {
		fmt.Fprintf(b, "differs: %s\n", difference)
	}
	b.WriteByte('\n')
}

// fullAnswer is all that a client sees of an answer.
type fullAnswer struct {
	text   string
	err    string // SQLSTATE and message
	status byte
}

// userOID is an OID as objects of users have it, which another run does not repeat.
var userOID = regexp.MustCompile(`\|(1[6-9]\d{3}|[2-9]\d{4})\b`)

// brief is the beginning of the answer.
func (a fullAnswer) brief() string {
	text := userOID.ReplaceAllString(a.text, "|(oid)")
	if len(text) > 400 {
		return text[:400] + " ..."
	}
	return text
}

// full sends one Query message and keeps names, values, tags, errors and notices.
func (w *wire) full(t *testing.T, sql string) fullAnswer {
	t.Helper()
	if err := w.send(&oldproto.Query{String: sql}); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var a fullAnswer
	var b strings.Builder
	for {
		m, err := w.front.Receive()
		if err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
		switch m := m.(type) {
		case *oldproto.RowDescription:
			for _, f := range m.Fields {
				fmt.Fprintf(&b, "|%s", f.Name)
			}
			b.WriteByte('\n')
		case *oldproto.DataRow:
			for _, v := range m.Values {
				if v == nil {
					b.WriteString("|NULL")
					continue
				}
				fmt.Fprintf(&b, "|%s", v)
			}
			b.WriteByte('\n')
		case *oldproto.CommandComplete:
			fmt.Fprintf(&b, "%s\n", m.CommandTag)
		case *oldproto.ErrorResponse:
			a.err = m.Code + " " + m.Message
			fmt.Fprintf(&b, "ERROR %s at %d\n", a.err, m.Position)
		case *oldproto.ReadyForQuery:
			a.text, a.status = b.String(), m.TxStatus
			return a
		}
	}
}
