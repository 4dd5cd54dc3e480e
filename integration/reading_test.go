package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// legitimate is the corpus of what analysts and their tools send.
const legitimate = "../rewrite/testdata/legitimate/*.sql"

// reading is a block of the corpus: statements that are parted by lines that end in
// a semicolon, each run by itself in one session. Its first lines may be
// directives:
//
//	-- ordered             the rows must come in the same order
//	-- volatile            only the columns and the number of rows are compared
//	-- columns             only the columns are compared
//	-- parameters: a|b     values of $1, $2; \N is null
//	-- types: int4|text    the types that the client declares for them
//	-- one text            the statements are one text of the simple protocol
//	-- shown as: text      what the rows are, where PostgreSQL alone would say another thing
//	-- straight: text      what to run on the published relations instead of the same text
//	-- plan                the rows are those of the golden file, of one version of PostgreSQL
//	-- fails               both answers are an error, the same one
type reading struct {
	where      string
	statements []string
	directives map[string]string
}

// directive is a line before a block's first statement.
var directive = regexp.MustCompile(`^-- (ordered|volatile|columns|one text|parameters|types|shown as|straight|fails|plan)(?:: (.*))?$`)

func readCorpus(t *testing.T) []reading {
	t.Helper()
	files, err := filepath.Glob(legitimate)
	if err != nil || len(files) == 0 {
		t.Fatalf("no corpus: %v", err)
	}
	var all []reading
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for block := range strings.SplitSeq(string(text), "\n\n") {
			if strings.TrimSpace(block) != "" {
				all = append(all, readReading(fmt.Sprintf("%s:%d", filepath.Base(file), line), block))
			}
			line += strings.Count(block, "\n") + 2
		}
	}
	return all
}

func readReading(where, block string) reading {
	r := reading{where: where, directives: make(map[string]string)}
	rest := strings.TrimLeft(block, "\n")
	for {
		line, after, _ := strings.Cut(rest, "\n")
		parts := directive.FindStringSubmatch(line)
		if parts == nil {
			break
		}
		r.directives[parts[1]] = parts[2]
		rest = after
	}
	if r.is("one text") {
		r.statements = []string{strings.TrimSpace(rest)}
		return r
	}
	for statement := range strings.SplitSeq(strings.TrimSpace(rest), ";\n") {
		r.statements = append(r.statements, strings.TrimSuffix(statement, ";"))
	}
	return r
}

func (r reading) is(directive string) bool {
	_, ok := r.directives[directive]
	return ok
}

func (r reading) list(directive string) []string {
	if !r.is(directive) {
		return nil
	}
	return strings.Split(r.directives[directive], "|")
}

// shown is what a client gets to see of one statement.
type shown struct {
	columns string
	rows    []string
	tag     string
	failure string
}

func (a shown) String() string {
	return fmt.Sprintf("%s\n%s\n%s%s", a.columns, strings.Join(a.rows, "\n"), a.tag, a.failure)
}

// differs says in which way an answer is not the one wanted; empty means: in none.
func (r reading) differs(got, want shown) string {
	if got.failure != want.failure || got.columns != want.columns {
		return "other columns"
	}
	if got.tag != want.tag && !r.is("columns") {
		return "another count"
	}
	if r.is("volatile") || r.is("columns") {
		return ""
	}
	if !r.is("ordered") {
		slices.Sort(got.rows)
		slices.Sort(want.rows)
	}
	if !slices.Equal(got.rows, want.rows) {
		return "other rows"
	}
	return ""
}

// asker sends a statement in one of the protocols and returns an answer for each
// statement in it.
type asker func(t *testing.T, conn *pgx.Conn, r reading, sql string) []shown

func simply(t *testing.T, conn *pgx.Conn, _ reading, sql string) []shown {
	if copies(sql) {
		return []shown{copyOut(t, conn, sql)}
	}
	var answers []shown
	results := conn.PgConn().Exec(t.Context(), sql)
	for results.NextResult() {
		answers = append(answers, answered(results.ResultReader()))
	}
	if err := results.Close(); err != nil {
		answers = append(answers, shown{failure: err.Error()})
	}
	return answers
}

func extended(t *testing.T, conn *pgx.Conn, r reading, sql string) []shown {
	if copies(sql) {
		return []shown{copyOut(t, conn, sql)}
	}
	var values [][]byte
	for _, text := range r.list("parameters") {
		if text == `\N` {
			values = append(values, nil)
			continue
		}
		values = append(values, []byte(text))
	}
	var types []uint32
	for _, name := range r.list("types") {
		oid := uint32(0)
		if name != "" {
			known, ok := conn.TypeMap().TypeForName(name)
			if !ok {
				t.Fatalf("%s: no type %s", r.where, name)
			}
			oid = known.OID
		}
		types = append(types, oid)
	}
	return []shown{answered(conn.PgConn().ExecParams(t.Context(), sql, values, types, nil, nil))}
}

func copies(sql string) bool { return strings.HasPrefix(strings.ToUpper(sql), "COPY") }

