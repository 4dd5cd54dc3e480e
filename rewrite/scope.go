package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
)

// scope is what one SELECT adds to the names of the statement around it.
type scope struct {
	outer *scope
	// ctes are the names of the WITH clause that are visible already.
	ctes map[string]bool
	// items are the names of the FROM clause.
	items []fromItem
}

// fromItem is a name by which columns can be qualified.
type fromItem struct {
	name string
	// schema is the client's schema of a relation without alias; empty otherwise.
	schema string
	// relation is where such a relation is named; nil otherwise.
	relation *pg.RangeVar
	// alias is what it is called where its name alone would not do; see tellApart.
	alias string
	// standsFor is the system catalog that it is; see systemcolumn.go.
	standsFor string
}

// hasCTE says whether an unqualified relation name means a CTE: PostgreSQL looks
// through all enclosing WITH clauses before any schema.
func (s *scope) hasCTE(name string) bool {
	for ; s != nil; s = s.outer {
		if s.ctes[name] {
			return true
		}
	}
	return false
}

// item finds the innermost FROM items of that name; PostgreSQL stops at the
// first level that has any.
func (s *scope) item(name string) []fromItem {
	for ; s != nil; s = s.outer {
		var found []fromItem
		for _, i := range s.items {
			if i.name == name {
				found = append(found, i)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// selectStmt walks a query. A set operation's WITH is visible in all its arms; an
// arm's own WITH only there.
func (w *walker) selectStmt(n *pg.SelectStmt, outer *scope) error {
	s := &scope{outer: outer}
	if err := w.with(n.GetWithClause(), s); err != nil {
		return err
	}
	for _, item := range n.GetFromClause() {
		w.collect(item, s)
	}
	s.tellApart()
	with := n.WithClause
	n.WithClause = nil // walked already, under fewer names
	defer func() { n.WithClause = with }()
	return w.children(n.ProtoReflect(), s)
}

// join walks a join. An alias hides the names inside from the query around it; its own
// condition goes by them.
func (w *walker) join(n *pg.JoinExpr, s *scope) error {
	if n.GetAlias() != nil {
		s = &scope{outer: s}
		w.collect(n.GetLarg(), s)
		w.collect(n.GetRarg(), s)
		s.tellApart()
	}
	return w.children(n.ProtoReflect(), s)
}

// with walks the queries of a WITH clause. Without RECURSIVE a name is visible
// only to what follows it; with RECURSIVE, everywhere in the clause.
func (w *walker) with(clause *pg.WithClause, s *scope) error {
	s.ctes = make(map[string]bool, len(clause.GetCtes()))
	if clause.GetRecursive() {
		for _, node := range clause.GetCtes() {
			s.ctes[node.GetCommonTableExpr().GetCtename()] = true
		}
	}
	for _, node := range clause.GetCtes() {
		cte := node.GetCommonTableExpr()
		if cte == nil {
			return refuse(stateNotSupported, "", "kproxy does not understand this WITH clause")
		}
		if err := w.children(cte.ProtoReflect(), s); err != nil {
			return err
		}
		s.ctes[cte.GetCtename()] = true
	}
	return nil
}

// collect notes the names of a FROM item; an aliased join hides those inside it.
func (w *walker) collect(node *pg.Node, s *scope) {
	switch n := node.GetNode().(type) {
	case *pg.Node_RangeVar:
		s.add(n.RangeVar.GetAlias(), w.unaliased(n.RangeVar, s))
	case *pg.Node_RangeTableSample:
		w.collect(n.RangeTableSample.GetRelation(), s)
	case *pg.Node_RangeSubselect:
		s.add(n.RangeSubselect.GetAlias(), fromItem{})
	case *pg.Node_RangeFunction:
		s.add(n.RangeFunction.GetAlias(), fromItem{})
	case *pg.Node_RangeTableFunc:
		s.add(n.RangeTableFunc.GetAlias(), fromItem{})
	case *pg.Node_JoinExpr:
		s.add(n.JoinExpr.GetJoinUsingAlias(), fromItem{})
		if n.JoinExpr.GetAlias() != nil {
			s.add(n.JoinExpr.GetAlias(), fromItem{})
			return
		}
		w.collect(n.JoinExpr.GetLarg(), s)
		w.collect(n.JoinExpr.GetRarg(), s)
	}
}

func (s *scope) add(alias *pg.Alias, unaliased fromItem) {
	if alias != nil {
		unaliased = fromItem{name: alias.GetAliasname(), standsFor: unaliased.standsFor}
	}
	if unaliased.name != "" {
		s.items = append(s.items, unaliased)
	}
}

func (w *walker) unaliased(n *pg.RangeVar, s *scope) fromItem {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		return fromItem{name: n.GetRelname()}
	}
	r := w.lookup(n.GetSchemaname(), n.GetRelname())
	return fromItem{name: n.GetRelname(), schema: r.Source.Schema, relation: n, standsFor: standsFor(r)}
}

// tellApart gives relations of one name and different schemas aliases of their own:
// FROM a.t, b.t. Without aliases they may stand side by side, and columns are named
// with the schema (checkNameSpaceConflicts in parse_relation.c).
func (s *scope) tellApart() {
	if len(s.items) < 2 {
		return
	}
	places := make(map[string][]int, len(s.items))
	for i, item := range s.items {
		places[item.name] = append(places[item.name], i)
	}
	for _, same := range places {
		if len(same) < 2 || !s.differ(same) {
			continue // the database refuses what is twice there
		}
		for _, i := range same {
			item := &s.items[i]
			item.alias = item.schema + "." + item.name
			item.relation.Alias = &pg.Alias{Aliasname: item.alias}
		}
	}
}

// differ says whether these items are relations of different schemas without aliases.
func (s *scope) differ(places []int) bool {
	schemas := make(map[string]bool, len(places))
	for _, i := range places {
		if s.items[i].relation == nil || schemas[s.items[i].schema] {
			return false
		}
		schemas[s.items[i].schema] = true
	}
	return true
}
