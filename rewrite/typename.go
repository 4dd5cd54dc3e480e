package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
)

// Types of users are in schemas that the session's real search path does not have, and
// row types of published relations in kproxy's own. Their names are read and written
// by kproxy's functions, which are told the client's path.

// formatType shows a type under the name that the client would write.
func formatType(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if len(f.GetArgs()) != 2 {
		return nil // the database knows no such function
	}
	if err := guardObject("pg_type", "oid", 0)(w, node, f); err != nil {
		return err
	}
	target := node.GetSubLink().GetSubselect().GetSelectStmt().GetTargetList()[0].GetResTarget()
	target.Val = w.typeNameOf(f.Args[1], target.Val)
	return nil
}

// typeNameOf is the client's name of the guarded type; builtIn is that of one of
// PostgreSQL's own, which needs no look-up.
func (w *walker) typeNameOf(modifier, builtIn *pg.Node) *pg.Node {
	own := &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{
		Kind: pg.A_Expr_Kind_AEXPR_OP, Name: nameNodes("<"), Lexpr: columnNode(guardAlias, "oid"), Rexpr: integerNode(firstUserOID),
	}}}
	return &pg.Node{Node: &pg.Node_CaseExpr{CaseExpr: &pg.CaseExpr{
		Args:      []*pg.Node{{Node: &pg.Node_CaseWhen{CaseWhen: &pg.CaseWhen{Expr: own, Result: builtIn}}}},
		Defresult: ownCall("type_name", columnNode(guardAlias, "oid"), modifier, w.pathNode()),
	}}}
}

// firstUserOID is PostgreSQL's FirstNormalObjectId.
const firstUserOID = 16384

// toType looks up a type's name that is made at run time, or is of a user's type.
func (w *walker) toType(name *pg.Node) *pg.Node {
	return ownCall("to_type", casted(name, "text"), w.pathNode())
}

// namesUserType says whether a constant may name a type that is not PostgreSQL's own.
func (w *walker) namesUserType(content string) bool {
	schema, name, ok := splitName(content, w.database)
	return ok && (schema != "" || !allowedTypes[name]) && schema != "pg_catalog" && schema != "information_schema"
}
