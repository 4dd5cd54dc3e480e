package rewrite

import (
	pg "github.com/pganalyze/pg_query_go/v5"
)

// scope is what one SELECT adds to the names of the statement around it.
type scope struct {
	outer *scope
	// ctes are those of the WITH clause that are visible already.
	ctes map[string]*cte
	// items are the names of the FROM clause.
	items []fromItem
}

// cte is a query of a WITH clause. What is known of its rows is known once it has been
// visited, of a recursive one once its first arm has been.
type cte struct{ row *composite }

// fromItem is a name by which columns can be qualified.
type fromItem struct {
	name string
	// schema is the client's schema of a relation without alias; empty otherwise.
	schema string
	// relation is where such a relation is named; nil otherwise.
	relation *pg.RangeVar
	// alias is used where the name would be ambiguous; see tellApart.
	alias string
	// standsFor is the system catalog that it is, and stored says that it is a relation at
	// all; see systemcolumn.go.
	standsFor string
	stored    bool
	// renamed says that its alias gives names to columns.
	renamed bool
	// key is its primary key, where the server does not know one; see groupby.go.
	key []string
	// row is what is known of its rows; see rowOf. Nil is nothing.
	row func() *composite
}

func (i *fromItem) columns() *composite {
	if i.row == nil {
		return nil
	}
	return i.row()
}

// hasCTE says whether an unqualified relation name means a CTE: PostgreSQL looks
// through all enclosing WITH clauses before any schema.
func (s *scope) hasCTE(name string) bool { return s.cte(name) != nil }

