BEGIN
--> BEGIN

START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE
--> START TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY, DEFERRABLE

BEGIN READ WRITE
--> BEGIN READ ONLY

BEGIN TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY NOT DEFERRABLE
--> BEGIN ISOLATION LEVEL SERIALIZABLE, READ ONLY, NOT DEFERRABLE

COMMIT AND CHAIN
--> COMMIT AND CHAIN

END
--> COMMIT

ABORT
--> ROLLBACK

ROLLBACK TO SAVEPOINT a
--> ROLLBACK TO SAVEPOINT a

SAVEPOINT "A b"; RELEASE "A b"
--> SAVEPOINT "A b"; RELEASE "A b"

SHOW server_version
--> SHOW server_version

SHOW search_path
--> SELECT '"$user", public'::pg_catalog.text AS search_path

SHOW "Search_Path"
--> SELECT '"$user", public'::pg_catalog.text AS search_path

SHOW TIME ZONE
--> SHOW TIME ZONE

SHOW TRANSACTION ISOLATION LEVEL
--> SHOW TRANSACTION ISOLATION LEVEL

SHOW SESSION AUTHORIZATION
--> SHOW SESSION AUTHORIZATION

SHOW DateStyle; SHOW standard_conforming_strings
--> SHOW datestyle; SHOW standard_conforming_strings

SELECT current_setting('search_path'), set_config('search_path', 'a', false); SELECT current_setting('search_path') AS now
--> SELECT '"$user", public'::pg_catalog.text AS current_setting, 'a'::pg_catalog.text AS set_config; SELECT 'a'::pg_catalog.text AS now

SELECT set_config('search_path', $1, true) AS here; SELECT set_config('search_path', $1, false)
--> SELECT COALESCE(pg_catalog.textcat($1, ''), '"$user", public'::pg_catalog.text) AS here; SELECT COALESCE(pg_catalog.textcat($1, ''), '"$user", public'::pg_catalog.text) AS set_config

SHOW ALL
--> SELECT s.name, pg_catalog.current_setting(s.name) AS setting, s.short_desc AS description FROM pg_catalog.pg_settings s WHERE pg_catalog.lower(s.name) IN ('application_name', 'array_nulls', 'autovacuum', 'autovacuum_max_workers', 'block_size', 'bytea_output', 'check_function_bodies', 'client_encoding', 'client_min_messages', 'constraint_exclusion', 'cpu_index_tuple_cost', 'cpu_operator_cost', 'cpu_tuple_cost', 'cursor_tuple_fraction', 'data_checksums', 'datestyle', 'debug_parallel_query', 'default_table_access_method', 'default_tablespace', 'default_text_search_config', 'default_toast_compression', 'default_transaction_deferrable', 'default_transaction_isolation', 'default_transaction_read_only', 'effective_cache_size', 'enable_async_append', 'enable_bitmapscan', 'enable_distinct_reordering', 'enable_gathermerge', 'enable_group_by_reordering', 'enable_hashagg', 'enable_hashjoin', 'enable_incremental_sort', 'enable_indexonlyscan', 'enable_indexscan', 'enable_material', 'enable_memoize', 'enable_mergejoin', 'enable_nestloop', 'enable_parallel_append', 'enable_parallel_hash', 'enable_partition_pruning', 'enable_partitionwise_aggregate', 'enable_partitionwise_join', 'enable_presorted_aggregate', 'enable_self_join_elimination', 'enable_seqscan', 'enable_sort', 'enable_tidscan', 'escape_string_warning', 'extra_float_digits', 'force_parallel_mode', 'from_collapse_limit', 'fsync', 'full_page_writes', 'geqo', 'geqo_effort', 'geqo_generations', 'geqo_pool_size', 'geqo_seed', 'geqo_selection_bias', 'geqo_threshold', 'gin_fuzzy_search_limit', 'hash_mem_multiplier', 'hot_standby', 'huge_pages', 'idle_in_transaction_session_timeout', 'idle_session_timeout', 'in_hot_standby', 'integer_datetimes', 'intervalstyle', 'is_superuser', 'jit', 'jit_above_cost', 'jit_inline_above_cost', 'jit_optimize_above_cost', 'jit_provider', 'join_collapse_limit', 'lc_collate', 'lc_ctype', 'lc_messages', 'lc_monetary', 'lc_numeric', 'lc_time', 'lock_timeout', 'logical_decoding_work_mem', 'maintenance_work_mem', 'max_connections', 'max_function_args', 'max_identifier_length', 'max_index_keys', 'max_locks_per_transaction', 'max_logical_replication_workers', 'max_parallel_maintenance_workers', 'max_parallel_workers', 'max_parallel_workers_per_gather', 'max_pred_locks_per_transaction', 'max_prepared_transactions', 'max_replication_slots', 'max_stack_depth', 'max_wal_senders', 'max_wal_size', 'max_worker_processes', 'min_parallel_index_scan_size', 'min_parallel_table_scan_size', 'min_wal_size', 'parallel_leader_participation', 'parallel_setup_cost', 'parallel_tuple_cost', 'password_encryption', 'plan_cache_mode', 'quote_all_identifiers', 'random_page_cost', 'recovery_target_timeline', 'recursive_worktable_factor', 'row_security', 'segment_size', 'seq_page_cost', 'server_encoding', 'server_version', 'server_version_num', 'shared_buffers', 'ssl', 'ssl_renegotiation_limit', 'standard_conforming_strings', 'statement_timeout', 'superuser_reserved_connections', 'synchronous_commit', 'tcp_keepalives_count', 'tcp_keepalives_idle', 'tcp_keepalives_interval', 'temp_buffers', 'temp_tablespaces', 'timezone', 'timezone_abbreviations', 'track_activities', 'track_counts', 'track_io_timing', 'transaction_deferrable', 'transaction_isolation', 'transaction_read_only', 'transaction_timeout', 'wal_block_size', 'wal_level', 'wal_segment_size', 'work_mem', 'xmlbinary', 'xmloption') UNION ALL SELECT 'search_path', '"$user", public', 'Sets the schema search order for names that are not schema-qualified.' ORDER BY 1

