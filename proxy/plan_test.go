package proxy

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	oldproto "github.com/jackc/pgproto3/v2"
	"github.com/jackc/pgx/v5"
)

// plansProxy has a published table whose private name is in plans.
func plansProxy(t *testing.T) *testProxy {
	t.Helper()
	p := startProxy(t, nil)
	if _, err := connectPgx(t, p.direct).Exec(deadline(t), `
		CREATE SCHEMA kproxy_release_public;
		CREATE TABLE kproxy_release_public.patients AS SELECT g AS id FROM generate_series(1, 5) g`); err != nil {
		t.Fatal(err)
	}
	return p
}

const private = "kproxy_release_public"

// TestPlansAreScrubbed reads plans in every format and through every protocol, and
// finds the same text as data unchanged.
func TestPlansAreScrubbed(t *testing.T) {
	t.Parallel()
	p := plansProxy(t)
	conn := connectPgx(t, p.url("sslmode=disable"))
	for _, format := range []string{"text", "json", "xml", "yaml"} {
		sql := "EXPLAIN (VERBOSE, FORMAT " + format + ") SELECT id FROM " + publicName
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeExec, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeCacheStatement} {
			for _, result := range []int16{0, 1} {
				for range 2 { // the second time with a statement prepared before
					plan := readAll(t, conn, sql, mode, pgx.QueryResultFormats{result})
					if strings.Contains(plan, private) || !strings.Contains(plan, "public") || !strings.Contains(plan, "patients") {
						t.Errorf("%s, %v, %d: %s", format, mode, result, plan)
					}
				}
			}
		}
	}
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeSimpleProtocol, pgx.QueryExecModeCacheStatement} {
		if got := readAll(t, conn, `SELECT 'kproxy_release_public' AS "QUERY PLAN"`, mode); got != private+"\n" {
			t.Errorf("data arrived as %q", got)
		}
	}
}

