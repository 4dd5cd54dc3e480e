package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"

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

		"current_database":     currentDatabase,
		"acldefault":           guardObject("pg_roles", "oid", 1),
		"pg_get_userbyid":      guardObject("pg_roles", "oid", 0),
		"to_regrole":           lookup("regrole"),
		"shobj_description":    guardSharedComment,
		"has_schema_privilege": namedBy("schema_oid", -2),
		// PostgreSQL's own function takes both the names and the numbers of databases.
		"has_database_privilege":  namedBy("database_oid", -2),
		"pg_relation_size":        sizeOf,
		"pg_table_size":           sizeOf,
		"pg_indexes_size":         sizeOf,
		"pg_total_relation_size":  sizeOf,
		"pg_database_size":        neutral("0", "int8", namedBy("database_oid", 0)),
		"pg_tablespace_size":      neutral("0", "int8", func(*walker, *pg.Node, *pg.FuncCall) error { return nil }),
		"pg_type_is_visible":      typeIsVisible,
		"pg_stat_get_live_tuples": noCount,
		"pg_stat_get_dead_tuples": noCount,
		"pg_stat_get_numscans":    noCount,
		"pg_relation_filenode":    noObject,
		"pg_relation_filepath":    noText,
		"pg_tablespace_location":  noText,
		"pg_get_functiondef":      noText,

		"pg_get_function_sqlbody": noText,

		"to_regclass":     lookup("regclass"),
		"to_regtype":      lookup("regtype"),
		"to_regproc":      lookup("regproc"),
		"to_regprocedure": lookup("regprocedure"),
		"to_regnamespace": lookup("regnamespace"),
		"to_regoper":      lookup("regoper"),
		"to_regoperator":  lookup("regoperator"),
		"to_regcollation": lookup("regcollation"),

		"get_current_ts_config": converted,

		"ts_lexize": objectArgument("regdictionary", 0),

		"has_table_privilege":          privilegesOn(-2),
		"has_any_column_privilege":     privilegesOn(-2),
		"has_column_privilege":         privilegesOn(-3),
		"has_sequence_privilege":       objectArgument("regclass", -2),
		"has_function_privilege":       objectArgument("regprocedure", -2),
		"has_type_privilege":           objectArgument("regtype", -2),
		"row_security_active":          objectArgument("regclass", 0),
		"pg_relation_is_publishable":   objectArgument("regclass", 0),
		"pg_relation_is_updatable":     neutral("0", "int4", objectArgument("regclass", 0)),
		"pg_column_is_updatable":       neutral("false", "bool", objectArgument("regclass", 0)),
		"pg_index_has_property":        objectArgument("regclass", 0),
		"pg_index_column_has_property": objectArgument("regclass", 0),
		"pg_get_serial_sequence":       serialSequence,
		"pg_partition_ancestors":       partitionAncestors,
		"pg_table_is_visible":          tableIsVisible,

		"format_type":                        formatType,
		"pg_get_expr":                        storedExpression,
		"pg_get_constraintdef":               guardObject("pg_constraint", "oid", 0, "confrelid"),
		"pg_get_indexdef":                    guardObject("pg_index", "indexrelid", 0),
		"pg_get_triggerdef":                  guardObject("pg_trigger", "oid", 0, "tgconstrrelid"),
		"pg_get_partkeydef":                  guardObject("pg_partitioned_table", "partrelid", 0),
		"pg_get_partition_constraintdef":     guardBound,
		"pg_get_statisticsobjdef":            guardObject("pg_statistic_ext", "oid", 0),
		"pg_get_statisticsobjdef_columns":    guardObject("pg_statistic_ext", "oid", 0),
		"pg_get_function_arg_default":        guardObject("pg_proc", "oid", 0),
		"pg_get_function_arguments":          guardObject("pg_proc", "oid", 0),
		"pg_get_function_identity_arguments": guardObject("pg_proc", "oid", 0),
		"pg_get_function_result":             guardObject("pg_proc", "oid", 0),
	}
}

// call lets a function of the allowlist pass, under its full name, so that no
// overload elsewhere on the search path can be chosen in its place.
func (w *walker) call(node *pg.Node, f *pg.FuncCall, s *scope) error {
	if _, _, allowed := w.lookupFunction(names(f.GetFuncname())); !allowed {
		return w.refuseFunction(names(f.GetFuncname())).at(f.GetLocation())
	}
	if err := w.children(f.ProtoReflect(), s); err != nil {
		return err
	}
	return w.checkedCall(node, f)
}

