package rewrite

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// rowTypes knows which columns the queries, relations and expressions of a text have, as far as
// this can be known without the server.
type rowTypes struct {
	names *resolver
	// queries are the rows of the queries that were visited.
	queries   map[*pg.SelectStmt]*composite
	relations map[catalog.Name]*composite
	// firstArms are called with the rows of their queries.
	firstArms map[*pg.SelectStmt]func(*composite)
}

// found notes what is known of a query's rows.
func (k *rowTypes) found(n *pg.SelectStmt, row *composite) {
	if k.queries == nil {
		k.queries = make(map[*pg.SelectStmt]*composite)
	}
	k.queries[n] = row
	if note := k.firstArms[n]; note != nil {
		note(row)
	}
}

// noteFirstArm has note called with the rows of a query once they are known.
func (k *rowTypes) noteFirstArm(n *pg.SelectStmt, note func(*composite)) {
	if k.firstArms == nil {
		k.firstArms = make(map[*pg.SelectStmt]func(*composite))
	}
	k.firstArms[n] = note
}

// stored is what is known of a relation that is read. Its columns may be more than they
// were when they were looked up; those of a temporary table are not looked up, as they
// depend on what the session has done.
func (k *rowTypes) stored(r catalog.Resolution) *composite {
	known := k.names.snapshot.Columns(r.Target)
	if c := k.relations[r.Target]; c != nil {
		return c
	}
	c := &composite{row: true, stored: len(known) > 0}
	for _, column := range known {
		var value *composite
		if !column.Composite {
			value = plainValue
		}
		c.add(column.Name, value)
	}
	if k.relations == nil {
		k.relations = make(map[catalog.Name]*composite)
	}
	k.relations[r.Target] = c
	return c
}

// rowOf is what is known of an item of a FROM clause. It is asked for once the item has
// been visited, and looks at nothing that a visit changes.
func (k *rowTypes) rowOf(node *pg.Node, s *scope) func() *composite {
	switch n := node.GetNode().(type) {
	case *pg.Node_RangeVar:
		row, alias := k.relationRow(n.RangeVar, s), names(n.RangeVar.GetAlias().GetColnames())
		return func() *composite { return row().renamed(alias) }
	case *pg.Node_RangeTableSample:
		return k.rowOf(n.RangeTableSample.GetRelation(), s)
	case *pg.Node_RangeSubselect:
		query, alias := n.RangeSubselect.GetSubquery().GetSelectStmt(), names(n.RangeSubselect.GetAlias().GetColnames())
		return func() *composite {
			row, visited := k.queries[query]
			if !visited {
				return unvisited
			}
			return row.renamed(alias)
		}
	case *pg.Node_RangeFunction:
		row := &composite{}
		for _, name := range names(n.RangeFunction.GetAlias().GetColnames()) {
			row.add(name, nil)
		}
		for _, definition := range n.RangeFunction.GetColdeflist() {
			row.add(definition.GetColumnDef().GetColname(), nil)
		}
		return func() *composite { return row }
	case *pg.Node_RangeTableFunc:
		row := &composite{complete: true, row: true}
		for _, column := range n.RangeTableFunc.GetColumns() {
			row.add(column.GetRangeTableFuncCol().GetColname(), plainValue)
		}
		row = row.renamed(names(n.RangeTableFunc.GetAlias().GetColnames()))
		return func() *composite { return row }
	case *pg.Node_JoinExpr:
		return k.joinRow(n.JoinExpr, s)
	}
	return func() *composite { return nil }
}

// relationRow is what is known of a relation before an alias renames its columns. Of a
// CTE that is only known once its query has been visited.
func (k *rowTypes) relationRow(n *pg.RangeVar, s *scope) func() *composite {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		cte := s.cte(n.GetRelname())
		return func() *composite { return cte.row }
	}
	r := k.names.relation(n.GetSchemaname(), n.GetRelname())
	row := k.stored(r)
	return func() *composite { return row }
}

// joinRow is what is known of the rows of a join: the columns of both sides, those that
// are joined by once. They stand first, so that an alias for columns says little of the
// others.
func (k *rowTypes) joinRow(n *pg.JoinExpr, s *scope) func() *composite {
	left, right := k.rowOf(n.GetLarg(), s), k.rowOf(n.GetRarg(), s)
	alias, merged := names(n.GetAlias().GetColnames()), n.GetIsNatural() || len(n.GetUsingClause()) > 0
	return func() *composite {
		row := &composite{complete: true, row: true}
		row.addAll(left())
		row.addAll(right())
		row.complete = row.complete && (!merged || len(alias) == 0)
		return row.renamed(alias)
	}
}

