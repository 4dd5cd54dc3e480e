package rewrite

import (
	"slices"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"

	"github.com/kproxy/kproxy/catalog"
)

// Aggregates of a query that is answered from a summary, each row of which stands for several records.

var (
	// repeatable are the aggregates that are the same however often a value is there.
	repeatable = words("bit_and bit_or bool_and bool_or every max min")
	// counting are those that are not, and of which the summary knows better.
	counting = words("avg count sum")
	// windowFunctions are exact whatever they look at, and windowSums if that is.
	windowFunctions = words("count cume_dist dense_rank first_value lag last_value lead max min nth_value ntile percent_rank rank row_number")
	windowSums      = words("avg sum")
	// scalarFunctions, of scalar values, give no rows, and comparisons are boolean.
	scalarFunctions = words("date_part date_trunc extract length lower upper")
	comparisons     = words("= <> < <= > >=")
)

// call looks at a call.
func (q *summarized) call(node *pg.Node, n *pg.FuncCall) {
	name := lastName(n.GetFuncname())
	switch {
	case !isOwn(n.GetFuncname()):
		q.refuses = true
		return
	case n.GetOver() != nil && q.apart:
		q.refuses = true
	case aggregates[name] && q.apart:
	case n.GetOver() != nil:
		q.windows = true
		certain := windowFunctions[name] || windowSums[name] && len(n.GetArgs()) == 1 && q.number(n.GetArgs()[0]) != ""
		q.refuses = q.inner || !certain
	case aggregates[name]:
		q.aggregate(node, n)
		return
	default:
		q.refuses = !keptFunctions[name] && !steadyFunctions[name] || n.GetAggDistinct() || n.GetAggFilter() != nil || len(n.GetAggOrder()) > 0
	}
	q.inside(n)
}

// inside looks at all that a call holds.
func (q *summarized) inside(n *pg.FuncCall) {
	for _, inner := range slices.Concat(n.GetArgs(), n.GetAggOrder(), []*pg.Node{n.GetAggFilter()}) {
		if inner != nil {
			q.visit(inner.ProtoReflect())
		}
	}
	if n.GetOver() != nil {
		q.visit(n.GetOver().ProtoReflect())
	}
}

// aggregate looks at an aggregate of the query's own rows. Those in which the order of values matters,
// such as sums of floating-point numbers, are left to the published relation.
func (q *summarized) aggregate(node *pg.Node, n *pg.FuncCall) {
	name := lastName(n.GetFuncname())
	if q.inner || n.GetAggWithinGroup() || n.GetFuncVariadic() || len(n.GetAggOrder()) > 0 || len(n.GetArgs()) > 1 || n.GetAggStar() != (len(n.GetArgs()) == 0) {
		q.refuses = true
		return
	}
	q.grouped = true
	if q.isSummed(n) {
		q.sums = append(q.sums, node)
		if n.GetAggFilter() != nil {
			q.inner = true
			q.visit(n.GetAggFilter().ProtoReflect())
			q.inner = false
		}
		return
	}
	switch {
	case repeatable[name], counting[name] && n.GetAggDistinct():
	case name == "count" && (n.GetAggStar() || q.isScalar(n.GetArgs()[0])), counting[name] && name != "count" && q.number(n.GetArgs()[0]) != "":
		q.sums = append(q.sums, node)
	default:
		q.refuses = true
		return
	}
	q.inner = true
	q.inside(n)
	q.inner = false
}

// isSummed says whether the summary knows an aggregate of a column that is published as it is.
func (q *summarized) isSummed(n *pg.FuncCall) bool {
	if len(n.GetArgs()) != 1 || n.GetAggDistinct() {
		return false
	}
	of := q.numbers(n.GetArgs()[0].GetColumnRef())
	switch name := lastName(n.GetFuncname()); name {
	case "min", "max":
		return q.summary.Ranged[of]
	default:
		return counting[name] && exact[q.summary.Summed[of]] != ""
	}
}

