package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// walker checks the queries and expressions of one text and changes their trees in place. A
// walker belongs to one goroutine, like all that it is made of.
type walker struct {
	names *resolver
	rows  *rowTypes
	// result describes the text; the walker fills in what it meets.
	result *Statement
	// shown says whether the value that is visited ends up in the client's hands, or in a
	// text; see object.go.
	shown bool
	// results are the result columns of the statement that may be replaced by their names; see
	// procedurecolumn.go.
	results map[*pg.ResTarget]bool
	// replaced counts the expressions that were replaced by others.
	replaced int
}

// allowedNodes are the node types whose fields may simply be walked. The other allowed ones
// have a case in visit; all others are refused. Types of PostgreSQL's analyzed trees (Query,
// Var, OpExpr) never come from the parser.
var allowedNodes = words(`
	A_ArrayExpr A_Const A_Indices A_Star Alias BitString BoolExpr Boolean BooleanTest CTECycleClause
	CTESearchClause CaseExpr CaseWhen CoalesceExpr ColumnDef Float GroupingFunc GroupingSet Integer
	JsonAggConstructor JsonArrayAgg JsonArrayConstructor JsonArrayQueryConstructor JsonFormat JsonIsPredicate
	JsonKeyValue JsonObjectAgg JsonObjectConstructor JsonOutput JsonReturning JsonValueExpr List MinMaxExpr
	NamedArgExpr NullTest ParamRef RangeSubselect RangeTableFunc RangeTableFuncCol RowExpr
	MultiAssignRef SetToDefault String WindowDef XmlSerialize`)

