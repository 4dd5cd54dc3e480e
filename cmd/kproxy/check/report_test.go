package check

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/kproxy/kproxy"
	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/catalog/inspect"
	"github.com/kproxy/kproxy/internal/config"
)

// reported is a place in the sources that reports a finding.
type reported struct {
	code  string
	named bool // names a relation
	fix   bool // has a fix that is not empty
	text  string
	at    token.Position
}

// reports finds in the sources all that a check can report.
func reports(t *testing.T) []reported {
	t.Helper()
	constants := make(map[string]string)
	var all []reported
	files := token.NewFileSet()
	var trees []*ast.File
	for _, folder := range []string{".", filepath.Join("..", "..", "..", "catalog", "inspect")} {
		paths, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			tree, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			trees = append(trees, tree)
			ast.Inspect(tree, func(n ast.Node) bool {
				if v, ok := n.(*ast.ValueSpec); ok {
					for i := range min(len(v.Names), len(v.Values)) {
						if text, ok := literal(v.Values[i], nil); ok && text != "" {
							constants[v.Names[i].Name] = text
						}
					}
				}
				return true
			})
		}
	}
	for _, tree := range trees {
		ast.Inspect(tree, func(n ast.Node) bool {
			if r, ok := report(n, constants); ok {
				r.at = files.Position(n.Pos())
				all = append(all, r)
			}
			return true
		})
	}
	return all
}

// literal is a text that stands in the sources, by itself or as a constant.
func literal(e ast.Expr, constants map[string]string) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.Ident:
		text, known := constants[e.Name]
		return text, known
	case *ast.SelectorExpr:
		return literal(e.Sel, constants)
	}
	return "", false
}

// wordsOf are all literals and constants in an expression, one behind the other.
func wordsOf(e ast.Expr, constants map[string]string) string {
	var all strings.Builder
	ast.Inspect(e, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok {
			text, _ := literal(e, constants)
			all.WriteString(text)
		}
		return true
	})
	return all.String()
}

// report reads a call of add(severity, code, table, what, fix), or a Finding.
func report(n ast.Node, constants map[string]string) (r reported, ok bool) {
	fixed := func(e ast.Expr) bool {
		text, known := literal(e, constants)
		return e != nil && (!known || text != "")
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		called, isMethod := n.Fun.(*ast.SelectorExpr)
		if !isMethod || called.Sel.Name != "add" || len(n.Args) != 5 {
			return r, false
		}
		r.code, ok = literal(n.Args[1], constants)
		table, _ := n.Args[2].(*ast.Ident)
		r.named = table == nil || table.Name != "none"
		r.fix, r.text = fixed(n.Args[4]), wordsOf(n.Args[4], constants)
	case *ast.CompositeLit:
		name, _ := n.Type.(*ast.Ident)
		selected, _ := n.Type.(*ast.SelectorExpr)
		if (name == nil || name.Name != "Finding") && (selected == nil || selected.Sel.Name != "Finding") {
			return r, false
		}
		for _, element := range n.Elts {
			pair, _ := element.(*ast.KeyValueExpr)
			if pair == nil {
				continue
			}
			switch key, _ := pair.Key.(*ast.Ident); key.Name {
			case "Code":
				r.code, ok = literal(pair.Value, constants)
			case "Table":
				r.named = true
			case "Fix":
				r.fix, r.text = fixed(pair.Value), wordsOf(pair.Value, constants)
			}
		}
		// One that is completed in steps, as those about servers and slots are.
		r.fix = r.fix || slices.Contains([]string{CodeServer, codeSlotPosition}, r.code)
	}
	return r, ok
}

