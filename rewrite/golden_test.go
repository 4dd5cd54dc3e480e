package rewrite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// clinic is the database of the golden files: patients, "Patients" and
// hospital.visits are protected, frozen is withdrawn, wards and "Icd Codes" are
// readable, secrets and hospital.patients exist and are not.
func clinic() *catalog.Snapshot {
	name := func(schema, relation string) catalog.Name { return catalog.Name{Schema: schema, Relation: relation} }
	var relations []catalog.Relation
	for _, n := range []catalog.Name{
		name("public", "patients"), name("public", "Patients"), name("hospital", "visits"), name("public", "frozen"),
		name("public", "wards"), name("public", "Icd Codes"), name("public", "secrets"), name("hospital", "patients"),
		name("hospital", "select"), name("public", "stays"),
	} {
		relation := catalog.Relation{Name: n}
		switch n.Relation {
		case "wards":
			relation.PrimaryKey = []string{"ward"}
		case "Icd Codes":
			relation.HasChildren, relation.PrimaryKey = true, []string{"code", "version"}
		}
		relations = append(relations, relation)
	}
	table := func(schema, relation string) catalog.TablePolicy {
		return catalog.TablePolicy{Table: name(schema, relation)}
	}
	stays := table("public", "stays")
	stays.Summary = catalog.SummaryStored
	policy := catalog.Policy{
		Tables: []catalog.TablePolicy{
			table("public", "patients"), table("public", "Patients"), table("hospital", "visits"),
			table("public", "frozen"), table("hospital", "select"), stays,
		},
		Readable: []catalog.Name{name("public", "wards"), name("public", "Icd Codes")},
	}
	withdrawn := map[catalog.Name]string{name("public", "frozen"): "A column was added; run kproxy check."}
	return catalog.NewSnapshot(policy, relations, withdrawn).WithNames(clinicNames)
}

// clinicNames are what the server is known to have, beside what all have: nothing but
// columns of some relations.
var clinicNames = catalog.ServerNames{Callable: map[string]bool{}, Columns: map[catalog.Name][]catalog.ColumnName{
	catalog.Published(catalog.Name{Schema: "public", Relation: "patients"}): {{Name: "age"}, {Name: "currval"}, {Name: "diagnosis"}},
	catalog.Published(catalog.Name{Schema: "public", Relation: "stays"}): {
		{Name: "age"},
		{Name: "region"},
		{Name: "born"},
		{Name: "height"},
		{Name: "weight"},
		{Name: "born_range"},
		{Name: "diagnosis"},
		{Name: "cost"},
		{Name: "nights", Type: "integer"},
		{Name: "fee", Type: "numeric"},
	},
	catalog.Classes(catalog.Name{Schema: "public", Relation: "stays"}): {
		{Name: "age", Type: "integer"},
		{Name: "region", Type: "text"},
		{Name: "born", Type: "date"},
		{Name: "height", Type: "numeric"},
		{Name: "weight", Type: "double precision"},
		{Name: "born_range", Type: "daterange"},
		{Name: "kproxy_count", Type: "integer"},
		{Name: catalog.KnownColumn("nights"), Type: "smallint"},
		{Name: catalog.SumColumn("nights"), Type: "bigint"},
		{Name: catalog.LeastColumn("nights"), Type: "integer"},
		{Name: catalog.GreatestColumn("nights"), Type: "integer"},
		{Name: catalog.KnownColumn("fee"), Type: "smallint"},
		{Name: catalog.SumColumn("fee"), Type: "numeric"},
	},
	catalog.Published(catalog.Name{Schema: "public", Relation: "wards"}):     {{Name: "beds"}, {Name: "ward"}, {Name: "building"}},
	catalog.Published(catalog.Name{Schema: "public", Relation: "Icd Codes"}): {{Name: "code"}, {Name: "version"}, {Name: "title"}},
}}

func clinicRewriter() *Rewriter {
	r := New(Options{Database: "clinic"})
	r.SetSnapshot(clinic())
	return r
}

// block is a text of a golden file with its result, the lines after it that begin with
// "--> " (SQL) or "--! " (a refusal).
type block struct{ sql, want string }

func isResult(line string) bool {
	return strings.HasPrefix(line, "--> ") || strings.HasPrefix(line, "--! ") || line == "-->"
}

// readBlocks are all texts of a golden file.
func readBlocks(t testing.TB, path string) []block {
	t.Helper()
	return slices.Concat(readConversations(t, path)...)
}