// readAll returns the values of the first column, a line each, as they arrive.
func readAll(t *testing.T, conn *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	rows, err := conn.Query(deadline(t), sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for rows.Next() {
		b.Write(rows.RawValues()[0])
		b.WriteByte('\n')
	}
	if rows.Err() != nil {
		t.Fatal(rows.Err())
	}
	return b.String()
}

// longName is as long as PostgreSQL looks at names.
var longName = strings.Repeat("a", maxNameBytes)

func TestPlansAmongOtherRows(t *testing.T) {
	t.Parallel()
	p := plansProxy(t)
	const explain = "EXPLAIN (VERBOSE, COSTS OFF) SELECT id FROM " + publicName
	plan := "D(Seq Scan on public.patients) D(  Output: id)"
	data := "D(kproxy_release_public)"
	const other = "SELECT 'kproxy_release_public'"
	for _, c := range []struct {
		name string
		send []oldproto.FrontendMessage
		want string
	}{
		{"one text", messages(other + ";" + explain + ";" + other), "T " + data + " C(SELECT 1) T " + plan + " C(EXPLAIN) T " + data + " C(SELECT 1) ZI"},
		{"in parts", messages(parse("", explain), bind("", ""), execute("", 1), execute("", 1), execute("", 1), syncMessage), "1 2 D(Seq Scan on public.patients) s D(  Output: id) s C(EXPLAIN) ZI"},
		{
			"two portals in turn",
			messages("BEGIN", parse("plan", explain), parse("data", other), bind("p", "plan"), bind("d", "data"),
				execute("p", 1), execute("d", 0), execute("p", 1), describe('P', "p"), execute("p", 0), syncMessage),
			"C(BEGIN) ZT 1 1 2 2 D(Seq Scan on public.patients) s " + data + " C(SELECT 1) D(  Output: id) s T C(EXPLAIN) ZT",
		},
		{
			"a portal that is bound again",
			messages(parse("plan", explain), parse("data", other), bind("", "plan"), bind("", "data"), execute("", 0), bind("", "plan"), execute("", 0), syncMessage),
			"1 1 2 2 " + data + " C(SELECT 1) 2 " + plan + " C(EXPLAIN) ZI",
		},
		{
			"a name that is closed",
			messages(parse("s", explain), closing('S', "s"), parse("s", other), bind("", "s"), execute("", 0), syncMessage),
			"1 3 1 2 " + data + " C(SELECT 1) ZI",
		},
		{
			"in later segments",
			messages(parse("s", explain), syncMessage, bind("", "s"), execute("", 0), syncMessage, "SELECT 1", bind("", "s"), execute("", 0), syncMessage),
			"1 ZI 2 " + plan + " C(EXPLAIN) ZI T D(1) C(SELECT 1) ZI 2 " + plan + " C(EXPLAIN) ZI",
		},
		{
			"long names of statements",
			messages(parse(longName+"x", explain), bind("", longName+"y"), execute("", 0), syncMessage),
			"1 2 " + plan + " C(EXPLAIN) ZI",
		},
		{
			"long names of portals",
			messages(parse("s", explain), bind(longName+"x", "s"), execute(longName+"y", 0), closing('P', longName+"z"), syncMessage),
			"1 2 " + plan + " C(EXPLAIN) 3 ZI",
		},
		{"EXECUTE", messages(parse("s", explain), syncMessage, "EXECUTE s", "SELECT 1; EXECUTE s"), "1 ZI E0A000 ZI E0A000 ZI"},
		{"EXECUTE before it is answered", messages(parse("s", explain), "EXECUTE s"), "1 E0A000 ZI"},
		{"EXECUTE behind an error", messages(parse("s", explain), syncMessage, "SELECT 1/0", closing('S', "s"), bind("", "none"), parse("s", other), syncMessage, "EXECUTE s", "SELECT 1"), "1 ZI E22012 ZI 3 E26000 ZI E26000 ZI T D(1) C(SELECT 1) ZI"},
		{"EXECUTE behind a Close that is skipped", messages(parse("s", explain), syncMessage, bind("", "none"), closing('S', "s"), syncMessage, "EXECUTE s"), "1 ZI E26000 ZI E0A000 ZI"},
		{"extended EXECUTE", messages(parse("s", explain), run("", "EXECUTE s"), syncMessage, run("e", "EXECUTE s"), syncMessage), "1 1 2 E0A000 ZI 1 2 E0A000 ZI"},
		{
			"EXECUTE of what is parsed later",
			messages("PREPARE s AS SELECT 1", parse("e", "EXECUTE s"), syncMessage, "DEALLOCATE s", parse("s", explain), syncMessage, bind("", "e"), execute("", 0), syncMessage),
			"C(PREPARE) ZI 1 ZI C(DEALLOCATE) ZI 1 ZI 2 E0A000 ZI",
		},
		{"FETCH", messages("BEGIN", parse("s", explain), bind("p", "s"), syncMessage, "FETCH ALL FROM p"), "C(BEGIN) ZT 1 2 ZT E0A000 ZE"},
		{
			"FETCH through FETCH",
			messages("BEGIN", parse("s", explain), bind("p", "s"), parse("f", "FETCH ALL FROM p"), bind("q", "f"), syncMessage, "FETCH ALL FROM q"),
			"C(BEGIN) ZT 1 2 1 2 ZT E0A000 ZE",
		},
		{
			"what SQL made",
			messages(parse("s", explain), "PREPARE e AS "+other, "EXECUTE e", run("", "EXECUTE e"), syncMessage, "BEGIN", "DECLARE c CURSOR FOR "+other, run("", "FETCH ALL FROM c"), syncMessage),
			"1 C(PREPARE) ZI T " + data + " C(SELECT 1) ZI 1 2 " + data + " C(SELECT 1) ZI C(BEGIN) ZT C(DECLARE CURSOR) ZT 1 2 " + data + " C(FETCH 1) ZT",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := p.loginWire(t)
			w.send(c.send...)
			if got := w.script(strings.Count(c.want, " Z")); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAutoExplainIsNotHeard(t *testing.T) {
	t.Parallel()
	for message, log := range map[string]bool{
		"duration: 0.012 ms  plan:\nQuery Text: SELECT 1\nResult": true,
		"duration: 0.012 ms": false,
		"the plan:\n":        false,
	} {
		for _, severity := range []string{"NOTICE", "WARNING", "INFO"} {
			if got := (report{severity: severity, message: message}).isLog(); got != log {
				t.Errorf("%s %q: %t", severity, message, got)
			}
		}
	}
}

// FuzzRow scrubs the values of any DataRow.
func FuzzRow(f *testing.F) {
	for _, seed := range [][]byte{{}, {0}, {0, 0}, {0, 1, 0xff, 0xff, 0xff, 0xff}, {0, 1, 0, 0, 0, 1, 'x'}, {0, 2, 0, 0, 0, 0, 0, 0, 0, 9}, {0, 1, 0x80, 0, 0, 0}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		same := func(text string) string { return text }
		row, err := scrubRow(body, same)
		if err != nil {
			return // the other codec panics on some of these
		}
		var decoded oldproto.DataRow
		if err := decoded.Decode(body); err != nil {
			t.Fatalf("%q is a row to the proxy only: %v", body, err)
		}
		if len(row) != headerBytes+int(binary.BigEndian.Uint32(row[1:]))-4 {
			t.Errorf("length of %q", row)
		}
		for i, value := range decoded.Values {
			if clean := []byte(cleanText(string(value))); value != nil && !bytes.Equal(clean, value) {
				decoded.Values[i] = clean
			}
		}
		if want := encode(t, nil, &decoded); !bytes.Equal(row, want) {
			t.Errorf("%q became %q, want %q", body, row, want)
		}
	})
}
