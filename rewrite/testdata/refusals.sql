SELECT query_to_xml('select * from patients', true, false, '')
--! 42501 permission denied for function query_to_xml
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_catalog.table_to_xml('patients', true, false, ''), schema_to_xml('public', true, false, '')
--! 42501 permission denied for function pg_catalog.table_to_xml
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT database_to_xml_and_xmlschema(true, false, '')
--! 42501 permission denied for function database_to_xml_and_xmlschema
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT cursor_to_xml('c', 10, true, false, '')
--! 42501 permission denied for function cursor_to_xml
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT * FROM ts_stat('select to_tsvector(name) from patients')
--! 42501 permission denied for function ts_stat
--! position: 15
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT ts_rewrite('a'::tsquery, 'select a, b from patients')
--! 42501 permission denied for function ts_rewrite
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT * FROM dblink('dbname=clinic', 'select * from patients') AS t (a text)
--! 42883 function dblink does not exist
--! position: 15
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT * FROM crosstab('select 1,2,3')
--! 42883 function crosstab does not exist
--! position: 15
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT count(*) FROM patients WHERE leak(name)
--! 42883 function leak does not exist
--! position: 37
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT public.lower('x'), hospital.lower('x')
--! 42883 function public.lower does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT clinic.pg_catalog.lower('x')
--! 42501 permission denied for function clinic.pg_catalog.lower
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_read_file('/etc/passwd'), pg_ls_dir('.')
--! 42501 permission denied for function pg_read_file
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT lo_get(1)
--! 42501 permission denied for function lo_get
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT lo_import('/etc/passwd')
--! 42501 permission denied for function lo_import
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_sleep(100)
--! 42501 permission denied for function pg_sleep
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_terminate_backend(1)
--! 42501 permission denied for function pg_terminate_backend
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT (1).pg_terminate_backend
--! 42501 permission denied for function pg_terminate_backend
--! position: 1
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT g.pg_sleep FROM generate_series(1, 2) g
--! 42501 permission denied for function pg_sleep
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (g).nextval FROM unnest(ARRAY['s']) g
--! 42501 permission denied for function nextval
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT ('search_path').current_setting
--! 42501 permission denied for function current_setting
--! position: 1
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT set_config('search_path', 'public', false)
--> SELECT 'public'::pg_catalog.text AS set_config

SELECT current_setting('data_directory')
--! 42501 permission denied to examine parameter "data_directory"
--! position: 8
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT current_setting('search' || '_path')
--> SELECT kproxy_catalog.setting(CAST('search' || '_path' AS pg_catalog.text), '"$user", public') AS current_setting

SELECT nextval('s'), currval('s')
--! 42501 permission denied for function nextval
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT txid_current()
--! 42501 permission denied for function txid_current
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_relation_size('patients'), pg_total_relation_size('patients')
--> SELECT NULL::bigint AS pg_relation_size, NULL::bigint AS pg_total_relation_size

SELECT pg_stat_get_live_tuples(16384)
--> SELECT NULL::bigint AS pg_stat_get_live_tuples

SELECT pg_get_viewdef('patients'::regclass)
--> SELECT ' -- not shown by kproxy'::pg_catalog.text AS pg_get_viewdef

SELECT pg_get_functiondef(1)
--> SELECT NULL::pg_catalog.text AS pg_get_functiondef

SELECT pg_notify('a', 'b')
--! 42501 permission denied for function pg_notify
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_advisory_lock(1)
--! 42501 permission denied for function pg_advisory_lock
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT * FROM pg_stats
--> SELECT * FROM kproxy_catalog.pg_stats pg_stats

SELECT * FROM pg_statistic, pg_catalog.pg_statistic_ext_data
--! 42501 permission denied for table pg_statistic
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM pg_stat_activity
--> SELECT * FROM kproxy_catalog.pg_stat_activity pg_stat_activity

SELECT * FROM pg_stat_user_tables
--> SELECT * FROM kproxy_catalog.pg_stat_user_tables pg_stat_user_tables

SELECT * FROM pg_authid
--! 42501 permission denied for table pg_authid
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM pg_views
--> SELECT * FROM kproxy_catalog.pg_views pg_views

