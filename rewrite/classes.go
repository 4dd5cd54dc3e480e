package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// Queries that ask for groups of a published relation by what its classes show are answered from the
// summary of its classes (catalog.Classes), where there is one:
//
//	SELECT region, count(*) FROM patients GROUP BY region
//	->  SELECT region, coalesce(sum(patients.kproxy_count), 0) AS count FROM kproxy_catalog.classes_... patients GROUP BY region
//
// That is a second pass, over a tree that was checked and is complete by itself: a query of which it
// does not know that the answer is the same stays as it is. What it knows is a list, as everywhere.

// summaryNodes are the node types whose fields are looked at. The others that pass have a case in
// summarized.visit.
var summaryNodes = words(`A_ArrayExpr A_Const A_Indices BoolExpr Boolean BooleanTest CaseExpr CaseWhen CoalesceExpr Float
	GroupingFunc GroupingSet Integer List MinMaxExpr NamedArgExpr NullTest ParamRef ResTarget RowExpr SQLValueFunction String WindowDef`)

// steadyFunctions are constant within a statement, in addition to those of keptFunctions.
var steadyFunctions = words(`age current_setting date now statement_timestamp to_date to_timestamp transaction_timestamp`)

// fromClasses rewrites queries of a checked tree to read classes, and reports whether it changed
// one.
func fromClasses(tree *pg.ParseResult, snapshot *catalog.Snapshot) bool {
	added := snapshot.Added()
	if added.Implicit != "" || added.Functions["sum"] || added.Operators["*"] || added.Operators["/"] || added.Types["int8"] || added.Types["numeric"] {
		return false // what is put into queries might mean something else
	}
	s := summaries{snapshot: snapshot}
	s.visit(tree.ProtoReflect())
	return s.found
}

// summaries goes through a tree and changes its queries.
type summaries struct {
	snapshot *catalog.Snapshot
	found    bool
}

func (s *summaries) visit(m protoreflect.Message) {
	if n, is := m.Interface().(*pg.SelectStmt); is {
		s.query(n)
	}
	_ = each(m, func(inner protoreflect.Message) error { s.visit(inner); return nil })
}

// query changes a query if its answer is the same then.
func (s *summaries) query(n *pg.SelectStmt) {
	if !readsRows(n) {
		return
	}
	from, known := relationsOf(n.GetFromClause(), s.snapshot)
	if !known {
		return
	}
	for i, r := range from.relations {
		summary, there := s.snapshot.Summary(catalog.Name{Schema: r.node.GetSchemaname(), Relation: r.node.GetRelname()})
		if !there || r.optional || r.node.GetAlias() == nil {
			continue
		}
		q := summarized{summary: summary, alias: r.alias, query: n, joined: from, others: from.others(i)}
		if q.same() {
			q.sumUp()
			r.node.Schemaname, r.node.Relname = summary.Relation.Schema, summary.Relation.Relation
			s.found = true
			return
		}
	}
}

// summarized is a query of a published relation that may be answered from its summary.
type summarized struct {
	summary catalog.Summary
	alias   string // of the relation
	query   *pg.SelectStmt
	joined  joinedRelations            // the relations of the query
	others  map[string]map[string]bool // columns of those beside the summary
	// apart reports that a query has no outer query, and no summary.
	apart bool
	// refuses says that something was found that the summary does not know, or that is not looked at.
	refuses bool
	// grouped says that the query makes groups of rows, and windows that it looks at others of its rows.
	grouped, windows bool
	// inner says that what is visited is inside of an aggregate.
	inner bool
	// sums are the aggregates to be changed.
	sums []*pg.Node
}

// same reports whether the summary gives the query's answer: everything in it depends only on
// columns that have the same value in all records behind a row of the summary, and on nothing that
// differs each time, and the number of records matters only to its aggregates.
func (q *summarized) same() bool {
	q.grouped = len(q.query.GetGroupClause()) > 0 || q.query.GetHavingClause() != nil
	q.look()
	return !q.refuses && (q.grouped || len(q.query.GetDistinctClause()) > 0 && !q.windows)
}

// look looks at the whole query.
func (q *summarized) look() {
	n := q.query
	distinct := len(n.GetDistinctClause()) == 1 && n.GetDistinctClause()[0].GetNode() == nil
	q.refuses = len(n.GetDistinctClause()) > 0 && !distinct
	q.joins(q.joined)
	labels := q.labels()
	for _, target := range n.GetTargetList() {
		q.visit(target.ProtoReflect())
	}
	for _, expression := range n.GetGroupClause() {
		q.groupedBy(expression, labels)
	}
	for _, sorted := range n.GetSortClause() {
		if name := bareName(sorted.GetSortBy().GetNode()); name == "" || !slices.Contains(labels, name) {
			q.visit(sorted.ProtoReflect())
		}
		q.operator(sorted.GetSortBy().GetUseOp())
	}
	for _, expression := range append([]*pg.Node{n.GetWhereClause(), n.GetHavingClause(), n.GetLimitCount(), n.GetLimitOffset()}, n.GetWindowClause()...) {
		if expression != nil {
			q.visit(expression.ProtoReflect())
		}
	}
}

