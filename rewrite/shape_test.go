package rewrite

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// ward is a database with columns: the names of patients identify.
func ward() *catalog.Snapshot {
	patients := catalog.Name{Schema: "public", Relation: "patients"}
	columns := []catalog.Column{{Name: "name"}, {Name: "surname"}, {Name: "postcode"}, {Name: "birth_date"}, {Name: "diagnosis"}, {Name: "Cost"}}
	policy := catalog.TablePolicy{Table: patients}
	for i, c := range columns {
		role := catalog.Insensitive
		if i < 2 {
			role = catalog.Identifying
		}
		policy.Columns = append(policy.Columns, catalog.ColumnPolicy{Name: c.Name, Role: role})
	}
	return catalog.NewSnapshot(catalog.Policy{Tables: []catalog.TablePolicy{policy}}, []catalog.Relation{
		{Name: patients, Columns: columns},
		{Name: catalog.Name{Schema: "public", Relation: "secrets"}, Columns: []catalog.Column{{Name: "hidden"}}},
	}, nil)
}

var shapes = []struct{ sql, want string }{
	{"select 1", "SELECT ?"},
	{
		"SELECT Diagnosis, count(*) FROM patients p WHERE p.postcode = '10115' GROUP BY 1 LIMIT 10 -- for Ann",
		"SELECT diagnosis, count(*) FROM patients _1 WHERE _1.postcode = ? GROUP BY ? LIMIT ?",
	},
	{
		"SELECT a.diagnosis, b.diagnosis FROM patients a JOIN patients b USING (postcode)",
		"SELECT _1.diagnosis, _2.diagnosis FROM patients _1 JOIN patients _2 USING (postcode)",
	},
	{
		"SELECT 1 FROM patients WHERE postcode IN ('1','2' , '3') AND \"Cost\" IN (-1, +2.5, 3e5)",
		"SELECT ? FROM patients WHERE postcode IN (?, ...) AND Cost IN (?, ...)",
	},
	{"SELECT 1 FROM patients WHERE postcode IN ('1')", "SELECT ? FROM patients WHERE postcode IN (?)"},
	{"VALUES (1, 'a'), (2, 'b'), (3, 'c')", "VALUES (?, ...), ..."},
	{"VALUES (1, 'a'), (2, DEFAULT)", "VALUES (?, ...), (?, DEFAULT)"},
	{
		"SELECT '{1,2}'::int[], ARRAY[1,2,3], x'1F', E'a\\'b', 'a'\n'b', $tag$c$tag$, DATE '1985-04-12', interval '1' year",
		"SELECT ? :: INT[], ARRAY [?, ...], ?, ?, ?, ?, date ?, INTERVAL ? YEAR",
	},
	{"SELECT $1, $2::int, $10115", "SELECT $1, $2 :: INT, $?"},
	{"SELECT true, NOT FALSE, null, diagnosis IS NULL", "SELECT ?, NOT ?, NULL, diagnosis IS NULL"},
	{"SELECT cost-1, 1 - 2, -3, (-4), diagnosis||'x' FROM patients", "SELECT COST - ?, ? - ?, ?, (?), diagnosis || ? FROM patients"},
	{"SELECT surname, hidden FROM secrets", "SELECT _1, _2 FROM _3"},
	{`SELECT "Ann Smith", U&"\0041nn", "postcode" AS "born 1985" FROM "patients"`, "SELECT _1, _2, postcode AS _3 FROM patients"},
	{"SET application_name = 'Ann'; SET datestyle TO iso, dmy", "SET application_name = ?; SET datestyle TO _1, _2"},
	{"PREPARE ann (int) AS SELECT /* ann */ 1", "PREPARE _1(INT) AS SELECT ?"},
	{"EXECUTE ann(10115)", "EXECUTE _1(?)"},
	{"SELECT coalesce(diagnosis, 'none') FILTER (WHERE true) FROM patients", "SELECT COALESCE(diagnosis, ?) FILTER (WHERE ?) FROM patients"},
	{
		"SELECT c.relname FROM pg_catalog.pg_class c WHERE c.relkind = ANY ('{r,v}')",
		"SELECT _1.relname FROM pg_catalog.pg_class _1 WHERE _1.relkind = ANY (?)",
	},
}

func TestShapes(t *testing.T) {
	t.Parallel()
	known := vocabulary(ward())
	for _, test := range shapes {
		if got := shapeOf(test.sql, known); got != test.want {
			t.Errorf("%s\nhas the shape\n%s\nnot\n%s", test.sql, got, test.want)
		}
	}
}

// TestShapeTravels wants shapes with statements from the cache and from templates, and
// with refusals.
func TestShapeTravels(t *testing.T) {
	t.Parallel()
	r := New(Options{})
	r.SetSnapshot(ward())
	for _, postcode := range []string{"1", "2", "3", "3", "4"} {
		s, err := r.Rewrite("SELECT diagnosis FROM patients WHERE postcode = '"+postcode+"'", nil)
		if err != nil || s.Shape != "SELECT diagnosis FROM patients WHERE postcode = ?" {
			t.Errorf("the shape is %+v, %v", s, err)
		}
	}
	for _, test := range []struct{ sql, want string }{
		{"SELECT pg_sleep(10115) FROM patients", "SELECT pg_sleep(?) FROM patients"},
		{"INSERT INTO patients VALUES ('Ann')", "INSERT [...]"},
		{"SELECT 'Ann", ""},
		{"SELECT FROM WHERE 'Ann'", ""},
	} {
		_, err := r.Rewrite(test.sql, nil)
		var refused *Refusal
		if !errors.As(err, &refused) || refused.Shape() != test.want {
			t.Errorf("%s: the refusal's shape is %+v, not %q", test.sql, refused, test.want)
		}
	}
}

