package rewrite

import (
	"fmt"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// composite is what is known of a value's columns before the server sees the statement.
// Of a nil one nothing is known. What it claims holds whatever the server finds; what it
// leaves open, attribute.go does not rely on.
type composite struct {
	// order are the columns that are known, as far as they are known in their order.
	order []string
	// columns are those columns with what is known of their values.
	columns map[string]*composite
	// complete says that there are no others.
	complete bool
	// row says that it is a row for certain, and stored that it is one of a relation, which
	// has others only if they were added since its columns were read.
	row, stored bool
}

// plainValue is a value that is no row.
var plainValue = &composite{complete: true}

// unvisited is a subquery in FROM that has not been visited yet, so that no expression that
// has been can see it.
var unvisited = &composite{}

// mostColumns is more than a row can have (MaxTupleAttributeNumber of PostgreSQL's
// access/htup_details.h), so that nested queries cannot make one grow without bound.
const mostColumns = 2000

// belonging says whether a name is that of a column.
type belonging int

const (
	unknownColumn belonging = iota
	knownColumn
	noColumn
)

// has says whether the value has a column of the name, and what is known of that.
func (c *composite) has(name string) (belonging, *composite) {
	if c == nil {
		return unknownColumn, nil
	}
	if value, ok := c.columns[name]; ok {
		return knownColumn, value
	}
	if c.complete {
		return noColumn, nil
	}
	return unknownColumn, nil
}

// add adds a column. Of two of one name nothing is known, and no query can tell them
// apart.
func (c *composite) add(name string, value *composite) {
	if len(c.order) >= mostColumns {
		c.complete = false
		return
	}
	if c.columns == nil {
		c.columns = make(map[string]*composite)
	}
	if _, twice := c.columns[name]; twice {
		value = nil
	}
	c.order, c.columns[name] = append(c.order, name), value
}

// addAll adds the columns of another value; one that is not all known leaves the rest
// open.
func (c *composite) addAll(other *composite) {
	if other == nil {
		c.complete = false
		return
	}
	for _, name := range other.order {
		c.add(name, other.columns[name])
	}
	c.complete = c.complete && other.complete
}

// renamed is the value under an alias that gives its first columns other names.
func (c *composite) renamed(to []string) *composite {
	if len(to) == 0 {
		return c
	}
	next := &composite{complete: c != nil && c.complete, row: c != nil && c.row}
	for i, name := range to {
		var value *composite
		if next.complete && i < len(c.order) {
			value = c.columns[c.order[i]]
		}
		next.add(name, value)
	}
	if next.complete {
		for _, name := range c.order[min(len(to), len(c.order)):] {
			next.add(name, c.columns[name])
		}
	}
	return next
}

// stored is what is known of a relation that is read. Its columns may be more than they
// were when they were looked up; those of a temporary table are not looked up, as they
// depend on what the session has done.
func (w *walker) stored(r catalog.Resolution) *composite {
	known := w.snapshot.Columns(r.Target)
	if c := w.relations[r.Target]; c != nil {
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
	if w.relations == nil {
		w.relations = make(map[catalog.Name]*composite)
	}
	w.relations[r.Target] = c
	return c
}

// rowOf is what is known of an item of a FROM clause. It is asked for once the item has
// been visited, and looks at nothing that a visit changes.
func (w *walker) rowOf(node *pg.Node, s *scope) func() *composite {
	switch n := node.GetNode().(type) {
	case *pg.Node_RangeVar:
		row, alias := w.relationRow(n.RangeVar, s), names(n.RangeVar.GetAlias().GetColnames())
		return func() *composite { return row().renamed(alias) }
	case *pg.Node_RangeTableSample:
		return w.rowOf(n.RangeTableSample.GetRelation(), s)
	case *pg.Node_RangeSubselect:
		query, alias := n.RangeSubselect.GetSubquery().GetSelectStmt(), names(n.RangeSubselect.GetAlias().GetColnames())
		return func() *composite {
			row, visited := w.rows[query]
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
		return w.joinRow(n.JoinExpr, s)
	}
	return func() *composite { return nil }
}

// relationRow is what is known of a relation before an alias renames its columns. Of a
// CTE that is only known once its query has been visited.
func (w *walker) relationRow(n *pg.RangeVar, s *scope) func() *composite {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		cte := s.cte(n.GetRelname())
		return func() *composite { return cte.row }
	}
	r := w.lookup(n.GetSchemaname(), n.GetRelname())
	row := w.stored(r)
	return func() *composite { return row }
}

// joinRow is what is known of the rows of a join: the columns of both sides, those that
// are joined by once. They stand first, so that an alias for columns says little of the
// others.
func (w *walker) joinRow(n *pg.JoinExpr, s *scope) func() *composite {
	left, right := w.rowOf(n.GetLarg(), s), w.rowOf(n.GetRarg(), s)
	alias, merged := names(n.GetAlias().GetColnames()), n.GetIsNatural() || len(n.GetUsingClause()) > 0
	return func() *composite {
		row := &composite{complete: true, row: true}
		row.addAll(left())
		row.addAll(right())
		row.complete = row.complete && (!merged || len(alias) == 0)
		return row.renamed(alias)
	}
}

// usingRow is what the alias of a join's USING stands for: its columns alone.
func usingRow(n *pg.JoinExpr) func() *composite {
	row := &composite{complete: true, row: true}
	for _, name := range names(n.GetUsingClause()) {
		row.add(name, nil)
	}
	return func() *composite { return row }
}

// resultRow is what is known of the rows of a query that has been visited.
func (w *walker) resultRow(n *pg.SelectStmt, s *scope) *composite {
	if n.GetLarg() != nil {
		return w.rows[n.GetLarg()]
	}
	row := &composite{complete: true, row: true}
	if lists := n.GetValuesLists(); len(lists) > 0 {
		for i := range lists[0].GetList().GetItems() {
			row.add(fmt.Sprintf("column%d", i+1), nil)
		}
		return row
	}
	for _, target := range n.GetTargetList() {
		w.addTarget(row, target.GetResTarget(), s)
	}
	return row
}

// addTarget adds the columns that a target makes.
func (w *walker) addTarget(row *composite, n *pg.ResTarget, s *scope) {
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
		row.add(n.GetName(), w.typeOf(n.GetVal(), s))
	default:
		name := targetName(n.GetVal())
		if name == "" { // PostgreSQL gives it a name, or expands it
			row.complete = false
			return
		}
		row.add(name, w.typeOf(n.GetVal(), s))
	}
}

// typeOf is what is known of the columns of an expression that has been visited.
func (w *walker) typeOf(node *pg.Node, s *scope) *composite {
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
		row := w.rows[n.SubLink.GetSubselect().GetSelectStmt()]
		if row != nil && row.complete && len(row.order) == 1 {
			return row.columns[row.order[0]]
		}
	case *pg.Node_AIndirection:
		value := w.typeOf(n.AIndirection.GetArg(), s)
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