// labels are the names of the result's columns by which GROUP BY and ORDER BY may call them.
func (q *summarized) labels() []string {
	var labels []string
	for _, node := range q.query.GetTargetList() {
		label := node.GetResTarget().GetName()
		if label == "" {
			label = impliedName(node.GetResTarget().GetVal())
		}
		if strings.HasPrefix(label, "kproxy_") {
			q.refuses = true // the summary may have a column of that name
		}
		labels = append(labels, label)
	}
	return labels
}

// bareName is the name that an expression is, if it is nothing else.
func bareName(n *pg.Node) string {
	if fields := n.GetColumnRef().GetFields(); len(fields) == 1 {
		return lastName(fields)
	}
	return ""
}

// groupedBy looks at an expression of GROUP BY, where a name means a column of the relation, or else
// one of the result (findTargetlistEntrySQL92 in parse_clause.c).
func (q *summarized) groupedBy(n *pg.Node, labels []string) {
	switch e := n.GetNode().(type) {
	case *pg.Node_GroupingSet:
		for _, inner := range e.GroupingSet.GetContent() {
			q.groupedBy(inner, labels)
		}
	case *pg.Node_RowExpr:
		for _, inner := range e.RowExpr.GetArgs() {
			q.groupedBy(inner, labels)
		}
	default:
		if name := bareName(n); name != "" && !q.summary.Published[name] && slices.Contains(labels, name) {
			return
		}
		q.visit(n.ProtoReflect())
	}
}

// visit looks at a message of the tree and at all that it holds.
func (q *summarized) visit(m protoreflect.Message) {
	if q.refuses {
		return
	}
	switch n := m.Interface().(type) {
	case *pg.Node:
		if call := n.GetFuncCall(); call != nil {
			q.call(n, call)
			return
		}
	case *pg.ColumnRef:
		q.refuses = !q.isShown(n) && !q.isOthers(n)
		return
	case *pg.SubLink:
		q.subquery(n)
		return
	case *pg.A_Expr:
		q.operator(n.GetName())
	case *pg.SortBy:
		q.operator(n.GetUseOp())
	case *pg.TypeCast:
		q.refuses = q.refuses || !isOwn(n.GetTypeName().GetNames()) || n.GetTypeName().GetSetof() || n.GetTypeName().GetPctType()
		if n.GetArg() != nil {
			q.visit(n.GetArg().ProtoReflect())
		}
		return
	case *pg.CollateClause:
		if n.GetArg() != nil {
			q.visit(n.GetArg().ProtoReflect())
		}
		return
	case *pg.A_Indirection:
		q.refuses = slices.ContainsFunc(n.GetIndirection(), func(of *pg.Node) bool { return of.GetAIndices() == nil })
	default:
		q.refuses = !summaryNodes[string(m.Descriptor().Name())]
	}
	_ = each(m, func(inner protoreflect.Message) error { q.visit(inner); return nil })
}

// isShown says whether a reference means a column that all records behind a row show alike.
func (q *summarized) isShown(n *pg.ColumnRef) bool {
	fields := n.GetFields()
	if len(fields) == 2 && fields[0].GetString_().GetSval() == q.alias {
		fields = fields[1:]
	}
	return len(fields) == 1 && q.summary.Types[lastName(fields)] != ""
}

// shown is the type of such a column; empty where it is not known, as of what USING made of two.
func (q *summarized) shown(n *pg.ColumnRef) string {
	name := lastName(n.GetFields())
	if !q.isShown(n) || len(n.GetFields()) == 1 && q.joined.merged[name] {
		return ""
	}
	return q.summary.Types[name]
}

// numbers is the name of the column that a reference means of whose values the summary may have sums. It is empty where the
// reference means something else, or is refused by the server, to which the relations have two such columns.
func (q *summarized) numbers(n *pg.ColumnRef) string {
	fields := n.GetFields()
	name := lastName(fields)
	switch {
	case len(fields) == 2 && fields[0].GetString_().GetSval() == q.alias:
		return name
	case len(fields) != 1 || q.joined.merged[name]:
		return ""
	}
	for _, columns := range q.others {
		if columns[name] {
			return ""
		}
	}
	return name
}

// operator allows operators that depend only on their arguments.
func (q *summarized) operator(name []*pg.Node) {
	if len(name) > 0 {
		last := lastName(name)
		q.refuses = q.refuses || !keptOperators[last] && !strings.Contains(last, "BETWEEN")
	}
}

// isOwn says whether a name is that of something of PostgreSQL's.
func isOwn(name []*pg.Node) bool {
	return len(name) == 2 && name[0].GetString_().GetSval() == "pg_catalog"
}