SELECT * FROM pg_largeobject
--! 42501 permission denied for table pg_largeobject
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT null::patients
--> SELECT NULL::kproxy_release_public.patients

SELECT json_populate_record(null::public.patients, '{}')
--> SELECT pg_catalog.json_populate_record(NULL::kproxy_release_public.patients, '{}')

SELECT * FROM json_to_record('{}') AS x (a patients)
--> SELECT * FROM pg_catalog.json_to_record('{}') x (a kproxy_release_public.patients)

SELECT ROW(1, 2)::pg_class
--! 42704 type "pg_class" does not exist
--! position: 19
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT ARRAY[]::patients[]
--> SELECT ARRAY[]::kproxy_release_public.patients[]

SELECT 'x'::patients.name%TYPE
--! 42704 type "patients.name" does not exist
--! position: 13
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 'x'::hospital.mood
--! 42704 type "hospital.mood" does not exist
--! position: 13
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT CAST('x' AS clinic.pg_catalog.text)
--! 42704 type "clinic.pg_catalog.text" does not exist
--! position: 20
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 'secrets'::regclass
--! 42P01 relation "secrets" does not exist
--! position: 8

SELECT 'kproxy_store.patients'::regclass::oid
--! 42P01 relation "kproxy_store.patients" does not exist
--! position: 8

SELECT 1 OPERATOR(public.+) 2
--! 42501 permission denied for operator public.+
--! position: 10
--! hint: Only the operators of pg_catalog are allowed.

SELECT 1 WHERE 1 OPERATOR(hospital.=) ANY (SELECT 1)
--! 42501 permission denied for operator hospital.=
--! position: 18
--! hint: Only the operators of pg_catalog are allowed.

SELECT 1 ORDER BY 1 USING OPERATOR(public.<)
--! 42501 permission denied for operator public.<
--! position: 27
--! hint: Only the operators of pg_catalog are allowed.

SELECT 'a' COLLATE public.mine
--! 42501 permission denied for collation public.mine
--! position: 12
--! hint: Only the collations of pg_catalog are allowed.

WITH x AS (DELETE FROM patients RETURNING *) SELECT * FROM x
--! 42501 kproxy publishes read-only views: changing data in WITH is not allowed
--! position: 1
--! hint: Only SELECT may stand inside WITH.

WITH x AS (INSERT INTO wards VALUES (1) RETURNING *) SELECT * FROM x
--! 42501 kproxy publishes read-only views: changing data in WITH is not allowed
--! position: 1
--! hint: Only SELECT may stand inside WITH.

WITH x AS (UPDATE wards SET id = 1 RETURNING *) SELECT * FROM x
--! 42501 kproxy publishes read-only views: changing data in WITH is not allowed
--! position: 1
--! hint: Only SELECT may stand inside WITH.

INSERT INTO patients VALUES (1)
--! 42501 kproxy publishes read-only views: INSERT is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

UPDATE patients SET age = 1
--! 42501 kproxy publishes read-only views: UPDATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

DELETE FROM patients
--! 42501 kproxy publishes read-only views: DELETE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

MERGE INTO patients USING wards ON true WHEN MATCHED THEN DELETE
--! 42501 kproxy publishes read-only views: MERGE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

TRUNCATE patients
--! 42501 kproxy publishes read-only views: TRUNCATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SELECT * INTO TEMP t FROM patients
--! 42501 kproxy publishes read-only views: SELECT INTO is not allowed
--! position: 20
--! hint: Leave INTO out and keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

SELECT * INTO GLOBAL TEMPORARY t FROM patients
--! 42501 kproxy publishes read-only views: SELECT INTO is not allowed
--! position: 10
--! hint: Leave INTO out and keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

CREATE TEMP TABLE patients AS SELECT 1
--! 42501 kproxy publishes read-only views: CREATE TEMPORARY TABLE is not allowed
--! position: 1
--! hint: Keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

CREATE LOCAL TEMPORARY TABLE "#Tableau_1" (a int)
--! 42501 kproxy publishes read-only views: CREATE TEMPORARY TABLE is not allowed
--! position: 1
--! hint: Keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

