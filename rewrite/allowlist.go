package rewrite

import (
	_ "embed" // the allowlists
	"strings"
)

//go:embed functions.txt
var functionsText string

//go:embed builtins.txt
var builtinsText string

//go:embed types.txt
var typesText string

var (
	allowedFunctions = words(functionsText)
	allowedTypes     = words(typesText)
	// builtinFunctions are the others of pg_catalog, but for those that begin with pg_.
	builtinFunctions = words(builtinsText)
	// informationFunctions and informationTypes are those of schema
	// information_schema that drivers use.
	informationFunctions = words("_pg_expandarray")
	informationTypes     = words("cardinal_number character_data sql_identifier time_stamp yes_or_no")
	// refusedAttributes are functions that attribute notation could call on any
	// value: (10).pg_sleep and g.nextval mean what pg_sleep(10) and nextval(g) mean.
	// Names that begin with pg_ are refused in general; see attribute in column.go.
	// Casts can be written so, too: g.regclass. Read off PostgreSQL 15's pg_proc:
	// what one argument calls and what is not on the allowlist, but for harmless
	// conversions of values (textsend).
	refusedAttributes = words(`amvalidate brin_summarize_new_values col_description current_query
		current_schemas current_setting currval database_to_xml fmgr_c_validator fmgr_internal_validator
		fmgr_sql_validator getpgusername gin_clean_pending_list lo_close lo_creat lo_create lo_export lo_get
		lo_import lo_open lo_tell lo_tell64 lo_unlink loread lowrite mxid_age nextval obj_description
		oidvectortypes row_security_active set_config setval ts_debug ts_rewrite ts_stat ts_token_type
		txid_snapshot txid_snapshot_xip txid_snapshot_xmin txid_snapshot_xmax txid_status format_type
		xid xid8 xidsend xid8send
		regclass regclassin regclassout regproc regprocin regprocout regprocedure regprocedurein regprocedureout
		regtype regtypein regtypeout regnamespace regnamespacein regnamespaceout regoper regoperin regoperout
		regoperator regoperatorin regoperatorout to_regclass to_regproc to_regprocedure to_regtype
		to_regnamespace to_regoper to_regoperator`)
	// temporaryVerbs begin those of them that pass for temporary tables.
	temporaryVerbs = words("ANALYSE ANALYZE CREATE DELETE DROP INSERT TRUNCATE UPDATE")
	// refusedVerbs begin the statements that never pass; see guardVerb.
	refusedVerbs = verbs(`ALTER ANALYSE ANALYZE CALL CHECKPOINT CLUSTER COMMENT CREATE DELETE DO DROP GRANT IMPORT
		INSERT LISTEN LOAD LOCK MERGE NOTIFY REASSIGN REFRESH REINDEX REVOKE SECURITY TRUNCATE UPDATE VACUUM`)
)

// words reads a list of names; # begins a comment.
func words(text string) map[string]bool {
	set := make(map[string]bool)
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		for _, word := range strings.Fields(line) {
			set[word] = true
		}
	}
	return set
}

func verbs(text string) map[string]string {
	hints := make(map[string]string)
	for word := range words(text) {
		hints[word] = "Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT."
	}
	hints["DO"] = "Code blocks cannot be checked. Write the query as SELECT."
	hints["CALL"] = "Procedures cannot be checked. Write the query as SELECT."
	return hints
}

func refuseVerb(verb, hint string) *Refusal {
	return refuse(statePrivilege, hint, "kproxy publishes read-only views: %s is not allowed", verb)
}

// operatorMay is for hints where the operator has not allowed temporary tables.
const operatorMay = "the operator can allow temporary tables (temporary_tables)."

func refuseInto() *Refusal {
	return refuse(statePrivilege, "Leave INTO out and keep the result on the client's side; "+operatorMay,
		"kproxy publishes read-only views: SELECT INTO is not allowed")
}
