package rewrite

import (
	"regexp"
	"slices"
	"strings"

	pg "github.com/pganalyze/pg_query_go/v5"

	"github.com/kproxy/kproxy/internal/charset"
)

// The settings of PostgreSQL (chapter "Server Configuration") that affect only the client's
// session. All others are refused: they take the server's memory (work_mem), change what a
// text means when it is parsed again (backslash_quote, transform_null_equals), or whose
// privileges count (role).
var (
	// allowedSettings may be set to any value: formats, time limits, and how the client's
	// own queries are planned, which shows nothing that is not published.
	allowedSettings = words(`application_name array_nulls bytea_output check_function_bodies datestyle
		default_transaction_deferrable default_transaction_isolation
		client_encoding escape_string_warning extra_float_digits idle_in_transaction_session_timeout idle_session_timeout
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
	// readableSettings may only be shown. search_path is the client's own. pg_settings shows these
	// and more: tools ask for them one by one, and none reveals anything about rows.
	readableSettings = words(`autovacuum autovacuum_max_workers block_size client_min_messages data_checksums
		default_table_access_method default_tablespace default_text_search_config default_toast_compression default_transaction_read_only
		fsync full_page_writes gin_fuzzy_search_limit hash_mem_multiplier hot_standby huge_pages in_hot_standby
		integer_datetimes is_superuser jit_provider lc_collate lc_ctype lc_messages logical_decoding_work_mem
		maintenance_work_mem max_connections max_function_args max_identifier_length max_index_keys
		max_locks_per_transaction max_logical_replication_workers max_parallel_maintenance_workers
		max_parallel_workers max_parallel_workers_per_gather max_pred_locks_per_transaction
		max_prepared_transactions max_replication_slots max_stack_depth max_wal_senders max_wal_size
		max_worker_processes min_wal_size password_encryption recovery_target_timeline row_security search_path
		segment_size server_encoding server_version server_version_num shared_buffers ssl
		ssl_renegotiation_limit standard_conforming_strings superuser_reserved_connections temp_buffers
		temp_tablespaces timezone_abbreviations track_activities track_counts track_io_timing
		transaction_read_only wal_block_size wal_level wal_segment_size work_mem`)
)

// transactionSettings hold for the open transaction.
var transactionSettings = words(`transaction_deferrable transaction_isolation transaction_read_only`)

// fixedSetting is a setting that may only be set to some values, in one of their spellings.
type fixedSetting struct {
	values []string
	hint   string
	// accepts takes the place of the values where there are many.
	accepts func(value string) bool
}

func (f fixedSetting) allows(value string) bool {
	if f.accepts != nil {
		return f.accepts(value)
	}
	return slices.Contains(f.values, strings.ToLower(value))
}

// builtinConfiguration accepts names of text search configurations only in PostgreSQL's own schema:
// the server distinguishes hidden schemas from absent ones.
var builtinConfiguration = regexp.MustCompile(`^(pg_catalog\.)?("[^".]+"|[A-Za-z_][A-Za-z0-9_]*)$`).MatchString

var (
	on = []string{"on", "true", "yes", "1"}
	no = []string{"off", "false", "no", "0"}
)

var fixedSettings = map[string]fixedSetting{
	"default_text_search_config":    {accepts: builtinConfiguration, hint: "Write a configuration of PostgreSQL, such as english."},
	"standard_conforming_strings":   {values: on, hint: "It is always on; write E'...' for escapes."},
	"default_transaction_read_only": {values: on, hint: "kproxy publishes read-only views."},
	"transaction_read_only":         {values: on, hint: "kproxy publishes read-only views."},
	cacheSetting:                    {values: slices.Concat(on, no), hint: "Write on or off."},
	"row_security":                  {values: on, hint: "It is always on."},
	// Npgsql before 2.2.5 sets it; all servers know no other value.
	"ssl_renegotiation_limit": {values: []string{"0"}, hint: "It is always 0."},
	// Lower levels would show the server's log, with plans and internal queries.
	"client_min_messages": {values: []string{"notice", "warning", "error"}, hint: "Use notice, warning or error."},
}

// allowedToShow reports whether SHOW and current_setting may show a setting.
func allowedToShow(name string) bool {
	return allowedSettings[name] || readableSettings[name]
}

func refuseSetting(verb, name string) *Refusal {
	hint := "Only settings of the client's own formats, plans and time limits are open."
	if strings.EqualFold(name, "synchronize_seqscans") {
		hint = "pg_dump, which sets it, cannot be used through kproxy: use COPY ... TO STDOUT."
	}
	return refuse(SettingDenied, hint, "permission denied to %s parameter %q", verb, name)
}

func refuseValue(name, hint string) *Refusal {
	return refuse(InvalidValue, hint, "parameter %q cannot be set to this value", name)
}

// settings checks what statements do to settings.
type settings struct {
	w *walker
	// pinned are the settings that only the operator sets.
	pinned map[string]bool
}

// set allows SET and RESET of settings that affect only the client. RESET, RESET ALL and SET ... TO
// DEFAULT go back to the value of the startup message, in which the proxy pins what must stay.
func (s *settings) set(n *pg.VariableSetStmt) (Effect, error) {
	name := strings.ToLower(n.GetName())
	switch kind := n.GetKind(); {
	case name == "role" || name == "session_authorization":
		return nil, allowRole(n, name)
	case kind == pg.VariableSetKind_VAR_RESET_ALL:
		return resetAll{}, nil
	case kind == pg.VariableSetKind_VAR_SET_MULTI:
		return nil, s.setTransaction(n)
	case kind == pg.VariableSetKind_VAR_RESET, kind == pg.VariableSetKind_VAR_SET_DEFAULT:
		back := assignment{reset: true, local: n.GetIsLocal()}
		switch name {
		case PathParameter:
			return setPath{back}, nil
		case EncodingParameter:
			return setEncoding{back}, nil
		}
		if refusal := allowReset(n.GetName()); refusal != nil {
			return nil, refusal
		}
		return nil, nil
	case kind == pg.VariableSetKind_VAR_SET_VALUE && name == PathParameter:
		return s.setPath(n)
	case kind == pg.VariableSetKind_VAR_SET_VALUE && name == EncodingParameter:
		return s.setEncoding(n)
	case kind == pg.VariableSetKind_VAR_SET_VALUE:
		return nil, s.setValue(n, name)
	}
	return nil, refuseSetting("set", n.GetName())
}

// setTransaction allows all modes that read.
func (s *settings) setTransaction(n *pg.VariableSetStmt) error {
	switch n.GetName() {
	case "TRANSACTION", "SESSION CHARACTERISTICS":
		return allowModes(n.GetArgs(), s.w.names.temporaryTables)
	case "TRANSACTION SNAPSHOT":
		return refuse(NotSupported, "Use REPEATABLE READ, and one session.", "kproxy does not support SET TRANSACTION SNAPSHOT")
	}
	return refuse(NotSupported, "", "SET %s is not supported", n.GetName())
}

// allowRole allows going back to the client's own role: SET ROLE NONE, RESET ROLE, SET
// SESSION AUTHORIZATION DEFAULT, RESET SESSION AUTHORIZATION. Pools send these before they
// reuse a connection.
func allowRole(n *pg.VariableSetStmt, name string) error {
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

// allowReset refuses to reset settings that cannot be set, and those of the transaction,
// which have no startup value: their default is READ WRITE.
func allowReset(written string) *Refusal {
	name := strings.ToLower(written)
	_, fixed := fixedSettings[name]
	if transactionSettings[name] || !allowedSettings[name] && !fixed {
		return refuseSetting("set", written)
	}
	return nil
}

// allowValue refuses settings that cannot be set, or not to the value. Constant says that
// the value is known; where it is not, only the settings that take any value pass.
func (s *settings) allowValue(written, value string, constant bool) *Refusal {
	name := strings.ToLower(written)
	fixed, isFixed := fixedSettings[name]
	switch {
	case s.pinned[name]:
		return refuse(SettingDenied, "SET ... TO DEFAULT and RESET go back to the operator's value.", "%s is set by the operator", name)
	case isFixed && (!constant || !fixed.allows(value)):
		return refuseValue(written, fixed.hint)
	case !isFixed && !allowedSettings[name]:
		return refuseSetting("set", written)
	}
	return nil
}

func (s *settings) setValue(n *pg.VariableSetStmt, name string) error {
	values, constant := constants(n.GetArgs())
	if constant = constant && len(values) == 1; !constant {
		values = []string{""}
	}
	if refusal := s.allowValue(n.GetName(), values[0], constant); refusal != nil {
		return refusal
	}
	if _, fixed := fixedSettings[name]; fixed {
		return nil
	}
	if !plainValues(n.GetArgs()) && (name != "timezone" || !zoneInterval(n.GetArgs())) {
		return refuseValue(n.GetName(), "Write a name or a number; for a time zone: SET TIME ZONE 'Europe/Berlin'.")
	}
	return s.w.nodes(n.GetArgs())
}

// setPath records the client's path; the session's path on the server stays what it is.
func (s *settings) setPath(n *pg.VariableSetStmt) (Effect, error) {
	if s.pinned["search_path"] {
		return nil, s.allowValue(n.GetName(), "", false)
	}
	path, ok := joinPath(n.GetArgs())
	if !ok {
		return nil, refuseValue(n.GetName(), "Write names of schemas.")
	}
	if _, err := splitPath(path); err != nil {
		return nil, err
	}
	n.Kind, n.Args = pg.VariableSetKind_VAR_SET_DEFAULT, nil
	return setPath{assignment{text: path, local: n.GetIsLocal()}}, nil
}

// setEncoding records the client's encoding.
func (s *settings) setEncoding(n *pg.VariableSetStmt) (Effect, error) {
	if err := s.setValue(n, EncodingParameter); err != nil {
		return nil, err
	}
	values, constant := constants(n.GetArgs())
	if !constant || len(values) != 1 {
		return nil, refuseValue(n.GetName(), "Write the name of one encoding.")
	}
	encoding, refusal := encodingOf(values[0])
	if refusal != nil {
		return nil, refusal
	}
	return setEncoding{assignment{text: encoding, local: n.GetIsLocal()}}, nil
}

// encodingOf returns PostgreSQL's name of an encoding, or of none.
func encodingOf(value string) (string, *Refusal) {
	if charset.Normalize(value) == charset.Normalize(charset.None) {
		return charset.None, nil
	}
	c, known := charset.Find(value)
	if !known {
		return "", refuseValue(EncodingParameter, "kproxy does not convert to this encoding: use UTF8, which has all characters.")
	}
	return c.Name, nil
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
