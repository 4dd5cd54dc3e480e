package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// Joins and subqueries of a query that is answered from a summary. A record is joined with what its class is joined
// with, so that a row of the summary stands for as many records after joins as before them, unless it is
// one of NULLs that an outer join has added.

// joinedRelations are those that a query reads.
type joinedRelations struct {
	snapshot   *catalog.Snapshot
	relations  []joinedRelation
	conditions []*pg.Node      // of ON
	merged     map[string]bool // columns of USING
}

// joinedRelation is one of them.
type joinedRelation struct {
	node    *pg.RangeVar
	alias   string
	columns map[string]bool
	// optional says that an outer join may put NULLs in the place of its rows.
	optional bool
}

// relationsOf are those of FROM, if all of them are relations whose columns are known.
func relationsOf(from []*pg.Node, snapshot *catalog.Snapshot) (j joinedRelations, known bool) {
	j = joinedRelations{snapshot: snapshot, merged: make(map[string]bool)}
	for _, item := range from {
		if !j.add(item, false) {
			return j, false
		}
	}
	return j, len(j.relations) > 0
}

func (j *joinedRelations) add(item *pg.Node, optional bool) bool {
	if relation := item.GetRangeVar(); relation != nil {
		return j.addRelation(relation, optional)
	}
	join := item.GetJoinExpr()
	if join == nil || join.GetIsNatural() || join.GetAlias() != nil || join.GetJoinUsingAlias() != nil {
		return false
	}
	left, right := true, true
	switch join.GetJointype() {
	case pg.JoinType_JOIN_INNER:
		left, right = optional, optional
	case pg.JoinType_JOIN_LEFT:
		left = optional
	case pg.JoinType_JOIN_RIGHT:
		right = optional
	case pg.JoinType_JOIN_FULL:
	default:
		return false
	}
	for _, name := range join.GetUsingClause() {
		j.merged[name.GetString_().GetSval()] = true
	}
	if join.GetQuals() != nil {
		j.conditions = append(j.conditions, join.GetQuals())
	}
	return j.add(join.GetLarg(), left) && j.add(join.GetRarg(), right)
}

func (j *joinedRelations) addRelation(n *pg.RangeVar, optional bool) bool {
	r := joinedRelation{node: n, alias: n.GetRelname(), columns: make(map[string]bool), optional: optional}
	if n.GetAlias() != nil {
		r.alias = n.GetAlias().GetAliasname()
	}
	for _, c := range j.snapshot.Columns(catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}) {
		r.columns[c.Name] = true
	}
	j.relations = append(j.relations, r)
	return n.GetSchemaname() != "" && len(r.columns) > 0 && len(n.GetAlias().GetColnames()) == 0
}

// others are the columns of all relations but one, by their aliases.
func (j *joinedRelations) others(but int) map[string]map[string]bool {
	others := make(map[string]map[string]bool)
	for i, r := range j.relations {
		if i != but {
			others[r.alias] = r.columns
		}
	}
	return others
}

// isOthers says whether a reference means a column of another relation that is joined. A bare name of the published
// relation or the summary never does.
func (q *summarized) isOthers(n *pg.ColumnRef) bool {
	fields := n.GetFields()
	name := lastName(fields)
	switch len(fields) {
	case 1:
		return q.isOther(name)
	case 2:
		return q.others[fields[0].GetString_().GetSval()][name]
	}
	return false
}

// isOther is isOthers of a bare name.
func (q *summarized) isOther(name string) bool {
	if q.summary.Published[name] || strings.HasPrefix(name, "kproxy_") {
		return false
	}
	for _, columns := range q.others {
		if columns[name] {
			return true
		}
	}
	return false
}

// joins looks at how the relations are joined.
func (q *summarized) joins(of joinedRelations) {
	for name := range of.merged {
		q.refuses = q.refuses || q.summary.Types[name] == "" && !q.isOther(name)
	}
	for _, condition := range of.conditions {
		q.visit(condition.ProtoReflect())
	}
}

// subquery looks at a subquery in an expression. It must be one that reads nothing of the query around it, so that its rows
// are the same whatever that is asked of.
func (q *summarized) subquery(n *pg.SubLink) {
	q.operator(n.GetOperName())
	if q.refuses = q.refuses || q.inner || !standsAlone(n.GetSubselect().GetSelectStmt(), q.joined.snapshot); q.refuses {
		return
	}
	if n.GetTestexpr() != nil {
		q.visit(n.GetTestexpr().ProtoReflect())
	}
}

// standsAlone says whether all that a query refers to are columns of the relations that it reads, and nothing in it is different
// each time.
func standsAlone(n *pg.SelectStmt, snapshot *catalog.Snapshot) bool {
	if !readsRows(n) || n.GetWithClause() != nil {
		return false
	}
	from, known := relationsOf(n.GetFromClause(), snapshot)
	if !known {
		return false
	}
	q := summarized{query: n, joined: from, others: from.others(-1), apart: true}
	q.look()
	return !q.refuses
}

// readsRows says whether a query is a SELECT by itself, without locks.
func readsRows(n *pg.SelectStmt) bool {
	return n.GetOp() == pg.SetOperation_SETOP_NONE && len(n.GetValuesLists()) == 0 && len(n.GetLockingClause()) == 0 && n.GetIntoClause() == nil
}
