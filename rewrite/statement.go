package rewrite

import (
	"cmp"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// traceless tells of the kinds of statements that leave nothing in a session that DISCARD
// ALL might miss, apart from what functions in them do: no setting has another value after
// them, no object is made.
func traceless(n *pg.Node) bool {
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		return *intoClause(s.SelectStmt) == nil
	case *pg.Node_ExplainStmt, *pg.Node_CopyStmt, *pg.Node_PrepareStmt, *pg.Node_ExecuteStmt, *pg.Node_DeallocateStmt,
		*pg.Node_DeclareCursorStmt, *pg.Node_FetchStmt, *pg.Node_ClosePortalStmt, *pg.Node_TransactionStmt, *pg.Node_VariableShowStmt:
		return true
	default:
		return false
	}
}

// traceful are functions of PostgreSQL's own that leave something: where the random
// numbers of a session stand.
var traceful = map[string]bool{"setseed": true, "random": true, "random_normal": true}

// statement checks one top-level statement and rewrites it in place.
func (w *walker) statement(n *pg.Node) error {
	w.named = true
	w.traces = w.traces || !traceless(n)
	if err := w.refuseImplicit(n); err != nil {
		return err
	}
	if handled, err := w.temporaryStatement(n); handled {
		return err
	}
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		if handled, err := w.setConfig(s.SelectStmt); handled {
			w.traces = true
			return err
		}
		return w.node(n, nil)
	case *pg.Node_ExplainStmt:
		return w.explain(s.ExplainStmt)
	case *pg.Node_CopyStmt:
		return w.copyTo(s.CopyStmt)
	case *pg.Node_PrepareStmt:
		return w.prepare(s.PrepareStmt)
	case *pg.Node_ExecuteStmt:
		return w.execute(s.ExecuteStmt)
	case *pg.Node_DeclareCursorStmt:
		w.makes = append(w.makes, clip(s.DeclareCursorStmt.GetPortalname()))
		return w.query(s.DeclareCursorStmt.GetQuery(), "DECLARE CURSOR")
	case *pg.Node_FetchStmt:
		w.uses = append(w.uses, clip(s.FetchStmt.GetPortalname()))
		return nil
	case *pg.Node_DeallocateStmt, *pg.Node_ClosePortalStmt:
		return nil // names only
	case *pg.Node_UnlistenStmt:
		return nil // nobody listens
	case *pg.Node_TransactionStmt:
		return w.transaction(s.TransactionStmt)
	case *pg.Node_VariableSetStmt:
		return w.set(s.VariableSetStmt)
	case *pg.Node_VariableShowStmt:
		return w.show(n, s.VariableShowStmt)
	case *pg.Node_DiscardStmt:
		// ALL, too: it sets back to the values of the startup message, where the proxy
		// pins what must stay, and closes what belongs to this session only.
		switch s.DiscardStmt.GetTarget() {
		case pg.DiscardMode_DISCARD_ALL, pg.DiscardMode_DISCARD_TEMP:
			w.effect = discard{all: s.DiscardStmt.GetTarget() == pg.DiscardMode_DISCARD_ALL}
		}
		return nil
	case nil:
		return refuse(NotSupported, "", "kproxy does not understand this statement")
	}
	hint := "Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT."
	if w.temporaryTables {
		hint = temporaryHint
	}
	return refuseVerb(statementName(n), hint)
}

// stepOn notes the effect of the i-th of n statements and goes on in the session that
// it leaves behind.
func (w *walker) stepOn(i, n int) {
	if w.effect == nil {
		return
	}
	if w.effects == nil {
		w.effects = make([]Effect, n)
	}
	w.effects[i] = w.effect
	w.session = w.session.After(w.effect)
	w.effect = nil
}

// statementNames are those of statements whose nodes have others.
var statementNames = map[string]string{
	"VIEW": "CREATE VIEW", "RULE": "CREATE RULE", "CREATE SEQ": "CREATE SEQUENCE", "CREATE TRIG": "CREATE TRIGGER",
	"CREATE EVENT TRIG": "CREATE EVENT TRIGGER", "CREATE STATS": "CREATE STATISTICS", "CREATE PLANG": "CREATE LANGUAGE",
	"CREATE AM": "CREATE ACCESS METHOD", "CREATE ENUM": "CREATE TYPE", "CREATE RANGE": "CREATE TYPE", "COMPOSITE TYPE": "CREATE TYPE",
	"DEFINE": "CREATE", "CREATEDB": "CREATE DATABASE", "DROPDB": "DROP DATABASE", "CREATE TABLE SPACE": "CREATE TABLESPACE",
}

