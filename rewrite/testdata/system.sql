-- roles, the database and schemas
SELECT current_database(), current_catalog, pg_get_userbyid(relowner), acldefault('r', relowner), 10::regrole, 'postgres'::regrole::oid FROM pg_class
--> SELECT 'clinic'::pg_catalog.name AS current_database, 'clinic'::pg_catalog.name AS "current_catalog", (SELECT pg_catalog.pg_get_userbyid(kproxy_guard.oid) FROM (SELECT relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS pg_get_userbyid, (SELECT pg_catalog.acldefault('r', kproxy_guard.oid) FROM (SELECT relowner::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS acldefault, (SELECT kproxy_guard.oid::pg_catalog.regrole::pg_catalog.text FROM (SELECT 10::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regrole, (SELECT kproxy_guard.oid FROM (SELECT pg_catalog.to_regrole(kproxy_catalog.usable_name('postgres'::pg_catalog.text))::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid AS oid FROM kproxy_catalog.pg_class pg_class

SELECT has_schema_privilege('hospital', 'USAGE'), has_schema_privilege(current_user, n.nspname, 'USAGE'), has_database_privilege(d.datname, 'CONNECT'), has_database_privilege('clinic', 'CREATE') FROM pg_namespace n, pg_database d
--> SELECT pg_catalog.has_schema_privilege(kproxy_catalog.schema_oid('hospital'::pg_catalog.text), 'USAGE'), pg_catalog.has_schema_privilege(current_user, kproxy_catalog.schema_oid(n.nspname::pg_catalog.text), 'USAGE'), pg_catalog.has_database_privilege(kproxy_catalog.database_oid(d.datname::pg_catalog.text), 'CONNECT'), pg_catalog.has_database_privilege(kproxy_catalog.database_oid('clinic'::pg_catalog.text), 'CREATE') FROM kproxy_catalog.pg_namespace n, kproxy_catalog.pg_database d

SELECT 'secret'::regnamespace
--! 3F000 schema "secret" does not exist
--! position: 8

SELECT shobj_description(d.oid, 'pg_database') FROM pg_database d
--> SELECT (SELECT kproxy_guard.description FROM (SELECT d.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_shdescription kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_database"'::pg_catalog.regclass::pg_catalog.oid) AS shobj_description FROM kproxy_catalog.pg_database d

-- sizes, files and definitions
SELECT pg_relation_size('patients'), pg_total_relation_size(c.oid), pg_size_pretty(pg_table_size(c.oid::regclass)), pg_database_size(current_database()), pg_relation_filenode(c.oid), pg_tablespace_location(0), pg_get_functiondef(1), pg_stat_get_live_tuples(c.oid) FROM pg_class c
--> SELECT NULL::bigint AS pg_relation_size, NULL::bigint AS pg_total_relation_size, pg_catalog.pg_size_pretty(NULL::bigint) AS pg_size_pretty, NULL::bigint AS pg_database_size, NULL::pg_catalog.oid AS pg_relation_filenode, NULL::pg_catalog.text AS pg_tablespace_location, NULL::pg_catalog.text AS pg_get_functiondef, NULL::bigint AS pg_stat_get_live_tuples FROM kproxy_catalog.pg_class c

SELECT pg_relation_size('secrets')
--! 42P01 relation "secrets" does not exist
--! position: 25

SELECT pg_relation_is_updatable('patients', false), pg_column_is_updatable(c.oid, 1::int2, true) FROM pg_class c
--> SELECT CASE WHEN '"kproxy_release_public"."patients"' IS NOT NULL THEN '0'::int END AS pg_relation_is_updatable, CASE WHEN (SELECT kproxy_guard.oid FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) IS NOT NULL THEN 'false'::boolean END AS pg_column_is_updatable FROM kproxy_catalog.pg_class c

SELECT * FROM pg_relation_size('patients')
--> SELECT * FROM COALESCE(NULL::bigint) pg_relation_size

-- system columns of catalogs
SELECT c.tableoid, c.xmin, age(c.xmin), pg_class.xmin FROM pg_class c, pg_class WHERE c.tableoid = 'pg_class'::regclass
--> SELECT 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AS tableoid, '2'::pg_catalog.xid AS xmin, 2147483647 AS age, '2'::pg_catalog.xid AS xmin FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_class pg_class WHERE 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid = 'pg_class'::pg_catalog.regclass::pg_catalog.oid

SELECT c.xmin, w.xmin FROM (SELECT oid FROM pg_class) c, wards w
--! 42703 column c.xmin does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

-- settings and sequences
SELECT s.name, current_setting(s.name) FROM pg_settings s
--> SELECT s.name, kproxy_catalog.setting(s.name::pg_catalog.text, '"$user", public') AS current_setting FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', '"$user", public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') s

SELECT pg_get_serial_sequence(a.attrelid::regclass::text, a.attname)::regclass::oid FROM pg_attribute a
--> SELECT (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class(NULL::pg_catalog.text::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid AS pg_get_serial_sequence FROM kproxy_catalog.pg_attribute a

-- relations that are refused, and those that are empty
SELECT * FROM pg_authid
--! 42501 permission denied for table pg_authid
--! position: 71
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM pg_statistic
--! 42501 permission denied for table pg_statistic
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM pg_stats, pg_locks, information_schema.view_table_usage
--> SELECT * FROM kproxy_catalog.pg_stats pg_stats, kproxy_catalog.pg_locks pg_locks, kproxy_catalog.information_schema_view_table_usage view_table_usage

SELECT * FROM information_schema._pg_foreign_tables
--! 42501 permission denied for table information_schema._pg_foreign_tables
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT information_schema._pg_char_octet_length(25, 1), information_schema._pg_index_position(1, 2::int2)
--! 42501 permission denied for function information_schema._pg_char_octet_length
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.
