package rewrite

import (
	"fmt"
	"go/ast"
	goparser "go/parser"
	gotoken "go/token"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// oddLiterals are what a rewriting may depend on, or trip over.
var oddLiterals = map[class][]string{
	classInteger: {"1", "0", "2", "7", "16", "64", "1259", "16390", "999999999", "817000000"},
	classDecimal: {"0.5", "1.50", "10.0", "99999999999.25", "618000000.5"},
	classString: {
		"'t'", "'f'", "'true'", "'on'", "''", "'x'", "'it''s'", "''''", "'\"'", "'a\nb'", "'ä'", "'--'", "'/*'", "'$1'", "'1259'", "'16390'",
		"'pg_class'", "'patients'", "'secrets'", "'public.patients'", "'\"Patients\"'", "'pg_catalog.pg_class'", "'hospital.visits'", "'frozen'",
		"'kproxy_release_public.patients'", "'search_path'", "'data_directory'", "'statement_timeout'", "'year'", "'NFC'", "'select'",
		"'pg_catalog'", "'public'", "'int4'", "'lower'", "'pg_sleep'", "'{}'", "'1 day'", "'C'", "'1.0'", "'kproxyliteral00000'",
	},
}

// vary puts other literals of the same classes into a text, as next chooses.
func vary(sql string, next func(n int) int) (string, bool) {
	of, ok := literals(sql, nil)
	if !ok {
		return "", false
	}
	var b strings.Builder
	from := 0
	for _, l := range of {
		b.WriteString(sql[from:l.start])
		if odd := oddLiterals[l.class]; next(3) > 0 {
			b.WriteString(odd[next(len(odd))])
		} else {
			b.WriteString(sql[l.start:l.end])
		}
		from = l.end
	}
	return b.String() + sql[from:], true
}

// directly is the outcome of a text that no other has come before.
func directly(r *Rewriter, sql string) string {
	done, err := r.rewrite(sql, nil, r.current.Load().snapshot)
	return outcomeText(result(sql, done, err).result())
}

func outcomeText(s *Statement, err error) string {
	if err != nil {
		return render("", err)
	}
	return fmt.Sprintf("%s\nreads %v, plans %v, effects %v", s.SQL, s.Reads, s.Plans, s.Effects)
}

func fromTemplate(r *Rewriter, sql string) bool {
	f := new(form)
	return f.read(sql) && r.templated(r.current.Load(), "", sql, f) != nil
}

// corpus are all statements of the test data.
func corpus(t testing.TB) []string {
	t.Helper()
	var texts []string
	for _, pattern := range []string{"testdata/*.sql", "testdata/*/*.sql"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range files {
			for _, b := range readBlocks(t, path) {
				texts = append(texts, b.sql)
			}
		}
	}
	return append(texts, spliceSeeds...)
}

// TestTemplatesEqualDirectRewriting sends every statement many times with other
// literals: what a template gives must be, byte for byte, what rewriting gives.
func TestTemplatesEqualDirectRewriting(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	hits, texts := 0, 0
	for _, sql := range corpus(t) {
		r := clinicRewriter()
		for i := range 8 {
			variation := sql
			if i > 0 {
				var ok bool
				if variation, ok = vary(sql, random.IntN); !ok {
					break
				}
			}
			texts++
			if fromTemplate(r, variation) {
				hits++
			}
			if got, want := outcomeText(r.Rewrite(variation, nil)), directly(r, variation); got != want {
				t.Fatalf("%s\nby the cache:\n%s\ndirectly:\n%s", variation, got, want)
			}
		}
	}
	if hits*5 < texts {
		t.Errorf("%d of %d texts came from templates", hits, texts)
	}
}

// TestTemplatesByStatement says for statements which literals may vary: those marked
// by ? are replaced by others and must come from the template.
func TestTemplatesByStatement(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql      string
		variable []bool
	}{
		{"SELECT age FROM patients WHERE age > 40 AND ward = 'A' AND cost < 1.5", []bool{true, true, true}},
		{"SELECT * FROM patients LIMIT 10 OFFSET 20", []bool{true, true}},
		{"SELECT 'patients'::regclass, 'a' FROM patients", []bool{false, true}},
		{"SELECT current_setting('timezone'), 'a'", []bool{false, true}},
		{"SELECT 't'::bool, 'a'::text, 1::text", []bool{false, true, true}},
		{"SELECT CURRENT_TIMESTAMP(3), 3", []bool{false, true}},
		{"SELECT - 5, 3 - 5", []bool{false, true, true}},
		{"SELECT extract('year' FROM admission), 5 FROM patients", []bool{true, true}},
		{"SELECT DATE '2020-01-01', interval '1' day, interval '1 day'", []bool{true, true, true}},
		{"SELECT count(*) FROM patients GROUP BY 1 ORDER BY 1", []bool{true, true}},
		{"SELECT 1; SELECT 'x' -- 5", []bool{true, true}},
		{"SELECT 5e-5, 1e5, 0x1F, 1_000, .5, 5., 12345678901", []bool{false}},
		{`SELECT 'a\b', 'c'`, []bool{true}},
		{"SELECT 'a' 'b'", nil},
		{"SELECT E'a\\'b', 'b'", []bool{true}},
		{"SELECT N'a', 'b'", nil},
		{"SELECT U&'a', 'b'", nil},
		{"SELECT $$a$$, 'b'", nil},
		{"SELECT /* /* */ */ 1", nil},
		{"SET statement_timeout = 5", []bool{false}},
		{"EXPLAIN SELECT 5", []bool{false}},
		{"SELECT xmlconcat('<a/>', '<b/>'), xmlparse(DOCUMENT '<a/>' PRESERVE WHITESPACE)", []bool{true, true, true}},
		{"SELECT 1 UNION SELECT 2 FETCH FIRST 3 ROWS ONLY", []bool{true, true, true}},
	} {
		r := clinicRewriter()
		of, _ := literals(c.sql, nil)
		if len(of) != len(c.variable) {
			t.Errorf("%s: %d plain literals, want %d", c.sql, len(of), len(c.variable))
			continue
		}
		for i, variable := range c.variable {
			for n := range 4 { // the first two teach the rewriter
				text := c.sql[:of[i].start] + other(of[i].class, n) + c.sql[of[i].end:]
				_, _ = r.Rewrite(text, nil)
				if hit := fromTemplate(r, text); n >= 2 && hit && !variable {
					t.Errorf("%s came from a template", text)
				} else if n >= 2 && !hit && variable {
					t.Errorf("%s did not come from a template", text)
				}
			}
		}
	}
}

