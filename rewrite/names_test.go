package rewrite

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

// oddNames are identifiers that have to be quoted, and some that have not.
func oddName(random *rand.Rand) string {
	parts := []string{"a", "B", "9", "_", `"`, `""`, ".", " ", "'", "ä", "select", ",", "$user", "\t", "(", `\`}
	var b strings.Builder
	for range 1 + random.IntN(4) {
		b.WriteString(parts[random.IntN(len(parts))])
	}
	return b.String()
}

// TestNamesAreReadAsWritten has names of relations, with blanks around their parts, read
// back as they were before they were quoted.
func TestNamesAreReadAsWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 11))
	blank := func() string { return []string{"", "", " ", "\t\n", "\r\f\v"}[random.IntN(5)] }
	for range 5000 {
		database, schema, relation := oddName(random), oddName(random), oddName(random)
		written := func(parts ...string) string {
			text := blank()
			for i, part := range parts {
				if i > 0 {
					text += blank() + "." + blank()
				}
				text += catalog.QuoteIdentifier(part)
			}
			return text + blank()
		}
		for _, c := range []struct {
			text, schema string
			ok           bool
		}{
			{written(relation), "", true},
			{written(schema, relation), schema, true},
			{written(database, schema, relation), schema, true},
			{written(database+"x", schema, relation), "", false},
			{written("x", database, schema, relation), "", false},
			{written(schema, relation) + ".", "", false},
			{"." + written(relation), "", false},
			{written(relation) + blank() + `"x"`, "", false},
			{written(schema) + `."` + strings.ReplaceAll(relation, `"`, `""`), "", false},
			{`"".` + written(relation), "", false},
		} {
			gotSchema, got, ok := splitName(c.text, database)
			if strings.HasSuffix(c.text, `"x"`) && strings.HasSuffix(strings.TrimSuffix(c.text, `"x"`), `"`) {
				continue // one name, with a quotation mark in it
			}
			if ok != c.ok || ok && (gotSchema != c.schema || got != relation) {
				t.Fatalf("%q of %q is %q, %q, %v, want %q, %q, %v", c.text, database, gotSchema, got, ok, c.schema, relation, c.ok)
			}
		}
	}
	if schema, name, ok := splitName("  Public . PATIENTS ", ""); schema != "public" || name != "patients" || !ok {
		t.Errorf("folded: %q, %q, %v", schema, name, ok)
	}
}

// TestPathsAreReadAsWritten has the schemas of SET search_path come back from what SHOW
// says of it.
func TestPathsAreReadAsWritten(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 12))
	for range 5000 {
		var names, quoted []string
		for range 1 + random.IntN(4) {
			name := oddName(random)
			names, quoted = append(names, name), append(quoted, catalog.QuoteIdentifier(name))
		}
		statement, err := New(Options{CacheBytes: NoCache}).Rewrite("SET search_path = "+strings.Join(quoted, " , "), nil)
		if err != nil {
			t.Fatalf("%q: %v", quoted, err)
		}
		s := (*Session)(nil).After(statement.Effects[0])
		got, err := splitPath(s.SearchPath())
		if err != nil || strings.Join(got, "\x00") != strings.Join(names, "\x00") {
			t.Fatalf("%q is shown as %s, which is %q, %v", names, s.SearchPath(), got, err)
		}
		for _, name := range names {
			plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == "" && name != "select" && strings.IndexByte("0123456789", name[0]) < 0
			if plain && !strings.Contains(s.SearchPath(), name) || !plain && !strings.Contains(s.SearchPath(), catalog.QuoteIdentifier(name)) {
				t.Fatalf("%q is shown as %s", names, s.SearchPath())
			}
		}
	}
}

// TestTablesOfOneNameAreToldApart reads tables of one name from several schemas beside each
// other, as PostgreSQL lets do.
func TestTablesOfOneNameAreToldApart(t *testing.T) {
	t.Parallel()
	var policy catalog.Policy
	var relations []catalog.Relation
	for _, schema := range []string{"a", "b", "c"} {
		name := catalog.Name{Schema: schema, Relation: "t"}
		policy.Tables, relations = append(policy.Tables, catalog.TablePolicy{Table: name}), append(relations, catalog.Relation{Name: name})
	}
	r := New(Options{})
	r.SetSnapshot(catalog.NewSnapshot(policy, relations, nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}}))
	for sql, want := range map[string]string{
		"SELECT a.t.x, b.t.y FROM a.t, b.t":  `SELECT "a.t".x, "b.t".y FROM kproxy_release_a.t "a.t", kproxy_release_b.t "b.t"`,
		"SELECT c.t.x FROM a.t, b.t, c.t":    `SELECT "c.t".x FROM kproxy_release_a.t "a.t", kproxy_release_b.t "b.t", kproxy_release_c.t "c.t"`,
		"SELECT a.t.x FROM a.t":              "SELECT t.x FROM kproxy_release_a.t t",
		"SELECT a.t.x FROM a.t, b.t u":       "SELECT t.x FROM kproxy_release_a.t t, kproxy_release_b.t u",
		"SELECT 1 FROM a.t, a.t":             "SELECT 1 FROM kproxy_release_a.t t, kproxy_release_a.t t", // the database refuses it
		"SELECT 1 FROM a.t, b.t u, c.t AS t": "SELECT 1 FROM kproxy_release_a.t t, kproxy_release_b.t u, kproxy_release_c.t t",
	} {
		if got, err := r.text(sql); err != nil || got != want {
			t.Errorf("%s\nbecame %s, %v\nwant   %s", sql, got, err, want)
		}
	}
	for _, sql := range []string{"SELECT t.x FROM a.t, b.t", "SELECT c.t.x FROM a.t, b.t", "SELECT a.t.x FROM a.t u", "SELECT a.t.x FROM b.t"} {
		if got, err := r.text(sql); err == nil {
			t.Errorf("%s became %s", sql, got)
		}
	}
}

// TestTablesOfOneNameInsideAJoin has two tables of one name in a join that hides both from
// the query around it: its condition tells them apart.
func TestTablesOfOneNameInsideAJoin(t *testing.T) {
	t.Parallel()
	a, b := catalog.Name{Schema: "a", Relation: "t"}, catalog.Name{Schema: "b", Relation: "t"}
	r := New(Options{})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{Tables: []catalog.TablePolicy{{Table: a}, {Table: b}}},
		[]catalog.Relation{{Name: a}, {Name: b}}, nil).WithNames(catalog.ServerNames{Callable: map[string]bool{}}))
	got, err := r.text("SELECT j.x FROM (a.t JOIN b.t ON a.t.id = b.t.id) AS j")
	const want = `SELECT j.x FROM (kproxy_release_a.t "a.t" JOIN kproxy_release_b.t "b.t" ON "a.t".id = "b.t".id ) j`
	if err != nil || got != want {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
}