// TestLongShapes wants them cut, whatever the text.
func TestLongShapes(t *testing.T) {
	t.Parallel()
	known := vocabulary(ward())
	for _, sql := range []string{
		"SELECT " + strings.Repeat("diagnosis, ", 1000) + "1", "SELECT " + strings.Repeat("(", 5000), "SELECT " + strings.Repeat("+", 5000),
		"SELECT 1" + strings.Repeat(", 2, postcode", 3000), "VALUES " + strings.Repeat("(1, 2), ", 5000) + "(1, 2)",
	} {
		if got := shapeOf(sql, known); len(got) > maxShapeBytes+len(shapeCut)+len(shapeMore) {
			t.Errorf("%.20s has a shape of %d bytes", sql, len(got))
		}
	}
}

// TestUnbalancedShapes wants brackets that close nothing taken as they are.
func TestUnbalancedShapes(t *testing.T) {
	t.Parallel()
	known := vocabulary(ward())
	for sql, want := range map[string]string{
		")":                               ")",
		"SELECT 1) ) + 2":                 "SELECT ?)) + ?",
		"SELECT (1) FROM patients) ] (2)": "SELECT (?) FROM patients)] (?)",
	} {
		if got := shapeOf(sql, known); got != want {
			t.Errorf("%s has the shape %q, not %q", sql, got, want)
		}
	}
}

var shapeWord = regexp.MustCompile(`[\pL\pN_$]+|\?`)

// foreign is a word of a shape that is not of the vocabulary; "" if there is none.
func foreign(shape string, known func(string) bool) string {
	numbered := regexp.MustCompile(`^(_[0-9]+|\$[0-9]{1,2}|\$|\?)$`)
	for _, word := range shapeWord.FindAllString(shape, -1) {
		if !numbered.MatchString(word) && !known(word) && !keywords[strings.ToLower(word)] {
			return word
		}
	}
	return ""
}

// TestShapesAreOfTheVocabulary tries everything that tests send, both lexers, also what
// does not parse.
func TestShapesAreOfTheVocabulary(t *testing.T) {
	t.Parallel()
	known := vocabulary(ward())
	for _, sql := range corpus(t) {
		shape := shapeOf(sql, known)
		if word := foreign(shape, known); word != "" {
			t.Errorf("%q in %s, the shape of %s", word, shape, sql)
		}
		s := shaper{sql: sql, known: known}
		if s.thorough() && string(s.out) != shape {
			t.Errorf("%s\nhas by PostgreSQL's lexer the shape\n%s\nand else\n%s", sql, s.out, shape)
		}
	}
}

// TestNothingOfTheClientIsInShapes puts something that must not be told into every place
// of every text.
func TestNothingOfTheClientIsInShapes(t *testing.T) {
	t.Parallel()
	known := vocabulary(ward())
	constants := []string{"'canary'", "E'can\\'ary canary'", "$canary$ canary $canary$", "B'1'", "U&'canary'", "4711472", "4711472.5", "'a'\n'canary'"}
	names := []string{"canary", `"canary of Ann"`, `U&"canary"`, `"can""ary"`, "Canary", "cänary"}
	tried := 0
	for i, sql := range corpus(t) {
		tokens, err := scan(sql)
		if err != nil {
			continue
		}
		var b strings.Builder
		from := 0
		for j, token := range tokens {
			var with string
			switch token.kind {
			case pg.Token_SCONST, pg.Token_FCONST, pg.Token_ICONST, pg.Token_BCONST, pg.Token_XCONST, pg.Token_USCONST:
				with = constants[(i+j)%len(constants)]
			case pg.Token_IDENT, pg.Token_UIDENT:
				with = names[(i+j)%len(names)]
			case pg.Token_PARAM:
				with = "$4711472"
			default:
				continue
			}
			b.WriteString(sql[from:token.start] + " " + with + " /* canary */ ")
			from = int(token.end)
			tried++
		}
		b.WriteString(sql[from:] + " -- canary 4711472")
		shape := strings.ToLower(shapeOf(b.String(), known))
		if strings.Contains(shape, "canary") || strings.Contains(shape, "4711") || foreign(shape, known) != "" {
			t.Errorf("%s\nis the shape of\n%s", shape, b.String())
		}
	}
	if tried < 1000 {
		t.Errorf("only %d places were tried", tried)
	}
}

func FuzzShape(f *testing.F) {
	for _, test := range shapes {
		f.Add(test.sql)
	}
	known := vocabulary(ward())
	f.Fuzz(func(t *testing.T, sql string) {
		if limitText(sql, Options{}.withDefaults()) != nil {
			return
		}
		shape := shapeOf(sql, known)
		if word := foreign(shape, known); word != "" || len(shape) > maxShapeBytes+len(shapeCut)+len(shapeMore) {
			t.Errorf("%q in %q", word, shape)
		}
	})
}

func BenchmarkShape(b *testing.B) {
	known := vocabulary(ward())
	b.ReportAllocs()
	for b.Loop() {
		shapeOf("SELECT Diagnosis, count(*) FROM patients p WHERE p.postcode = '10115' GROUP BY 1 ORDER BY 2 DESC LIMIT 10", known)
	}
}