// isScalar says whether a value is known to be NULL exactly where IS NULL says so, and to have a type of its
// own: a row with a NULL in it is neither, wherever it comes from.
func (q *summarized) isScalar(node *pg.Node) bool {
	if isConstant(node) || q.number(node) != "" {
		return true
	}
	switch n := node.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return q.shown(n.ColumnRef) != ""
	case *pg.Node_CoalesceExpr:
		return q.areScalar(n.CoalesceExpr.GetArgs())
	case *pg.Node_CaseExpr:
		return q.areScalar(caseResults(n.CaseExpr))
	case *pg.Node_FuncCall:
		return isOwn(n.FuncCall.GetFuncname()) && scalarFunctions[lastName(n.FuncCall.GetFuncname())] && q.areScalar(n.FuncCall.GetArgs())
	case *pg.Node_AExpr:
		name := n.AExpr.GetName()
		return n.AExpr.GetKind() == pg.A_Expr_Kind_AEXPR_OP && len(name) == 1 && comparisons[lastName(name)] &&
			q.areScalar([]*pg.Node{n.AExpr.GetLexpr(), n.AExpr.GetRexpr()})
	}
	return false
}

// areScalar is isScalar for all of several values. An absent one, as of CASE without ELSE, is NULL.
func (q *summarized) areScalar(nodes []*pg.Node) bool {
	return !slices.ContainsFunc(nodes, func(n *pg.Node) bool { return n != nil && !q.isScalar(n) })
}

// caseResults are the values that a CASE can have, the last of them nil where it has no ELSE.
func caseResults(n *pg.CaseExpr) []*pg.Node {
	var results []*pg.Node
	for _, arm := range n.GetArgs() {
		results = append(results, arm.GetCaseWhen().GetResult())
	}
	return append(results, n.GetDefresult())
}

// number is the type of an expression, as SQL writes it, if that is known and its sums are exact;
// empty otherwise.
func (q *summarized) number(node *pg.Node) string {
	if isInteger(node) {
		return "integer"
	}
	switch n := node.GetNode().(type) {
	case *pg.Node_ColumnRef:
		return exact[q.shown(n.ColumnRef)]
	case *pg.Node_TypeCast:
		if of := n.TypeCast.GetTypeName(); isOwn(of.GetNames()) && len(of.GetArrayBounds()) == 0 {
			return exact[lastName(of.GetNames())]
		}
	case *pg.Node_CoalesceExpr:
		return q.common(n.CoalesceExpr.GetArgs())
	case *pg.Node_CaseExpr:
		return q.common(caseResults(n.CaseExpr))
	case *pg.Node_AExpr:
		if name := n.AExpr.GetName(); n.AExpr.GetKind() == pg.A_Expr_Kind_AEXPR_OP && len(name) == 1 && arithmetic[lastName(name)] {
			return q.common([]*pg.Node{n.AExpr.GetLexpr(), n.AExpr.GetRexpr()})
		}
	case *pg.Node_FuncCall:
		return q.aggregateNumber(n.FuncCall)
	}
	return ""
}

// aggregateNumber is number for aggregates, which windows may look at.
func (q *summarized) aggregateNumber(n *pg.FuncCall) string {
	switch name := lastName(n.GetFuncname()); {
	case !isOwn(n.GetFuncname()) || n.GetOver() != nil:
		return ""
	case name == "count":
		return "bigint"
	case len(n.GetArgs()) != 1:
		return ""
	case name == "min" || name == "max":
		return q.summedNumber(n.GetArgs()[0])
	case name == "sum" || name == "avg":
		of := q.summedNumber(n.GetArgs()[0])
		if name == "sum" && isShort(of) {
			return "bigint"
		}
		if of != "" {
			return "numeric"
		}
	}
	return ""
}

// summedNumber is number for what an aggregate looks at.
func (q *summarized) summedNumber(node *pg.Node) string {
	if of := exact[q.summary.Summed[q.numbers(node.GetColumnRef())]]; of != "" {
		return of
	}
	return q.number(node)
}

// common is the type that all of these expressions have, if it is the same; missing and NULL
// expressions have any type.
func (q *summarized) common(of []*pg.Node) string {
	all := ""
	for _, node := range of {
		if node == nil || isNull(node) {
			continue
		}
		one := q.number(node)
		if one == "" || all != "" && one != all {
			return ""
		}
		all = one
	}
	return all
}

// exact are the types of numbers whose sums do not depend on an order.
var exact = map[string]string{
	"smallint": "smallint", "integer": "integer", "bigint": "bigint", "numeric": "numeric",
	"int2": "smallint", "int4": "integer", "int8": "bigint",
}