SHOW data_directory
--! 42501 permission denied to examine parameter "data_directory"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SHOW config_file
--! 42501 permission denied to examine parameter "config_file"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET application_name = 'psql'
--> SET application_name TO psql

SET LOCAL extra_float_digits TO 3
--> SET LOCAL extra_float_digits TO 3

SET SESSION datestyle TO ISO, DMY
--> SET datestyle TO iso, dmy

SET intervalstyle = postgres
--> SET intervalstyle TO postgres

SET TIME ZONE 'Europe/Berlin'
--> SET timezone TO "Europe/Berlin"

SET TIME ZONE LOCAL
--> SET timezone TO DEFAULT

SET TIME ZONE INTERVAL '+01:00' HOUR TO MINUTE
--> SET TIME ZONE interval '+01:00' hour to minute

SET timezone TO DEFAULT
--> SET timezone TO DEFAULT

SET "TimeZone" = 'UTC'
--> SET "TimeZone" TO "UTC"

SET statement_timeout = '30s'
--> SET statement_timeout TO "30s"

SET client_min_messages = warning
--> SET client_min_messages TO warning

SET client_min_messages = debug5
--! 22023 parameter "client_min_messages" cannot be set to this value
--! hint: Use notice, warning or error.

SET client_min_messages = log
--! 22023 parameter "client_min_messages" cannot be set to this value
--! hint: Use notice, warning or error.

SET client_encoding = 'UTF8'
--> SET client_encoding TO "UTF8"

SET NAMES 'utf-8'
--> SET client_encoding TO "utf-8"

SET NAMES 'LATIN1'
--> SET client_encoding TO "LATIN1"

SET standard_conforming_strings = on
--> SET standard_conforming_strings TO ON

SET standard_conforming_strings = off
--! 22023 parameter "standard_conforming_strings" cannot be set to this value
--! hint: It is always on; write E'...' for escapes.

SET backslash_quote = on
--! 42501 permission denied to set parameter "backslash_quote"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET search_path = public
--> SET search_path TO DEFAULT