CREATE VIEW v AS SELECT * FROM patients
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'SELECT 1'
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE RULE r AS ON SELECT TO patients DO INSTEAD NOTHING
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE PROPERTY GRAPH g
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

ALTER TABLE patients ADD COLUMN x int
--! 42501 kproxy publishes read-only views: ALTER is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

DROP TABLE patients
--! 42501 kproxy publishes read-only views: DROP is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

GRANT SELECT ON patients TO PUBLIC
--! 42501 kproxy publishes read-only views: GRANT is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

DO $$ BEGIN RAISE NOTICE 'x'; END $$
--! 42501 kproxy publishes read-only views: DO is not allowed
--! position: 1
--! hint: Code blocks cannot be checked. Write the query as SELECT.

CALL p()
--! 42501 kproxy publishes read-only views: CALL is not allowed
--! position: 1
--! hint: Procedures cannot be checked. Write the query as SELECT.

LISTEN a
--! 42501 kproxy publishes read-only views: LISTEN is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

NOTIFY a
--! 42501 kproxy publishes read-only views: NOTIFY is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

UNLISTEN *
--> UNLISTEN *

LOAD 'auto_explain'
--! 42501 kproxy publishes read-only views: LOAD is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

LOCK TABLE patients
--! 42501 kproxy publishes read-only views: LOCK is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

VACUUM patients
--! 42501 kproxy publishes read-only views: VACUUM is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

ANALYZE patients
--! 42501 kproxy publishes read-only views: ANALYZE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

COMMENT ON TABLE patients IS 'x'
--! 42501 kproxy publishes read-only views: COMMENT is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SECURITY LABEL ON TABLE patients IS 'x'
--! 42501 kproxy publishes read-only views: SECURITY is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

REFRESH MATERIALIZED VIEW m
--! 42501 kproxy publishes read-only views: REFRESH is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SELECT 1; DROP TABLE patients; SELECT 2
--! 42501 kproxy publishes read-only views: DROP is not allowed
--! position: 11
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SELECT 1; SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 25
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM patients FOR UPDATE
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 1
--! hint: Leave the locking clause out.

SELECT * FROM patients FOR KEY SHARE OF patients NOWAIT
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 1
--! hint: Leave the locking clause out.

SELECT * FROM patients TABLESAMPLE bernoulli (10)
--> SELECT * FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 10) patients

COPY patients FROM STDIN
--! 42501 kproxy publishes read-only views: COPY FROM is not allowed
--! position: 1
--! hint: Nothing can be loaded through kproxy.

COPY patients TO '/tmp/x'
--! 42501 kproxy publishes read-only views: COPY TO a file or program is not allowed
--! position: 1
--! hint: Use COPY ... TO STDOUT, or \copy in psql.

COPY patients TO PROGRAM 'cat'
--! 42501 kproxy publishes read-only views: COPY TO a file or program is not allowed
--! position: 1
--! hint: Use COPY ... TO STDOUT, or \copy in psql.

COPY (SELECT * FROM patients) TO PROGRAM 'cat'
--! 42501 kproxy publishes read-only views: COPY TO a file or program is not allowed
--! position: 1
--! hint: Use COPY ... TO STDOUT, or \copy in psql.

COPY secrets TO STDOUT
--! 42501 permission denied for table secrets
--! position: 6
--! hint: Only published tables and those that the operator lists can be read.

COPY (DELETE FROM patients RETURNING *) TO STDOUT
--! 42501 kproxy publishes read-only views: COPY of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

COPY patients TO STDOUT (FREEZE)
--! 42501 COPY option "freeze" is not allowed
--! position: 26
--! hint: The options of COPY TO are allowed.

EXPLAIN VERBOSE SELECT * FROM patients
--> EXPLAIN SELECT * FROM kproxy_release_public.patients patients

EXPLAIN (SETTINGS) SELECT 1
--! 42501 EXPLAIN option "settings" is not allowed
--! position: 10
--! hint: ANALYZE, COSTS, GENERIC_PLAN and FORMAT may be given; VERBOSE adds nothing. The others tell of kproxy's own names, or of what else the server does, and can only be off.

EXPLAIN ANALYZE DELETE FROM patients
--! 42501 kproxy publishes read-only views: EXPLAIN of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