func copyOut(t *testing.T, conn *pgx.Conn, sql string) shown {
	var data strings.Builder
	tag, err := conn.PgConn().CopyTo(t.Context(), &data, sql)
	a := shown{tag: tag.String(), rows: strings.SplitAfter(data.String(), "\n")}
	if err != nil {
		a.failure = err.Error()
	}
	return a
}

func answered(result *pgconn.ResultReader) shown {
	var a shown
	for _, f := range result.FieldDescriptions() {
		a.columns += fmt.Sprintf("%s %d(%d) ", f.Name, f.DataTypeOID, f.TypeModifier)
	}
	for result.NextRow() {
		var row strings.Builder
		for _, value := range result.Values() {
			if value == nil {
				row.WriteString("\\N|")
				continue
			}
			row.Write(value)
			row.WriteByte('|')
		}
		a.rows = append(a.rows, row.String())
	}
	tag, err := result.Close()
	a.tag = tag.String()
	if err != nil {
		a.failure = err.Error()
	}
	return a
}

// straight is what names published relations to somebody who is not behind kproxy.
// It knows the tables of the corpus and no SQL.
func straight(sql string) string {
	sql = regexp.MustCompile(`\bhospital\.`).ReplaceAllString(sql, "kproxy_release_hospital.")
	sql = regexp.MustCompile(`"hospital"\.`).ReplaceAllString(sql, "kproxy_release_hospital.")
	sql = regexp.MustCompile(`(?i)"?\bpublic"?\.(patients|claims|"patients"|"Lab Results")`).ReplaceAllString(sql, "kproxy_release_public.$1")
	return regexp.MustCompile(`"?\b`+clientDatabase+`"?\.`).ReplaceAllString(sql, "")
}

func readingSite(t *testing.T) *site {
	t.Helper()
	schema, err := os.ReadFile("testdata/reading/schema.sql")
	if err != nil {
		t.Fatal(err)
	}
	policy, err := os.ReadFile("testdata/reading/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return ready(t, sqlSite(string(schema), string(policy)))
}

// TestReading runs what analysts and their tools send, through kproxy and straight
// on the published relations. Nobody may be able to tell the difference.
func TestReading(t *testing.T) {
	t.Parallel()
	s := readingSite(t)
	corpus := readCorpus(t)
	statements := 0
	for _, r := range corpus {
		statements += len(r.statements)
	}
	t.Logf("%d blocks, %d statements", len(corpus), statements)
	plans := readPlans(t, s.server.Version().Major)
	for name, ask := range map[string]asker{"simple": simply, "extended": extended} {
		t.Run(name, func(t *testing.T) {
			through, own := connect(t, s.url()), connect(t, s.admin)
			execute(t, own, "SET search_path = kproxy_release_public, public")
			for _, r := range corpus {
				if name == "simple" && r.is("parameters") || name == "extended" && r.is("one text") {
					continue
				}
				compareReading(t, r, ask, through, own, plans)
			}
		})
	}
}

// ofNewer is what a server says of a statement whose syntax, function or type came later.
var ofNewer = regexp.MustCompile(`\(SQLSTATE 42(601|703|704|804|883)\)`)

func compareReading(t *testing.T, r reading, ask asker, through, own *pgx.Conn, plans *planGolden) {
	t.Helper()
	for _, sql := range r.statements {
		got := ask(t, through, r, sql)
		if r.is("shown as") {
			if shown := strings.Join(got[0].rows, ";"); shown != r.directives["shown as"] || got[0].failure != "" {
				t.Errorf("%s:\n%s\nthrough kproxy: %s\nwant: %s", r.where, sql, got[0], r.directives["shown as"])
			}
			continue
		}
		by := sql
		if r.is("straight") {
			by = r.directives["straight"]
		}
		if r.is("plan") && strings.HasPrefix(sql, "EXPLAIN") {
			plans.compare(t, r, sql, got[0])
			continue
		}
		want := ask(t, own, r, straight(by))
		if !r.is("fails") && plans.major < goldenMajor && len(want) > 0 && ofNewer.MatchString(want[len(want)-1].failure) {
			t.Logf("%s: PostgreSQL %d does not have it: %s", r.where, plans.major, want[len(want)-1].failure)
			continue
		}
		if len(want) > 0 && (want[len(want)-1].failure != "") != r.is("fails") {
			t.Errorf("%s:\n%s\nis no good statement: %s", r.where, sql, want[len(want)-1].failure)
		}
		if len(got) != len(want) {
			t.Errorf("%s:\n%s\n%d answers instead of %d: %v", r.where, sql, len(got), len(want), got)
			continue
		}
		for i := range got {
			if what := r.differs(got[i], want[i]); what != "" {
				t.Errorf("%s: %s:\n%s\nthrough kproxy:\n%.1500s\nstraight:\n%.1500s", r.where, what, sql, got[i], want[i])
			}
		}
	}
	if len(r.statements) > 1 || r.is("one text") {
		for _, conn := range []*pgx.Conn{through, own} {
			execute(t, conn, "ROLLBACK")
			execute(t, conn, "DEALLOCATE ALL")
			execute(t, conn, "RESET ALL")
		}
		execute(t, own, "SET search_path = kproxy_release_public, public")
	}
}
