package rewrite

import (
	"maps"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"
	"google.golang.org/protobuf/proto"
)

// special rewrites an allowed call whose arguments are checked already; node is
// where a replacement goes.
type special func(e expression, f *pg.FuncCall) error

// specials are the calls that need more than being on the allowlist. It is filled
// in init, because the functions refer back to the walker.
var specials map[string]special

// addresses are asked of the session: the server's client is kproxy. NULL is also what sessions over a Unix
// socket get.
var addresses = map[string]special{
	"inet_client_addr": null("inet"), "inet_client_port": null("int4"),
	"inet_server_addr": null("inet"), "inet_server_port": null("int4"),
}

func init() {
	// It counts rows, and changes with them.
	size := unknown("int8", objectArgument("regclass", 0))
	specials = map[string]special{
		"current_schema":  currentSchema,
		"current_schemas": currentSchemas,
		"current_setting": currentSetting,
		"regclass":        converted,
		"pg_typeof":       converted,
		"pg_get_ruledef":  viewDefinition,
		"pg_get_viewdef":  viewDefinition,
		"obj_description": guardComment,
		"col_description": guardComment,

		"age": timestampAge,

		"current_database":        currentDatabase,
		"acldefault":              guardObject("pg_roles", "oid", 1),
		"pg_get_userbyid":         guardObject("pg_roles", "oid", 0),
		"to_regrole":              lookup("regrole"),
		"shobj_description":       guardSharedComment,
		"pg_relation_size":        size,
		"pg_table_size":           size,
		"pg_indexes_size":         size,
		"pg_total_relation_size":  size,
		"pg_database_size":        unknown("int8", namedBy("database_oid", 0)),
		"pg_tablespace_size":      null("int8"),
		"pg_type_is_visible":      visible("type_is_visible"),
		"pg_stat_get_live_tuples": null("int8"),
		"pg_stat_get_dead_tuples": null("int8"),
		"pg_stat_get_numscans":    null("int8"),
		"pg_relation_filenode":    null("oid"),
		"pg_relation_filepath":    null("text"),
		"pg_tablespace_location":  null("text"),
		"pg_get_functiondef":      null("text"),
		"pg_get_function_sqlbody": null("text"),

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

		"row_security_active":          objectArgument("regclass", 0),
		"pg_relation_is_publishable":   objectArgument("regclass", 0),
		"pg_relation_is_updatable":     neutral("0", "int4", objectArgument("regclass", 0)),
		"pg_column_is_updatable":       neutral("false", "bool", objectArgument("regclass", 0)),
		"pg_index_has_property":        objectArgument("regclass", 0),
		"pg_index_column_has_property": objectArgument("regclass", 0),
		"pg_get_serial_sequence":       serialSequence,
		"pg_partition_ancestors":       partitionAncestors,
		"pg_table_is_visible":          visible("table_is_visible"),

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
	maps.Copy(specials, addresses)
	maps.Copy(specials, privileges())
}

// viewDefinition answers for every view, so that tools that show definitions go
// on: what a published view reads is nobody's business, and what an unprotected
// one reads may be.
func viewDefinition(e expression, _ *pg.FuncCall) error {
	e.put(castNode(" -- not shown by kproxy", "text"))
	return nil
}

func currentSetting(e expression, f *pg.FuncCall) error {
	setting, constant := "", false
	if args := f.GetArgs(); len(args) > 0 {
		setting, constant = stringConstant(args[0])
	}
	switch {
	case constant && strings.EqualFold(setting, cacheSetting) && len(f.GetArgs()) <= 2:
		e.put(shownCache())
		return nil
	case !constant && len(f.GetArgs()) > 0, // as psql's \dconfig; one of those in pg_settings, or null
		!allowedToShow(strings.ToLower(setting)) && len(f.GetArgs()) == 2 && isTrue(f.GetArgs()[1]): // which never fails
		e.put(ownCall("setting", casted(f.Args[0], "text"), textNode(e.w.names.session.path.now.text)))
		return nil
	case !allowedToShow(strings.ToLower(setting)):
		return refuseSetting("examine", setting).at(f.GetLocation())
	case strings.EqualFold(setting, "search_path"):
		e.put(castNode(e.w.names.session.path.now.text, "text"))
	}
	return nil
}

// timestampAge keeps age(xid), which counts transactions, out of reach: an xid
// cannot be cast to a timestamp.
func timestampAge(e expression, f *pg.FuncCall) error {
	of := ""
	if len(f.GetArgs()) == 1 {
		of = builtinName(f.GetArgs()[0].GetTypeCast().GetTypeName())
	}
	if of == "xid" { // only kproxy writes this cast; see systemcolumn.go
		e.put(integerNode(frozenAge))
		return nil
	}
	if len(f.GetArgs()) == 1 && of != "timestamp" {
		f.Args[0] = casted(f.Args[0], "timestamp")
	}
	return nil
}

// partitionAncestors returns OIDs of ancestors instead of their names. It stays a
// function, for FROM ... WITH ORDINALITY.
func partitionAncestors(e expression, f *pg.FuncCall) error {
	if err := objectArgument("regclass", 0)(e, f); err != nil {
		return err
	}
	oids := selectNode(&pg.SelectStmt{
		TargetList: []*pg.Node{targetNode("", casted(functionNode(f), "oid"))},
	})
	e.put(callNode("unnest", subLinkNode(pg.SubLinkType_ARRAY_SUBLINK, oids)))
	return nil
}

// serialSequence answers for constant names. For a name that is made at run time, as SQLAlchemy
// does for every column of a table, it returns no sequence: errors would show which tables and
// columns there are.
func serialSequence(e expression, f *pg.FuncCall) error {
	if len(f.GetArgs()) == 2 {
		// The column is written twice: calls in it would double at each level.
		if content, constant := textConstant(f.Args[0]); !constant || isNumber(content) || !simple(f.Args[1]) {
			return null("text")(e, f)
		}
	}
	if len(f.GetArgs()) != 2 {
		return nil // the database knows no such function
	}
	// Of a column that is not there, the function says so. Of one that is not served it says
	// the same once it is asked for the stand-in, which has no sequences.
	first := proto.Clone(f).(*pg.FuncCall)
	if err := privilegesOn(-2)(e, first); err != nil {
		return err
	}
	f.Args[1] = &pg.Node{Node: &pg.Node_CoalesceExpr{CoalesceExpr: &pg.CoalesceExpr{
		Args: []*pg.Node{functionNode(first), casted(f.Args[1], "text")},
	}}}
	return objectArgument("regclass", -2)(e, f)
}
