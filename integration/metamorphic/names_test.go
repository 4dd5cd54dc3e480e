package metamorphic

import (
	"fmt"
	"slices"
	"strings"
)

// hiddenNames are names of what mutations make.
var hiddenNames = strings.Fields(`hidden_table public.hidden_table hidden_column hidden_schema hidden_schema.hidden_inside hidden_parted hidden_part
	hidden_function hidden_function(integer) hidden_attribute hidden_procedure hidden_procedure() hidden_aggregate hidden_class hidden_enum hidden_label
	hidden_composite hidden_domain hidden_range hidden_collation hidden_search hidden_dictionary hidden_conversion hidden_method hidden_view hidden_copy
	hidden_wrapper hidden_server hidden_publication hidden_event hidden_language hidden_role hidden_database hidden_index hidden_partial hidden_trigger
	hidden_statistics hidden_check hidden_child hidden_key hidden_rule hidden_policy hidden_annex hidden_sequence hidden_slot hidden_channel
	hidden_temporary hidden_unfinished fuzzystrmatch isn levenshtein(text,text) public.soundex(text) other.ean13 no_such_name`)

// mentions are statements in which a name can stand: %[1]s is the name as it is written,
// %[2]s the same as a literal.
var mentions = []string{
	"SELECT * FROM %[1]s", "SELECT * FROM public.%[1]s", "SELECT %[1]s FROM icd10", "SELECT t.%[1]s FROM icd10 t", "SELECT (t).%[1]s FROM icd10 t",
	"SELECT %[1]s FROM patients", "SELECT (p).%[1]s FROM patients p", "SELECT %[1]s(1)", "SELECT public.%[1]s(1)", "SELECT %[1]s('a')", "SELECT %[1]s('a', 'b')",
	"SELECT %[1]s(t) FROM icd10 t", "SELECT * FROM %[1]s(1)", "SELECT 'a'::%[1]s", "SELECT NULL::%[1]s", "SELECT CAST(NULL AS public.%[1]s)", "SELECT NULL::%[1]s[]",
	"SELECT 'a' COLLATE %[1]s", "SELECT %[2]s::regclass", "SELECT %[2]s::regclass::oid", "SELECT %[2]s::regtype", "SELECT %[2]s::regproc", "SELECT %[2]s::regprocedure",
	"SELECT %[2]s::regnamespace", "SELECT %[2]s::regrole", "SELECT %[2]s::regcollation", "SELECT %[2]s::regconfig", "SELECT %[2]s::regdictionary",
	"SELECT to_tsvector(%[2]s, 'x')", "SET ROLE %[1]s", "SET SESSION AUTHORIZATION %[1]s", "SET search_path TO %[1]s", "DROP TABLE %[1]s", "CALL %[1]s",
	"TABLE %[1]s", "COPY %[1]s TO STDOUT", "LISTEN %[1]s", "NOTIFY %[1]s", "LOCK TABLE %[1]s", "EXPLAIN SELECT * FROM %[1]s", "SELECT * FROM pg_class WHERE relname = %[2]s",
	"SELECT * FROM pg_attribute WHERE attname = %[2]s", "SELECT * FROM pg_proc WHERE proname = %[2]s", "SELECT * FROM pg_type WHERE typname = %[2]s",
	"SELECT * FROM pg_roles WHERE rolname = %[2]s", "SELECT * FROM pg_namespace WHERE nspname = %[2]s", "SELECT * FROM information_schema.tables WHERE table_name = %[2]s",
	"SELECT convert('a'::bytea, 'LATIN1', %[2]s)", "SELECT ts_lexize(%[2]s, 'x')", "EXECUTE %[1]s", "FETCH ALL FROM %[1]s", "ANALYZE %[1]s", "SELECT nextval(%[2]s)",
	"CREATE TEMPORARY TABLE z (c %[1]s)", "CREATE TEMPORARY TABLE z (LIKE %[1]s)", "SELECT %[2]s::mood", "SELECT %[2]s::blood", "SELECT ROW(1)::%[1]s",
	"SELECT JSON_POPULATE_RECORD(NULL::%[1]s, '{}')", "SELECT 1 OPERATOR(public.%[1]s) 2", "GRANT %[1]s TO analyst", "SELECT has_table_privilege(%[2]s, 'SELECT')",
}

