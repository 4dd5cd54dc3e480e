package rewrite

import (
	"slices"
	"strings"
	"testing"

	"github.com/kproxy/kproxy/catalog"
)

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sql  string
		want []string
	}{
		{"SELECT 1", []string{"SELECT 1"}},
		{" SELECT ';' ; ; SELECT 2;\n", []string{"SELECT ';'", "SELECT 2"}},
		{"SELECT $$;$$; SELECT /* ; */ 3 -- ;", []string{"SELECT $$;$$", "SELECT /* ; */ 3 -- ;"}},
		{"SELECT 'open; SELECT 1", []string{"SELECT 'open; SELECT 1"}},
		{"", nil},
	} {
		if got := Split(test.sql); !slices.Equal(got, test.want) {
			t.Errorf("%q is split into %q, not %q", test.sql, got, test.want)
		}
	}
}

func TestLayout(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"SELECT 1": "SELECT 1",
		"SELECT a, left(b, 1) FROM t LEFT JOIN u ON t.a IS DISTINCT FROM u.a WHERE a IN (SELECT b FROM v WHERE c = 'x  y') ORDER BY 1": `SELECT a, left(b, 1)
FROM t
LEFT JOIN u ON t.a IS DISTINCT FROM u.a
WHERE a IN (
  SELECT b
  FROM v
  WHERE c = 'x  y'
)
ORDER BY 1`,
		"SELECT count(*) FILTER (WHERE a) OVER (ORDER BY b), extract(year FROM c) FROM t UNION SELECT 1, 2": `SELECT count(*) FILTER (WHERE a) OVER (ORDER BY b), extract(year FROM c)
FROM t
UNION
SELECT 1, 2`,
		"SELECT 'open": "SELECT 'open",
		"SELECT (":     "SELECT (",
		") FROM t )":   ")\nFROM t )",
		"":             "",
	} {
		if got := Layout(sql); got != want {
			t.Errorf("laid out:\n%s\nnot:\n%s", got, want)
		}
	}
}

// What is laid out means what it meant.
func TestLayoutKeepsTokens(t *testing.T) {
	t.Parallel()
	for _, sql := range []string{
		"SELECT a::text||'b',x.y,-1 FROM s.t AS x(y) WHERE a<>2 AND b->>'c'='d' LIMIT 5", "WITH q AS (SELECT 1) SELECT * FROM q, (VALUES (1),(2)) v(a)",
	} {
		without := func(text string) string { return strings.Join(strings.Fields(text), " ") }
		if got := Layout(sql); without(strings.NewReplacer("( ", "(", " )", ")").Replace(without(got))) != without(sql) {
			t.Errorf("%s becomes\n%s", sql, got)
		}
	}
}

func TestGrammar(t *testing.T) {
	t.Parallel()
	if got := Grammar(); !strings.Contains(got, ".") {
		t.Errorf("the grammar is of %q", got)
	}
}

// Every effect that statements have is described in words of its own.
func TestEffectsAreDescribed(t *testing.T) {
	t.Parallel()
	r := New(Options{TemporaryTables: true})
	r.SetSnapshot(catalog.NewSnapshot(catalog.Policy{}, nil, nil))
	seen := make(map[string]string)
	for _, sql := range []string{
		"SET search_path TO a", "SET LOCAL search_path TO a", "RESET search_path", "RESET ALL", "DISCARD ALL", "DISCARD TEMP", "BEGIN", "COMMIT",
		"ROLLBACK", "SAVEPOINT a", "RELEASE a", "ROLLBACK TO a", "CREATE TEMP TABLE a (b int)",
	} {
		s, err := r.Rewrite(sql, nil)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		words := ""
		for _, e := range s.Effects {
			words += Describe(e)
		}
		if other, taken := seen[words]; taken || words == "" || words == "changes the session" {
			t.Errorf("%s: described as %q, as %q is", sql, words, other)
		}
		seen[words] = sql
	}
	if Describe(nil) != "" || Describe(dropTemporary{names: []string{"a"}}) == "" {
		t.Error("what does nothing, or drops, is described wrongly")
	}
}

// TestSplitIsBounded: a text that is too long for a statement is not looked through.
func TestSplitIsBounded(t *testing.T) {
	t.Parallel()
	longest := "SELECT 1;SELECT 2" + strings.Repeat(" ", DefaultMaxStatementBytes-len("SELECT 1;SELECT 2"))
	for text, want := range map[string]int{longest: 2, longest + " ": 1} {
		if got := Split(text); len(got) != want {
			t.Errorf("%d bytes are taken apart into %d statements, not %d", len(text), len(got), want)
		}
	}
}
