package rewrite

import (
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// special rewrites an allowed call whose arguments are checked already; node is
// where a replacement goes.
type special func(w *walker, node *pg.Node, f *pg.FuncCall) error

// specials are the calls that need more than being on the allowlist. It is filled
// in init, because the functions refer back to the walker.
var specials map[string]special

func init() {
	specials = map[string]special{
		"current_schema":  func(w *walker, node *pg.Node, _ *pg.FuncCall) error { w.currentSchema(node); return nil },
		"current_schemas": currentSchemas,
		"current_setting": currentSetting,
		"regclass":        converted,
		"pg_typeof":       converted,
		"pg_get_ruledef":  viewDefinition,
		"pg_get_viewdef":  viewDefinition,
		"obj_description": guardComment,
		"col_description": guardComment,

		"age": timestampAge,

		"to_regclass":     lookup("regclass"),
		"to_regtype":      lookup("regtype"),
		"to_regproc":      lookup("regproc"),
		"to_regprocedure": lookup("regprocedure"),
		"to_regnamespace": lookup("regnamespace"),

		"has_table_privilege":          objectArgument("regclass", -2),
		"has_any_column_privilege":     objectArgument("regclass", -2),
		"has_column_privilege":         objectArgument("regclass", -3),
		"has_sequence_privilege":       objectArgument("regclass", -2),
		"has_function_privilege":       objectArgument("regprocedure", -2),
		"has_type_privilege":           objectArgument("regtype", -2),
		"row_security_active":          objectArgument("regclass", 0),
		"pg_relation_is_publishable":   objectArgument("regclass", 0),
		"pg_relation_is_updatable":     objectArgument("regclass", 0),
		"pg_column_is_updatable":       objectArgument("regclass", 0),
		"pg_index_has_property":        objectArgument("regclass", 0),
		"pg_index_column_has_property": objectArgument("regclass", 0),
		"pg_table_size":                objectArgument("regclass", 0),
		"pg_get_serial_sequence":       serialSequence,
		"pg_partition_ancestors":       partitionAncestors,
		"pg_table_is_visible":          tableIsVisible,

		"format_type":                        guardObject("pg_type", "oid", 0),
		"pg_get_expr":                        guardObject("pg_class", "oid", 1),
		"pg_get_constraintdef":               guardObject("pg_constraint", "oid", 0, "confrelid"),
		"pg_get_indexdef":                    guardObject("pg_index", "indexrelid", 0),
		"pg_get_triggerdef":                  guardObject("pg_trigger", "oid", 0, "tgconstrrelid"),
		"pg_get_partkeydef":                  guardObject("pg_partitioned_table", "partrelid", 0),
		"pg_get_statisticsobjdef_columns":    guardObject("pg_statistic_ext", "oid", 0),
		"pg_get_function_arguments":          guardObject("pg_proc", "oid", 0),
		"pg_get_function_identity_arguments": guardObject("pg_proc", "oid", 0),
		"pg_get_function_result":             guardObject("pg_proc", "oid", 0),
	}
}

// call lets a function of the allowlist pass, under its full name, so that no
// overload elsewhere on the search path can be chosen in its place.
func (w *walker) call(node *pg.Node, f *pg.FuncCall, s *scope) error {
	parts := names(f.GetFuncname())
	schema, name := "pg_catalog", parts[len(parts)-1]
	if len(parts) > 1 {
		schema = parts[len(parts)-2]
	}
	allowed := schema == "pg_catalog" && allowedFunctions[name] ||
		schema == "information_schema" && informationFunctions[name]
	if !allowed || len(parts) > 2 {
		return refuse(statePrivilege, "Only functions that compute from their arguments are allowed.",
			"permission denied for function %s", dotted(f.GetFuncname())).at(f.GetLocation())
	}
	if err := w.children(f.ProtoReflect(), s); err != nil {
		return err
	}
	f.Funcname = nameNodes(schema, name)
	if rewrite := specials[name]; rewrite != nil && schema == "pg_catalog" {
		return rewrite(w, node, f)
	}
	return nil
}

// valueFunction handles the parameterless words of SQL (CURRENT_DATE, USER, ...).
func (w *walker) valueFunction(node *pg.Node, f *pg.SQLValueFunction) error {
	if f.GetOp() == pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA {
		w.currentSchema(node)
	}
	return nil
}

// splitUnnest writes unnest(a, b) as ROWS FROM (unnest(a), unnest(b)), which is
// what PostgreSQL makes of it, but only while the name is not qualified
// (transformRangeFunction).
func splitUnnest(n *pg.RangeFunction) {
	if len(n.GetFunctions()) != 1 {
		return
	}
	items := n.GetFunctions()[0].GetList().GetItems()
	if len(items) == 0 {
		return
	}
	call := items[0].GetFuncCall()
	if call == nil || lastName(call.GetFuncname()) != "unnest" || len(call.GetArgs()) < 2 {
		return
	}
	n.IsRowsfrom, n.Functions = true, nil
	for _, argument := range call.GetArgs() {
		one := &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
			Funcname: nameNodes("pg_catalog", "unnest"), Args: []*pg.Node{argument}, Funcformat: call.GetFuncformat(),
		}}}
		n.Functions = append(n.Functions, &pg.Node{Node: &pg.Node_List{List: &pg.List{
			Items: append([]*pg.Node{one}, items[1:]...),
		}}})
	}
}