// checkedCall is call where the arguments have been checked.
func (w *walker) checkedCall(node *pg.Node, f *pg.FuncCall) error {
	schema, name, allowed := w.lookupFunction(names(f.GetFuncname()))
	if !allowed {
		return w.refuseFunction(names(f.GetFuncname())).at(f.GetLocation())
	}
	f.Funcname = nameNodes(schema, name)
	w.traces = w.traces || schema != "pg_catalog" || traceful[name]
	if n := len(f.GetArgs()); schema == "pg_catalog" && name == "overlay" && (n == 3 || n == 4) {
		// The deparser writes OVERLAY(a PLACING b FROM c) for calls as well.
		f.Funcformat = pg.CoercionForm_COERCE_SQL_SYNTAX
	}
	if rewrite := specials[name]; rewrite != nil && schema == "pg_catalog" {
		return rewrite(w, node, f)
	}
	return nil
}

// lookupFunction finds the schema of a function that may be called. Bare names are
// looked up on the client's path, where functions that may not be called hide none: a
// call never means another function than the client could have named.
func (w *walker) lookupFunction(parts []string) (schema, name string, allowed bool) {
	switch len(parts) {
	case 2:
		return parts[0], parts[1], w.mayCall(parts[0], parts[1])
	case 1:
		for _, schema := range w.searchPath(true) {
			if w.mayCall(schema, parts[0]) {
				return schema, parts[0], true
			}
		}
		// The helpers come last, so that they take nothing's name.
		if catalog.IsHelper(parts[0]) {
			return catalog.HelperSchema, parts[0], true
		}
	}
	return "", "", false
}

func (w *walker) mayCall(schema, name string) bool {
	switch schema {
	case "pg_catalog":
		return allowedFunctions[name] && !w.snapshot.Added().Functions[name]
	case "information_schema":
		return informationFunctions[name] && !w.snapshot.Added().Functions[name]
	case catalog.HelperSchema:
		return catalog.IsHelper(name)
	}
	if !w.snapshot.HasFunction(schema, name) {
		return false
	}
	if called := (catalog.Name{Schema: schema, Relation: name}).String(); !slices.Contains(w.calls, called) {
		w.calls = append(w.calls, called)
	}
	return true
}

// refuseFunction says that a function may not be called if it is PostgreSQL's own, and
// of all others that there is none: what the operator does not list is not there. In a
// view's definition they are.
func (w *walker) refuseFunction(parts []string) *Refusal {
	name, called := parts[len(parts)-1], strings.Join(parts, ".")
	if (allowedFunctions[name] || informationFunctions[name]) && w.snapshot.Added().Functions[name] {
		return refuseAdded("function", called)
	}
	if (w.definition || isBuiltin(parts)) && !w.isWithdrawn(parts) {
		return refuse(statePrivilege, "Only functions that compute from their arguments are allowed, and those that the operator lists.",
			"permission denied for function %s", called)
	}
	if w.isWithdrawn(parts) {
		return refuse(stateNotPublished, "It is not as it was when it was accepted; the operator has been told why.", "function %s cannot be called now", called)
	}
	hint := "No function of that name is PostgreSQL's own, and the operator lists none."
	if schema := w.snapshot.FunctionSchema(name); schema != "" {
		hint = "Write " + catalog.Name{Schema: schema, Relation: name}.SQL() + ", with its schema."
	}
	return refuse(stateUndefinedFunction, hint, "function %s does not exist", called)
}

// isWithdrawn says whether the operator lists the function, and it must not be called now.
func (w *walker) isWithdrawn(parts []string) bool {
	switch len(parts) {
	case 1:
		return w.snapshot.IsWithdrawn("", parts[0])
	case 2:
		return w.snapshot.IsWithdrawn(parts[0], parts[1])
	}
	return false
}

// isBuiltin says of a function's name that PostgreSQL has such a function. New versions
// have more; those that show of the system begin with pg_ as a rule.
func isBuiltin(parts []string) bool {
	name := parts[len(parts)-1]
	switch {
	case len(parts) > 2:
		return true // names of databases
	case len(parts) == 2 && parts[0] != "pg_catalog":
		return parts[0] == "information_schema" && strings.HasPrefix(name, "_pg_")
	}
	return allowedFunctions[name] || builtinFunctions[name] || strings.HasPrefix(name, "pg_")
}

