package bi

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// published answers a question from the published relation itself, as the server's
// superuser: the rows, each value as PostgreSQL's text, null as "".
func published(t *testing.T, sql string) [][]string {
	t.Helper()
	return publishedIn(t, site.Source, "kproxy_release_public", sql)
}

// publishedIn is likewise of the relations of a release schema of a database.
func publishedIn(t *testing.T, url, schema, sql string) [][]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	results, err := conn.PgConn().Exec(t.Context(), "SET search_path = "+schema+", public; SET timezone = 'UTC'; "+sql).ReadAll()
	if err != nil {
		t.Fatalf("straight: %v\n%s", err, sql)
	}
	var rows [][]string
	for _, values := range results[len(results)-1].Rows {
		row := make([]string, len(values))
		for i, value := range values {
			row[i] = string(value)
		}
		rows = append(rows, row)
	}
	return rows
}

// agree judges that a tool shows what is published, row by row. Numbers are compared as
// numbers, to the precision of the floating-point numbers that tools make of numerics.
func agree(t *testing.T, shown, published [][]string) {
	t.Helper()
	if len(published) == 0 {
		t.Error("nothing is published: this compares nothing")
	}
	if len(shown) != len(published) {
		t.Errorf("%d rows are shown and %d published", len(shown), len(published))
	}
	for i := range min(len(shown), len(published)) {
		if len(shown[i]) != len(published[i]) {
			t.Fatalf("row %d has %d columns, published are %d", i, len(shown[i]), len(published[i]))
		}
		for j, want := range published[i] {
			if !same(shown[i][j], want) {
				t.Errorf("row %d, column %d: %q is shown and %q published", i, j, shown[i][j], want)
			}
		}
	}
}

func same(shown, published string) bool {
	if shown == published {
		return true
	}
	a, err := strconv.ParseFloat(shown, 64)
	if err != nil {
		return false
	}
	b, err := strconv.ParseFloat(published, 64)
	return err == nil && math.Abs(a-b) <= 1e-9*math.Abs(b)
}

// table reads what a program prints: a line a row, columns parted by tabs.
func table(output []byte) [][]string {
	var rows [][]string
	for line := range strings.Lines(string(output)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return rows
}

// text is a value of JSON as PostgreSQL writes it.
func text(value any) string {
	switch v := value.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	default:
		return fmt.Sprint(v)
	}
}
