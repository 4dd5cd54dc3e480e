package rewrite

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// viewColumns finds the columns in a view's definition that are not published. It must
// see the definition before relations are replaced.
type viewColumns struct{ relations map[catalog.Name]ViewRelation }

// viewScope is what one SELECT of a definition adds to the names around it. It knows no
// more than is needed: pg_get_viewdef qualifies columns by their item wherever there is
// more than one.
type viewScope struct {
	outer *viewScope
	items []viewItem
}

// viewItem is an item of a FROM clause.
type viewItem struct {
	name string
	// relation is the one it stands for, where that is read in another form.
	relation catalog.Name
	// hidden are the names that its columns without a published one have in the definition.
	hidden []string
}

// publish leaves out the columns of the view that are nothing but a column which is not
// published, and refuses all other uses of such columns.
func (v *viewColumns) publish(n *pg.SelectStmt, view *PublishedView) error {
	if n.GetOp() == pg.SetOperation_SETOP_NONE && len(n.GetValuesLists()) == 0 && len(n.GetTargetList()) != len(view.Columns) {
		return refuse(InternalError, "", "the definition has %d columns, the view %d", len(n.GetTargetList()), len(view.Columns))
	}
	if plainList(n) {
		s, err := v.scope(n, nil)
		if err != nil {
			return err
		}
		var targets []*pg.Node
		all := view.Columns
		view.Columns = nil
		for i, target := range n.GetTargetList() {
			if reference := target.GetResTarget().GetVal().GetColumnRef(); reference != nil && s.hides(reference) != nil {
				view.Omitted = append(view.Omitted, all[i])
				continue
			}
			targets, view.Columns = append(targets, target), append(view.Columns, all[i])
		}
		if len(targets) == 0 {
			return refuse(ColumnDenied, "List columns that are published.", "none of its columns is published")
		}
		n.TargetList = targets
	}
	if err := v.visit(n.ProtoReflect(), nil); err != nil {
		return err
	}
	return v.rename(n.ProtoReflect())
}

func refuseColumn(name string, of *viewItem) *Refusal {
	return refuse(ColumnDenied, "Publish the column, or leave it out of the view.", "it computes with column %s of %s, which is not published", name, of.relation)
}

// using refuses joins by columns that are not published. NATURAL JOIN is written as USING in definitions. Each side has one column
// of the name: an item that hides one has that.
func (v *viewColumns) using(n *pg.JoinExpr) error {
	if len(n.GetUsingClause()) == 0 {
		return nil
	}
	var sides viewScope
	for _, side := range []*pg.Node{n.GetLarg(), n.GetRarg()} {
		if err := v.collect(side, &sides); err != nil {
			return err
		}
	}
	for _, name := range names(n.GetUsingClause()) {
		for i, item := range sides.items {
			if slices.Contains(item.hidden, name) {
				return refuseColumn(name, &sides.items[i])
			}
		}
	}
	return nil
}

// plainList says whether leaving columns out of the query leaves its rows what they are.
// DISTINCT and set operations compare rows by all columns, and GROUP BY names them.
func plainList(n *pg.SelectStmt) bool {
	return n.GetOp() == pg.SetOperation_SETOP_NONE && len(n.GetValuesLists()) == 0 &&
		len(n.GetDistinctClause()) == 0 && len(n.GetGroupClause()) == 0
}

func (v *viewColumns) visit(m protoreflect.Message, s *viewScope) error {
	switch n := m.Interface().(type) {
	case *pg.SelectStmt:
		inner, err := v.scope(n, s)
		if err != nil {
			return err
		}
		s = inner
	case *pg.ColumnRef:
		if item := s.hides(n); item != nil {
			return refuseColumn(lastName(n.GetFields()), item).at(n.GetLocation())
		}
	case *pg.JoinExpr:
		if err := v.using(n); err != nil {
			return err
		}
	}
	return each(m, func(inner protoreflect.Message) error { return v.visit(inner, s) })
}

