package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// The nodes that kproxy itself puts into a tree. They have no location, which is 0:
// nothing of the client's that a message could point at stands at the beginning of a
// text (position.go).

// put puts another expression in the place of a call, a cast or a column.
func (w *walker) put(node, other *pg.Node) {
	w.replaced++
	node.Node = other.GetNode()
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

// callNode calls a function of pg_catalog.
func callNode(function string, arguments ...*pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
		Funcname: nameNodes("pg_catalog", function), Args: arguments, Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	}}}
}

func and(conditions ...*pg.Node) *pg.Node {
	return &pg.Node{Node: &pg.Node_BoolExpr{BoolExpr: &pg.BoolExpr{Boolop: pg.BoolExprType_AND_EXPR, Args: conditions}}}
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
