package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Statements that fill, change and drop a session's temporary tables.

func (t *temporaryStatements) insert(n *pg.InsertStmt) error {
	if err := allowFields(n.ProtoReflect(), "relation cols select_stmt on_conflict_clause returning_list with_clause override"); err != nil {
		return err
	}
	s, err := t.scopeOf(n.GetWithClause(), n.GetRelation(), nil)
	if err != nil {
		return err
	}
	conflict := n.GetOnConflictClause()
	if conflict != nil {
		s.items = append(s.items, fromItem{name: "excluded"})
	}
	// The query sees neither the target nor "excluded".
	if err := t.visitAll(&scope{ctes: s.ctes}, n.GetCols(), []*pg.Node{n.GetSelectStmt()}); err != nil {
		return err
	}
	if err := t.indexElements(conflict.GetInfer().GetIndexElems(), s); err != nil {
		return err
	}
	return t.visitAll(s, []*pg.Node{conflict.GetInfer().GetWhereClause(), conflict.GetWhereClause()}, conflict.GetTargetList(), n.GetReturningList())
}

func (t *temporaryStatements) update(n *pg.UpdateStmt) error {
	if err := allowFields(n.ProtoReflect(), "relation target_list where_clause from_clause returning_list with_clause"); err != nil {
		return err
	}
	s, err := t.scopeOf(n.GetWithClause(), n.GetRelation(), n.GetFromClause())
	if err != nil {
		return err
	}
	return t.visitAll(s, n.GetFromClause(), n.GetTargetList(), []*pg.Node{n.GetWhereClause()}, n.GetReturningList())
}

func (t *temporaryStatements) deleteFrom(n *pg.DeleteStmt) error {
	if err := allowFields(n.ProtoReflect(), "relation using_clause where_clause returning_list with_clause"); err != nil {
		return err
	}
	s, err := t.scopeOf(n.GetWithClause(), n.GetRelation(), n.GetUsingClause())
	if err != nil {
		return err
	}
	return t.visitAll(s, n.GetUsingClause(), []*pg.Node{n.GetWhereClause()}, n.GetReturningList())
}

func (t *temporaryStatements) truncate(n *pg.TruncateStmt) error {
	for _, node := range n.GetRelations() {
		if node.GetRangeVar() == nil {
			return refuse(NotSupported, "", "kproxy does not understand this statement")
		}
		if err := t.qualify(node.GetRangeVar()); err != nil {
			return err
		}
	}
	return nil
}

// dropTable drops temporary tables. With IF EXISTS, a name that means nothing passes,
// and is looked for among the temporary tables only.
func (t *temporaryStatements) dropTable(n *pg.DropStmt) (Effect, error) {
	if n.GetRemoveType() != pg.ObjectType_OBJECT_TABLE || n.GetConcurrent() {
		return nil, refuseVerb("DROP of anything but a temporary table", temporaryHint)
	}
	var effect dropTemporary
	for _, object := range n.GetObjects() {
		parts := names(object.GetList().GetItems())
		if len(parts) == 3 {
			if err := t.w.names.allowDatabase(parts[0], -1); err != nil {
				return nil, err
			}
			parts = parts[1:]
		}
		schema := ""
		if len(parts) == 2 {
			schema, parts = parts[0], parts[1:]
		}
		if len(parts) != 1 {
			return nil, refuse(SyntaxError, "", "improper qualified name (too many dotted names)")
		}
		missing := t.w.names.relation(schema, parts[0]).Disposition == catalog.Missing
		switch err := t.allowChange(schema, parts[0]); {
		case missing && !n.GetMissingOk():
			return nil, refuse(UndefinedRelation, "", "table %q does not exist", parts[0]).about(parts[0])
		case !missing && err != nil:
			return nil, refuse(ReadOnly, temporaryHint, "must be owner of table %s", parts[0])
		}
		object.GetList().Items = nameNodes(temporarySchema, parts[0])
		effect.names = append(effect.names, parts[0])
	}
	return effect, nil
}

func (t *temporaryStatements) createIndex(n *pg.IndexStmt) error {
	err := allowFields(n.ProtoReflect(), `idxname relation access_method index_params index_including_params where_clause
		unique nulls_not_distinct concurrent if_not_exists`)
	if err != nil {
		return err
	}
	if err := t.qualify(n.GetRelation()); err != nil {
		return err
	}
	for _, list := range [][]*pg.Node{n.GetIndexParams(), n.GetIndexIncludingParams()} {
		if err := t.indexElements(list, nil); err != nil {
			return err
		}
	}
	t.w.shown = false
	return t.w.node(n.GetWhereClause(), nil)
}

// indexElements checks what an index is made of: columns and expressions, with the
// operator classes that their types have.
func (t *temporaryStatements) indexElements(list []*pg.Node, s *scope) error {
	for _, node := range list {
		n := node.GetIndexElem()
		if n == nil {
			return refuse(NotSupported, "", "kproxy does not understand this index")
		}
		if err := allowFields(n.ProtoReflect(), "name expr ordering nulls_ordering"); err != nil {
			return err
		}
		t.w.shown = false
		if err := t.w.node(n.GetExpr(), s); err != nil {
			return err
		}
	}
	return nil
}

func (t *temporaryStatements) analyze(n *pg.VacuumStmt) error {
	if n.GetIsVacuumcmd() || len(n.GetOptions()) > 0 || len(n.GetRels()) == 0 {
		return refuseVerb("VACUUM, or ANALYZE of all tables,", "ANALYZE of temporary tables is allowed.")
	}
	for _, node := range n.GetRels() {
		if err := allowFields(node.GetVacuumRelation().ProtoReflect(), "relation va_cols"); err != nil {
			return err
		}
		if err := t.qualify(node.GetVacuumRelation().GetRelation()); err != nil {
			return err
		}
	}
	return nil
}