EXPLAIN CREATE TABLE t AS SELECT * FROM patients
--! 42501 kproxy publishes read-only views: EXPLAIN of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

EXPLAIN ANALYZE DECLARE c CURSOR FOR SELECT 1
--! 42501 kproxy publishes read-only views: EXPLAIN of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

EXPLAIN SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 23
--! hint: Only published tables and those that the operator lists can be read.

PREPARE p AS DELETE FROM patients
--! 42501 kproxy publishes read-only views: PREPARE of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

PREPARE p (patients) AS SELECT 1
--> PREPARE p(kproxy_release_public.patients) AS SELECT 1

PREPARE p AS SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 28
--! hint: Only published tables and those that the operator lists can be read.

EXECUTE p ((SELECT max(age) FROM secrets))
--! 42501 permission denied for table secrets
--! position: 34
--! hint: Only published tables and those that the operator lists can be read.

EXECUTE p (pg_sleep(10))
--! 42501 permission denied for function pg_sleep
--! position: 12
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

DECLARE c CURSOR FOR SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 36
--! hint: Only published tables and those that the operator lists can be read.

CREATE TABLE t AS EXECUTE p
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

PREPARE TRANSACTION 'x'
--! 42501 kproxy publishes read-only views: two-phase commit is not allowed
--! position: 1
--! hint: Use COMMIT.

COMMIT PREPARED 'x'
--! 42501 kproxy publishes read-only views: two-phase commit is not allowed
--! position: 1
--! hint: Use COMMIT.

SELECT DEFAULT
--> SELECT DEFAULT

VALUES (DEFAULT)
--> VALUES (DEFAULT)

SELECT * FROM current_schemas(true)
--> SELECT * FROM COALESCE('{pg_catalog,public}'::pg_catalog.name[]) current_schemas

SELECT current_schemas(age > 3) FROM patients
--! 0A000 kproxy supports current_schemas with a constant only
--! position: 8
--! hint: Write current_schemas(true) or current_schemas(false).

SELECT obj_description(16384)
--> SELECT (SELECT pg_catalog.max(kproxy_guard.description) FROM (SELECT 16384::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.objsubid = 0) AS obj_description

SELECT pg_get_constraintdef(g, true), obj_description(g, 'pg_class'), col_description(g, 3), pg_get_indexdef(g, 0, true) FROM generate_series(16384, 20000) g
--> SELECT (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid, true)) FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef, (SELECT kproxy_guard.description FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = 0) AS obj_description, (SELECT kproxy_guard.description FROM (SELECT g::pg_catalog.oid AS a0, 3 AS a1) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = kproxy_argument.a1) AS col_description, (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 0), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid, 0, true)) FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef FROM pg_catalog.generate_series(16384, 20000) g

SELECT obj_description(g, name) FROM wards g
--! 0A000 kproxy supports obj_description with a constant only
--! position: 8
--! hint: Write the catalog's name as a constant.

SELECT kproxy_catalog.visible(1)
--! 42883 function kproxy_catalog.visible does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT * FROM patients WHERE
--! 42601 syntax error at end of input
--! position: 29

SELECT 'unterminated
--! 42601 unterminated quoted string at or near "'unterminated"
--! position: 8

SELECT * FROM patients; COMMIT; foo
--! 42601 syntax error at or near "foo"
--! position: 33
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

COPY (SELECT 1) TO STDOUT (NULL)
--! 22023 COPY option "null" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (DELIMITER 1)
--! 22023 COPY option "delimiter" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (QUOTE (a))
--! 22023 COPY option "quote" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (ENCODING +1)
--! 22023 COPY option "encoding" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (FORMAT)
--! 22023 COPY option "format" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (FORMAT 'xml')
--! 22023 COPY option "format" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (FORCE_QUOTE)
--! 22023 COPY option "force_quote" does not take this value
--! position: 28

COPY (SELECT 1) TO STDOUT (HEADER 'a b')
--! 22023 COPY option "header" does not take this value
--! position: 28

EXPLAIN (FORMAT 1) SELECT 1
--! 22023 EXPLAIN option "format" does not take this value
--! position: 10

