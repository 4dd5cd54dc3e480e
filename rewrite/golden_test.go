package rewrite

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
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
		name("hospital", "select"),
	} {
		relations = append(relations, catalog.Relation{Name: n})
	}
	table := func(schema, relation string) catalog.TablePolicy {
		return catalog.TablePolicy{Table: name(schema, relation)}
	}
	policy := catalog.Policy{
		Tables: []catalog.TablePolicy{
			table("public", "patients"), table("public", "Patients"), table("hospital", "visits"),
			table("public", "frozen"), table("hospital", "select"),
		},
		Readable: []catalog.Name{name("public", "wards"), name("public", "Icd Codes")},
	}
	withdrawn := map[catalog.Name]string{name("public", "frozen"): "A column was added; run kproxy check."}
	return catalog.NewSnapshot(policy, relations, withdrawn)
}

func clinicRewriter() *Rewriter {
	r := New(Options{Database: "clinic"})
	r.SetSnapshot(clinic())
	return r
}

// block is a statement of a golden file; the lines that begin with "--> " (SQL)
// or "--! " (a refusal) are its result.
type block struct{ sql, want string }

func isResult(line string) bool {
	return strings.HasPrefix(line, "--> ") || strings.HasPrefix(line, "--! ") || line == "-->"
}

func readBlocks(t testing.TB, path string) []block {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	for _, text := range strings.Split(strings.TrimSpace(string(content)), "\n\n") {
		var sql, want []string
		for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
			if isResult(line) {
				want = append(want, line)
			} else {
				sql = append(sql, line)
			}
		}
		blocks = append(blocks, block{strings.Join(sql, "\n"), strings.Join(want, "\n")})
	}
	return blocks
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
		t.Run(filepath.Base(path), func(t *testing.T) {
			var content []string
			for _, b := range readBlocks(t, path) {
				got := render(r.text(b.sql))
				if got != b.want && !*update {
					t.Errorf("%s\ngot:\n%s\nwant:\n%s", b.sql, got, b.want)
				}
				content = append(content, b.sql+"\n"+got)
			}
			if *update {
				if err := os.WriteFile(path, []byte(strings.Join(content, "\n\n")+"\n"), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
