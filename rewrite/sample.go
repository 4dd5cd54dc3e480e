package rewrite

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// sample handles TABLESAMPLE, which PostgreSQL knows of tables only. A published
// relation is a view, as are the stand-ins for catalogs and readable relations, and is
// sampled row by row, whatever the method; pages of the private store would be whole classes:
//
//	t TABLESAMPLE SYSTEM (10) AS a  ->  (SELECT * FROM t WHERE random() * 100 < 10) AS a
func (w *walker) sample(node *pg.Node, n *pg.RangeTableSample, s *scope) error {
	relation := n.GetRelation().GetRangeVar()
	method := names(n.GetMethod())
	if relation == nil || len(method) != 1 || !slices.Contains([]string{"bernoulli", "system"}, method[0]) {
		return refuse(UndefinedType, "Use BERNOULLI or SYSTEM.",
			"tablesample method %s does not exist", dotted(n.GetMethod())).at(n.GetLocation())
	}
	r := w.names.relation(relation.GetSchemaname(), relation.GetRelname())
	view := r.Disposition == catalog.Protected || r.Disposition == catalog.Readable && r.Target != r.Source || r.Target.Schema == catalog.CatalogSchema
	if !view || relation.GetSchemaname() == "" && s.hasCTE(relation.GetRelname()) {
		return w.children(n.ProtoReflect(), s)
	}
	if n.GetRepeatable() != nil {
		return refuse(NotSupported, "Leave REPEATABLE out, or choose rows by what is in them: WHERE hashtext(t::text) % 10 = 0.",
			"TABLESAMPLE of table %q cannot be repeated: its rows have no fixed places", relation.GetRelname()).at(n.GetLocation())
	}
	share, refusal := samplePercentage(n)
	if refusal != nil {
		return refusal
	}
	if err := w.node(n.GetRelation(), s); err != nil {
		return err
	}
	alias := relation.Alias
	relation.Alias = nil
	node.Node = subqueryNode(selectNode(&pg.SelectStmt{
		TargetList:  []*pg.Node{targetNode("", starNode())},
		FromClause:  []*pg.Node{n.GetRelation()},
		WhereClause: operatorNode("<", operatorNode("*", callNode("random"), integerNode(100)), share),
	}), alias).GetNode()
	return nil
}

// samplePercentage is what TABLESAMPLE is asked for. Other expressions than a number or
// a parameter would be read under other names inside of the subquery.
func samplePercentage(n *pg.RangeTableSample) (*pg.Node, *Refusal) {
	if len(n.GetArgs()) != 1 {
		return nil, refuse(InvalidSample, "Give one percentage.",
			"tablesample method %s requires 1 argument, not %d", dotted(n.GetMethod()), len(n.GetArgs())).at(n.GetLocation())
	}
	share := n.GetArgs()[0]
	if share.GetParamRef() != nil {
		return casted(share, "float4"), nil
	}
	text, number := numberConstant(share)
	if !number {
		return nil, refuse(NotSupported, "Write the percentage as a number or a parameter.",
			"TABLESAMPLE of table %q takes a number or a parameter only", n.GetRelation().GetRangeVar().GetRelname()).at(n.GetLocation())
	}
	if percent, err := strconv.ParseFloat(text, 64); err != nil || percent < 0 || percent > 100 {
		return nil, refuse(InvalidSample, "Give a percentage from 0 to 100.",
			"sample percentage must be between 0 and 100").at(n.GetLocation())
	}
	return share, nil
}
