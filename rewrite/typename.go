package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
)

// Types of users are in schemas that the session's real search path does not have, and row types of
// published relations in kproxy's own. kproxy's functions read and write their names, with the
// client's path as an argument.

// formatType shows a type under the name that the client would write.
func formatType(e expression, f *pg.FuncCall) error {
	if len(f.GetArgs()) != 2 {
		return nil // the database knows no such function
	}
	if err := guardObject("pg_type", "oid", 0)(e, f); err != nil {
		return err
	}
	target := e.node.GetSubLink().GetSubselect().GetSelectStmt().GetTargetList()[0].GetResTarget()
	target.Val = e.w.names.typeNameOf(f.Args[1], target.Val)
	return nil
}

// typeNameOf is the client's name of the guarded type; builtIn is that of one of
// PostgreSQL's own, which needs no look-up.
func (r *resolver) typeNameOf(modifier, builtIn *pg.Node) *pg.Node {
	oid := columnNode(guardAlias, "oid")
	return caseNode(operatorNode("<", oid, integerNode(firstUserOID)), builtIn, ownCall("type_name", proto.Clone(oid).(*pg.Node), modifier, r.pathNode()))
}

// firstUserOID is PostgreSQL's FirstNormalObjectId.
const firstUserOID = 16384

// mayNameUserType says whether a constant may name a type that is not PostgreSQL's own.
func (r *resolver) mayNameUserType(content string) bool {
	schema, name, ok := splitName(content, r.database)
	return ok && (schema != "" || !allowedTypes[name]) && schema != "pg_catalog" && schema != "information_schema"
}