// provoked are errors of values, of syntax and of privileges.
var provoked = []string{
	"SELECT 1/0", "SELECT diagnosis::int FROM patients", "SELECT 1/(ward-ward) FROM patients", "SELECT code::date FROM icd10", "SELECT 'x'::mood", "SELECT 'x'::blood",
	"SELECT nam FROM patients", "SELECT patient FROM episodes", "SELECT p.remark FROM patients p", "SELECT * FROM patient", "SELECT 1 <#%> 2", "SELECT abs(true)",
	"SELECT icd10.title FROM icd10 i", "SELECT code FROM icd10 i JOIN postcodes p ON i.code = p.code", "SELECT sum(title) FROM icd10", "SELECT icd10.hidden_attribute FROM icd10",
	"UPDATE icd10 SET title = 'x'", "DELETE FROM patients", "INSERT INTO icd10 VALUES ('D1', 'twice')", "INSERT INTO lockers (holder) VALUES (999999)", "TRUNCATE wards",
	"VACUUM icd10", "ANALYZE", "REFRESH MATERIALIZED VIEW patient_copy", "SELECT * FROM patient_copy", "SELECT * FROM journal", "SELECT * FROM trials_early", "LISTEN hidden_channel",
	"SELECT lastval()", "SELECT currval('wards_id_seq')", "SELECT last_value FROM wards_id_seq", "SELECT last_value FROM patients_id_seq", "SELECT log_cnt, is_called FROM rooms_id_seq",
	"COMMIT PREPARED 'hidden transaction'", "PREPARE TRANSACTION 'x'", "SELECT lo_get(16500)", "SELECT pg_current_wal_lsn()", "SELECT txid_current()", "SELECT pg_current_xact_id()",
	"SELECT pg_current_snapshot()", "SELECT pg_try_advisory_lock(42)", "SELECT pg_notify('hidden_channel', 'x')", "SELECT pg_export_snapshot()", "SELECT mood FROM unnest(enum_range(NULL::mood)) mood",
	"SELECT enum_range(NULL::blood)", "SELECT * FROM icd10 WHERE code = 'D5' FOR UPDATE NOWAIT", "SELECT * FROM icd10 FOR UPDATE SKIP LOCKED", "SHOW data_directory",
	"SELECT CASE WHEN true THEN relnamespace ELSE 'public'::regnamespace END FROM pg_class", "SELECT * FROM pg_operator ORDER BY oid DESC LIMIT 5", "SELECT * FROM pg_cast ORDER BY oid DESC LIMIT 5",
	"SELECT 1 AS a UNION SELECT 'x'", "SELECT array_agg(t.xmin) FROM icd10 t", "SELECT p.postcode, i.code FROM patients p JOIN icd10 i ON p.xmax = i.xmax",
	"SELECT xmin FROM (SELECT * FROM icd10) i", "SELECT i.xmin FROM icd10 AS i (xmin)", "SELECT t.* FROM icd10 AS t (a, b, c)", "SELECT max(oid) FROM pg_class",
	"SELECT max(oid) FROM pg_type", "SELECT max(oid) FROM pg_proc", "SELECT max(oid) FROM pg_operator", "SELECT max(oid) FROM pg_attrdef", "SELECT max(oid) FROM pg_constraint",
}

// ofNames mentions every object's name, hidden ones and those that mutations make too,
// where a name can stand, and provokes other errors.
func (f facts) ofNames() []observable {
	var all []observable
	for _, name := range f.spoken(true) {
		for _, mention := range mentions {
			text := fmt.Sprintf(mention, name, literal(name))
			all = append(all, observable{family: "name", name: text, texts: []string{text}, leaves: strings.HasPrefix(text, "S") || strings.HasPrefix(text, "C")})
		}
	}
	for _, text := range provoked {
		for _, w := range []way{simple, extended, describe} {
			o := one("error", w, text)
			o.name += fmt.Sprintf(" (%d)", w)
			all = append(all, o)
		}
	}
	return slices.Concat(all, ofNumbers(f.numbers(true)))
}

// ofNumbers asks what bears a number, of those that objects have and those that new ones
// will have.
func ofNumbers(numbers []string) []observable {
	var all []observable
	for _, number := range numbers {
		for _, text := range []string{
			"SELECT %s::regclass", "SELECT %s::oid::regclass::text", "SELECT %s::regtype", "SELECT %s::regproc", "SELECT %s::regprocedure", "SELECT %s::regnamespace", "SELECT %s::regrole",
			"SELECT %s::regcollation", "SELECT %s::regconfig", "SELECT %s::regdictionary", "SELECT %s::regoper", "SELECT %s::regoperator", "SELECT format_type(%s, 5)",
			"SELECT CASE WHEN true THEN %s ELSE 'pg_class'::regclass END", "SELECT CASE WHEN true THEN p.oid ELSE typinput END FROM pg_type p WHERE oid = %s",
			"SELECT CASE 1 WHEN 1 THEN %s::oid ELSE typinput END FROM pg_type WHERE typname = 'int4'", "SELECT coalesce(nullif(%s::oid, 0), typinput) FROM pg_type WHERE typname = 'int4'",
			"SELECT typinput FROM pg_type WHERE typname = 'int4' UNION ALL SELECT %s::oid", "SELECT greatest(%s::oid, typinput::oid) FROM pg_type WHERE typname = 'int4'",
			"SELECT array[typinput, %s::oid] FROM pg_type WHERE typname = 'int4'", "SELECT (%s::oid)::text::regclass", "SELECT * FROM pg_class WHERE oid = %s", "SELECT * FROM pg_description WHERE objoid = %s",
			"SELECT * FROM pg_depend WHERE objid = %[1]s OR refobjid = %[1]s", "SELECT * FROM pg_identify_object(1259, %s, 0)", "SELECT * FROM pg_describe_object(1259, %s, 0)",
		} {
			all = append(all, one("number", simple, fmt.Sprintf(text, number)))
		}
	}
	return all
}