// arithmetic are the operators whose result is of their arguments' type.
var arithmetic = words("+ - * / %")

// isShort says whether sums of a type are of type bigint.
func isShort(of string) bool { return of == "smallint" || of == "integer" }

// sumUp changes the aggregates, once it is known that the answer stays the same.
func (q *summarized) sumUp() {
	before := make(map[*pg.ResTarget]string)
	for _, node := range q.query.GetTargetList() {
		if target := node.GetResTarget(); target.GetName() == "" {
			before[target] = impliedName(target.GetVal())
		}
	}
	for _, node := range q.sums {
		location := node.GetFuncCall().GetLocation()
		node.Node = q.summed(node.GetFuncCall(), location).GetNode()
	}
	for target, name := range before {
		if name != impliedName(target.GetVal()) {
			target.Name = name
		}
	}
}

// summed is an aggregate over records as one over rows of the summary.
func (q *summarized) summed(n *pg.FuncCall, location int32) *pg.Node {
	if q.isSummed(n) {
		return q.summedBefore(n, location)
	}
	count := columnNode(q.alias, catalog.CountColumn)
	if lastName(n.GetFuncname()) == "count" {
		filter := n.GetAggFilter()
		if !n.GetAggStar() {
			filter = counts(n.GetArgs()[0], filter)
		}
		return &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{
			Args: []*pg.Node{sumNode(count, filter, location), integerNode(0)}, Location: location,
		}}}
	}
	value := n.GetArgs()[0]
	of := q.number(value)
	factor := value
	switch {
	case isShort(of):
		factor = casted(value, "int8")
	case of == "bigint":
		factor = casted(value, "numeric")
	}
	sum := sumNode(operatorNode("*", factor, count), n.GetAggFilter(), location)
	if lastName(n.GetFuncname()) == "avg" {
		again, _ := proto.Clone(value).(*pg.Node)
		filter, _ := proto.Clone(n.GetAggFilter()).(*pg.Node)
		return operatorNode("/", sum, sumNode(columnNode(q.alias, catalog.CountColumn), counts(again, filter), location))
	}
	if isShort(of) {
		return casted(sum, "int8")
	}
	return sum
}

// summedBefore is an aggregate of a column that is published as it is, over what the summary's rows have of it.
func (q *summarized) summedBefore(n *pg.FuncCall, location int32) *pg.Node {
	of := q.numbers(n.GetArgs()[0].GetColumnRef())
	known, sum := columnNode(q.alias, catalog.KnownColumn(of)), sumNode(columnNode(q.alias, catalog.SumColumn(of)), n.GetAggFilter(), location)
	switch name := lastName(n.GetFuncname()); name {
	case "min", "max":
		column := catalog.LeastColumn(of)
		if name == "max" {
			column = catalog.GreatestColumn(of)
		}
		extreme := callNode(name, columnNode(q.alias, column))
		extreme.GetFuncCall().AggFilter, extreme.GetFuncCall().Location = n.GetAggFilter(), location
		return extreme
	case "count":
		return &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{
			Args: []*pg.Node{sumNode(known, n.GetAggFilter(), location), integerNode(0)}, Location: location,
		}}}
	case "avg": // where no value is known, the sum is NULL, and the quotient is as well
		filter, _ := proto.Clone(n.GetAggFilter()).(*pg.Node)
		return operatorNode("/", sum, sumNode(known, filter, location))
	}
	if isShort(exact[q.summary.Summed[of]]) {
		return casted(sum, "int8")
	}
	return sum
}

// sumNode is sum(value) FILTER (WHERE filter).
func sumNode(value, filter *pg.Node, location int32) *pg.Node {
	sum := callNode("sum", value)
	sum.GetFuncCall().AggFilter, sum.GetFuncCall().Location = filter, location
	return sum
}

// counts is a filter that only rows pass in which a value is not NULL.
func counts(value, filter *pg.Node) *pg.Node {
	known := &pg.Node{Node: &pg.Node_NullTest{NullTest: &pg.NullTest{Arg: value, Nulltesttype: pg.NullTestType_IS_NOT_NULL}}}
	if filter == nil {
		return known
	}
	return and(filter, known) // in that order, as arguments are not computed for what is filtered out
}