// TestFindingsHaveGroupsPlacesAndFixes holds for every place in the sources that reports
// something: it says how to mend it, and what it is about where it names no relation.
func TestFindingsHaveGroupsPlacesAndFixes(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	all := reports(t)
	for _, r := range all {
		seen[r.code] = true
		if !r.fix {
			t.Errorf("%s: %s is reported without a fix", r.at, r.code)
		}
		if strings.Contains(r.text, "; --") {
			t.Errorf("%s: the fix of %s has a remark behind a statement: put it on a line below", r.at, r.code)
		}
		if _, known := topics[r.code]; !known && !r.named {
			t.Errorf("%s: nobody says what %s is about: add it to topics", r.at, r.code)
		}
	}
	if len(seen) < 40 {
		t.Errorf("only %d codes were found in the sources", len(seen))
	}
}

// TestTopicsAreLocated holds every setting that a finding is about against the example:
// those that are written are found, at their own line.
func TestTopicsAreLocated(t *testing.T) {
	t.Parallel()
	path := filepath.Join("..", "..", "..", "config.example.yaml")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := config.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	keys := make(map[string]bool)
	config.Describe().Paths(func(path string, _ config.Key) { keys[path] = true })
	for code, about := range topics {
		switch {
		case about.setting == "":
			continue
		case !keys[about.setting]:
			t.Errorf("%s is about %s, which there is not", code, about.setting)
			continue
		}
		at := cfg.LocateSetting(about.setting)
		if at.Line == 0 {
			if about.setting != "auth_query" && about.setting != "audiences" && !strings.HasPrefix(about.setting, "source.") { // which the example has in comments
				t.Errorf("%s is about %s, which is nowhere", code, about.setting)
			}
			continue
		}
		name := about.setting[strings.LastIndexByte(about.setting, '.')+1:]
		section := strings.Split(about.setting, ".")
		if line := lines[at.Line-1]; !strings.Contains(line, name+":") && !strings.Contains(line, section[max(len(section)-2, 0)]+":") {
			t.Errorf("%s is located at %q", about.setting, line)
		}
	}
}

func TestExaminationInWords(t *testing.T) {
	t.Parallel()
	cfg, err := config.Parse("k.yaml", []byte(`upstream:
  owner: {host: h, database: d, user: o}
  reader: {user: r}
users: [{name: a, verifier: "SCRAM-SHA-256$4096:ZXhhbXBsZSBzYWx0IDE2Yg==$Tm8gcGFzc3dvcmQgZml0cyB0aGlzIHZlcmlmaWVyLiA=:TWFrZSBvbmUgd2l0aDoga3Byb3h5IHBhc3N3b3JkLiA="}]
tables:
  public.t:
    updates: immediate
    constraints: [{k: 5}]
    columns:
      age: {role: quasi-identifying, hierarchy: numeric}
`))
	if err != nil {
		t.Fatal(err)
	}
	table := catalog.Name{Schema: "public", Relation: "t"}
	e := Summarize(cfg, inspect.Report{
		{Severity: inspect.Warning, Code: "too-few", Table: table, What: "is small", Fix: "wait"},
		{Severity: inspect.Error, Code: "policy", Table: table, Column: "age", What: "is a text", Fix: "write hierarchy: categorical"},
		{Severity: inspect.Error, Code: inspect.CodeTableMissing, Table: table, What: "there is no such relation", Fix: "did you mean public.tt?"},
		{Severity: inspect.Error, Code: "owner-missing", What: "there is no role o", Fix: "run kproxy setup"},
		{Severity: inspect.Error, Code: "raw-grant", Table: catalog.Name{Schema: "public", Relation: "u"}, What: "is open", Fix: "REVOKE SELECT ON u FROM r"},
		{Severity: inspect.Error, Code: "wal-level", What: "is replica", Fix: "ALTER SYSTEM SET wal_level = logical;\n-- and restart the server"},
	}, nil)
	const want = `server
  error: is replica [wal-level]
    fix: ALTER SYSTEM SET wal_level = logical;
         -- and restart the server

roles
  error: k.yaml:2: there is no role o [owner-missing]
    fix: kproxy setup -c k.yaml

what the reader role can reach
  error: public.u: is open [raw-grant]
    fix: REVOKE SELECT ON u FROM r;

table public.t
  error: k.yaml:10: column age: is a text [policy]
    fix: write hierarchy: categorical
  error: k.yaml:6: there is no such relation [table-missing]
    fix: write public.tt in place of public.t
  warning: k.yaml:6: is small [too-few]
    fix: wait
`
	if got := e.String(); got != want || e.OK || e.Alone || len(e.Errors().Findings) != 5 {
		t.Errorf("it says\n%s", got)
	}
	if e := Summarize(cfg, nil, nil); !e.OK || e.String() != "" || e.Findings == nil {
		t.Errorf("nothing was found: %+v", e)
	}
}

