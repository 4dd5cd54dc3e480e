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
	// informationFunctions and informationTypes are those of schema information_schema that
	// drivers and tools use. The functions compute from their arguments.
	// Others of that schema read pg_database or pg_index.
	informationFunctions = words(`_pg_char_max_length _pg_datetime_precision _pg_expandarray _pg_numeric_precision
		_pg_numeric_precision_radix _pg_numeric_scale`)
	informationTypes = words("cardinal_number character_data sql_identifier time_stamp yes_or_no")
	// temporaryVerbs begin those of them that pass for temporary tables.
	temporaryVerbs = words("ANALYSE ANALYZE CREATE DELETE DROP INSERT TRUNCATE UPDATE")
	// refusedVerbs begin the statements that never pass; see allowVerb.
	refusedVerbs = verbs(`ALTER ANALYSE ANALYZE CALL CHECKPOINT CLUSTER COMMENT CREATE DELETE DO DROP GRANT IMPORT
		INSERT LISTEN LOAD LOCK MERGE NOTIFY REASSIGN REFRESH REINDEX REVOKE SECURITY TRUNCATE UPDATE VACUUM`)
)

// OnlyComputes says whether clients may call PostgreSQL's functions of the name as they are, with
// whatever arguments: what they return is no news of the database.
func OnlyComputes(function string) bool {
	return allowedFunctions[function] && specials[function] == nil
}

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
	return refuse(ReadOnly, hint, "kproxy publishes read-only views: %s is not allowed", verb)
}

// operatorMay is for hints where the operator has not allowed temporary tables.
const operatorMay = "the operator can allow temporary tables (temporary_tables)."

func refuseInto() *Refusal {
	return refuse(ReadOnly, "Leave INTO out and keep the result on the client's side; "+operatorMay,
		"kproxy publishes read-only views: SELECT INTO is not allowed")
}
