package rewrite

import (
	"sort"
	"testing"
)

// TestDepthOf holds the depth that a text is said to have against what depth.go says: the
// tokens since the last separator and the joins and set operations, over all open brackets.
func TestDepthOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		sql  string
		want int
	}{
		{"", 0},
		{"a", 0},
		{"SELECT", 1},
		{"SELECT a", 1},
		{"SELECT 'a', 1, 1.5, x'1F', b'1', U&'a', $1, a.b", 1},
		{"SELECT a + b", 2},
		{"SELECT a + b + c", 3},
		{"SELECT a + b, c", 2},
		{"SELECT a + b, c + d + e", 2},                  // the comma separates
		{"SELECT a + b OR c + d", 2},                    // as OR does
		{"SELECT a + b AND c + d + e + f", 3},           // and AND
		{"SELECT a BETWEEN b AND c", 3},                 // but not that of BETWEEN
		{"SELECT a BETWEEN b AND c AND d + e", 3},       // only its own
		{"SELECT a BETWEEN b AND c BETWEEN d AND e", 5}, // each has one
		{"SELECT a FROM b JOIN c", 2},                   // JOIN takes the place of both words
		{"SELECT a JOIN c, d + e + f", 3},               // and stays behind the comma
		{"SELECT a FROM b JOIN c JOIN d JOIN e", 3},
		{"SELECT a UNION SELECT b", 2},
		{"SELECT a UNION SELECT b INTERSECT SELECT c EXCEPT SELECT d", 4},
		{"SELECT a + (b)", 3},
		{"SELECT (a + b) + c", 3},
		{"SELECT ((a))", 3},
		{"SELECT [[a]]", 3},
		{"SELECT a[b, c, d + e]", 3},
		{"SELECT a[b + c + d] + e, f", 4},
		{"SELECT (a), (b), (c)", 2},
		{"SELECT (a) + (b) + (c)", 6},
		{"SELECT ((a + b), (c + d + e))", 5},
		{"SELECT (((a))), a + b + c + d", 4},
		{"SELECT a JOIN (b JOIN c)", 3},
		{"SELECT a ) + b ] + c", 3}, // what closes nothing
		{"SELECT 1; SELECT a + b; SELECT 1", 2},
		{"SELECT ((((a; SELECT 1", 5}, // a semicolon ends all brackets
		{"SELECT ((((a; SELECT (b + c)", 5},
		{"SELECT ((a; SELECT ((((b", 5},
		{"SELECT CASE WHEN a THEN b ELSE c END", 3},
		{"SELECT CASE WHEN a + b THEN c ELSE d + e + f END", 5},
		{"SELECT CASE a WHEN b THEN c END + d", 3},
		{"SELECT CASE WHEN a THEN CASE WHEN b THEN c END END", 5},
		{"SELECT a WHEN b THEN c ELSE d", 4}, // outside of CASE they separate nothing
		{"SELECT a END b", 2},                // nor does END close
		{"SELECT (a END b)", 3},
		{"SELECT (a CASE b)", 3}, // a bracket closes a CASE that was none
		{"SELECT a AS case, b", 3},
		{"SELECT a.case, b.when, c.end", 2},
		{"SELECT a.or, b", 2},
		{"SELECT a AS b, c", 2},
		{"SELECT a.b.c", 1},
	} {
		tokens, err := scan(test.sql)
		if err != nil {
			t.Fatal(err)
		}
		depth := sort.Search(100, func(n int) bool { return limitDepth(tokens, n) == nil })
		if depth != test.want {
			t.Errorf("%s\nhas the depth %d, want %d", test.sql, depth, test.want)
		}
	}
}
