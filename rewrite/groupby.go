package rewrite

import (
	"slices"
	"strconv"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// dependency gives a query that groups by the primary key of a readable table what
// PostgreSQL gives tables (check_functional_grouping in pg_constraint.c): the table's other
// columns may stand outside of aggregates. The server knows no keys of stand-ins, so they are
// grouped by as well, which makes no other groups:
//
//	SELECT name FROM t GROUP BY id  ->  SELECT name FROM t GROUP BY id, t.name
//
// A name that is taken for a column and means something else only adds one of the same row.
type dependency struct {
	items []fromItem
	query *pg.SelectStmt
	added []*pg.Node
}

// groupByKeys does so for a query that has been visited.
func groupByKeys(n *pg.SelectStmt, s *scope) {
	if len(n.GetGroupClause()) == 0 || !slices.ContainsFunc(s.items, func(i fromItem) bool { return len(i.key) > 0 }) {
		return
	}
	d := &dependency{items: s.items, query: n}
	grouped := make(map[*fromItem]map[string]bool)
	for _, expression := range n.GetGroupClause() {
		d.group(expression, grouped)
	}
	for item, columns := range grouped {
		if len(item.key) == 0 || slices.ContainsFunc(item.key, func(column string) bool { return !columns[column] }) {
			delete(grouped, item)
		}
	}
	if len(grouped) == 0 {
		return
	}
	shown := &pg.SelectStmt{
		TargetList: n.GetTargetList(), DistinctClause: n.GetDistinctClause(), HavingClause: n.GetHavingClause(),
		SortClause: n.GetSortClause(), WindowClause: n.GetWindowClause(),
	}
	d.carry(shown.ProtoReflect(), grouped, false)
	n.GroupClause = append(n.GetGroupClause(), d.added...)
}

// group notes the columns that one expression of GROUP BY names: by itself, in a list in
// parentheses, or by the number or the name of a result column. Grouping sets are left to the
// server, which refuses what depends on a key inside of them.
func (d *dependency) group(expression *pg.Node, grouped map[*fromItem]map[string]bool) {
	if row := expression.GetRowExpr(); row != nil {
		for _, inner := range row.GetArgs() {
			d.group(inner, grouped)
		}
		return
	}
	if number, is := numberConstant(expression); is {
		at, err := strconv.Atoi(number)
		if err != nil || at < 1 || at > len(d.query.GetTargetList()) || d.starBefore(at) {
			return
		}
		expression = d.query.GetTargetList()[at-1].GetResTarget().GetVal()
	}
	fields := expression.GetColumnRef().GetFields()
	item := d.item(fields)
	if item == nil && len(fields) == 1 {
		for _, target := range d.query.GetTargetList() {
			if target.GetResTarget().GetName() == lastName(fields) {
				fields = target.GetResTarget().GetVal().GetColumnRef().GetFields()
				item = d.item(fields)
				break
			}
		}
	}
	if item == nil {
		return
	}
	if grouped[item] == nil {
		grouped[item] = make(map[string]bool)
	}
	grouped[item][lastName(fields)] = true
}

// starBefore says whether the number of a result column is not that of its target.
func (d *dependency) starBefore(at int) bool {
	return slices.ContainsFunc(d.query.GetTargetList()[:at], func(target *pg.Node) bool {
		return lastName(target.GetResTarget().GetVal().GetColumnRef().GetFields()) == "" && target.GetResTarget().GetVal().GetColumnRef() != nil
	})
}

// item is the one whose column a reference names. Of a name that several have, which only
// USING and NATURAL let stand, it is the first: where it is not NULL, its row is the only one
// of the value in any kind of join.
func (d *dependency) item(fields []*pg.Node) *fromItem {
	for i := range d.items {
		item := &d.items[i]
		if len(fields) == 2 && item.called() != fields[0].GetString_().GetSval() || len(fields) != 1 && len(fields) != 2 {
			continue
		}
		if is, _ := item.columns().has(lastName(fields)); is == knownColumn {
			return item
		}
	}
	return nil
}

// called is the name by which the rewritten query knows the item.
func (i *fromItem) called() string {
	if i.alias != "" {
		return i.alias
	}
	return i.name
}

// carry adds the columns of the grouped items that are named outside of aggregates. Inside of
// subqueries it takes only qualified ones.
func (d *dependency) carry(m protoreflect.Message, grouped map[*fromItem]map[string]bool, inner bool) {
	switch n := m.Interface().(type) {
	case *pg.ColumnRef:
		d.reference(n.GetFields(), grouped, inner)
		return
	case *pg.FuncCall:
		if isAggregate(n) {
			return
		}
	case *pg.SubLink:
		d.carry(n.GetTestexpr().ProtoReflect(), grouped, inner)
		d.carry(n.GetSubselect().ProtoReflect(), grouped, true)
		return
	}
	_ = each(m, func(below protoreflect.Message) error {
		d.carry(below, grouped, inner)
		return nil
	})
}

// isAggregate says whether the arguments of a call need not be grouped by.
func isAggregate(n *pg.FuncCall) bool {
	return n.GetOver() == nil && (aggregates[lastName(n.GetFuncname())] || n.GetAggWithinGroup() || n.GetAggDistinct() ||
		n.GetAggFilter() != nil || len(n.GetAggOrder()) > 0)
}

func (d *dependency) reference(fields []*pg.Node, grouped map[*fromItem]map[string]bool, inner bool) {
	name, qualifier := lastName(fields), ""
	switch {
	case len(fields) == 2:
		qualifier = fields[0].GetString_().GetSval()
	case len(fields) != 1 || inner:
		return
	}
	for i := range d.items {
		item := &d.items[i]
		columns, isGrouped := grouped[item]
		if !isGrouped || qualifier != "" && qualifier != item.called() {
			continue
		}
		is, _ := item.columns().has(name)
		switch {
		case name == "": // all of them
			for _, column := range item.columns().order {
				d.add(item, columns, column)
			}
		case is == knownColumn:
			d.add(item, columns, name)
		case qualifier == "" && name == item.called() && !columns[""]: // the whole row
			columns[""] = true
			d.added = append(d.added, columnNode(name))
		}
	}
}

func (d *dependency) add(item *fromItem, columns map[string]bool, column string) {
	if !columns[column] {
		columns[column] = true
		d.added = append(d.added, columnNode(item.called(), column))
	}
}

// keyOf is the primary key of a readable table, by the names that the item's alias gives its
// columns.
func (k *rowTypes) keyOf(n *pg.RangeVar, s *scope) []string {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		return nil
	}
	r := k.names.relation(n.GetSchemaname(), n.GetRelname())
	if len(r.Key) == 0 {
		return nil
	}
	order, renamed := k.stored(r).order, names(n.GetAlias().GetColnames())
	key := make([]string, len(r.Key))
	for i, column := range r.Key {
		at := slices.Index(order, column)
		switch {
		case at < 0: // the stand-in does not have it
			return nil
		case at < len(renamed):
			column = renamed[at]
		}
		key[i] = column
	}
	return key
}

// aggregates are those of PostgreSQL.
var aggregates = words(`any_value array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count covar_pop covar_samp
	every json_agg json_agg_strict json_object_agg json_object_agg_strict json_object_agg_unique json_object_agg_unique_strict
	jsonb_agg jsonb_agg_strict jsonb_object_agg jsonb_object_agg_strict jsonb_object_agg_unique jsonb_object_agg_unique_strict
	max min mode percentile_cont percentile_disc range_agg range_intersect_agg regr_avgx regr_avgy regr_count regr_intercept
	regr_r2 regr_slope regr_sxx regr_sxy regr_syy stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance xmlagg`)