func (v *viewColumns) scope(n *pg.SelectStmt, outer *viewScope) (*viewScope, error) {
	s := &viewScope{outer: outer}
	for _, item := range n.GetFromClause() {
		if err := v.collect(item, s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// collect notes the items of a FROM clause. One of which nothing is hidden is noted, too:
// it decides whether bare names are those of another.
func (v *viewColumns) collect(node *pg.Node, s *viewScope) error {
	switch n := node.GetNode().(type) {
	case *pg.Node_RangeVar:
		s.items = append(s.items, v.item(n.RangeVar))
	case *pg.Node_RangeSubselect:
		s.items = append(s.items, viewItem{name: n.RangeSubselect.GetAlias().GetAliasname()})
	case *pg.Node_RangeFunction:
		s.items = append(s.items, viewItem{name: n.RangeFunction.GetAlias().GetAliasname()})
	case *pg.Node_RangeTableFunc:
		s.items = append(s.items, viewItem{name: n.RangeTableFunc.GetAlias().GetAliasname()})
	case *pg.Node_RangeTableSample:
		return v.collect(n.RangeTableSample.GetRelation(), s)
	case *pg.Node_JoinExpr:
		if len(n.JoinExpr.GetAlias().GetColnames()) > 0 {
			return refuse(NotSupported, "Name columns in a subquery instead.",
				"it renames the columns of a join, of which not all may be published")
		}
		for _, side := range []*pg.Node{n.JoinExpr.GetLarg(), n.JoinExpr.GetRarg()} {
			if err := v.collect(side, s); err != nil {
				return err
			}
		}
	}
	return nil
}

// item describes a relation in a FROM clause.
func (v *viewColumns) item(n *pg.RangeVar) viewItem {
	item := viewItem{name: n.GetRelname()}
	if n.GetAlias() != nil {
		item.name = n.GetAlias().GetAliasname()
	}
	name := catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}
	relation, known := v.relations[name]
	if !known || relation.Target == name {
		return item
	}
	item.relation = name
	seen := aliased(relation.Columns, n.GetAlias())
	for i, column := range relation.Columns {
		if !slices.Contains(relation.Published, column) {
			item.hidden = append(item.hidden, seen[i])
		}
	}
	return item
}

// aliased are the names that the columns have where they are read under an alias.
func aliased(columns []string, alias *pg.Alias) []string {
	seen := slices.Clone(columns)
	copy(seen, names(alias.GetColnames()))
	return seen
}

// hides finds the item whose hidden column the reference means; nil where it means none.
func (s *viewScope) hides(reference *pg.ColumnRef) *viewItem {
	fields := names(reference.GetFields())
	for ; s != nil; s = s.outer {
		switch {
		case len(fields) == 1 && len(s.items) > 0:
			// Several items share the column that USING made of theirs.
			if len(s.items) == 1 && slices.Contains(s.items[0].hidden, fields[0]) {
				return &s.items[0]
			}
			return nil
		case len(fields) == 2:
			for i, item := range s.items {
				if item.name != fields[0] {
					continue
				}
				if slices.Contains(item.hidden, fields[1]) {
					return &s.items[i]
				}
				return nil
			}
		}
	}
	return nil
}

// rename gives the columns of published relations the names that aliases gave to those of
// the relation itself: FROM t AS t(a, b) counts columns, of which others are published.
func (v *viewColumns) rename(m protoreflect.Message) error {
	if n, is := m.Interface().(*pg.RangeVar); is && len(n.GetAlias().GetColnames()) > 0 {
		name := catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}
		if relation, known := v.relations[name]; known {
			seen, renamed := aliased(relation.Columns, n.GetAlias()), slices.Clone(relation.Published)
			for i, column := range relation.Published {
				if at := slices.Index(relation.Columns, column); at >= 0 {
					renamed[i] = seen[at]
				}
			}
			n.Alias.Colnames = nameNodes(renamed...)
		}
	}
	return each(m, v.rename)
}
