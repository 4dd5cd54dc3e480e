package rewrite

import (
	"errors"
	"strings"
	"testing"
)

// TestGuardsBoundaries sends texts of just the size that the limits let pass, and one more.
func TestGuardsBoundaries(t *testing.T) {
	t.Parallel()
	ok := func(o Options, sql string, state string, position int, hint string) {
		t.Helper()
		err := limitText(sql, o.withDefaults())
		if err == nil {
			err = limitTokens(sql, o.withDefaults())
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
	ok(Options{}, "\x00", stateEncoding, 1, "")
	ok(Options{}, "SELECT '\xff'", stateEncoding, 0, "UTF-8")
	ok(Options{}, "SELECT 'ä' "+strings.Repeat("-", maxOperatorRun), "", 0, "")
	ok(Options{}, "SELECT 'ä' "+strings.Repeat("-", maxOperatorRun+1), stateTooComplex, 12+maxOperatorRun, "rulers")
	ok(Options{}, "SELECT 1; INSERT INTO t SELECT 1", statePrivilege, 11, "")
	ok(Options{}, "SELECT 1 INSERT", "", 0, "")      // not its first word
	ok(Options{}, `SELECT 1; "insert" x`, "", 0, "") // a name
	// Texts of all lengths, whoever reads their tokens.
	for _, pad := range []int{0, quickBytes - 20, quickBytes, 2 * quickBytes} {
		head := "SELECT '" + strings.Repeat("x", pad) + "'"
		ok(Options{MaxDepth: 2}, head+", (1 + 2)", "", 0, "")
		ok(Options{MaxDepth: 1}, head+", (1 + 2)", stateTooComplex, len(head)+6, "Split")
		ok(Options{}, head+"; DROP TABLE t", statePrivilege, len(head)+3, "reading statements")
		ok(Options{}, head+" INTO GLOBAL t", statePrivilege, len(head)+2, "Leave INTO out")
		ok(Options{}, head+" 'open", stateSyntax, len(head)+2, "")
	}
}
