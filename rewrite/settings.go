package rewrite

import (
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/catalog"
)

// The settings of PostgreSQL's configuration (chapter "Server Configuration") that
// concern the client's session alone. What is in none of these lists is refused: it
// takes the server's memory (work_mem), changes what a text means when it is parsed
// again (backslash_quote, transform_null_equals), or whose rights count (role).
var (
	// freeSettings may be set to anything: formats, time limits, and how the client's
	// own queries are planned, which shows nothing that is not published.
	freeSettings = words(`application_name array_nulls bytea_output check_function_bodies datestyle
		default_text_search_config default_transaction_deferrable default_transaction_isolation
		escape_string_warning extra_float_digits idle_in_transaction_session_timeout idle_session_timeout
		intervalstyle lc_monetary lc_numeric lc_time lock_timeout quote_all_identifiers statement_timeout
		synchronous_commit tcp_keepalives_count tcp_keepalives_idle tcp_keepalives_interval timezone
		transaction_deferrable transaction_isolation transaction_timeout xmlbinary xmloption

		constraint_exclusion cursor_tuple_fraction cpu_index_tuple_cost cpu_operator_cost cpu_tuple_cost
		debug_parallel_query effective_cache_size enable_async_append enable_bitmapscan
		enable_distinct_reordering enable_gathermerge enable_group_by_reordering enable_hashagg enable_hashjoin
		enable_incremental_sort enable_indexonlyscan enable_indexscan enable_material enable_memoize
		enable_mergejoin enable_nestloop enable_parallel_append enable_parallel_hash enable_partition_pruning
		enable_partitionwise_aggregate enable_partitionwise_join enable_presorted_aggregate
		enable_self_join_elimination enable_seqscan enable_sort enable_tidscan force_parallel_mode
		from_collapse_limit geqo geqo_effort geqo_generations geqo_pool_size geqo_seed geqo_selection_bias
		geqo_threshold jit jit_above_cost jit_inline_above_cost jit_optimize_above_cost join_collapse_limit
		min_parallel_index_scan_size min_parallel_table_scan_size parallel_leader_participation
		parallel_setup_cost parallel_tuple_cost plan_cache_mode random_page_cost recursive_worktable_factor
		seq_page_cost`)
	// shownSettings may be shown besides. search_path is answered in the client's terms.
	shownSettings = words(`block_size client_encoding client_min_messages default_transaction_read_only
		in_hot_standby integer_datetimes is_superuser lc_collate lc_ctype lc_messages max_function_args
		max_identifier_length max_index_keys max_parallel_workers_per_gather row_security search_path
		server_encoding server_version server_version_num ssl_renegotiation_limit
		standard_conforming_strings transaction_read_only work_mem`)
)

// ofTransaction are the settings that hold for the transaction that is open.
var ofTransaction = words(`transaction_deferrable transaction_isolation transaction_read_only`)

// harmless says whether a setting may be shown by SHOW and current_setting.
func harmless(name string) bool { return freeSettings[name] || shownSettings[name] }

func refuseSetting(what, name string) *Refusal {
	hint := "Only settings of the client's own formats, plans and time limits are open."
	if strings.EqualFold(name, "synchronize_seqscans") {
		hint = "pg_dump, which sets it, cannot be used through kproxy: use COPY ... TO STDOUT."
	}
	return refuse(SettingDenied, hint,
		"permission denied to %s parameter %q", what, name)
}

// show allows the harmless settings; SHOW search_path becomes a query.
func (w *walker) show(node *pg.Node, n *pg.VariableShowStmt) error {
	name := strings.ToLower(n.GetName())
	switch {
	case name == "search_path":
		node.Node = selectNode(&pg.SelectStmt{
			TargetList: []*pg.Node{targetNode(name, castNode(w.session.path.now.text, "text"))},
		}).GetNode()
	case name == "all":
		return w.showAll(node)
	case name == "session_authorization": // the login name, as session_user
	case !harmless(name):
		return refuseSetting("examine", n.GetName())
	}
	return nil
}

// pathDescription is what pg_settings says of search_path.
const pathDescription = "Sets the schema search order for names that are not schema-qualified."

