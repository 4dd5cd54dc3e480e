package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// inline puts the queries given in the place of relations, each under the name that it has
// in the rewritten definition already:
//
//	FROM s.t AS x  ->  FROM (SELECT "a", "b" FROM ONLY s.t) AS x
//
// A subquery has no system columns, and nobody can give it another definition.
func inline(query protoreflect.Message, queries map[catalog.Name]string) error {
	if len(queries) == 0 {
		return nil
	}
	return each(query, func(m protoreflect.Message) error {
		node, is := m.Interface().(*pg.Node)
		relation := node.GetRangeVar()
		name := catalog.Name{Schema: relation.GetSchemaname(), Relation: relation.GetRelname()}
		text, known := queries[name]
		if !is || relation == nil || !known {
			return inline(m, queries)
		}
		if !relation.GetInh() {
			return refuse(NotSupported, "Leave ONLY out.", "it reads ONLY %s", name)
		}
		tree, err := parse(text)
		if err != nil {
			return err
		}
		if len(tree.GetStmts()) != 1 || tree.GetStmts()[0].GetStmt().GetSelectStmt() == nil {
			return refuse(InternalError, "", "what stands for %s is not a query", name)
		}
		alias := relation.GetAlias()
		if alias == nil { // in what TABLESAMPLE became; PostgreSQL before 16 wants one
			alias = &pg.Alias{Aliasname: name.Relation}
		}
		node.Node = subqueryNode(tree.GetStmts()[0].GetStmt(), alias).GetNode()
		return nil
	})
}
