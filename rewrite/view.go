package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/kproxy/kproxy/catalog"
)

// ViewRelation is what is read in the place of a relation that a view's definition
// names.
type ViewRelation struct {
	// Target is the published relation, or the relation itself where it is not protected.
	Target catalog.Name
	// Columns are the columns of the relation that is named, in order, and Published
	// those of the target.
	Columns, Published []string
	// Key is the primary key of a readable table.
	Key []string
	// Query, if there is one, is put in the place of the relation as a subquery.
	Query string
}

// PublishedView is what a published view is to be made of.
type PublishedView struct {
	// SQL is the query.
	SQL string
	// Columns are its columns, in order, and Omitted those that the definition has
	// besides: each shows a column that is not published, as it is.
	Columns, Omitted []string
}

// RewriteView rewrites a view's definition as [Rewriter.Rewrite] does a client's query,
// but for relations: what each name in it stands for is given. The definition is one
// query as pg_get_viewdef writes it while the search path is pg_catalog, so that names
// of relations have a schema; columns are the view's, in order. A definition that names
// other relations, or system catalogs, or computes with columns that are not published
// is refused. The error is a *Refusal, whose words are for the operator: it may name
// columns that readers must not know of.
func (r *Rewriter) RewriteView(definition string, columns []string, relations map[catalog.Name]ViewRelation) (PublishedView, error) {
	view, err := r.rewriteView(definition, columns, relations)
	if err != nil {
		return PublishedView{}, refusalOf(err, definition)
	}
	return view, nil
}

func (r *Rewriter) rewriteView(definition string, shown []string, relations map[catalog.Name]ViewRelation) (PublishedView, error) {
	if err := limitText(definition, r.options); err != nil {
		return PublishedView{}, err
	}
	r.parsers <- struct{}{}
	defer func() { <-r.parsers }()
	tree, err := guardedParse(definition, r.options)
	if err != nil {
		return PublishedView{}, err
	}
	if len(tree.GetStmts()) != 1 || tree.GetStmts()[0].GetStmt().GetSelectStmt() == nil {
		return PublishedView{}, refuse(InternalError, "", "the definition is not a query")
	}
	query := tree.GetStmts()[0].GetStmt()
	view := PublishedView{Columns: shown}
	labels(query.ProtoReflect())
	if err := (&viewColumns{relations: relations}).publish(query.GetSelectStmt(), &view); err != nil {
		return PublishedView{}, err
	}
	targets := make(map[catalog.Name]catalog.Resolution, len(relations))
	published := make(map[catalog.Name]bool, len(relations))
	columns := make(map[catalog.Name][]catalog.ColumnName, len(relations))
	queries := make(map[catalog.Name]string)
	for name, relation := range relations {
		targets[name] = catalog.Resolution{Disposition: catalog.Protected, Source: name, Target: relation.Target, Key: relation.Key}
		published[relation.Target] = true
		for _, column := range relation.Published {
			columns[relation.Target] = append(columns[relation.Target], catalog.ColumnName{Name: column, Composite: true})
		}
		if relation.Query != "" {
			queries[relation.Target] = relation.Query
		}
	}
	snapshot := r.current.Load().snapshot.InDefinition(targets).WithColumns(columns)
	names := &resolver{snapshot: snapshot, session: untouched, database: r.options.Database, definition: true}
	if _, err := newStatements(names, r.pinned).statement(query); err != nil {
		return PublishedView{}, err
	}
	if err := within(query.ProtoReflect(), published); err != nil {
		return PublishedView{}, err
	}
	if err := inline(query.ProtoReflect(), queries); err != nil {
		return PublishedView{}, err
	}
	view.SQL, err = deparse(tree)
	return view, err
}

// within wants a rewritten definition to read the published relations and no other:
// stand-ins for system catalogs answer by the session, and setup makes them anew.
func within(m protoreflect.Message, published map[catalog.Name]bool) error {
	switch n := m.Interface().(type) {
	case *pg.RangeVar:
		// Without a schema it is the name of a CTE: the walker gives one to all others.
		if n.GetSchemaname() != "" && !published[catalog.Name{Schema: n.GetSchemaname(), Relation: n.GetRelname()}] {
			return refuseSystem(strings.TrimPrefix(n.GetRelname(), "information_schema_"))
		}
	case *pg.FuncCall:
		if parts := names(n.GetFuncname()); parts[0] == catalog.CatalogSchema {
			return refuseSystem(parts[len(parts)-1])
		}
	}
	return each(m, func(inner protoreflect.Message) error { return within(inner, published) })
}

func refuseSystem(name string) *Refusal {
	return refuse(NotSupported, "Leave system catalogs out of views over protected tables.",
		"the definition reads system catalogs, or calls a function that does: %s", name)
}

// labels takes the casts off constants of users' types, as pg_get_viewdef writes the
// labels of enumerations: 'f'::public.sex. A column that shows them is an enumeration
// or, generalized, a text, and the bare literal is one of its type in both cases. Lists
// of them are written with IN, since an array of bare literals would be one of texts.
func labels(m protoreflect.Message) {
	_ = each(m, func(inner protoreflect.Message) error { labels(inner); return nil })
	switch n := m.Interface().(type) {
	case *pg.A_Expr:
		anyOfLabels(n)
	case *pg.Node:
		if label := label(n); label != nil {
			n.Node = label.GetNode()
		}
	}
}

// label is the constant under a cast to a user's type; nil for all else.
func label(n *pg.Node) *pg.Node {
	cast := n.GetTypeCast()
	if _, constant := stringConstant(cast.GetArg()); !constant {
		return nil
	}
	parts := names(cast.GetTypeName().GetNames())
	if len(parts) != 2 || parts[0] == "pg_catalog" || parts[0] == "information_schema" || len(cast.GetTypeName().GetArrayBounds()) > 0 {
		return nil
	}
	return cast.GetArg()
}

// anyOfLabels writes x = ANY (ARRAY['a', 'b']), its labels bare already, as x IN ('a', 'b'), and x
// <> ALL as NOT IN.
func anyOfLabels(n *pg.A_Expr) {
	operator := lastName(n.GetName())
	in := n.GetKind() == pg.A_Expr_Kind_AEXPR_OP_ANY && operator == "="
	if !in && (n.GetKind() != pg.A_Expr_Kind_AEXPR_OP_ALL || operator != "<>") || len(n.GetName()) != 1 {
		return
	}
	elements := n.GetRexpr().GetAArrayExpr().GetElements()
	for _, element := range elements {
		if _, bare := stringConstant(element); !bare {
			return
		}
	}
	if len(elements) > 0 {
		n.Kind = pg.A_Expr_Kind_AEXPR_IN
		n.Rexpr = &pg.Node{Node: &pg.Node_List{List: &pg.List{Items: elements}}}
	}
}