SET search_path TO "$user", public, pg_catalog
--> SET search_path TO DEFAULT

SET LOCAL search_path = 'public'
--> SET LOCAL search_path TO DEFAULT

SET search_path = hospital
--> SET search_path TO DEFAULT

SET search_path = kproxy_store, public
--> SET search_path TO DEFAULT

SET SCHEMA 'hospital'
--> SET search_path TO DEFAULT

RESET search_path
--> RESET search_path

SET ROLE postgres
--! 42501 permission denied to set role "postgres"
--! hint: Clients stay the user that they log in as; NONE and DEFAULT are allowed.

SET SESSION AUTHORIZATION postgres
--! 42501 permission denied to set session authorization "postgres"
--! hint: Clients stay the user that they log in as; NONE and DEFAULT are allowed.

RESET ROLE
--> RESET role

SET row_security = off
--! 22023 parameter "row_security" cannot be set to this value
--! hint: It is always on.

SET enable_seqscan = off
--> SET enable_seqscan TO OFF

SET work_mem = '1GB'
--! 42501 permission denied to set parameter "work_mem"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET session_replication_role = replica
--! 42501 permission denied to set parameter "session_replication_role"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET plpgsql.check_asserts = off
--! 42501 permission denied to set parameter "plpgsql.check_asserts"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET TRANSACTION ISOLATION LEVEL SERIALIZABLE
--> SET TRANSACTION ISOLATION LEVEL SERIALIZABLE

SET TRANSACTION READ ONLY
--> SET TRANSACTION READ ONLY

SET TRANSACTION READ WRITE
--> SET TRANSACTION READ ONLY

SET TRANSACTION SNAPSHOT '00000003-0000001B-1'
--! 0A000 kproxy does not support SET TRANSACTION SNAPSHOT
--! hint: Use REPEATABLE READ, and one session.

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY
--> SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY

SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
--> SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY

SET transaction_read_only = off
--! 22023 parameter "transaction_read_only" cannot be set to this value
--! hint: kproxy publishes read-only views.

SET transaction_read_only TO DEFAULT
--! 42501 permission denied to set parameter "transaction_read_only"
--! hint: Only settings of the client's own formats, plans and time limits are open.

RESET transaction_read_only
--! 42501 permission denied to set parameter "transaction_read_only"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET default_transaction_read_only = off
--! 22023 parameter "default_transaction_read_only" cannot be set to this value
--! hint: kproxy publishes read-only views.

SET default_transaction_read_only = on
--> SET default_transaction_read_only TO ON

SET CONSTRAINTS ALL DEFERRED
--> SET CONSTRAINTS ALL DEFERRED

SET CONSTRAINTS ALL IMMEDIATE
--> SET CONSTRAINTS ALL IMMEDIATE

SET CONSTRAINTS wards_pkey DEFERRED
--! 42501 kproxy publishes read-only views: SET CONSTRAINTS is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

RESET timezone
--> RESET timezone

RESET ALL
--> RESET ALL

DISCARD ALL
--> DISCARD ALL

DISCARD PLANS
--> DISCARD PLANS

DISCARD TEMP
--> DISCARD TEMP

SELECT current_schema, current_schema(), current_schemas(true), current_setting('search_path'), current_setting('TimeZone', true), version()
--> SELECT 'public'::pg_catalog.name AS "current_schema", 'public'::pg_catalog.name AS "current_schema", '{pg_catalog,public}'::pg_catalog.name[] AS current_schemas, '"$user", public'::pg_catalog.text AS current_setting, pg_catalog.current_setting('TimeZone', true), pg_catalog.version()

-- only a comment
-->

;
-->

SET SESSION TIMEZONE TO 'UTC'
--> SET timezone TO "UTC"

BEGIN; SET TRANSACTION READ ONLY; SELECT 1; COMMIT
--> BEGIN; SET TRANSACTION READ ONLY; SELECT 1; COMMIT

SET application_name = ''
--> SET application_name TO ''

