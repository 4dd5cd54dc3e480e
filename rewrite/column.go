package rewrite

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v5"
)

// column checks a column reference. One qualified by schema must name a relation
// of the FROM clause that has no alias; as kproxy gives it one, the schema goes.
func (w *walker) column(n *pg.ColumnRef, s *scope) error {
	fields := n.GetFields()
	if err := refuseSystemColumn(n, s); err != nil {
		return err
	}
	switch len(fields) {
	case 2:
		table := fields[0].GetString_().GetSval()
		if items := s.item(table); len(items) > 1 && items[0].alias != "" {
			return refuse(AmbiguousName, "Name its schema, too, or give it an alias.", "table reference %q is ambiguous", table).at(n.GetLocation())
		}
		return w.children(n.ProtoReflect(), s)
	case 0, 1:
		return w.children(n.ProtoReflect(), s)
	case 4:
		if err := w.names.allowDatabase(fields[0].GetString_().GetSval(), n.GetLocation()); err != nil {
			return err
		}
		fields = fields[1:]
	case 3:
	default:
		return refuse(SyntaxError, "", "improper qualified name (too many dotted names)").at(n.GetLocation())
	}
	schema, table := fields[0].GetString_().GetSval(), fields[1].GetString_().GetSval()
	items := slices.DeleteFunc(s.item(table), func(i fromItem) bool { return i.schema != schema || i.relation == nil })
	if len(items) != 1 {
		return refuse(UndefinedRelation, "Name the column by its table's alias.",
			"invalid reference to FROM-clause entry for table %q", table).at(n.GetLocation())
	}
	n.Fields = fields[1:]
	if items[0].alias != "" {
		n.Fields[0] = pg.MakeStrNode(items[0].alias)
	}
	return w.children(n.ProtoReflect(), s)
}

// target keeps the name that a result column would have had if what names it is
// replaced.
func (w *walker) target(n *pg.ResTarget, s *scope) error {
	name, before := impliedName(n.GetVal()), w.replaced
	procedure := w.results[n] && namesProcedure(n.GetVal(), s)
	if err := w.children(n.ProtoReflect(), s); err != nil {
		return err
	}
	if procedure {
		if err := (expression{w, n.GetVal()}).procedure(); err != nil {
			return err
		}
	}
	if n.GetName() == "" && w.replaced != before {
		n.Name = name
	}
	return nil
}

// impliedName follows PostgreSQL's FigureColname as far as replaced expressions
// matter; empty leaves the name to the database.
func impliedName(n *pg.Node) string {
	name, _ := figureName(n)
	return name
}

// figureName says, too, whether the name is better than that of a type around it.
func figureName(n *pg.Node) (name string, strong bool) {
	switch n := n.GetNode().(type) {
	case *pg.Node_FuncCall:
		return lastName(n.FuncCall.GetFuncname()), true
	case *pg.Node_ColumnRef:
		return lastName(n.ColumnRef.GetFields()), true
	case *pg.Node_SqlvalueFunction:
		if n.SqlvalueFunction.GetOp() == pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG {
			return "current_catalog", true
		}
		return "current_schema", true
	case *pg.Node_CoalesceExpr:
		return "coalesce", true
	case *pg.Node_AArrayExpr:
		return "array", true
	case *pg.Node_CaseExpr:
		if name, strong := figureName(n.CaseExpr.GetDefresult()); strong {
			return name, true
		}
		return "case", false
	case *pg.Node_TypeCast:
		if name, strong := figureName(n.TypeCast.GetArg()); strong {
			return name, true
		}
		return lastName(n.TypeCast.GetTypeName().GetNames()), false
	case *pg.Node_CollateClause:
		return figureName(n.CollateClause.GetArg())
	case *pg.Node_AIndirection:
		steps := n.AIndirection.GetIndirection()
		for i := len(steps) - 1; i >= 0; i-- {
			if steps[i].GetString_() != nil {
				return steps[i].GetString_().GetSval(), true
			}
		}
		return figureName(n.AIndirection.GetArg())
	}
	return "", false
}

func lastName(nodes []*pg.Node) string {
	if len(nodes) == 0 {
		return ""
	}
	return nodes[len(nodes)-1].GetString_().GetSval()
}