// rangeFunction walks a function in FROM, which cannot be replaced by a constant
// or a subquery. One that is replaced by another function keeps its name as alias.
func (w *walker) rangeFunction(n *pg.RangeFunction, s *scope) error {
	before, name := w.replaced, ""
	if list := n.GetFunctions(); len(list) == 1 && len(list[0].GetList().GetItems()) > 0 {
		name = impliedName(list[0].GetList().GetItems()[0])
	}
	if err := w.children(n.ProtoReflect(), s); err != nil {
		return err
	}
	splitUnnest(n)
	if w.replaced == before {
		return nil
	}
	for _, function := range n.GetFunctions() {
		for _, item := range function.GetList().GetItems() {
			switch item.GetNode().(type) {
			case *pg.Node_TypeCast, *pg.Node_SubLink:
				return refuse(stateNotSupported, "Call it in the SELECT list.", "this function is not supported in FROM")
			}
			if call := item.GetFuncCall(); call != nil && name != lastName(call.GetFuncname()) {
				keepColumn(n, name)
			}
		}
	}
	return nil
}

// keepColumn names a replaced function's columns as the function itself would.
func keepColumn(n *pg.RangeFunction, function string) {
	if n.GetAlias() == nil {
		n.Alias = &pg.Alias{Aliasname: function}
	}
	if function == "pg_partition_ancestors" && len(n.GetAlias().GetColnames()) == 0 {
		n.Alias.Colnames = nameNodes("relid")
	}
}

// currentSchema answers with the first schema of the client's search path.
func (w *walker) currentSchema(node *pg.Node) {
	w.replaced++
	node.Node = castNode(catalog.DefaultSearchPath[0], "name").GetNode()
}

// viewDefinition answers for every view, so that tools that show definitions go
// on: what a published view reads is nobody's business, and what an unprotected
// one reads may be.
func viewDefinition(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	w.replaced++
	node.Node = castNode(" -- not shown by kproxy", "text").GetNode()
	return nil
}

func currentSchemas(w *walker, node *pg.Node, f *pg.FuncCall) error {
	implicit, constant := booleanConstant(f)
	if !constant {
		return refuse(stateNotSupported, "Write current_schemas(true) or current_schemas(false).",
			"kproxy supports current_schemas with a constant only").at(f.GetLocation())
	}
	schemas := strings.Join(catalog.DefaultSearchPath, ",")
	if implicit {
		schemas = "pg_catalog," + schemas
	}
	w.replaced++
	cast := castNode("{"+schemas+"}", "name")
	cast.GetTypeCast().TypeName.ArrayBounds = []*pg.Node{{Node: &pg.Node_Integer{Integer: &pg.Integer{Ival: -1}}}}
	node.Node = cast.GetNode()
	return nil
}

func booleanConstant(f *pg.FuncCall) (value, ok bool) {
	if len(f.GetArgs()) != 1 {
		return false, false
	}
	b, ok := f.GetArgs()[0].GetAConst().GetVal().(*pg.A_Const_Boolval)
	return ok && b.Boolval.GetBoolval(), ok
}

func currentSetting(w *walker, node *pg.Node, f *pg.FuncCall) error {
	setting, constant := "", false
	if args := f.GetArgs(); len(args) > 0 {
		setting, constant = stringConstant(args[0])
	}
	switch {
	case !constant:
		return refuse(stateNotSupported, "Write the setting's name as a constant.",
			"kproxy supports current_setting with a constant only").at(f.GetLocation())
	case !harmlessSettings[strings.ToLower(setting)]:
		return refuseSetting("examine", setting).at(f.GetLocation())
	case strings.EqualFold(setting, "search_path"):
		w.replaced++
		node.Node = castNode(w.session.path.now.text, "text").GetNode()
	}
	return nil
}

func stringConstant(n *pg.Node) (string, bool) {
	text, ok := n.GetAConst().GetVal().(*pg.A_Const_Sval)
	if !ok {
		return "", false
	}
	return text.Sval.GetSval(), true
}

// timestampAge keeps age(xid), which counts transactions, out of reach: an xid
// cannot be cast to a timestamp.
func timestampAge(_ *walker, _ *pg.Node, f *pg.FuncCall) error {
	if len(f.GetArgs()) == 1 && builtinName(f.GetArgs()[0].GetTypeCast().GetTypeName()) != "timestamp" {
		f.Args[0] = casted(f.Args[0], "timestamp")
	}
	return nil
}

// tableIsVisible asks kproxy's own function, which knows the client's search path;
// the session's real one has no schema that the client knows.
func tableIsVisible(w *walker, _ *pg.Node, f *pg.FuncCall) error {
	w.replaced++
	f.Funcname = nameNodes(catalog.CatalogSchema, "table_is_visible")
	return nil
}

// partitionAncestors returns OIDs of ancestors instead of their names. It stays a
// function, for FROM ... WITH ORDINALITY.
func partitionAncestors(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if err := objectArgument("regclass", 0)(w, node, f); err != nil {
		return err
	}
	w.replaced++
	oids := selectNode(&pg.SelectStmt{
		TargetList: []*pg.Node{targetNode("", casted(&pg.Node{Node: &pg.Node_FuncCall{FuncCall: f}}, "oid"))},
	})
	array := &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: pg.SubLinkType_ARRAY_SUBLINK, Subselect: oids}}}
	node.Node = &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
		Funcname: nameNodes("pg_catalog", "unnest"), Args: []*pg.Node{array}, Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	}}
	return nil
}

// serialSequence takes a constant name only: at run time, its errors would tell
// which tables and columns there are.
func serialSequence(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if len(f.GetArgs()) == 2 {
		if content, constant := textConstant(f.Args[0]); !constant || digits(content) {
			return refuse(stateNotSupported, "Write the table's name as a constant.",
				"kproxy supports pg_get_serial_sequence with a constant only").at(f.GetLocation())
		}
	}
	return objectArgument("regclass", -2)(w, node, f)
}