COPY wards TO STDOUT (FORMAT csv, HEADER on, FORCE_QUOTE (a, "B"))
--> COPY (SELECT * FROM kproxy_release_public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, FORCE_QUOTE (a, "B"))

COPY wards TO STDOUT (HEADER 0, FORMAT text, DELIMITER '|', NULL '\N', ENCODING 'UTF8')
--> COPY (SELECT * FROM kproxy_release_public.wards wards) TO STDOUT WITH (HEADER false, FORMAT TEXT, DELIMITER '|', NULL E'\\N', ENCODING 'UTF8')

COPY wards TO STDOUT WITH CSV HEADER FORCE QUOTE *
--> COPY (SELECT * FROM kproxy_release_public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, FORCE_QUOTE *)

COPY wards TO STDOUT WITH (FORMAT csv, HEADER TRUE, QUOTE '''', ESCAPE '\', FORCE_QUOTE *)
--> COPY (SELECT * FROM kproxy_release_public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER, QUOTE '''', ESCAPE E'\\', FORCE_QUOTE *)

EXPLAIN (ANALYZE, BUFFERS off, COSTS 0, FORMAT json) SELECT 1
--> EXPLAIN (ANALYZE, COSTS 0, FORMAT json, TIMING OFF, SUMMARY OFF, BUFFERS OFF) SELECT 1

SET TIME ZONE -1.5
--> SET timezone TO -1.5

SET transaction_timeout = 1000
--> SET transaction_timeout TO 1000

SET search_path = hospital, public
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT 'hospital, public'::pg_catalog.text AS search_path
SELECT * FROM visits, wards
--> SELECT * FROM kproxy_release_hospital.visits visits, kproxy_release_public.wards wards
SELECT * FROM patients
--! 42501 permission denied for table patients
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.
SELECT current_schema, current_schemas(true), current_setting('search_path')
--> SELECT 'hospital'::pg_catalog.name AS "current_schema", '{pg_catalog,hospital,public}'::pg_catalog.name[] AS current_schemas, 'hospital, public'::pg_catalog.text AS current_setting
SELECT pg_table_is_visible(oid), to_regclass(relname) FROM pg_class
--> SELECT kproxy_catalog.table_is_visible(oid, '{pg_catalog,hospital,public}'::pg_catalog.name[]) AS pg_table_is_visible, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,hospital,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class(relname::pg_catalog.text, '{pg_catalog,hospital,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regclass FROM kproxy_catalog.pg_class pg_class
RESET search_path
--> RESET search_path
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SET search_path = 'hospital, public'
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT '"hospital, public"'::pg_catalog.text AS search_path
SELECT current_schema
--> SELECT NULL::pg_catalog.name AS "current_schema"

SET search_path = Hospital, "Public", public
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT 'hospital, "Public", public'::pg_catalog.text AS search_path
SELECT * FROM "Patients"
--> SELECT * FROM kproxy_release_public."Patients" "Patients"

SET search_path = "select", "Icd Codes", 1, -2, 3.5, true
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT '"select", "Icd Codes", 1, -2, 3.5, "true"'::pg_catalog.text AS search_path

SET search_path TO hospital, $user
--! 42601 syntax error at or near "$"
--! position: 30
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.
SET search_path TO hospital, "$user"
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT 'hospital, "$user"'::pg_catalog.text AS search_path

SET search_path = public, pg_catalog
--> SET search_path TO DEFAULT
SELECT * FROM pg_class
--> SELECT * FROM kproxy_catalog.pg_class pg_class
SELECT current_schemas(true), current_schemas(false)
--> SELECT '{public,pg_catalog}'::pg_catalog.name[] AS current_schemas, '{public,pg_catalog}'::pg_catalog.name[] AS current_schemas

SET search_path = pg_temp, kproxy_store, kproxy_release_public, kproxy_catalog
--> SET search_path TO DEFAULT
SELECT * FROM patients
--! 42P01 relation "patients" does not exist
--! position: 15
SELECT current_schema, current_schemas(true)
--> SELECT NULL::pg_catalog.name AS "current_schema", '{pg_catalog}'::pg_catalog.name[] AS current_schemas

SET search_path = information_schema
--> SET search_path TO DEFAULT
SELECT * FROM columns
--> SELECT * FROM kproxy_catalog.information_schema_columns columns
SELECT * FROM wards
--! 42P01 relation "wards" does not exist
--! position: 15

SELECT set_config('search_path', 'hospital,public', false)
--> SELECT 'hospital,public'::pg_catalog.text AS set_config
SELECT * FROM visits
--> SELECT * FROM kproxy_release_hospital.visits visits
SELECT pg_catalog.set_config('search_path', '', false);
--> SELECT ''::pg_catalog.text AS set_config
SELECT * FROM patients
--! 42P01 relation "patients" does not exist
--! position: 15
SELECT set_config('Search_Path', NULL, false) AS path
--> SELECT '"$user", public'::pg_catalog.text AS path
SELECT * FROM patients
--> SELECT * FROM kproxy_release_public.patients patients

SELECT set_config('search_path', 'a b', false)
--! 22023 invalid value for parameter "search_path": "a b"
--! position: 1
--! hint: A search path is a list of schemas, separated by commas.

SELECT set_config('search_path', 'hospital', false), 1
--! 42501 permission denied for function set_config
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT set_config('search_path', 'hospital', false) FROM wards
--! 0A000 kproxy supports set_config with constants only, as the whole statement
--! position: 8
--! hint: Write SELECT set_config(...) with constants as a statement of its own, or SET.

SELECT * FROM set_config('search_path', 'hospital', false)
--! 42501 permission denied for function set_config
--! position: 15
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT set_config('search_path', name, false) FROM wards
--! 0A000 kproxy supports set_config with constants only, as the whole statement
--! position: 8
--! hint: Write SELECT set_config(...) with constants as a statement of its own, or SET.

SELECT set_config('search_path', 'hospital', ward) FROM wards
--! 0A000 kproxy supports set_config with constants only, as the whole statement
--! position: 8
--! hint: Write SELECT set_config(...) with constants as a statement of its own, or SET.

SELECT set_config('search_path', 'hospital', false) WHERE 1 > 2
--! 42501 permission denied for function set_config
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT set_config('statement_timeout', '5s', true)
--> SELECT pg_catalog.set_config('statement_timeout', '5s', true)

SELECT set_config('client_encoding', 'utf-8', false)
--> SELECT pg_catalog.set_config('client_encoding', 'utf-8', false)

SELECT set_config('client_encoding', 'latin1', false)
--> SELECT pg_catalog.set_config('client_encoding', 'latin1', false)

SELECT set_config('work_mem', '1GB', false)
--! 42501 permission denied to set parameter "work_mem"
--! position: 8
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT set_config('role', 'postgres', false)
--! 42501 permission denied to set parameter "role"
--! position: 8
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT set_config('default_transaction_read_only', 'off', false)
--! 22023 parameter "default_transaction_read_only" cannot be set to this value
--! position: 8
--! hint: kproxy publishes read-only views.

SELECT set_config('bytea_output', 'hex', false) FROM pg_catalog.pg_settings WHERE name = 'bytea_output'
--> SELECT pg_catalog.set_config('bytea_output', 'hex', false) FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', '"$user", public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') pg_settings WHERE name = 'bytea_output'

SELECT set_config('bytea_output', 'hex', false) FROM pg_show_all_settings() WHERE name = 'bytea_output'
--> SELECT pg_catalog.set_config('bytea_output', 'hex', false) FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', '"$user", public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') pg_settings WHERE name = 'bytea_output'

SELECT set_config('search_path', 'hospital', false) FROM pg_settings WHERE name = 'search_path'
--! 42501 permission denied to set parameter "search_path"
--! position: 8
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT set_config('bytea_output', 'hex', false) FROM pg_settings WHERE name = 'work_mem'
--! 0A000 kproxy supports set_config with constants only, as the whole statement
--! position: 8
--! hint: Write SELECT set_config(...) with constants as a statement of its own, or SET.

SELECT set_config('bytea_output', setting, false) FROM pg_settings WHERE name = 'bytea_output'
--! 0A000 kproxy supports set_config with constants only, as the whole statement
--! position: 8
--! hint: Write SELECT set_config(...) with constants as a statement of its own, or SET.

BEGIN
--> BEGIN
SET LOCAL search_path = hospital
--> SET LOCAL search_path TO DEFAULT
SELECT * FROM visits
--> SELECT * FROM kproxy_release_hospital.visits visits
COMMIT
--> COMMIT
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

BEGIN
--> BEGIN
SET search_path = hospital
--> SET search_path TO DEFAULT
SAVEPOINT s
--> SAVEPOINT s
SET search_path = public
--> SET search_path TO DEFAULT
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15
ROLLBACK TO s
--> ROLLBACK TO SAVEPOINT s
SELECT * FROM visits
--> SELECT * FROM kproxy_release_hospital.visits visits
ROLLBACK
--> ROLLBACK
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

BEGIN
--> BEGIN
SET search_path = hospital
--> SET search_path TO DEFAULT
COMMIT
--> COMMIT
SELECT * FROM visits
--> SELECT * FROM kproxy_release_hospital.visits visits
DISCARD ALL
--> DISCARD ALL
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

BEGIN; SET LOCAL search_path = hospital; SELECT * FROM visits; COMMIT; SELECT * FROM wards
--> BEGIN; SET LOCAL search_path TO DEFAULT; SELECT * FROM kproxy_release_hospital.visits visits; COMMIT; SELECT * FROM kproxy_release_public.wards wards
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SET LOCAL search_path = hospital; SELECT * FROM visits
--> SET LOCAL search_path TO DEFAULT; SELECT * FROM kproxy_release_hospital.visits visits
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SET search_path = hospital; SELECT * FROM visits; ROLLBACK; SELECT * FROM patients
--> SET search_path TO DEFAULT; SELECT * FROM kproxy_release_hospital.visits visits; ROLLBACK; SELECT * FROM kproxy_release_public.patients patients
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SET search_path = hospital; SELECT * FROM secrets
--! 42P01 relation "secrets" does not exist
--! position: 43
SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SET ROLE NONE
--> SET role TO "none"

SET ROLE "none"
--> SET role TO "none"

SET SESSION AUTHORIZATION DEFAULT
--> SET session_authorization TO DEFAULT

RESET SESSION AUTHORIZATION
--> RESET session_authorization

SET LOCAL ROLE ann
--! 42501 permission denied to set role "ann"
--! hint: Clients stay the user that they log in as; NONE and DEFAULT are allowed.

UNLISTEN *
--> UNLISTEN *

SET xmlbinary = hex
--> SET xmlbinary TO hex

SET jit = off
--> SET jit TO OFF

SET default_text_search_config = 'pg_catalog.english'
--> SET default_text_search_config TO "pg_catalog.english"

SET ssl_renegotiation_limit = 0
--> SET ssl_renegotiation_limit TO 0

SET row_security = on
--> SET row_security TO ON

SET transform_null_equals = on
--! 42501 permission denied to set parameter "transform_null_equals"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET temp_buffers = '1GB'
--! 42501 permission denied to set parameter "temp_buffers"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET app.tenant = 'x'
--! 42501 permission denied to set parameter "app.tenant"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SET transaction_timeout TO DEFAULT; RESET jit
--> SET transaction_timeout TO DEFAULT; RESET jit

SET search_path TO hospital, public
--> SET search_path TO DEFAULT
SELECT name, setting FROM pg_settings WHERE name = 'search_path'
--> SELECT name, setting FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', 'hospital, public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') pg_settings WHERE name = 'search_path'
SELECT x.a FROM pg_settings AS x (a) TABLESAMPLE SYSTEM (10)
--> SELECT x.a FROM (SELECT * FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', 'hospital, public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') x(a) WHERE (pg_catalog.random() * 100) < 10) x(a)
SELECT current_setting(x) FROM unnest(ARRAY['jit', 'search_path']) x
--> SELECT kproxy_catalog.setting(x::pg_catalog.text, 'hospital, public') AS current_setting FROM pg_catalog.unnest(ARRAY['jit', 'search_path']) x