// readConversations are the sessions of a golden file: texts without an empty line
// between them are sent one after the other.
func readConversations(t testing.TB, path string) [][]block {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var conversations [][]block
	for _, part := range strings.Split(strings.TrimSpace(string(content)), "\n\n") {
		var texts []block
		var sql, want []string
		finish := func() {
			texts = append(texts, block{strings.Join(sql, "\n"), strings.Join(want, "\n")})
			sql, want = nil, nil
		}
		for line := range strings.SplitSeq(strings.Trim(part, "\n"), "\n") {
			if isResult(line) {
				want = append(want, line)
				continue
			}
			if want != nil {
				finish()
			}
			sql = append(sql, line)
		}
		finish()
		conversations = append(conversations, texts)
	}
	return conversations
}

// conversation is a session whose statements all succeed unless they are refused.
type conversation struct {
	r *Rewriter
	s *Session
}

func (c *conversation) send(sql string) (string, error) {
	statement, err := c.r.Rewrite(sql, c.s)
	if err != nil {
		c.synced(true)
		return "", err
	}
	for _, e := range statement.Effects {
		c.s = c.s.After(e)
	}
	c.synced(false)
	return statement.SQL, nil
}

func (c *conversation) synced(failed bool) {
	status := byte('I')
	if c.s.orUntouched().block {
		status = 'T'
		if failed || c.s.failed {
			status = 'E'
		}
	}
	c.s = c.s.Synced(status, failed)
}

func goldenFiles(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	return files
}

func render(out string, err error) string {
	if err == nil {
		return strings.TrimRight("--> "+strings.ReplaceAll(out, "\n", "\n--> "), " ")
	}
	var r *Refusal
	if !errors.As(err, &r) {
		return "--! not a refusal: " + err.Error()
	}
	text := fmt.Sprintf("--! %s %s", r.SQLState(), r.Error())
	if r.Position() > 0 {
		text += fmt.Sprintf("\n--! position: %d", r.Position())
	}
	if r.Hint() != "" {
		text += "\n--! hint: " + r.Hint()
	}
	return text
}

func TestGolden(t *testing.T) {
	r := clinicRewriter()
	for _, path := range goldenFiles(t) {
		t.Run(filepath.Base(path), func(t *testing.T) { golden(t, r, path) })
	}
}

// TestTemporaryGolden is TestGolden where temporary tables are allowed.
func TestTemporaryGolden(t *testing.T) {
	r := New(Options{Database: "clinic", TemporaryTables: true})
	r.SetSnapshot(clinic())
	golden(t, r, "testdata/temporary/tables.sql")
}

// golden compares what becomes of a file's texts, or writes it into the file.
func golden(t *testing.T, r *Rewriter, path string) {
	t.Helper()
	var content []string
	for _, texts := range readConversations(t, path) {
		c := conversation{r: r}
		var lines []string
		for _, b := range texts {
			got := render(c.send(b.sql))
			if got != b.want && !*update {
				t.Errorf("%s\ngot:\n%s\nwant:\n%s", b.sql, got, b.want)
			}
			lines = append(lines, b.sql, got)
		}
		content = append(content, strings.Join(lines, "\n"))
	}
	if *update {
		if err := os.WriteFile(path, []byte(strings.Join(content, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCallsGolden has every function that is rewritten called with all numbers of arguments:
// names and numbers of what is hidden, shown, and unknown, some of which make no sense.
func TestCallsGolden(t *testing.T) {
	t.Parallel()
	const path = "testdata/calls.golden"
	golden(t, clinicRewriter(), path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name := range specials {
		if !strings.Contains(string(content), "SELECT "+name+"(") {
			t.Errorf("%s has no calls of %s", path, name)
		}
	}
}

// TestStrangersGolden is TestGolden in databases that have something in pg_catalog that is
// not PostgreSQL's own.
func TestStrangersGolden(t *testing.T) {
	t.Parallel()
	for name, added := range map[string]catalog.Added{
		"names": {
			Functions: map[string]bool{"lower": true, "peek": true, "_pg_truetypid": true},
			Operators: map[string]bool{"=": true, ">=": true, "<": true},
			Types:     map[string]bool{"int4": true, "secret": true},
		},
		"implicit": {Implicit: "cast from text to integer"},
	} {
		names := clinicNames
		names.Added, names.Callable = added, map[string]bool{"reveal": true, "peek": true}
		r := New(Options{Database: "clinic"})
		r.SetSnapshot(clinic().WithNames(names))
		golden(t, r, "testdata/strangers/"+name+".sql")
	}
}
