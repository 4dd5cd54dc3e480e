package metadata

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// query is what a tool sends: a block of a file in testdata/queries, which begins with
// a line "-- tool: what for". Lines "--$ value" are the parameters that it binds, and
// "--$26 value" with the type that it declares; @name is the number of the relation or
// schema, as the tool has read it before.
type query struct {
	title, sql string
	parameters []string
	types      []uint32
}

func readQueries(t *testing.T, path string) []query {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var queries []query
	for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		var q query
		var lines []string
		for line := range strings.Lines(block) {
			switch {
			case strings.HasPrefix(line, "--$"):
				typ, value, _ := strings.Cut(strings.TrimSpace(line[3:]), " ")
				oid, err := strconv.ParseUint(typ, 10, 32)
				if err != nil {
					value = typ
				}
				q.parameters, q.types = append(q.parameters, value), append(q.types, uint32(oid))
			case strings.HasPrefix(line, "-- ") && q.title == "":
				q.title = strings.TrimSpace(line[3:])
			default:
				lines = append(lines, line)
			}
		}
		q.sql = strings.Join(lines, "")
		if q.title == "" || q.sql == "" {
			t.Fatalf("%s: a block without title or statement:\n%s", path, block)
		}
		queries = append(queries, q)
	}
	return queries
}

// numbers are what @names stand for, read as a tool reads them.
func numbers(t *testing.T, conn *pgx.Conn) map[string]string {
	t.Helper()
	const read = `SELECT c.relname::text, c.oid::int8 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname IN ('public', 'hospital')
		UNION ALL SELECT nspname::text, oid::int8 FROM pg_namespace`
	rows, err := conn.Query(t.Context(), read)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]string)
	var name string
	var oid int64
	if _, err := pgx.ForEachRow(rows, []any{&name, &oid}, func() error {
		found["@"+name] = strconv.FormatInt(oid, 10)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return found
}

// cases finds what turns letters into those of another case.
var cases = regexp.MustCompile(`(?i)\b(upper|lower)\(`)

// TestQueries sends what tools send, as they do: prepared, with their parameters.
func TestQueries(t *testing.T) {
	t.Parallel()
	start(t)
	files, err := filepath.Glob(filepath.Join("testdata", "queries", "*.sql"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".sql")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn := connect(t)
			known := numbers(t, conn)
			var sections []section
			for _, q := range readQueries(t, path) {
				sections = append(sections, section{asked: q.title, shown: q.send(t, conn.PgConn(), known), cased: cases.MatchString(q.sql)})
			}
			compare(t, name, sections)
		})
	}
}

func connect(t *testing.T) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), clientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// send runs the query and shows its result as text.
func (q query) send(t *testing.T, conn *pgconn.PgConn, known map[string]string) string {
	t.Helper()
	values := make([][]byte, len(q.parameters))
	for i, p := range q.parameters {
		if oid, named := known[p]; named {
			p = oid
		} else if strings.HasPrefix(p, "@") {
			t.Fatalf("%s: there is no %s", q.title, p)
		}
		values[i] = []byte(p)
	}
	result := conn.ExecParams(t.Context(), q.sql, values, q.types, nil, nil).Read()
	if result.Err != nil {
		return strings.Split(fmt.Sprintf("ERROR: %v", result.Err), "\n")[0] + "\n"
	}
	var columns, rows []string
	for _, field := range result.FieldDescriptions {
		columns = append(columns, field.Name)
	}
	for _, row := range result.Rows {
		cells := make([]string, len(row))
		for i, value := range row {
			cells[i] = string(value)
			if value == nil {
				cells[i] = "NULL"
			}
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	if !strings.Contains(strings.ToUpper(q.sql), "ORDER BY") {
		slices.Sort(rows)
	}
	return strings.Join(append([]string{strings.Join(columns, " | ")}, rows...), "\n") + fmt.Sprintf("\n(%d rows)\n", len(rows))
}
