package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// parenthesize makes the deparser write parentheses around operands, which
// libpg_query 16-5.1.0 forgets in places: (NOT a) IS NULL, (a IS NULL)::int,
// (ARRAY[1])[1], (a BETWEEN 1 AND 2) = b, and quotes around the cursor of FETCH. It gives an indirection around an
// indirection parentheses, even if both are empty, so that two empty ones stand
// for a pair of them. The parser makes no such nodes: the tree is for writing
// only, and what it says is compared with the tree that was checked.
func parenthesize(m protoreflect.Message) {
	_ = each(m, func(inner protoreflect.Message) error { parenthesize(inner); return nil })
	switch n := m.Interface().(type) {
	case *pg.A_Expr:
		wrap(n.Lexpr)
		wrap(n.Rexpr)
		wrap(n.GetRexpr().GetList().GetItems()...) // BETWEEN, IN
	case *pg.BoolExpr:
		wrap(n.Args...)
	case *pg.NullTest:
		wrap(n.Arg)
	case *pg.BooleanTest:
		wrap(n.Arg)
	case *pg.TypeCast:
		wrap(n.Arg)
	case *pg.CollateClause:
		wrap(n.Arg)
	case *pg.A_Indirection:
		if wrap(n.Arg); isConstant(n.Arg) { // (5).name
			n.Arg = bracketed(n.Arg)
		}
	case *pg.SubLink:
		wrap(n.Testexpr)
	case *pg.JsonIsPredicate:
		wrap(n.Expr)
	case *pg.RangeTableFunc:
		wrap(n.Docexpr)
	case *pg.FetchStmt:
		n.Portalname = `"` + strings.ReplaceAll(n.Portalname, `"`, `""`) + `"`
	}
}

// wrap leaves expressions unchanged that bring their own brackets, and calls written as such, which
// the deparser inspects through the operator (LIKE ... ESCAPE is one); a column inside an empty
// indirection would end the process.
func wrap(nodes ...*pg.Node) {
	for _, n := range nodes {
		switch inner := n.GetNode().(type) {
		case *pg.Node_FuncCall:
			if inner.FuncCall.GetFuncformat() != pg.CoercionForm_COERCE_SQL_SYNTAX {
				continue
			}
		case nil, *pg.Node_ColumnRef, *pg.Node_List, *pg.Node_AConst, *pg.Node_RowExpr, *pg.Node_AIndirection,
			*pg.Node_SetToDefault:
			continue
		}
		n.Node = bracketed(&pg.Node{Node: n.Node}).Node
	}
}

func bracketed(n *pg.Node) *pg.Node {
	once := &pg.Node{Node: &pg.Node_AIndirection{AIndirection: &pg.A_Indirection{Arg: n}}}
	return &pg.Node{Node: &pg.Node_AIndirection{AIndirection: &pg.A_Indirection{Arg: once}}}
}