// children visits all that a message holds, in the order of its fields, without
// knowing them: a field that nobody thought of cannot be missed.
func (w *walker) children(m protoreflect.Message, s *scope) error {
	was := w.shown
	defer func() { w.shown = was }()
	for _, f := range innerFields(m) {
		if !m.Has(f.field) {
			continue
		}
		w.shown = shownInside(m, f.name, was)
		if !f.list {
			if err := w.visit(m.Get(f.field).Message(), s); err != nil {
				return err
			}
			continue
		}
		list := m.Get(f.field).List()
		for j := range list.Len() {
			if err := w.visit(list.Get(j).Message(), s); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit checks one message of the tree under the names in scope.
func (w *walker) visit(m protoreflect.Message, s *scope) error {
	if refusal := w.names.allowComparison(m); refusal != nil {
		return refusal
	}
	switch n := m.Interface().(type) {
	case *pg.Node:
		return w.node(n, s)
	case *pg.SelectStmt:
		return w.selectStmt(n, s)
	case *pg.RangeVar:
		return w.relation(n, s)
	case *pg.JoinExpr:
		return w.join(n, s)
	case *pg.RangeFunction:
		return w.rangeFunction(n, s)
	case *pg.ResTarget:
		return w.target(n, s)
	case *pg.TypeName:
		return w.typeName(n, s)
	case *pg.CollateClause:
		return w.collation(n, s)
	case *pg.XmlExpr:
		return w.xml(n, s)
	case *pg.A_Expr:
		return w.operation(n.GetName(), n.GetLocation(), m, s)
	case *pg.SubLink:
		return w.operation(n.GetOperName(), n.GetLocation(), m, s)
	case *pg.SortBy:
		return w.operation(n.GetUseOp(), n.GetLocation(), m, s)
	case *pg.LockingClause:
		return refuse(ReadOnly, "Leave the locking clause out.",
			"kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed")
	case *pg.IntoClause:
		return refuseInto().at(n.GetRel().GetLocation())
	case *pg.InsertStmt, *pg.UpdateStmt, *pg.DeleteStmt, *pg.MergeStmt:
		return refuseVerb("changing data in WITH", "Only SELECT may stand inside WITH.")
	}
	if !allowedNodes[string(m.Descriptor().Name())] {
		return refuse(NotSupported, "", "kproxy does not support %s here", m.Descriptor().Name())
	}
	return w.children(m, s)
}

// node visits what is inside a Node wrapper, or replaces it.
func (w *walker) node(n *pg.Node, s *scope) error {
	switch inner := n.GetNode().(type) {
	case nil: // an absent element, as in a[:2] or a SELECT without targets
		return nil
	case *pg.Node_String_, *pg.Node_AConst: // most nodes; they hold no others
		return nil
	case *pg.Node_ColumnRef:
		if w.systemColumn(n, inner.ColumnRef, s) {
			return keepLocation(n, inner.ColumnRef.GetLocation(), nil)
		}
		return keepLocation(n, inner.ColumnRef.GetLocation(), w.reference(n, inner.ColumnRef, s))
	case *pg.Node_AIndirection:
		return w.indirection(n, inner.AIndirection, s)
	case *pg.Node_FuncCall:
		return keepLocation(n, inner.FuncCall.GetLocation(), w.call(n, inner.FuncCall, s))
	case *pg.Node_SqlvalueFunction:
		return keepLocation(n, inner.SqlvalueFunction.GetLocation(), w.valueFunction(n, inner.SqlvalueFunction))
	case *pg.Node_RangeVar:
		if err := w.relation(inner.RangeVar, s); err != nil {
			return err
		}
		w.withPath(n, inner.RangeVar)
		return nil
	case *pg.Node_RangeTableSample:
		return w.sample(n, inner.RangeTableSample, s)
	case *pg.Node_TypeCast:
		return keepLocation(n, leftmost(inner.TypeCast), w.cast(n, inner.TypeCast, s))
	}
	m := n.ProtoReflect()
	field := m.WhichOneof(m.Descriptor().Oneofs().Get(0))
	return w.visit(m.Get(field).Message(), s)
}

// operation refuses operators of other schemas than pg_catalog; unqualified ones
// are found on the session's search path, which clients cannot set.
func (w *walker) operation(name []*pg.Node, location int32, m protoreflect.Message, s *scope) error {
	if len(name) > 1 && (len(name) > 2 || name[0].GetString_().GetSval() != "pg_catalog") {
		return refuse(OperatorDenied, "Only the operators of pg_catalog are allowed.",
			"permission denied for operator %s", dotted(name)).at(location)
	}
	if len(name) > 0 {
		if refusal := w.names.allowOperators(lastName(name)); refusal != nil {
			return refusal.at(location)
		}
	}
	return w.children(m, s)
}

// xml refuses the one form in which the deparser takes an expression for a
// constant: xmlroot(x, version y).
func (w *walker) xml(n *pg.XmlExpr, s *scope) error {
	if n.GetOp() == pg.XmlExprOp_IS_XMLROOT && (len(n.GetArgs()) != 3 || !isConstant(n.GetArgs()[1])) {
		return refuse(NotSupported, "Write the version as a constant.",
			"kproxy supports xmlroot with a constant version only").at(n.GetLocation())
	}
	if n.GetOp() == pg.XmlExprOp_IS_XMLPARSE && len(n.GetArgs()) == 2 {
		// The deparser does not write PRESERVE WHITESPACE, and PostgreSQL's answer is the
		// text as it was in any case (xml_parse in utils/adt/xml.c).
		deny(n.GetArgs()[1])
	}
	return w.children(n.ProtoReflect(), s)
}

func (w *walker) collation(n *pg.CollateClause, s *scope) error {
	name := n.GetCollname()
	if len(name) > 1 && (len(name) > 2 || name[0].GetString_().GetSval() != "pg_catalog") {
		return refuse(OperatorDenied, "Only the collations of pg_catalog are allowed.",
			"permission denied for collation %s", dotted(name)).at(n.GetLocation())
	}
	return w.children(n.ProtoReflect(), s)
}

func dotted(name []*pg.Node) string { return strings.Join(names(name), ".") }