// TestAlike changes one thing at a time of what is known of a rewritten text.
func TestAlike(t *testing.T) {
	t.Parallel()
	plain := func() *Statement {
		return &Statement{SQL: "SELECT 1", Reads: []catalog.Name{{Schema: "public", Relation: "patients"}}, Plans: true, Traceless: true}
	}
	if s := plain(); !s.sameExceptSQL(plain()) {
		t.Error("a statement is not like itself")
	}
	for what, change := range map[string]func(*Statement){
		"reads":         func(s *Statement) { s.Reads[0].Relation = "visits" },
		"effects":       func(s *Statement) { s.Effects = []Effect{nil} },
		"plans":         func(s *Statement) { s.Plans = false },
		"leavesNothing": func(s *Statement) { s.Traceless = false },
	} {
		changed := plain()
		change(changed)
		if changed.sameExceptSQL(plain()) || plain().sameExceptSQL(changed) {
			t.Errorf("statements with other %s are alike", what)
		}
	}
	both := plain()
	both.Effects = []Effect{nil}
	if both.sameExceptSQL(both) {
		t.Error("statements with effects are alike")
	}
}

// TestLiteralIsItsConstant compares each literal with each constant.
func TestLiteralIsItsConstant(t *testing.T) {
	t.Parallel()
	constants := []*pg.A_Const{
		pg.MakeAConstIntNode(5, 0).GetAConst(),
		pg.MakeAConstIntNode(6, 0).GetAConst(),
		pg.MakeAConstStrNode("5", 0).GetAConst(),
		pg.MakeAConstStrNode("6", 0).GetAConst(),
		{Val: &pg.A_Const_Fval{Fval: &pg.Float{Fval: "5.0"}}},
		{Val: &pg.A_Const_Fval{Fval: &pg.Float{Fval: "6.0"}}},
		{Val: &pg.A_Const_Boolval{Boolval: &pg.Boolean{Boolval: true}}},
		{Isnull: true},
	}
	for text, same := range map[string]int{"5": 0, "6": 1, "'5'": 2, "'6'": 3, "5.0": 4, "6.0": 5} {
		of, _ := literals("SELECT "+text, nil)
		for i, c := range constants {
			if len(of) != 1 || of[0].is(c, "SELECT "+text) != (i == same) {
				t.Errorf("%s and %v: %v", text, c, of)
			}
		}
	}
}

func other(of class, n int) string {
	return fmt.Sprintf(map[class]string{classInteger: "55%d", classDecimal: "5.5%d", classString: "'other %d'"}[of], n)
}

