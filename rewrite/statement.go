package rewrite

import (
	"cmp"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// leavesNothing lists the kinds of statements that leave nothing in a session that DISCARD ALL
// might miss, apart from what functions in them do: they change no setting and make no object.
func leavesNothing(n *pg.Node) bool {
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

// leavesTrace are the functions of PostgreSQL that change the state of a session: its
// random numbers.
var leavesTrace = map[string]bool{"setseed": true, "random": true, "random_normal": true}

// statements checks whole statements: which may be run, and what they do to the session.
type statements struct {
	w         *walker
	settings  *settings
	temporary *temporaryStatements
}

func newStatements(names *resolver, pinned map[string]bool) *statements {
	w := &walker{names: names, rows: &rowTypes{names: names}, result: &Statement{Traceless: true}}
	return &statements{w: w, settings: &settings{w: w, pinned: pinned}, temporary: &temporaryStatements{w}}
}

// text checks the statements of a text in turn. Each is checked in the session that those
// before it leave behind.
func (c *statements) text(sql string, tree *pg.ParseResult) error {
	for i, raw := range tree.GetStmts() {
		effect, err := c.statement(raw.GetStmt())
		if err != nil {
			return atStatement(err, sql, raw)
		}
		if effect == nil {
			continue
		}
		if c.w.result.Effects == nil {
			c.w.result.Effects = make([]Effect, len(tree.GetStmts()))
		}
		c.w.result.Effects[i] = effect
		c.w.names.session = c.w.names.session.After(effect)
	}
	return nil
}

// statement checks one top-level statement and rewrites it in place.
func (c *statements) statement(n *pg.Node) (Effect, error) {
	c.w.shown, c.w.results = true, results(n)
	if !leavesNothing(n) {
		c.w.result.Traceless = false
	}
	if !computesNothing(n) {
		if err := c.w.names.allowImplicit(); err != nil {
			return nil, err
		}
	}
	if c.w.names.temporaryTables {
		if handled, effect, err := c.temporary.statement(n); handled {
			return effect, err
		}
	}
	switch s := n.GetNode().(type) {
	case *pg.Node_SelectStmt:
		if handled, effect, err := c.settings.setConfig(s.SelectStmt); handled {
			c.w.result.Traceless = false
			return effect, err
		}
		return nil, c.w.node(n, nil)
	case *pg.Node_ExplainStmt:
		return nil, c.explain(s.ExplainStmt)
	case *pg.Node_CopyStmt:
		return nil, c.copyTo(s.CopyStmt)
	case *pg.Node_PrepareStmt:
		return nil, c.prepare(s.PrepareStmt)
	case *pg.Node_ExecuteStmt:
		return nil, c.w.execute(s.ExecuteStmt)
	case *pg.Node_DeclareCursorStmt:
		c.w.result.Makes = append(c.w.result.Makes, clip(s.DeclareCursorStmt.GetPortalname()))
		return nil, c.w.query(s.DeclareCursorStmt.GetQuery(), "DECLARE CURSOR")
	case *pg.Node_FetchStmt:
		c.w.result.Uses = append(c.w.result.Uses, clip(s.FetchStmt.GetPortalname()))
		return nil, nil
	case *pg.Node_DeallocateStmt, *pg.Node_ClosePortalStmt, *pg.Node_UnlistenStmt:
		return nil, nil // names of the session's own
	case *pg.Node_TransactionStmt:
		return c.transaction(s.TransactionStmt)
	case *pg.Node_VariableSetStmt:
		return c.settings.set(s.VariableSetStmt)
	case *pg.Node_VariableShowStmt:
		return nil, c.settings.show(n, s.VariableShowStmt)
	case *pg.Node_DiscardStmt:
		// ALL is safe: it resets to the values of the startup message, where the proxy pins
		// what must stay, and closes what belongs to this session only.
		switch target := s.DiscardStmt.GetTarget(); target {
		case pg.DiscardMode_DISCARD_ALL, pg.DiscardMode_DISCARD_TEMP:
			return discard{all: target == pg.DiscardMode_DISCARD_ALL}, nil
		case pg.DiscardMode_DISCARD_PLANS, pg.DiscardMode_DISCARD_SEQUENCES:
			return nil, nil
		default:
			return nil, refuse(NotSupported, "", "kproxy does not understand this kind of DISCARD")
		}
	case *pg.Node_ConstraintsSetStmt:
		// ALL names none, reveals nothing about any, and has nothing to change here.
		if len(s.ConstraintsSetStmt.GetConstraints()) == 0 {
			return nil, nil
		}
	case nil:
		return nil, refuse(NotSupported, "", "kproxy does not understand this statement")
	}
	hint := "Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT."
	if c.w.names.temporaryTables {
		hint = temporaryHint
	}
	return nil, refuseVerb(statementName(n), hint)
}

// statementNames are those of statements whose nodes have others.
var statementNames = map[string]string{
	"VIEW": "CREATE VIEW", "RULE": "CREATE RULE", "CREATE SEQ": "CREATE SEQUENCE", "CREATE TRIG": "CREATE TRIGGER",
	"CREATE EVENT TRIG": "CREATE EVENT TRIGGER", "CREATE STATS": "CREATE STATISTICS", "CREATE PLANG": "CREATE LANGUAGE",
	"CREATE AM": "CREATE ACCESS METHOD", "CREATE ENUM": "CREATE TYPE", "CREATE RANGE": "CREATE TYPE", "COMPOSITE TYPE": "CREATE TYPE",
	"DEFINE": "CREATE", "CONSTRAINTS SET": "SET CONSTRAINTS", "CREATEDB": "CREATE DATABASE", "DROPDB": "DROP DATABASE", "CREATE TABLE SPACE": "CREATE TABLESPACE",
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
	w.results = results(n)
	return w.stored(n, inside)
}

// stored checks a query whose rows go into a table: columns keep their types.
func (w *walker) stored(n *pg.Node, inside string) error {
	if n.GetSelectStmt() == nil {
		return refuseVerb(inside+" of anything but a query", "Only SELECT, VALUES and TABLE may stand there.")
	}
	return w.node(n, nil)
}

func (w *walker) nodes(list []*pg.Node) error {
	w.shown = false
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
	w.result.Uses = append(w.result.Uses, clip(n.GetName()))
	return w.nodes(n.GetParams())
}

func (c *statements) prepare(n *pg.PrepareStmt) error {
	if err := c.w.nodes(n.GetArgtypes()); err != nil {
		return err
	}
	c.w.shown = true
	c.w.result.Makes = append(c.w.result.Makes, clip(n.GetName()))
	return c.w.query(n.GetQuery(), "PREPARE")
}

// copyTo allows COPY ... TO STDOUT. A relation becomes a query over the published
// relation, which is a view and cannot be copied by name.
func (c *statements) copyTo(n *pg.CopyStmt) error {
	hint := "Use COPY ... TO STDOUT, or \\copy in psql."
	switch {
	case n.GetIsFrom():
		hint = "Nothing can be loaded through kproxy."
		if c.w.names.temporaryTables {
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
	return c.w.query(n.GetQuery(), "COPY")
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
		FromClause: []*pg.Node{relationNode(relation)},
	})
}

// transaction allows all but two-phase commit.
func (c *statements) transaction(n *pg.TransactionStmt) (effect Effect, err error) {
	switch n.GetKind() {
	case pg.TransactionStmtKind_TRANS_STMT_BEGIN, pg.TransactionStmtKind_TRANS_STMT_START:
		effect = begin{}
	case pg.TransactionStmtKind_TRANS_STMT_COMMIT, pg.TransactionStmtKind_TRANS_STMT_ROLLBACK:
		effect = end{commit: n.GetKind() == pg.TransactionStmtKind_TRANS_STMT_COMMIT, chain: n.GetChain()}
	case pg.TransactionStmtKind_TRANS_STMT_SAVEPOINT:
		if c.w.names.session.full() {
			return nil, refuse(SessionLimit, "Release some.", "more than %d savepoints inside one another, or too much for them to lead back to", maxNesting)
		}
		effect = savepoint{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_RELEASE:
		effect = release{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_TO:
		effect = rollbackTo{n.GetSavepointName()}
	case pg.TransactionStmtKind_TRANS_STMT_PREPARE, pg.TransactionStmtKind_TRANS_STMT_COMMIT_PREPARED,
		pg.TransactionStmtKind_TRANS_STMT_ROLLBACK_PREPARED:
		return nil, refuseVerb("two-phase commit", "Use COMMIT.")
	default:
		return nil, refuse(NotSupported, "", "kproxy does not understand this transaction statement")
	}
	return effect, allowModes(n.GetOptions(), c.w.names.temporaryTables)
}

// allowModes allows all transaction modes. Unless writable is set, READ WRITE, which some
// drivers request with each transaction and some pools when they take a connection back,
// becomes READ ONLY: the transaction reads, as on a standby.
func allowModes(modes []*pg.Node, writable bool) error {
	for _, node := range modes {
		mode := node.GetDefElem()
		switch mode.GetDefname() {
		case "transaction_isolation", "transaction_deferrable":
		case "transaction_read_only":
			if mode.GetArg().GetAConst() == nil {
				return refuse(NotSupported, "", "kproxy does not understand this transaction mode").at(mode.GetLocation())
			}
			if !writable {
				mode.Arg = pg.MakeAConstIntNode(1, 0)
			}
		default:
			return refuse(NotSupported, "", "kproxy does not support transaction mode %q", mode.GetDefname()).at(mode.GetLocation())
		}
	}
	return nil
}