EXPLAIN (ANALYZE 'a b') SELECT 1
--! 22023 EXPLAIN option "analyze" does not take this value
--! position: 10

SET TIME ZONE INTERVAL '+01:00'
--! 22023 parameter "timezone" cannot be set to this value
--! hint: Write a name or a number; for a time zone: SET TIME ZONE 'Europe/Berlin'.

SET TIME ZONE INTERVAL(2) '+01:00'
--! 22023 parameter "timezone" cannot be set to this value
--! hint: Write a name or a number; for a time zone: SET TIME ZONE 'Europe/Berlin'.

SELECT 'now'::pg_catalog.timestamptz(a), '1'::pg_catalog.interval(b)
--! 42601 type modifiers must be integer constants
--! position: 15

SELECT xmlroot(a, version b, standalone yes)
--! 0A000 kproxy supports xmlroot with a constant version only
--! position: 8
--! hint: Write the version as a constant.

SELECT array_agg(r) FROM json_to_recordset('[{"r": 16500}]') AS t(r regclass)
--! 0A000 kproxy supports type regclass in casts of single values only
--! position: 69
--! hint: Cast single values in the query instead.

SELECT '{16500}'::regclass[]
--> SELECT ARRAY[(SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT '16500'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)]::pg_catalog.text[] AS regclass

PREPARE p (regclass) AS SELECT $1
--! 0A000 kproxy supports type regclass in casts of single values only
--! position: 12
--! hint: Cast single values in the query instead.

SELECT * FROM XMLTABLE('/a' PASSING x COLUMNS r regtype)
--! 0A000 kproxy supports type regtype in casts of single values only
--! position: 49
--! hint: Cast single values in the query instead.

SELECT (g).regclass FROM generate_series(1, 2) g
--! 42501 permission denied for function regclass
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT g.regclassout, (v).oidvectortypes FROM generate_series(1, 2) g
--! 42501 permission denied for function regclassout
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT 'public.secrets'::regclass
--! 42P01 relation "public.secrets" does not exist
--! position: 8

SELECT 'patients_national_id_key'::regclass, to_regclass('nowhere')
--! 42P01 relation "patients_national_id_key" does not exist
--! position: 8

