-- every relation of the system that clients may ask about
SELECT count(*) FROM pg_stats

-- sizes
SELECT pg_relation_size('patients'), pg_total_relation_size('hospital.visits'), pg_indexes_size('wards'::regclass), pg_table_size('wards'), pg_database_size(current_database()), pg_database_size('clinic')

-- privileges on relations and columns
SELECT has_table_privilege('patients', 'SELECT'), has_table_privilege('hospital.visits', 'INSERT'), has_any_column_privilege('public.patients', 'SELECT'), has_column_privilege('patients', 'sex', 'SELECT'),
  has_schema_privilege('public', 'USAGE'), has_schema_privilege('hospital', 'USAGE'), has_schema_privilege('hospital', 'CREATE'), has_schema_privilege('public', 'CREATE'),
  has_database_privilege('clinic', 'CONNECT'), has_database_privilege(current_user, current_database(), 'CREATE'), has_type_privilege('amount', 'USAGE'), has_function_privilege('lower(text)', 'EXECUTE')

-- privileges by numbers that were read before
--$26 @visits
--$26 @hospital
SELECT has_table_privilege($1::oid, 'SELECT'), has_schema_privilege($2::oid, 'USAGE'), pg_table_is_visible($1::oid), $1::oid::regclass::text, $2::oid::regnamespace::text

-- names and numbers
SELECT 'patients'::regclass, 'hospital.visits'::regclass, 'wards'::regclass, 'pg_class'::regclass, 'patients'::regclass::oid = (SELECT oid FROM pg_class WHERE relname = 'patients'), to_regclass('nowhere'), to_regclass('patients_raw')

-- types
SELECT 'amount'::regtype, 'public.mood'::regtype, 'int4'::regtype, to_regtype('nothing'), to_regtype('no_mood'), 'mood'::regtype::oid = (SELECT oid FROM pg_type WHERE typname = 'mood'), format_type('mood'::regtype::oid, NULL), format_type((SELECT reltype FROM pg_class WHERE relname = 'visits'), NULL), (SELECT reltype::regtype::text FROM pg_class WHERE relname = 'visits')

-- roles
SELECT 10::oid::regrole, 'clinic_reader'::regrole::oid = (SELECT oid FROM pg_roles WHERE rolname = 'clinic_reader'), to_regrole('clinic_admin'), to_regrole('nobody_there'), pg_get_userbyid(10)

-- numbers of all objects there may be
SELECT count(i::oid::regclass), count(i::oid::regtype), count(i::oid::regrole), count(i::oid::regnamespace), count(pg_get_userbyid(i::oid)), count(format_type(i::oid, NULL)), count(obj_description(i::oid, 'pg_class')), count(pg_relation_size(i::oid)), string_agg(DISTINCT i::oid::regrole::text, ' '), string_agg(DISTINCT i::oid::regtype::text, ' '), string_agg(DISTINCT format_type(i::oid, NULL), ' ')
FROM generate_series(16384, 22000) i

-- databases
SELECT datname, pg_get_userbyid(datdba), current_database(), current_catalog, shobj_description(oid, 'pg_database') FROM pg_database

-- information_schema: relations
SELECT table_catalog, table_schema, table_name, table_type, is_insertable_into FROM information_schema.tables WHERE table_schema <> 'pg_catalog' AND table_schema <> 'information_schema' ORDER BY 2, 3

-- information_schema: columns
SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type, udt_catalog, udt_schema, udt_name, domain_schema, domain_name, is_updatable FROM information_schema.columns WHERE table_schema IN ('public', 'hospital') ORDER BY table_name, ordinal_position

-- information_schema: views
SELECT * FROM information_schema.views WHERE table_schema IN ('public', 'hospital') ORDER BY table_name

-- information_schema: schemas
SELECT * FROM information_schema.schemata ORDER BY schema_name

-- information_schema: privileges
SELECT * FROM information_schema.table_privileges WHERE table_schema IN ('public', 'hospital') ORDER BY table_name

