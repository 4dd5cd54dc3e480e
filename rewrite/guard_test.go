package rewrite

import (
	"errors"
	"sort"
	"strings"
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
		depth := sort.Search(100, func(n int) bool { return guardDepth(tokens, n) == nil })
		if depth != test.want {
			t.Errorf("%s\nhas the depth %d, want %d", test.sql, depth, test.want)
		}
	}
}

// TestGuardsBoundaries sends texts of just the size that the limits let pass, and one more.
func TestGuardsBoundaries(t *testing.T) {
	t.Parallel()
	ok := func(o Options, sql string, state string, position int, hint string) {
		t.Helper()
		err := guardText(sql, o.withDefaults())
		if err == nil {
			err = guardTokens(sql, o.withDefaults())
		}
		var refusal *Refusal
		switch {
		case state == "" && err != nil:
			t.Errorf("%.60q: %v", sql, err)
		case state != "" && !errors.As(err, &refusal):
			t.Errorf("%.60q passes: %v", sql, err)
		case state == "":
		default:
			refusal = refusal.locate(sql)
			if refusal.SQLState() != state || refusal.Position() != position || !strings.Contains(refusal.Hint(), hint) {
				t.Errorf("%.60q: %s at %d: %v (%s)", sql, refusal.SQLState(), refusal.Position(), err, refusal.Hint())
			}
		}
	}
	ok(Options{MaxStatementBytes: 8}, "SELECT 1", "", 0, "")
	ok(Options{MaxStatementBytes: 7}, "SELECT 1", stateLimit, 0, "less text")
	ok(Options{MaxTokens: 4}, "SELECT 1,2", "", 0, "")
	ok(Options{MaxTokens: 3}, "SELECT 1,2", stateTooComplex, 0, "fewer values")
	ok(Options{MaxStatements: 2}, ";;SELECT 1;;SELECT 2;", "", 0, "")
	ok(Options{MaxStatements: 1}, ";;SELECT 1;;SELECT 2;", stateLimit, 0, "fewer statements")
	ok(Options{MaxDepth: 3}, "SELECT (1 + 2)", "", 0, "")
	ok(Options{MaxDepth: 2}, "SELECT (1 + 2)", stateTooComplex, 11, "Split")
	ok(Options{MaxDepth: 1}, "SELECT 'ä', (1 + 2)", stateTooComplex, 16, "Split")
	ok(Options{}, "SELECT '\x00", stateEncoding, 9, "")
	ok(Options{}, "SELECT '\xff'", stateEncoding, 0, "UTF-8")
	ok(Options{}, "SELECT 'ä' "+strings.Repeat("-", maxOperatorRun), "", 0, "")
	ok(Options{}, "SELECT 'ä' "+strings.Repeat("-", maxOperatorRun+1), stateTooComplex, 12+maxOperatorRun, "rulers")
	ok(Options{}, "SELECT 1; INSERT INTO t SELECT 1", stateReadOnlyVerb(t), 11, "")
	ok(Options{}, "SELECT 1 INSERT", "", 0, "")      // not its first word
	ok(Options{}, `SELECT 1; "insert" x`, "", 0, "") // a name
	// Texts of all lengths, whoever reads their tokens.
	for _, pad := range []int{0, quickBytes - 20, quickBytes, 2 * quickBytes} {
		head := "SELECT '" + strings.Repeat("x", pad) + "'"
		ok(Options{MaxDepth: 2}, head+", (1 + 2)", "", 0, "")
		ok(Options{MaxDepth: 1}, head+", (1 + 2)", stateTooComplex, len(head)+6, "Split")
		ok(Options{}, head+"; DROP TABLE t", stateReadOnlyVerb(t), len(head)+3, "reading statements")
		ok(Options{}, head+" INTO GLOBAL t", stateReadOnlyVerb(t), len(head)+2, "Leave INTO out")
		ok(Options{}, head+" 'open", stateSyntax, len(head)+2, "")
	}
}

// stateReadOnlyVerb is the state of statements that are refused by their first word.
func stateReadOnlyVerb(t *testing.T) string {
	t.Helper()
	return refuseVerb("INSERT", "").SQLState()
}
