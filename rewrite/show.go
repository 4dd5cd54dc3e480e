package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// show allows the settings that may be shown; SHOW search_path becomes a query.
func (s *settings) show(node *pg.Node, n *pg.VariableShowStmt) error {
	name := strings.ToLower(n.GetName())
	switch {
	case name == "search_path":
		node.Node = selectNode(&pg.SelectStmt{
			TargetList: []*pg.Node{targetNode(name, castNode(s.w.names.session.path.now.text, "text"))},
		}).GetNode()
	case name == "all":
		return s.showAll(node)
	case name == cacheSetting:
		node.Node = selectNode(&pg.SelectStmt{TargetList: []*pg.Node{targetNode(name, shownCache())}}).GetNode()
	case name == "session_authorization": // the login name, as session_user
	case !allowedToShow(name):
		return refuseSetting("examine", n.GetName())
	}
	return nil
}

// shownCache is the value of cacheSetting, which the server does not know before it is set, and which is
// empty after a transaction that has set it was rolled back.
func shownCache() *pg.Node {
	set := qualifiedCall("pg_catalog", "current_setting", textNode(cacheSetting), castNode("true", "bool"))
	given := &pg.Node{Node: &pg.Node_AExpr{AExpr: &pg.A_Expr{Kind: pg.A_Expr_Kind_AEXPR_NULLIF, Name: nameNodes("="), Lexpr: set, Rexpr: textNode("")}}}
	return &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{Args: []*pg.Node{given, textNode("on")}}}}
}

// pathDescription is what pg_settings says of search_path.
const pathDescription = "Sets the schema search order for names that are not schema-qualified."

// showAll lists the settings that SHOW shows one by one.
func (s *settings) showAll(node *pg.Node) error {
	var listed []string
	for _, settings := range []map[string]bool{allowedSettings, readableSettings} {
		for name := range settings {
			if name != "search_path" {
				listed = append(listed, catalog.QuoteLiteral(name))
			}
		}
	}
	slices.Sort(listed)
	tree, err := parse("SELECT s.name, pg_catalog.current_setting(s.name) AS setting, s.short_desc AS description" +
		" FROM pg_catalog.pg_settings s WHERE pg_catalog.lower(s.name) IN (" + strings.Join(listed, ", ") + ")" +
		" UNION ALL SELECT 'search_path', " + catalog.QuoteLiteral(s.w.names.session.path.now.text) + ", " +
		catalog.QuoteLiteral(pathDescription) + " ORDER BY 1")
	if err != nil {
		return err
	}
	node.Node = tree.GetStmts()[0].GetStmt().GetNode()
	return nil
}

// withPath adds the client's search_path to the stand-in for pg_settings, which leaves
// out the server's own.
func (w *walker) withPath(node *pg.Node, n *pg.RangeVar) {
	if n.GetSchemaname() != catalog.CatalogSchema || n.GetRelname() != "pg_settings" {
		return
	}
	path, none := w.names.session.path, nullNode()
	var row []*pg.Node
	for _, value := range []*pg.Node{
		textNode("search_path"), textNode(path.now.text), none, textNode("Client Connection Defaults / Statement Behavior"),
		textNode(pathDescription), none, textNode("user"), textNode("string"), textNode("session"), none, none, none,
		textNode(defaultPath), textNode(path.reset), none, none, textNode("false"),
	} {
		row = append(row, targetNode("", value))
	}
	all := selectNode(&pg.SelectStmt{
		TargetList: []*pg.Node{targetNode("", starNode())},
		FromClause: []*pg.Node{readNode(catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}, "")},
	})
	both := selectNode(&pg.SelectStmt{Larg: all.GetSelectStmt(), Rarg: selectNode(&pg.SelectStmt{TargetList: row}).GetSelectStmt()})
	both.GetSelectStmt().Op, both.GetSelectStmt().All = pg.SetOperation_SETOP_UNION, true
	node.Node = subqueryNode(both, n.GetAlias()).GetNode()
}