-- information_schema: grants
SELECT * FROM information_schema.role_table_grants WHERE table_schema IN ('public', 'hospital') ORDER BY table_name

-- information_schema: privileges on columns
SELECT grantor, table_name, column_name FROM information_schema.column_privileges WHERE table_schema IN ('public', 'hospital') AND table_name <> 'icd10' ORDER BY 2, 3

-- information_schema: constraints
SELECT * FROM information_schema.table_constraints WHERE table_schema IN ('public', 'hospital') ORDER BY constraint_name

-- information_schema: keys
SELECT constraint_catalog, constraint_name, table_schema, table_name, column_name FROM information_schema.key_column_usage WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY constraint_name, ordinal_position

-- information_schema: domains, types and elements
SELECT 'domain', domain_schema || '.' || domain_name, data_type FROM information_schema.domains WHERE domain_schema <> 'information_schema'
UNION ALL SELECT 'type', user_defined_type_schema || '.' || user_defined_type_name, NULL FROM information_schema.user_defined_types
UNION ALL SELECT 'constraint', constraint_name, domain_name FROM information_schema.domain_constraints WHERE domain_schema <> 'information_schema'
UNION ALL SELECT 'element', object_schema || '.' || object_name, data_type FROM information_schema.element_types WHERE object_schema IN ('public', 'hospital')
UNION ALL SELECT 'udt', udt_schema || '.' || udt_name, privilege_type FROM information_schema.udt_privileges WHERE udt_schema = 'public'
ORDER BY 1, 2

-- information_schema: routines and parameters of users
SELECT count(*) FROM information_schema.routines r JOIN information_schema.parameters p USING (specific_name) WHERE r.specific_schema NOT IN ('pg_catalog', 'information_schema')

-- information_schema: what is left
SELECT (SELECT count(*) FROM information_schema.triggers), (SELECT count(*) FROM information_schema.sequences), (SELECT count(*) FROM information_schema.view_table_usage), (SELECT count(*) FROM information_schema.check_constraints WHERE constraint_schema = 'public'),
  (SELECT count(*) FROM information_schema.sql_features) > 100, (SELECT string_agg(role_name, ' ') FROM information_schema.enabled_roles), (SELECT catalog_name FROM information_schema.information_schema_catalog_name)

-- listings
SELECT 'table', schemaname || '.' || tablename, tableowner::text FROM pg_tables WHERE schemaname IN ('public', 'hospital')
UNION ALL SELECT 'view', schemaname || '.' || viewname, definition FROM pg_views WHERE schemaname IN ('public', 'hospital')
UNION ALL SELECT 'materialized view', schemaname || '.' || matviewname, definition FROM pg_matviews
UNION ALL SELECT 'index', schemaname || '.' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
UNION ALL SELECT 'sequence', sequencename, data_type FROM pg_sequences
UNION ALL SELECT 'user', usename, passwd FROM pg_user
UNION ALL SELECT 'group', groname, NULL FROM pg_group WHERE groname !~ '^pg_'
ORDER BY 1, 2

-- activity
SELECT (SELECT count(*) FROM pg_stat_activity), (SELECT string_agg(DISTINCT query, ' ') FROM pg_stat_activity), (SELECT count(*) FROM pg_locks), (SELECT count(*) FROM pg_stat_replication), (SELECT count(*) FROM pg_replication_slots),
  (SELECT count(*) FROM pg_publication), (SELECT sum(n_live_tup) FROM pg_stat_all_tables), (SELECT count(*) FROM pg_stat_user_tables), (SELECT sum(tup_returned) FROM pg_stat_database), (SELECT max(reltuples) FROM pg_class), (SELECT count(*) FROM pg_db_role_setting)

-- what is refused
SELECT rolpassword FROM pg_authid

-- what is refused: statistics of values
SELECT stavalues1 FROM pg_statistic

-- what is refused: large objects
SELECT data FROM pg_largeobject