// TestVerdicts: what check ends with is what 'kproxy serve' does.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	name := func(relation string) catalog.Name { return catalog.Name{Schema: "public", Relation: relation} }
	cfg := checkConfig(t)
	cfg.Policy = catalog.Policy{
		Tables: []catalog.TablePolicy{{Table: name("a")}, {Table: name("b")}, {Table: name("c")}}, Readable: []catalog.Name{name("r")}, Functions: []catalog.Name{name("f")},
	}
	at := func(code, relation string) inspect.Finding {
		return inspect.Finding{Severity: inspect.Error, Code: code, Table: name(relation)}
	}
	withheld := inspect.Finding{Severity: inspect.Warning, Code: "too-few", Table: name("b"), Withholds: true}
	unique, broken, listed, called, grave := at(inspect.CodeNearlyUnique, "a"), at("policy", "a"), at(inspect.CodeReadableMissing, "r"), at(inspect.CodeFunctionMissing, "f"), at("raw-grant", "a")
	const refuses, withdraws, goesOn = "would refuse to start", "would start, but withdraw what is named", "would start, serve those named as nearly-unique as before"
	for what, c := range map[string]struct {
		report      inspect.Report
		before      []catalog.Name
		want        string
		publishable int
	}{
		"well":                  {nil, nil, "ok: 3 protected tables can be published", 3},
		"warned":                {inspect.Report{{Severity: inspect.Warning, Table: name("a")}}, nil, "ok: 3 protected tables can be published", 3},
		"some withheld":         {inspect.Report{withheld, withheld}, nil, "ok: 2 of 3 protected tables can be published", 2},
		"unique, new":           {inspect.Report{unique, withheld}, []catalog.Name{name("b")}, refuses, 1},
		"unique, served":        {inspect.Report{unique}, []catalog.Name{name("a")}, goesOn, 2},
		"broken, new":           {inspect.Report{broken}, []catalog.Name{name("b")}, refuses, 2},
		"broken, served":        {inspect.Report{broken}, []catalog.Name{name("a")}, withdraws, 2},
		"both, served":          {inspect.Report{broken, unique}, []catalog.Name{name("a")}, withdraws + "; it would serve those named as nearly-unique", 2},
		"relation, new":         {inspect.Report{listed}, nil, refuses, 3},
		"relation, served":      {inspect.Report{listed}, []catalog.Name{name("b")}, withdraws, 3},
		"function, new":         {inspect.Report{called}, nil, refuses, 3},
		"function, served":      {inspect.Report{called}, []catalog.Name{name("b")}, withdraws, 3},
		"raw rows":              {inspect.Report{grave}, []catalog.Name{name("a")}, refuses, 2},
		"raw rows and a broken": {inspect.Report{grave, broken}, []catalog.Name{name("a")}, refuses, 2},
	} {
		e := Summarize(cfg, c.report, c.before)
		if got := e.Verdict(); !strings.Contains(got, c.want) || e.Publishable != c.publishable || e.Errors().Verdict() != got {
			t.Errorf("%s: %q, and %d tables can be published", what, got, e.Publishable)
		}
	}
}

func checkConfig(t *testing.T) *config.Config {
	t.Helper()
	c, err := config.Parse("config.example.yaml", kproxy.ExampleConfig)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