// usingRow is what the alias of a join's USING stands for: only its columns.
func usingRow(n *pg.JoinExpr) func() *composite {
	row := &composite{complete: true, row: true}
	for _, name := range names(n.GetUsingClause()) {
		row.add(name, nil)
	}
	return func() *composite { return row }
}

// resultRow is what is known of the rows of a query that has been visited.
func (k *rowTypes) resultRow(n *pg.SelectStmt, s *scope) *composite {
	if n.GetLarg() != nil {
		return k.queries[n.GetLarg()]
	}
	row := &composite{complete: true, row: true}
	if lists := n.GetValuesLists(); len(lists) > 0 {
		for i := range lists[0].GetList().GetItems() {
			row.add(fmt.Sprintf("column%d", i+1), nil)
		}
		return row
	}
	for _, target := range n.GetTargetList() {
		k.addTarget(row, target.GetResTarget(), s)
	}
	return row
}

// addTarget adds the columns that a target makes.
func (k *rowTypes) addTarget(row *composite, n *pg.ResTarget, s *scope) {
	fields := n.GetVal().GetColumnRef().GetFields()
	switch star := len(fields) > 0 && fields[len(fields)-1].GetAStar() != nil; {
	case star && len(fields) == 1:
		for i := range s.items {
			row.addAll(s.items[i].columns())
		}
	case star && len(fields) == 2:
		row.addAll(s.row(fields[0].GetString_().GetSval()))
	case star:
		row.complete = false
	case n.GetName() != "":
		row.add(n.GetName(), k.typeOf(n.GetVal(), s))
	default:
		name := targetName(n.GetVal())
		if name == "" { // PostgreSQL gives it a name, or expands it
			row.complete = false
			return
		}
		row.add(name, k.typeOf(n.GetVal(), s))
	}
}

// typeOf is what is known of the columns of an expression that has been visited.
func (k *rowTypes) typeOf(node *pg.Node, s *scope) *composite {
	switch n := node.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return s.typeOf(n.ColumnRef.GetFields())
	case *pg.Node_TypeCast:
		if name := builtinName(n.TypeCast.GetTypeName()); name != "" && name != "record" {
			return plainValue
		}
	case *pg.Node_SubLink:
		if n.SubLink.GetSubLinkType() != pg.SubLinkType_EXPR_SUBLINK {
			return nil
		}
		row := k.queries[n.SubLink.GetSubselect().GetSelectStmt()]
		if row != nil && row.complete && len(row.order) == 1 {
			return row.columns[row.order[0]]
		}
	case *pg.Node_AIndirection:
		value := k.typeOf(n.AIndirection.GetArg(), s)
		for _, step := range n.AIndirection.GetIndirection() {
			if step.GetString_() == nil {
				return nil
			}
			_, value = value.has(step.GetString_().GetSval())
		}
		return value
	}
	if isPlain(node) {
		return plainValue // texts take the type that they meet
	}
	return nil
}

// noName is what PostgreSQL calls a column that nothing names (FigureColname).
const noName = "?column?"

// targetName is the name of a target that has none of its own; empty where it is not
// known, or there are several.
func targetName(n *pg.Node) string {
	if isConstant(n) {
		return noName
	}
	switch n.GetNode().(type) {
	case *pg.Node_ColumnRef, *pg.Node_FuncCall, *pg.Node_TypeCast, *pg.Node_CollateClause, *pg.Node_CoalesceExpr:
		if name := impliedName(n); name != "" {
			return name
		}
		return noName
	case *pg.Node_ParamRef, *pg.Node_BoolExpr, *pg.Node_NullTest, *pg.Node_BooleanTest:
		return noName
	case *pg.Node_AExpr:
		if n.GetAExpr().GetKind() != pg.A_Expr_Kind_AEXPR_NULLIF {
			return noName
		}
	case *pg.Node_AIndirection:
		if steps := n.GetAIndirection().GetIndirection(); steps[len(steps)-1].GetAStar() == nil {
			return impliedName(n)
		}
	}
	return ""
}
