package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
)

// procedureColumns are the columns of system catalogs that name functions (of type regproc). The
// stand-ins have them as oid, since a name that a client compares with a regproc would be looked
// up. They hold only the numbers of PostgreSQL's own functions, and 0 for others.
var procedureColumns = map[string]map[string]bool{
	`pg_catalog."pg_aggregate"`:   words("aggfnoid aggtransfn aggfinalfn aggcombinefn aggserialfn aggdeserialfn aggmtransfn aggminvtransfn aggmfinalfn"),
	`pg_catalog."pg_am"`:          words("amhandler"),
	`pg_catalog."pg_amproc"`:      words("amproc"),
	`pg_catalog."pg_conversion"`:  words("conproc"),
	`pg_catalog."pg_operator"`:    words("oprcode oprrest oprjoin"),
	`pg_catalog."pg_proc"`:        words("prosupport"),
	`pg_catalog."pg_range"`:       words("rngcanonical rngsubdiff"),
	`pg_catalog."pg_transform"`:   words("trffromsql trftosql"),
	`pg_catalog."pg_ts_parser"`:   words("prsstart prstoken prsend prsheadline prslextype"),
	`pg_catalog."pg_ts_template"`: words("tmplinit tmpllexize"),
	`pg_catalog."pg_type"`:        words("typinput typoutput typreceive typsend typmodin typmodout typanalyze typsubscript"),
}

// namesProcedure reports whether a node that has not been visited is such a column.
func namesProcedure(n *pg.Node, s *scope) bool {
	fields := n.GetColumnRef().GetFields()
	if len(fields) == 0 || s == nil {
		return false
	}
	items := s.items
	if len(fields) > 1 {
		items = s.item(fields[len(fields)-2].GetString_().GetSval())
	}
	// Whose it is among several items that may have such a column is not looked into.
	return len(items) == 1 && !items[0].renamed && procedureColumns[items[0].standsFor][lastName(fields)]
}

// namedProcedure reports whether any catalog has such a column.
func namedProcedure(column string) bool {
	for _, columns := range procedureColumns {
		if columns[column] {
			return true
		}
	}
	return false
}

// procedure replaces a visited column of that kind by the function's name, as regproc has it.
func (e expression) procedure() error {
	column := &pg.Node{Node: e.node.GetNode()}
	if err := e.visibleObject("regproc", column); err != nil {
		return err
	}
	name := &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{Args: []*pg.Node{{Node: e.node.GetNode()}, castNode("-", "text")}}}}
	// An outer join makes it NULL.
	seen := &pg.Node{Node: &pg.Node_NullTest{NullTest: &pg.NullTest{Arg: proto.Clone(column).(*pg.Node), Nulltesttype: pg.NullTestType_IS_NOT_NULL}}}
	e.put(caseNode(seen, name, nil))
	return nil
}

// results are the result columns of a statement's outermost query that may be such columns, where
// what they are does not matter to another part of it.
func results(query *pg.Node) map[*pg.ResTarget]bool {
	q := query.GetSelectStmt()
	if len(q.GetDistinctClause())+len(q.GetGroupClause()) > 0 || q.GetIntoClause() != nil {
		return nil
	}
	// Rows that are sorted by a result would be sorted by its name.
	for _, by := range q.GetSortClause() {
		if value := by.GetSortBy().GetNode(); len(value.GetColumnRef().GetFields()) == 1 || isConstant(value) {
			return nil
		}
	}
	var found map[*pg.ResTarget]bool
	for _, n := range q.GetTargetList() {
		if target := n.GetResTarget(); namedProcedure(lastName(target.GetVal().GetColumnRef().GetFields())) {
			if found == nil {
				found = make(map[*pg.ResTarget]bool)
			}
			found[target] = true
		}
	}
	return found
}