// showAll lists the settings that SHOW shows one by one.
func (w *walker) showAll(node *pg.Node) error {
	var listed []string
	for _, settings := range []map[string]bool{freeSettings, shownSettings} {
		for name := range settings {
			if name != "search_path" {
				listed = append(listed, catalog.QuoteLiteral(name))
			}
		}
	}
	slices.Sort(listed)
	tree, err := parse("SELECT s.name, pg_catalog.current_setting(s.name) AS setting, s.short_desc AS description" +
		" FROM pg_catalog.pg_settings s WHERE pg_catalog.lower(s.name) IN (" + strings.Join(listed, ", ") + ")" +
		" UNION ALL SELECT 'search_path', " + catalog.QuoteLiteral(w.session.path.now.text) + ", " +
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
	path, none := w.session.path, nullNode()
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
		FromClause: []*pg.Node{{Node: &pg.Node_RangeVar{RangeVar: &pg.RangeVar{
			Schemaname: n.GetSchemaname(), Relname: n.GetRelname(), Inh: true, Relpersistence: "p",
		}}}},
	})
	both := selectNode(&pg.SelectStmt{Larg: all.GetSelectStmt(), Rarg: selectNode(&pg.SelectStmt{TargetList: row}).GetSelectStmt()})
	both.GetSelectStmt().Op, both.GetSelectStmt().All = pg.SetOperation_SETOP_UNION, true
	node.Node = &pg.Node_RangeSubselect{RangeSubselect: &pg.RangeSubselect{Subquery: both, Alias: n.GetAlias()}}
}

// set allows SET and RESET of what concerns the client alone. RESET, RESET ALL and
// SET ... TO DEFAULT go back to the value of the startup message, in which the
// proxy pins what must stay.
func (w *walker) set(n *pg.VariableSetStmt) error {
	name := strings.ToLower(n.GetName())
	if name == "role" || name == "session_authorization" {
		return w.setRole(n, name)
	}
	switch n.GetKind() {
	case pg.VariableSetKind_VAR_RESET_ALL:
		w.effect = resetAll{}
		return nil
	case pg.VariableSetKind_VAR_SET_MULTI:
		return w.setTransaction(n)
	case pg.VariableSetKind_VAR_RESET, pg.VariableSetKind_VAR_SET_DEFAULT:
		// Those of the transaction have no startup value: their default is READ WRITE.
		if name == "search_path" {
			w.effect = setPath{reset: true, local: n.GetIsLocal()}
		}
		if (freeSettings[name] || pinned[name] != nil || name == "search_path") && !ofTransaction[name] {
			return nil
		}
	case pg.VariableSetKind_VAR_SET_VALUE:
		if w.operator[name] {
			return refuse(SettingDenied, "SET ... TO DEFAULT and RESET go back to the operator's value.",
				"%s is set by the operator", name)
		}
		return w.setValue(n, name)
	}
	return refuseSetting("set", n.GetName())
}

// setTransaction allows all modes that read.
func (w *walker) setTransaction(n *pg.VariableSetStmt) error {
	switch n.GetName() {
	case "TRANSACTION":
		return w.transactionModes(n.GetArgs())
	case "SESSION CHARACTERISTICS":
		return w.transactionModes(n.GetArgs())
	case "TRANSACTION SNAPSHOT":
		return refuse(NotSupported, "Use REPEATABLE READ, and one session.", "kproxy does not support SET TRANSACTION SNAPSHOT")
	}
	return refuse(NotSupported, "", "SET %s is not supported", n.GetName())
}

// setRole allows to go back to who one is: SET ROLE NONE, RESET ROLE, SET SESSION
// AUTHORIZATION DEFAULT, RESET SESSION AUTHORIZATION. Pools do so before they hand a
// connection on.
func (w *walker) setRole(n *pg.VariableSetStmt, name string) error {
	switch n.GetKind() {
	case pg.VariableSetKind_VAR_RESET, pg.VariableSetKind_VAR_SET_DEFAULT:
		return nil
	case pg.VariableSetKind_VAR_SET_VALUE:
		to, ok := constants(n.GetArgs())
		if ok && name == "role" && len(to) == 1 && to[0] == "none" {
			return nil
		}
		if ok && len(to) == 1 {
			return refuse(RoleDenied, "Clients stay the user that they log in as; NONE and DEFAULT are allowed.",
				"permission denied to set %s %q", strings.ReplaceAll(name, "_", " "), to[0])
		}
	}
	return refuseSetting("set", n.GetName())
}

