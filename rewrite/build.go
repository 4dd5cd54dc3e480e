package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The nodes that kproxy itself puts into a tree. They have no location, which is 0:
// nothing of the client's that a message could point at stands at the beginning of a
// text (position.go).

// expression is a call, a cast or a column of the tree that may be replaced.
type expression struct {
	w    *walker
	node *pg.Node
}

// put replaces the expression by another.
func (e expression) put(other *pg.Node) {
	e.w.replaced++
	e.node.Node = other.GetNode()
}

// textNode is 'text'.
func textNode(text string) *pg.Node { return pg.MakeAConstStrNode(text, 0) }

// integerNode is the number.
func integerNode(number int64) *pg.Node { return pg.MakeAConstIntNode(number, 0) }

// nullNode is NULL.
func nullNode() *pg.Node {
	return &pg.Node{Node: &pg.Node_AConst{AConst: &pg.A_Const{Isnull: true}}}
}

// castNode is 'text'::pg_catalog.type.
func castNode(text, typeName string) *pg.Node { return casted(textNode(text), typeName) }

// casted is value::pg_catalog.type.
func casted(value *pg.Node, typeName string) *pg.Node {
	return &pg.Node{Node: &pg.Node_TypeCast{TypeCast: &pg.TypeCast{
		Arg: value, TypeName: &pg.TypeName{Names: nameNodes("pg_catalog", typeName), Typemod: -1},
	}}}
}

// arrayOf is value::pg_catalog.type[].
func arrayOf(value *pg.Node, typeName string) *pg.Node {
	cast := casted(value, typeName)
	cast.GetTypeCast().TypeName.ArrayBounds = []*pg.Node{{Node: &pg.Node_Integer{Integer: &pg.Integer{Ival: -1}}}}
	return cast
}

// selectNode completes a SELECT with what the parser sets in every one.
func selectNode(s *pg.SelectStmt) *pg.Node {
	s.LimitOption = pg.LimitOption_LIMIT_OPTION_DEFAULT
	s.Op = pg.SetOperation_SETOP_NONE
	return &pg.Node{Node: &pg.Node_SelectStmt{SelectStmt: s}}
}

func targetNode(name string, value *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_ResTarget{ResTarget: &pg.ResTarget{Name: name, Val: value}}}
}

// callNode calls a function of pg_catalog.
func callNode(function string, arguments ...*pg.Node) *pg.Node {
	return qualifiedCall("pg_catalog", function, arguments...)
}

// ownCall calls one of kproxy's own functions.
func ownCall(function string, arguments ...*pg.Node) *pg.Node {
	return qualifiedCall(catalog.CatalogSchema, function, arguments...)
}

func qualifiedCall(schema, function string, arguments ...*pg.Node) *pg.Node {
	return functionNode(&pg.FuncCall{
		Funcname: nameNodes(schema, function), Args: arguments, Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	})
}

func functionNode(f *pg.FuncCall) *pg.Node { return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: f}} }

func relationNode(n *pg.RangeVar) *pg.Node { return &pg.Node{Node: &pg.Node_RangeVar{RangeVar: n}} }

// readNode reads a relation in FROM under an alias, which may be empty.
func readNode(name catalog.Name, alias string) *pg.Node {
	n := &pg.RangeVar{Schemaname: name.Schema, Relname: name.Relation, Inh: true, Relpersistence: "p"}
	if alias != "" {
		n.Alias = &pg.Alias{Aliasname: alias}
	}
	return relationNode(n)
}

// subqueryNode is a query in FROM under an alias.
func subqueryNode(query *pg.Node, alias *pg.Alias) *pg.Node {
	return &pg.Node{Node: &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: query, Alias: alias}}}
}

// subLinkNode is a query as a value.
func subLinkNode(kind pg.SubLinkType, query *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: kind, Subselect: query}}}
}

// caseNode is CASE WHEN condition THEN value ELSE otherwise END; otherwise may be nil.
func caseNode(condition, value, otherwise *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_CaseExpr{CaseExpr: &pg.CaseExpr{
		Args:      []*pg.Node{{Node: &pg.Node_CaseWhen{CaseWhen: &pg.CaseWhen{Expr: condition, Result: value}}}},
		Defresult: otherwise,
	}}}
}

func columnNode(parts ...string) *pg.Node {
	return &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: nameNodes(parts...)}}}
}

func starNode() *pg.Node {
	star := []*pg.Node{{Node: &pg.Node_AStar{AStar: &pg.A_Star{}}}}
	return &pg.Node{Node: &pg.Node_ColumnRef{ColumnRef: &pg.ColumnRef{Fields: star}}}
}

func equal(left, right *pg.Node) *pg.Node { return operatorNode("=", left, right) }

func operatorNode(operator string, left, right *pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{
		Kind: pg.A_Expr_Kind_AEXPR_OP, Name: nameNodes(operator), Lexpr: left, Rexpr: right,
	}}}
}

func and(conditions ...*pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR, Args: conditions}}}
}

func or(conditions ...*pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_OR_EXPR, Args: conditions}}}
}

// nameNodes is a name in parts, as functions, types and columns have it.
func nameNodes(parts ...string) []*pg.Node {
	nodes := make([]*pg.Node, len(parts))
	for i, part := range parts {
		nodes[i] = pg.MakeStrNode(part)
	}
	return nodes
}

// names is the reverse of nameNodes; a part that is no name is empty.
func names(nodes []*pg.Node) []string {
	parts := make([]string, len(nodes))
	for i, node := range nodes {
		parts[i] = node.GetString_().GetSval()
	}
	return parts
}