// statementName is the name of the statement's node in words: CREATE TABLE AS.
func statementName(n *pg.Node) string {
	m := n.ProtoReflect()
	name := string(m.WhichOneof(m.Descriptor().Oneofs().Get(0)).Message().Name())
	var b strings.Builder
	for i, r := range strings.TrimSuffix(name, "Stmt") {
		if i > 0 && r >= 'A' && r <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	words := strings.ToUpper(b.String())
	return cmp.Or(statementNames[words], words)
}

// query checks the query inside another statement.
func (w *walker) query(n *pg.Node, inside string) error {
	if n.GetSelectStmt() == nil {
		return refuseVerb(inside+" of anything but a query", "Only SELECT, VALUES and TABLE may stand there.")
	}
	return w.node(n, nil)
}

func (w *walker) nodes(list []*pg.Node) error {
	w.named = false
	for _, n := range list {
		if err := w.node(n, nil); err != nil {
			return err
		}
	}
	return nil
}

// execute is EXECUTE, whose statement the protocol may have prepared as well: what it
// does then is not in the text.
func (w *walker) execute(n *pg.ExecuteStmt) error {
	w.uses = append(w.uses, clip(n.GetName()))
	return w.nodes(n.GetParams())
}

func (w *walker) prepare(n *pg.PrepareStmt) error {
	if err := w.nodes(n.GetArgtypes()); err != nil {
		return err
	}
	w.named = true
	w.makes = append(w.makes, clip(n.GetName()))
	return w.query(n.GetQuery(), "PREPARE")
}

// copyTo allows COPY ... TO STDOUT. A relation becomes a query over the published
// relation, which is a view and cannot be copied by name.
func (w *walker) copyTo(n *pg.CopyStmt) error {
	hint := "Use COPY ... TO STDOUT, or \\copy in psql."
	switch {
	case n.GetIsFrom():
		hint = "Nothing can be loaded through kproxy."
		if w.temporaryTables {
			hint = "Fill temporary tables with INSERT."
		}
		return refuseVerb("COPY FROM", hint)
	case n.GetIsProgram(), n.GetFilename() != "":
		return refuseVerb("COPY TO a file or program", hint)
	}
	if err := options(n.GetOptions(), copyOptions, "COPY", "The options of COPY TO are allowed."); err != nil {
		return err
	}
	if n.GetRelation() != nil {
		n.Query = selectFrom(n.GetRelation(), n.GetAttlist())
		n.Relation, n.Attlist = nil, nil
	}
	return w.query(n.GetQuery(), "COPY")
}

func selectFrom(relation *pg.RangeVar, columns []*pg.Node) *pg.Node {
	var targets []*pg.Node
	for _, name := range names(columns) {
		targets = append(targets, targetNode("", columnNode(name)))
	}
	if len(targets) == 0 {
		targets = []*pg.Node{targetNode("", starNode())}
	}
	return selectNode(&pg.SelectStmt{
		TargetList: targets,
		FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: relation}}},
	})
}

// transaction allows all but two-phase commit and writing.
func (w *walker) transaction(n *pg.TransactionStmt) error {
	switch n.GetKind() {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		w.effect = begin{}
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		w.effect = end{commit: n.GetKind() == pg.TransactionStmtKind_TRANS_STMT_COMMIT, chain: n.GetChain()}
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		if w.session.full() {
			return refuse(SessionLimit, "Release some.", "more than %d savepoints inside one another, or too much for them to lead back to", maxNesting)
		}
		w.effect = savepoint{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		w.effect = release{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		w.effect = rollbackTo{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_PREPARE, pg.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED:
		return refuseVerb("two-phase commit", "Use COMMIT.")
	}
	return w.transactionModes(n.GetOptions())
}

// transactionModes allows all modes. READ WRITE, which some drivers ask for with each
// transaction, and with which pools give a connection back that was read-only, becomes
// READ ONLY where nothing can be written: as on a standby, it is the transactions that
// write nothing.
func (w *walker) transactionModes(modes []*pg.Node) error {
	for _, node := range modes {
		mode := node.GetDefElem()
		switch mode.GetDefname() {
		case "transaction_isolation", "transaction_deferrable":
		case "transaction_read_only":
			if mode.GetArg().GetAConst() == nil {
				return refuse(NotSupported, "", "kproxy does not understand this transaction mode").at(mode.GetLocation())
			}
			if !w.temporaryTables {
				mode.Arg = pg.MakeAConstIntNode(1, 0)
			}
		default:
			return refuse(NotSupported, "", "kproxy does not support transaction mode %q", mode.GetDefname()).at(mode.GetLocation())
		}
	}
	return nil
}
