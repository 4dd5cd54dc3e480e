package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// The lists of what may be called and named mean PostgreSQL's own objects. An extension or a
// superuser may put other objects of such names into pg_catalog, and the server may find these
// instead. The name does not tell which is meant, so it is refused.

// refuseAdded refuses a name for which the server would find something other than PostgreSQL's own
// object.
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
	for _, name := range operators {
		if r.snapshot.Added().Operators[name] {
			return refuseAdded("operator", name)
		}
	}
	return nil
}

// allowComparison refuses constructs that compare by operators that their text does not
// name, where these do not only mean PostgreSQL's own.
func (r *resolver) allowComparison(m protoreflect.Message) *Refusal {
	if len(r.snapshot.Added().Operators) == 0 {
		return nil
	}
	operators, location := []string(nil), int32(-1)
	switch n := m.Interface().(type) {
	case *pg.A_Expr:
		operators, location = comparisonOperators(n), n.GetLocation()
	case *pg.CaseExpr:
		if n.GetArg() != nil {
			operators, location = []string{"="}, n.GetLocation()
		}
	case *pg.SubLink:
		if n.GetSubLinkType() == pg.SubLinkType_ANY_SUBLINK && len(n.GetOperName()) == 0 {
			operators, location = []string{"="}, n.GetLocation()
		}
	case *pg.JoinExpr:
		if n.GetIsNatural() || len(n.GetUsingClause()) > 0 {
			operators = []string{"="}
		}
	}
	if refusal := r.allowOperators(operators...); refusal != nil {
		return refusal.at(location)
	}
	return nil
}

// comparisonOperators are the operators that an expression stands for and does not name.
func comparisonOperators(n *pg.A_Expr) []string {
	switch n.GetKind() {
	case pg.A_Expr_Kind_AEXPR_BETWEEN, pg.A_Expr_Kind_AEXPR_BETWEEN_SYM:
		return []string{">=", "<="}
	case pg.A_Expr_Kind_AEXPR_NOT_BETWEEN, pg.A_Expr_Kind_AEXPR_NOT_BETWEEN_SYM:
		return []string{"<", ">"}
	}
	return nil
}

// computesNothing reports whether a statement holds no expression to compute.
func computesNothing(n *pg.Node) bool {
	switch n.GetNode().(type) {
	case *pg.Node_TransactionStmt, *pg.Node_VariableSetStmt, *pg.Node_VariableShowStmt, *pg.Node_DiscardStmt,
		*pg.Node_DeallocateStmt, *pg.Node_ClosePortalStmt, *pg.Node_UnlistenStmt:
		return true
	}
	return false
}