// TestTemplatesBeginWithTheSecondText says when a template exists: with the second text of its form.
func TestTemplatesBeginWithTheSecondText(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for i, want := range []bool{false, false, true, true} {
		sql := fmt.Sprintf("SELECT age FROM patients WHERE age = %d", 100+i)
		if fromTemplate(r, sql) != want {
			t.Errorf("text %d: a template is %v", i+1, !want)
		}
		if _, err := r.text(sql); err != nil {
			t.Fatal(err)
		}
	}
	// Another session, another snapshot: another rewriting.
	if f := new(form); f.read("SELECT age FROM patients WHERE age = 5") && r.templated(r.current.Load(), "other", "SELECT age FROM patients WHERE age = 5", f) != nil {
		t.Error("another session shares the template")
	}
	r.SetSnapshot(clinic())
	if fromTemplate(r, "SELECT age FROM patients WHERE age = 5") {
		t.Error("a template outlives its snapshot")
	}
}

// TestTemplatesKeepLimits: what is refused for its literals' bytes is refused on this
// path, too.
func TestTemplatesKeepLimits(t *testing.T) {
	t.Parallel()
	r := clinicRewriter()
	for _, literal := range []string{"a", "b", "c"} {
		if _, err := r.text("SELECT '" + literal + "'"); err != nil {
			t.Fatal(err)
		}
	}
	for _, literal := range []string{"\x00", "\xc3(", strings.Repeat("+", maxOperatorRun+1), strings.Repeat("x", DefaultMaxStatementBytes)} {
		sql := "SELECT '" + literal + "'"
		if _, err := r.text(sql); err == nil || fromTemplate(r, sql) {
			t.Errorf("%.20q passed", literal)
		}
	}
}

// TestConstantsAreReadInOnePlace holds the sources to the rule of constant.go. The
// files that are named here serve statements that have no templates.
func TestConstantsAreReadInOnePlace(t *testing.T) {
	t.Parallel()
	without := words("constant.go build.go settings.go statement.go options.go session_path.go set_config.go template.go position.go parenthesize.go")
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if without[path] || strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := goparser.ParseFile(gotoken.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			name := selector.Sel.Name
			constant := []string{"GetAConst", "AConst", "A_Const", "Node_AConst", "GetIval", "GetFval", "GetBoolval", "GetBsval", "GetIsnull"}
			if slices.Contains(constant, name) || strings.HasPrefix(name, "A_Const_") {
				if path == "walk.go" && name == "Node_AConst" {
					return true // passes over them
				}
				t.Errorf("%s reads constants by %s; use constant.go", path, name)
			}
			return true
		})
	}
}

// FuzzTemplate varies the literals of any text.
func FuzzTemplate(f *testing.F) {
	for i, sql := range corpus(f) {
		if len(sql) < 400 {
			f.Add(sql, []byte{byte(i), 3, 1, 4, 1, 5, 9, 2, 6})
		}
	}
	r := clinicRewriter()
	f.Fuzz(func(t *testing.T, sql string, choices []byte) {
		at := 0
		next := func(n int) int {
			if len(choices) == 0 {
				return 0
			}
			at++
			return int(choices[at%len(choices)]) % n
		}
		for range 5 {
			if got, want := outcomeText(r.Rewrite(sql, nil)), directly(r, sql); got != want {
				t.Fatalf("%s\nby the cache:\n%s\ndirectly:\n%s", sql, got, want)
			}
			variation, ok := vary(sql, next)
			if !ok {
				return
			}
			sql = variation
		}
	})
}

// FuzzLexer holds the quick lexer against PostgreSQL's: every string and number that
// it calls plain must be one token there, and nothing it counts may weigh less.
func FuzzLexer(f *testing.F) {
	for _, sql := range corpus(f) {
		if len(sql) < 400 {
			f.Add(sql)
		}
	}
	o := Options{}.withDefaults()
	f.Fuzz(func(t *testing.T, sql string) {
		if limitText(sql, o) != nil {
			return
		}
		tokens, err := scan(sql)
		if err != nil {
			return
		}
		if _, err := pg.Parse(sql); err != nil {
			return
		}
		if quick, ok := quickScan(sql); ok {
			if checkTokens(sql, quick, o) == nil && checkTokens(sql, tokens, o) != nil {
				t.Errorf("%q passes the quick guard only", sql)
			}
		}
		of, _ := literals(sql, nil)
		kinds := map[class]pg.Token{classInteger: pg.Token_ICONST, classDecimal: pg.Token_FCONST, classString: pg.Token_SCONST}
		at := make(map[int32]int, len(tokens))
		for i, k := range tokens {
			at[k.start] = i
		}
		for _, l := range of {
			i, ok := at[int32(l.start)]
			if !ok {
				continue // inside a number; no constant of the tree stands there
			}
			if k := tokens[i]; int(k.end) != l.end || k.kind != kinds[l.class] {
				t.Errorf("%q: %q is %v up to %d", sql, sql[l.start:l.end], k.kind, k.end)
			}
		}
	})
}
