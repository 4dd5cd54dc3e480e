package rewrite

import (
	"testing"
	"unicode/utf8"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/internal/charset"
)

var escaping = New(Options{})

var escapes = map[string]string{
	`SELECT 0."日本"`:                             `SELECT 0. U&"\65e5\672c"`,
	`SELECT 1 FROM "é" uescape, "ü" AS uescape`: `SELECT 1 FROM U&"\00e9" "uescape", U&"\00fc" AS uescape`,
	`SELECT 'a'`:                                `SELECT 'a'`,
	`SELECT 'é', "é"`:                           `SELECT U&'\00e9', U&"\00e9"`,
	`SELECT É.a FROM Tisch AS É`:                `SELECT U&"\00c9".a FROM Tisch AS U&"\00c9"`,
	`SELECT '😀\''''é'`:                          `SELECT U&'\+01f600\\''''\00e9'`,
	`SELECT E'\é\\é\'''é\n😀'`:                   `SELECT E'\u00e9\\\u00e9\'''\u00e9\n\U0001f600'`,
	`SELECT date'é' /* é */ -- ü`:               `SELECT date U&'\00e9' /* ? */ -- ?`,
	`SELECT "a""é\" FROM t WHERE b = 'ß'`:       `SELECT U&"a""\00e9\\" FROM t WHERE b = U&'\00df'`,
	"SELECT 'a'\n'é'":                           `SELECT U&'a'` + "\n" + `'\00e9'`,
	`SELECT $1 AS größe, 1.5 AS "Größe"`:        `SELECT $1 AS U&"gr\00f6\00dfe", 1.5 AS U&"Gr\00f6\00dfe"`,
	`SELECT a."日本", 'x' FROM 表 a ORDER BY 1`:    `SELECT a. U&"\65e5\672c", 'x' FROM U&"\8868" a ORDER BY 1`,
}

func TestEscape(t *testing.T) {
	t.Parallel()
	for sql, want := range escapes {
		if got, ok := escaping.Escape(sql); !ok || got != want {
			t.Errorf("%s\n%s, %v, not\n%s", sql, got, ok, want)
		}
	}
	for _, sql := range []string{"SELECT 'é", `SELECT $é$ a $é$`, `SELECT U&'\00e9é'`, `SELECT B'é'`, `SELECT N'é'`} {
		if got, ok := escaping.Escape(sql); ok {
			t.Errorf("%s is escaped: %s", sql, got)
		}
	}
}

// sameTree says whether two texts mean the same to PostgreSQL.
func sameTree(t *testing.T, a, b string) bool {
	t.Helper()
	prints := [2]string{}
	for i, sql := range []string{a, b} {
		tree, err := pg.Parse(sql)
		if err != nil {
			return false
		}
		if prints[i], err = pg.Deparse(tree); err != nil {
			t.Fatal(err)
		}
	}
	return prints[0] == prints[1]
}

// TestEscapedMeansTheSame by PostgreSQL's own parser, and every token's place leads back.
func TestEscapedMeansTheSame(t *testing.T) {
	t.Parallel()
	for sql, escaped := range escapes {
		if !sameTree(t, sql, escaped) {
			t.Errorf("%s is not %s", sql, escaped)
		}
		before, err := scan(sql)
		if err != nil {
			t.Fatal(err)
		}
		after, err := scan(escaped)
		if err != nil || len(before) != len(after) {
			t.Fatalf("%s: %d tokens, %d in %s, %v", sql, len(before), len(after), escaped, err)
		}
		for i := range before {
			want := len([]rune(sql[:before[i].start])) + 1
			if got := escaping.Unescape(sql, int(after[i].start)+1); got != want {
				t.Errorf("%s: token %d is at %d, not %d", escaped, i, got, want)
			}
		}
		if got := escaping.Unescape(sql, len(escaped)+100); got > len([]rune(sql))+1 {
			t.Errorf("%s: a position beyond its end is %d", sql, got)
		}
	}
}

func FuzzEscape(f *testing.F) {
	for sql := range escapes {
		f.Add(sql, 3)
	}
	f.Fuzz(func(t *testing.T, sql string, position int) {
		tree, err := pg.Parse(sql)
		if err != nil || !utf8.ValidString(sql) {
			return
		}
		text, err := pg.Deparse(tree)
		if err != nil {
			return
		}
		for _, sql := range []string{sql, text} {
			escaped, ok := escaping.Escape(sql)
			switch {
			case !ok:
			case !charset.IsASCII(escaped):
				t.Errorf("%q is not escaped: %q", sql, escaped)
			case !sameTree(t, sql, escaped) && sameTree(t, sql, sql):
				t.Errorf("%q is not %q", sql, escaped)
			}
			if at := escaping.Unescape(sql, position); at < 0 || at > len([]rune(sql))+1 {
				t.Errorf("%q: %d is at %d", sql, position, at)
			}
		}
	})
}
