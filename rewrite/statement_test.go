package rewrite

import (
	"errors"
	"testing"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// TestUnknownKindsAreRefused gives statements kinds that a later parser may know.
func TestUnknownKindsAreRefused(t *testing.T) {
	t.Parallel()
	const later = 99
	for name, node := range map[string]*pg.Node{
		"transaction":           {Node: &pg.Node_TransactionStmt{TransactionStmt: &pg.TransactionStmt{Kind: later}}},
		"undefined transaction": {Node: &pg.Node_TransactionStmt{TransactionStmt: &pg.TransactionStmt{}}},
		"discard":               {Node: &pg.Node_DiscardStmt{DiscardStmt: &pg.DiscardStmt{Target: later}}},
		"setting":               {Node: &pg.Node_VariableSetStmt{VariableSetStmt: &pg.VariableSetStmt{Kind: later, Name: "datestyle"}}},
		"role":                  {Node: &pg.Node_VariableSetStmt{VariableSetStmt: &pg.VariableSetStmt{Kind: later, Name: "role"}}},
		"copy":                  {Node: &pg.Node_CopyStmt{CopyStmt: &pg.CopyStmt{}}},
	} {
		c := newStatements(&resolver{snapshot: clinic(), session: (*Session)(nil).orUntouched()}, nil)
		_, err := c.statement(node)
		if refusal := (*Refusal)(nil); !errors.As(err, &refusal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, sql := range []string{"DISCARD ALL", "DISCARD PLANS", "DISCARD SEQUENCES", "DISCARD TEMP", "BEGIN", "START TRANSACTION", "COMMIT AND CHAIN", "ROLLBACK", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"} {
		if _, err := clinicRewriter().text(sql); err != nil {
			t.Errorf("%s: %v", sql, err)
		}
	}
}