func (s *scope) cte(name string) *cte {
	for ; s != nil; s = s.outer {
		if found := s.ctes[name]; found != nil {
			return found
		}
	}
	return nil
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

// columnOf reports whether item.name is a column, and what is known of it. Which item is meant
// depends on which of them are visible there, so the result must hold for all items of that name,
// including outer ones.
func (s *scope) columnOf(item, name string) (is columnState, value *composite) {
	items := 0
	for ; s != nil; s = s.outer {
		for i := range s.items {
			if s.items[i].name != item {
				continue
			}
			here, of := s.items[i].columns().has(name)
			if items++; items > 1 && here != is {
				return unknownColumn, nil
			}
			if items > 1 && of != value {
				of = nil
			}
			is, value = here, of
		}
	}
	return is, value
}

// row is what is known of the rows of the item of that name, if there is only one.
func (s *scope) row(item string) *composite {
	var found *fromItem
	for ; s != nil; s = s.outer {
		for i := range s.items {
			if s.items[i].name == item && found != nil {
				return nil
			} else if s.items[i].name == item {
				found = &s.items[i]
			}
		}
	}
	if found == nil {
		return nil
	}
	return found.columns()
}

// typeOf is what is known of the columns of what a reference means: a column, or the row
// of an item.
func (s *scope) typeOf(fields []*pg.Node) *composite {
	name := lastName(fields)
	switch {
	case len(fields) == 2 && name == "": // item.*
		return s.row(fields[0].GetString_().GetSval())
	case len(fields) == 2:
		_, value := s.columnOf(fields[0].GetString_().GetSval(), name)
		return value
	case len(fields) != 1:
		return nil
	}
	found, columns := (*composite)(nil), 0
	for outer := s; outer != nil; outer = outer.outer {
		for i := range outer.items {
			row := outer.items[i].columns()
			switch is, value := row.has(name); {
			case is == knownColumn && columns > 0, is == unknownColumn && (row == nil || !row.stored && row != unvisited):
				return nil
			case is == knownColumn:
				found, columns = value, 1
			}
		}
	}
	if columns == 0 {
		return s.row(name)
	}
	return found
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
	if err := w.from(n.GetFromClause(), s); err != nil {
		return err
	}
	with, from := n.WithClause, n.FromClause
	n.WithClause, n.FromClause = nil, nil // walked already, the first under fewer names
	err := w.children(n.ProtoReflect(), s)
	n.WithClause, n.FromClause = with, from
	if err != nil {
		return err
	}
	groupByKeys(n, s)
	w.rows.found(n, w.rows.resultRow(n, s))
	return nil
}

// from walks a FROM clause, before what goes by its columns.
func (w *walker) from(items []*pg.Node, s *scope) error {
	named := w.shown
	w.shown = false
	defer func() { w.shown = named }()
	for _, item := range items {
		if err := w.node(item, s); err != nil {
			return err
		}
	}
	return nil
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
	s.ctes = make(map[string]*cte, len(clause.GetCtes()))
	if clause.GetRecursive() {
		for _, node := range clause.GetCtes() {
			s.ctes[node.GetCommonTableExpr().GetCtename()] = &cte{}
		}
	}
	for _, node := range clause.GetCtes() {
		n := node.GetCommonTableExpr()
		if n == nil {
			return refuse(NotSupported, "", "kproxy does not understand this WITH clause")
		}
		made := s.ctes[n.GetCtename()]
		if !clause.GetRecursive() {
			made = &cte{}
		}
		query := n.GetCtequery().GetSelectStmt()
		note := func(row *composite) {
			if n.GetSearchClause() == nil && n.GetCycleClause() == nil { // they add columns
				made.row = row.renamed(names(n.GetAliascolnames()))
			}
		}
		if clause.GetRecursive() && query.GetLarg() != nil {
			w.rows.noteFirstArm(query.GetLarg(), note)
		}
		if err := w.children(n.ProtoReflect(), s); err != nil {
			return err
		}
		note(w.rows.queries[query])
		s.ctes[n.GetCtename()] = made
	}
	return nil
}

// collect notes the names of a FROM item; an aliased join hides those inside it.
func (w *walker) collect(node *pg.Node, s *scope) {
	switch n := node.GetNode().(type) {
	case *pg.Node_RangeVar:
		s.add(n.RangeVar.GetAlias(), w.unaliased(n.RangeVar, s), w.rows.rowOf(node, s))
	case *pg.Node_RangeTableSample:
		w.collect(n.RangeTableSample.GetRelation(), s)
	case *pg.Node_RangeSubselect:
		s.add(n.RangeSubselect.GetAlias(), fromItem{}, w.rows.rowOf(node, s))
	case *pg.Node_RangeFunction:
		s.add(n.RangeFunction.GetAlias(), fromItem{}, w.rows.rowOf(node, s))
	case *pg.Node_RangeTableFunc:
		s.add(n.RangeTableFunc.GetAlias(), fromItem{}, w.rows.rowOf(node, s))
	case *pg.Node_JoinExpr:
		s.add(n.JoinExpr.GetJoinUsingAlias(), fromItem{}, usingRow(n.JoinExpr))
		if n.JoinExpr.GetAlias() != nil {
			s.add(n.JoinExpr.GetAlias(), fromItem{}, w.rows.rowOf(node, s))
			return
		}
		w.collect(n.JoinExpr.GetLarg(), s)
		w.collect(n.JoinExpr.GetRarg(), s)
	}
}

func (s *scope) add(alias *pg.Alias, unaliased fromItem, row func() *composite) {
	if alias != nil {
		unaliased = fromItem{name: alias.GetAliasname(), standsFor: unaliased.standsFor, stored: unaliased.stored, key: unaliased.key, renamed: len(alias.GetColnames()) > 0}
	}
	if unaliased.name != "" {
		unaliased.row = row
		s.items = append(s.items, unaliased)
	}
}

func (w *walker) unaliased(n *pg.RangeVar, s *scope) fromItem {
	if n.GetSchemaname() == "" && s.hasCTE(n.GetRelname()) {
		return fromItem{name: n.GetRelname()}
	}
	r := w.names.relation(n.GetSchemaname(), n.GetRelname())
	return fromItem{name: n.GetRelname(), schema: r.Source.Schema, relation: n, standsFor: standsFor(r), stored: true, key: w.rows.keyOf(n, s)}
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