// valueFunction handles the parameterless words of SQL (CURRENT_DATE, USER, ...).
func (w *walker) valueFunction(node *pg.Node, f *pg.SQLValueFunction) error {
	switch f.GetOp() {
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_SCHEMA:
		w.currentSchema(node)
	case pg.SQLValueFunctionOp_SVFOP_CURRENT_CATALOG:
		return currentDatabase(w, node, nil)
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
			case *pg.Node_TypeCast, *pg.Node_SubLink, *pg.Node_CaseExpr:
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

// viewDefinition answers for every view, so that tools that show definitions go
// on: what a published view reads is nobody's business, and what an unprotected
// one reads may be.
func viewDefinition(w *walker, node *pg.Node, _ *pg.FuncCall) error {
	w.put(node, castNode(" -- not shown by kproxy", "text"))
	return nil
}

func currentSetting(w *walker, node *pg.Node, f *pg.FuncCall) error {
	setting, constant := "", false
	if args := f.GetArgs(); len(args) > 0 {
		setting, constant = stringConstant(args[0])
	}
	switch {
	case !constant && len(f.GetArgs()) > 0: // as psql's \dconfig; one of those in pg_settings, or null
		w.put(node, ownCall("setting", casted(f.Args[0], "text"), textNode(w.session.path.now.text)))
		return nil
	case !harmless(strings.ToLower(setting)):
		return refuseSetting("examine", setting).at(f.GetLocation())
	case strings.EqualFold(setting, "search_path"):
		w.put(node, castNode(w.session.path.now.text, "text"))
	}
	return nil
}

// timestampAge keeps age(xid), which counts transactions, out of reach: an xid
// cannot be cast to a timestamp.
func timestampAge(w *walker, node *pg.Node, f *pg.FuncCall) error {
	of := ""
	if len(f.GetArgs()) == 1 {
		of = builtinName(f.GetArgs()[0].GetTypeCast().GetTypeName())
	}
	if of == "xid" { // only kproxy writes this cast; see systemcolumn.go
		w.put(node, integerNode(frozenAge))
		return nil
	}
	if len(f.GetArgs()) == 1 && of != "timestamp" {
		f.Args[0] = casted(f.Args[0], "timestamp")
	}
	return nil
}

// partitionAncestors returns OIDs of ancestors instead of their names. It stays a
// function, for FROM ... WITH ORDINALITY.
func partitionAncestors(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if err := objectArgument("regclass", 0)(w, node, f); err != nil {
		return err
	}
	oids := selectNode(&pg.SelectStmt{
		TargetList: []*pg.Node{targetNode("", casted(&pg.Node{Node: &pg.Node_FuncCall{FuncCall: f}}, "oid"))},
	})
	array := &pg.Node{Node: &pg.Node_SubLink{SubLink: &pg.SubLink{SubLinkType: pg.SubLinkType_ARRAY_SUBLINK, Subselect: oids}}}
	w.put(node, &pg.Node{Node: &pg.Node_FuncCall{FuncCall: &pg.FuncCall{
		Funcname: nameNodes("pg_catalog", "unnest"), Args: []*pg.Node{array}, Funcformat: pg.CoercionForm_COERCE_EXPLICIT_CALL,
	}}})
	return nil
}

// serialSequence answers for constant names. Where the name is made at run time, as
// SQLAlchemy does for every column of a table, it tells of no sequence: errors would
// say which tables and columns there are.
func serialSequence(w *walker, node *pg.Node, f *pg.FuncCall) error {
	if len(f.GetArgs()) == 2 {
		if content, constant := textConstant(f.Args[0]); !constant || digits(content) {
			return noText(w, node, f)
		}
	}
	if len(f.GetArgs()) != 2 {
		return nil // the database knows no such function
	}
	// Of a column that is not there, the function says so. Of one that is not served it says
	// the same once it is asked for the stand-in, which has no sequences.
	first := proto.Clone(f).(*pg.FuncCall)
	if err := privilegesOn(-2)(w, node, first); err != nil {
		return err
	}
	f.Args[1] = &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{
		Args: []*pg.Node{{Node: &pg.Node_FuncCall{FuncCall: first}}, casted(f.Args[1], "text")},
	}}}
	return objectArgument("regclass", -2)(w, node, f)
}