// pinned are the settings that may be set only to what they are.
var pinned = map[string]func(values []string) bool{
	"client_encoding": func(values []string) bool {
		return only(values, "utf8", "utf-8", "unicode")
	},
	"standard_conforming_strings": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	"default_transaction_read_only": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	"transaction_read_only": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	"row_security": func(values []string) bool {
		return only(values, "on", "true", "yes", "1")
	},
	// Npgsql before 2.2.5 sets it; all servers know no other value.
	"ssl_renegotiation_limit": func(values []string) bool {
		return only(values, "0")
	},
	// Lower levels would show the server's log, with plans and internal queries.
	"client_min_messages": func(values []string) bool {
		return only(values, "notice", "warning", "error")
	},
}

var pinnedHints = map[string]string{
	"client_encoding":               "kproxy speaks UTF8.",
	"standard_conforming_strings":   "It is always on; write E'...' for escapes.",
	"default_transaction_read_only": "kproxy publishes read-only views.",
	"transaction_read_only":         "kproxy publishes read-only views.",
	"row_security":                  "It is always on.",
	"ssl_renegotiation_limit":       "It is always 0.",
	"client_min_messages":           "Use notice, warning or error.",
}

func only(values []string, allowed ...string) bool {
	return len(values) == 1 && slices.Contains(allowed, strings.ToLower(values[0]))
}

func (w *walker) setValue(n *pg.VariableSetStmt, name string) error {
	if accepts := pinned[name]; accepts != nil {
		if values, ok := constants(n.GetArgs()); !ok || !accepts(values) {
			return refuse(InvalidValue, pinnedHints[name], "parameter %q cannot be set to this value", n.GetName())
		}
		return nil
	}
	if name == "search_path" {
		return w.setPath(n)
	}
	if !freeSettings[name] {
		return refuseSetting("set", n.GetName())
	}
	if !plainValues(n.GetArgs()) && (name != "timezone" || !zoneInterval(n.GetArgs())) {
		return refuse(InvalidValue, "Write a name or a number; for a time zone: SET TIME ZONE 'Europe/Berlin'.",
			"parameter %q cannot be set to this value", n.GetName())
	}
	return w.nodes(n.GetArgs())
}

// setPath notes the client's path; the session's real one stays what it is.
func (w *walker) setPath(n *pg.VariableSetStmt) error {
	path, ok := joinPath(n.GetArgs())
	if !ok {
		return refuse(InvalidValue, "Write names of schemas.", "parameter %q cannot be set to this value", n.GetName())
	}
	if _, err := splitPath(path); err != nil {
		return err
	}
	w.effect = setPath{text: path, local: n.GetIsLocal()}
	n.Kind, n.Args = pg.VariableSetKind_VAR_SET_DEFAULT, nil
	return nil
}

// plainValues says whether all values are texts and numbers, which is all that the
// deparser can write here but for zoneInterval.
func plainValues(args []*pg.Node) bool {
	for _, arg := range args {
		switch arg.GetAConst().GetVal().(type) {
		case *pg.A_Const_Sval, *pg.A_Const_Ival, *pg.A_Const_Fval:
		default:
			return false
		}
	}
	return len(args) > 0
}

// zoneInterval accepts SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE. Without its
// fields the deparser would read past the end of their list.
func zoneInterval(args []*pg.Node) bool {
	if len(args) != 1 {
		return false
	}
	cast := args[0].GetTypeCast()
	_, isText := stringConstant(cast.GetArg())
	return isText && strings.Join(names(cast.GetTypeName().GetNames()), ".") == "pg_catalog.interval" &&
		len(cast.GetTypeName().GetTypmods()) == 1
}

// constants are the values of SET as texts.
func constants(args []*pg.Node) ([]string, bool) {
	var values []string
	for _, arg := range args {
		switch v := arg.GetAConst().GetVal().(type) {
		case *pg.A_Const_Sval:
			// SET search_path TO 'a, b' is one name with a comma in it; SET NAMES and
			// the like quote single words.
			values = append(values, v.Sval.GetSval())
		case *pg.A_Const_Ival:
			values = append(values, map[int32]string{0: "0", 1: "1"}[v.Ival.GetIval()])
		default:
			return nil, false
		}
	}
	return values, true
}
