package rewrite

import pg "github.com/pganalyze/pg_query_go/v5"

// The lists of what may be called and named mean PostgreSQL's own objects. An extension or
// a superuser may put others of such names into pg_catalog, which the server finds as well,
// or first. By the name alone nothing tells which is meant: the name is refused.

// refuseAdded refuses a name for what the server would find beside PostgreSQL's own.
func refuseAdded(kind, name string) *Refusal {
	return refuse(NameShadowed, "In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.",
		"permission denied for %s %s", kind, name)
}

// allowImplicit refuses all statements that compute something, while PostgreSQL may add
// casts and operator classes to them that are not its own.
func (r *resolver) allowImplicit() error {
	if r.snapshot.Added().Implicit == "" {
		return nil
	}
	return refuse(Uncheckable, "The database has a cast or an operator class that is not PostgreSQL's own; kproxy check tells the operator which.",
		"statements cannot be checked at the moment")
}

// allowOperators refuses operators whose names do not only mean PostgreSQL's own.
func (r *resolver) allowOperators(operators ...string) *Refusal {
	added := r.snapshot.Added().Operators
	if len(added) == 0 {
		return nil
	}
	for _, name := range operators {
		if added[name] {
			return refuseAdded("operator", name)
		}
	}
	return nil
}

// compared are the operators that an expression stands for, if others than its name says.
func compared(n *pg.A_Expr) []string {
	switch n.GetKind() {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return []string{">=", "<="}
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return []string{"<", ">"}
	}
	if parts := names(n.GetName()); len(parts) > 0 {
		return parts[len(parts)-1:]
	}
	return nil
}

// allowComparison refuses constructs that compare without an operator in the text, where =
// does not only mean PostgreSQL's own.
func (r *resolver) allowComparison(n any) *Refusal {
	compares, location := false, int32(-1)
	switch n := n.(type) {
	case *pg.CaseExpr:
		compares, location = n.GetArg() != nil, n.GetLocation()
	case *pg.SubLink:
		compares, location = n.GetSubLinkType() == pg.SubLinkType_ANY_SUBLINK && len(n.GetOperName()) == 0, n.GetLocation()
	case *pg.JoinExpr:
		compares = n.GetIsNatural() || len(n.GetUsingClause()) > 0
	}
	if !compares {
		return nil
	}
	if refusal := r.allowOperators("="); refusal != nil {
		return refusal.at(location)
	}
	return nil
}

// withoutQuery are the statements that compute nothing.
func withoutQuery(n *pg.Node) bool {
	switch n.GetNode().(type) {
	case *pg.Node_TransactionStmt, *pg.Node_VariableSetStmt, *pg.Node_VariableShowStmt, *pg.Node_DiscardStmt,
		*pg.Node_DeallocateStmt, *pg.Node_ClosePortalStmt, *pg.Node_UnlistenStmt:
		return true
	}
	return false
}