SELECT 'public.secrets'::regtype
--> SELECT (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT kproxy_catalog.to_type('public.secrets'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regtype

SELECT to_regtype('kproxy_store.records'), 'kproxy_store.f'::regproc
--! 42704 "kproxy_store.f" does not exist
--! position: 44
--! hint: Only built-in types and functions can be named.

SELECT '1'::xid
--! 42704 type "xid" does not exist
--! position: 13
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT '10:20:'::pg_snapshot
--! 42704 type "pg_snapshot" does not exist
--! position: 18
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT mxid_age('1')
--! 42501 permission denied for function mxid_age
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT (x).mxid_age FROM pg_class x
--! 42501 permission denied for function mxid_age
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT pg_get_serial_sequence(relname, 'id') FROM pg_class
--> SELECT NULL::pg_catalog.text AS pg_get_serial_sequence FROM kproxy_catalog.pg_class pg_class

SELECT has_table_privilege('public.secrets', 'select')
--! 42P01 relation "public.secrets" does not exist
--! position: 28

SELECT format_type('wards', 1)
--! 0A000 kproxy supports format_type of OIDs only
--! position: 8
--! hint: Cast the name to regclass.

SELECT pg_get_expr(conbin, 'patients') FROM pg_constraint
--! 0A000 kproxy supports pg_get_expr of OIDs only
--! position: 8
--! hint: Cast the name to regclass.

SELECT 'kproxy_store'::regnamespace, 'a.b'::regnamespace
--! 3F000 schema "kproxy_store" does not exist
--! position: 8

SET synchronize_seqscans TO off
--! 42501 permission denied to set parameter "synchronize_seqscans"
--! hint: pg_dump, which sets it, cannot be used through kproxy: use COPY ... TO STDOUT.

RESET transaction_isolation
--! 42501 permission denied to set parameter "transaction_isolation"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT ARRAY[23]::regtype[]
--> SELECT ARRAY[(SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT 23::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)]::pg_catalog.text[] AS "array"

SELECT $1::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 12
--! hint: Write the array as a constant, or cast single values in the query.

SELECT '{integer}'::text::regtype[]
--> SELECT ARRAY[(SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT kproxy_catalog.to_type('integer'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)]::pg_catalog.text[] AS regtype

SELECT ARRAY['integer']::text[]::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 34
--! hint: Write the array as a constant, or cast single values in the query.

SELECT relname::regtype[] FROM pg_class
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 17
--! hint: Write the array as a constant, or cast single values in the query.

SELECT conkey::regclass[] FROM pg_constraint
--! 0A000 kproxy supports type regclass[] in casts of constant arrays only
--! position: 16
--! hint: Write the array as a constant, or cast single values in the query.

SELECT 1 FROM pg_proc WHERE proargtypes::regtype[] IS NOT NULL
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 42
--! hint: Write the array as a constant, or cast single values in the query.

SELECT * FROM unnest('{23}'::oid[]::regtype[])
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 37
--! hint: Write the array as a constant, or cast single values in the query.

PREPARE p (regtype[]) AS SELECT $1
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 12
--! hint: Write the array as a constant, or cast single values in the query.

SELECT 1; SELECT age FROM patients FOR UPDATE
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 11
--! hint: Leave the locking clause out.

SELECT 1;  /* c */ SELECT age FROM patients FOR SHARE OF patients
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 20
--! hint: Leave the locking clause out.

  SELECT 'ä'; -- c
  SELECT age FROM patients FOR UPDATE
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 22
--! hint: Leave the locking clause out.

SELECT 1; SET jit.x = 1
--! 42501 permission denied to set parameter "jit.x"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT 1; SHOW data_directory
--! 42501 permission denied to examine parameter "data_directory"
--! hint: Only settings of the client's own formats, plans and time limits are open.

SELECT 1; SELECT 1 INTO x
--! 42501 kproxy publishes read-only views: SELECT INTO is not allowed
--! position: 25
--! hint: Leave INTO out and keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

SELECT 1; CREATE TEMP TABLE a (b int)
--! 42501 kproxy publishes read-only views: CREATE TEMPORARY TABLE is not allowed
--! position: 11
--! hint: Keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

SELECT 1; CREATE LOCAL TEMPORARY TABLE a (b int)
--! 42501 kproxy publishes read-only views: CREATE TEMPORARY TABLE is not allowed
--! position: 11
--! hint: Keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

CREATE LOCAL TABLE a (b int)
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE TABLE
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SELECT 1; CREATE GLOBAL TEMP TABLE a (b int)
--! 42501 kproxy publishes read-only views: CREATE TEMPORARY TABLE is not allowed
--! position: 11
--! hint: Keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

SELECT 1, 2 INTO GLOBAL TEMP a
--! 42501 kproxy publishes read-only views: SELECT INTO is not allowed
--! position: 13
--! hint: Leave INTO out and keep the result on the client's side; the operator can allow temporary tables (temporary_tables).

ALTER TABLE patients ADD x int
--! 42501 kproxy publishes read-only views: ALTER is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

DO 'x'
--! 42501 kproxy publishes read-only views: DO is not allowed
--! position: 1
--! hint: Code blocks cannot be checked. Write the query as SELECT.

CALL f()
--! 42501 kproxy publishes read-only views: CALL is not allowed
--! position: 1
--! hint: Procedures cannot be checked. Write the query as SELECT.

"create" x
--! 42601 syntax error at or near ""create""
--! position: 1
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

(SELECT 1); ; INSERT INTO patients VALUES (1)
--! 42501 kproxy publishes read-only views: INSERT is not allowed
--! position: 15
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

SELECT * FROM ROWS FROM (current_schema(), generate_series(1, 2))
--! 0A000 this function is not supported in ROWS FROM beside others
--! position: 1
--! hint: Call it by itself in FROM, or in the SELECT list.

CREATE TEMP VIEW v AS SELECT 1
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.

CREATE LOCAL TEMPORARY SEQUENCE s
--! 42501 kproxy publishes read-only views: CREATE is not allowed
--! position: 1
--! hint: Only reading statements are allowed: SELECT, VALUES, TABLE, EXPLAIN, COPY ... TO STDOUT.
