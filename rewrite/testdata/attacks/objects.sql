-- What functions tell of any object whose name or number is guessed: descriptions,
-- addresses, definitions, privileges.

-- refused 42
SELECT * FROM generate_series(16384, 18500) o, pg_identify_object(1259, o::oid, 0)

-- refused 42
SELECT * FROM pg_identify_object_as_address('pg_class'::regclass, 16400, 1)

-- refused 42
SELECT pg_get_object_address('table', '{public,qvzrel_vault}', '{}')

-- refused 42
SELECT pg_get_object_address('table column', '{public,people,name}', '{}')

-- refused 42
SELECT pg_describe_object('pg_attrdef'::regclass, o::oid, 0) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_functiondef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_function_sqlbody(16400), pg_get_function_arg_default(16400, 1)

-- allowed
SELECT pg_get_statisticsobjdef(o::oid) FROM generate_series(16384, 18500) o

-- refused 42
SELECT pg_get_statisticsobjdef_expressions(16400)

-- allowed
SELECT pg_get_partition_constraintdef('visits'::regclass)

-- allowed
SELECT pg_get_partkeydef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_expr(adbin, adrelid, true) FROM pg_attrdef

-- refused 0A
SELECT pg_get_expr('', o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_viewdef(o::oid), pg_get_viewdef(o::oid, true), pg_get_ruledef(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_viewdef('qvzrel_view')

-- allowed
SELECT pg_get_statisticsobjdef_columns(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_function_arguments(o::oid), pg_get_function_result(o::oid) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_indexdef(o::oid, 1, false) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_triggerdef(o::oid, true) FROM generate_series(16384, 18500) o

-- allowed
SELECT pg_get_userbyid(o::oid) FROM generate_series(1, 20) o

-- allowed
SELECT o::oid::regclass, o::oid::regtype, o::oid::regproc FROM generate_series(16384, 18500) o

-- allowed
SELECT o::oid::regprocedure, o::oid::regnamespace FROM generate_series(16384, 18500) o

-- allowed
SELECT (o || '')::regclass FROM generate_series(16400, 16410) o

-- allowed
SELECT CASE WHEN true THEN o::oid::regclass END FROM generate_series(16384, 18500) o

-- allowed
SELECT coalesce(NULL, o::oid::regclass), greatest(o::oid::regclass, o::oid::regclass) FROM generate_series(16384, 18500) o

-- allowed
SELECT max(o::oid::regclass::text), string_agg(o::oid::regclass::text, ',') FROM generate_series(16384, 18500) o

-- allowed
SELECT json_build_object('a', o::oid::regclass) FROM generate_series(16384, 18500) o

-- allowed
SELECT format('%s', o::oid::regclass), concat(o::oid::regtype) FROM generate_series(16384, 18500) o

-- allowed
SELECT ROW(o::oid::regclass)::text FROM generate_series(16384, 18500) o

-- allowed
SELECT o.oid::regclass FROM pg_class o UNION SELECT 16400::regclass

-- allowed
SELECT x FROM (VALUES ('pg_class'::regclass), ('16400')) v (x)

-- allowed
SELECT ARRAY[16400::regclass, 'pg_class']

-- allowed
SELECT '{16400,16401}'::regclass[]

-- refused 0A
SELECT unnest('{16400,16401}'::oid[]::regclass[])

-- allowed
SELECT ARRAY(SELECT o::oid FROM generate_series(1, 18500) o)::regtype[]

-- allowed
SELECT array_to_string(array_agg(o::oid)::regtype[], ',') FROM generate_series(16384, 18500) o

-- allowed
SELECT string_to_array('16400 16401', ' ')::regtype[]::text[]

-- allowed
SELECT coalesce(proallargtypes::regtype[], '{qvzrel_vault}') FROM pg_proc

-- refused 22
SELECT coalesce(proallargtypes, '{qvzrel_vault}')::regtype[] FROM pg_proc

-- refused 0A
SELECT '{qvzrel_vault,qvzrel_card}'::text[]::regtype[]::text[]

-- refused 0A
SELECT 1 FROM pg_proc WHERE ARRAY(SELECT o::oid FROM generate_series(16384, 18500) o)::regtype[] = proallargtypes

-- refused 0A 22
SELECT 1 FROM pg_class WHERE ARRAY[16400]::regtype[] = '{qvzrel_vault}'

-- allowed
SELECT c.oid::regclass, c.relname, a.attname, a.atttypid::regtype FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relkind = 'c'

-- allowed
SELECT t.typname, t.typrelid::regclass, a.attname FROM pg_type t LEFT JOIN pg_attribute a ON a.attrelid = t.typrelid WHERE t.typrelid <> 0

-- allowed
SELECT o::oid::regclass, a.* FROM generate_series(16384, 18500) o JOIN pg_attribute a ON a.attrelid = o::oid

-- allowed
SELECT pg_table_is_visible(o::oid), has_table_privilege(o::oid, 'SELECT'), col_description(o::oid, 1) FROM generate_series(16384, 18500) o

-- refused 0A
SELECT * FROM json_to_recordset('[{"a": 16400}, {"a": 16401}]') AS r (a regclass)

-- refused 0A
SELECT * FROM jsonb_to_record('{"a": 16400}') AS r (a regtype)

-- refused 0A
SELECT * FROM xmltable('/a' PASSING xmlparse(CONTENT '<a>16400</a>') COLUMNS c regclass PATH '.')

-- refused 0A
PREPARE p (regclass) AS SELECT $1

-- refused 0A 22 42
SELECT NULLIF(16400::regclass, 'pg_class') FROM (SELECT 1) s WHERE array_length(ARRAY[16400]::regclass[], 1) = 1

-- allowed
SELECT typinput FROM pg_type WHERE typname = 'chatty'

-- allowed
SELECT aggfnoid, aggtransfn FROM pg_aggregate WHERE aggfnoid::oid > 16384

-- allowed
SELECT to_regclass('qvzrel_vault'), to_regclass('public.people_view'), to_regclass('"kproxy_store"."records_1"')

-- allowed
SELECT to_regtype('probe'), to_regtype('public.qvzrel_vault'), to_regtype('_qvzrel_vault')

-- allowed
SELECT to_regproc('as_owner'), to_regprocedure('as_owner(text)'), to_regnamespace('kproxy_store')

-- allowed
SELECT to_regclass(n) FROM (VALUES ('qvzrel_vault'), ('kproxy_release_public.people')) v (n)

-- refused 42
SELECT 'qvzrel_vault'::regclass

-- refused 42
SELECT 'public.qvzrel_vault'::regclass::oid::int

-- refused 42
SELECT 'kproxy_release_public.people'::regclass

-- refused 42
SELECT '"kproxy_catalog"."pg_class"'::regclass::text

-- harmless
SELECT 'public.probe'::regtype

-- refused 42
SELECT 'public.as_owner(text)'::regprocedure

-- refused 3F 42
SELECT 'other'::regnamespace, 'kproxy_store'::regnamespace

-- refused 42
SELECT CAST('people_view' AS regclass)

-- refused 42
SELECT regclass('qvzrel_vault')

-- refused 42
SELECT regclass 'qvzrel_vault'

-- refused 42
SELECT relname FROM pg_class WHERE oid = 'qvzrel_vault'::regclass

-- Privileges as an oracle: what exists, and what it is called.

-- refused 42
SELECT has_table_privilege('qvzrel_vault', 'SELECT')

-- refused 42
SELECT has_table_privilege('analyst', 'public.qvzrel_vault', 'SELECT')

-- refused 42
SELECT has_table_privilege('kproxy_store.records_1', 'SELECT')

-- allowed
SELECT has_table_privilege(o::oid, 'SELECT') FROM generate_series(16384, 18500) o

-- allowed
SELECT has_column_privilege('chart', 'age', 'SELECT')

-- refused 42
SELECT has_column_privilege('chart', 'qvzcol_ssn', 'SELECT')

-- refused 42
SELECT has_column_privilege('qvzrel_vault', 'qvzcol_code', 'SELECT')

-- allowed
SELECT has_column_privilege(o::oid, 1::smallint, 'SELECT') FROM generate_series(16384, 18500) o

-- refused 42
SELECT has_any_column_privilege('people_view', 'SELECT')

-- refused 42
SELECT has_sequence_privilege('people_seq', 'USAGE')

-- refused 42
SELECT has_function_privilege('public.as_owner(text)', 'EXECUTE')

-- harmless
SELECT has_schema_privilege('kproxy_store', 'USAGE')

-- allowed
SELECT has_schema_privilege(o::oid, 'USAGE') FROM generate_series(16384, 18500) o

-- harmless
SELECT has_type_privilege('public.probe', 'USAGE')

-- refused 42
SELECT has_parameter_privilege('log_statement', 'SET')

-- refused 42
SELECT row_security_active('qvzrel_vault')

-- refused 42
SELECT pg_get_serial_sequence('qvzrel_vault', 'id')

-- refused 42
SELECT pg_get_serial_sequence('chart', 'qvzcol_ssn')

-- refused 42
SELECT pg_index_column_has_property('people_partial'::regclass, 1, 'asc')

-- refused 42
SELECT pg_partition_tree('visits'), pg_partition_root('visits')

-- refused 42
SELECT * FROM pg_partition_tree('visits')

-- allowed
SELECT * FROM pg_partition_ancestors('visits')

-- refused 42
SELECT * FROM pg_partition_ancestors('qvzrel_visits_early')

-- refused 42
SELECT satisfies_hash_partition('visits'::regclass, 2, 0, 1)

-- allowed
SELECT col_description('chart'::regclass, n) FROM generate_series(-7, 20) n

-- allowed
SELECT shobj_description(o::oid, 'pg_database') FROM generate_series(1, 20000) o

-- harmless
SELECT obj_description(16400)

-- refused 42
SELECT obj_description('qvzrel_vault'::regclass)

-- refused 42
SELECT obj_description('qvzrel_vault'::regclass, 'pg_class')

-- refused 42
SELECT enum_range(illness) FROM people

-- refused 42
SELECT enum_range(NULL::mood)

-- refused 42
SELECT enum_first('sad'::public.mood)

-- refused 42
SELECT pg_basetype('chatty'::regtype), 'x'::chatty

-- harmless
SELECT acl FROM pg_init_privs, aclexplode(initprivs) acl

-- refused 42
SELECT makeaclitem(10, 10, 'SELECT', false), aclcontains(NULL, NULL)

-- allowed
SELECT acldefault('r', 10), pg_typeof(acldefault('r', 10))

-- allowed
SELECT pg_typeof(p), pg_typeof(p.illness) FROM people p

-- allowed
SELECT pg_collation_for(illness) FROM people

-- refused 42
SELECT pg_get_catalog_foreign_keys()

-- refused 42
SELECT pg_get_rules(16400), pg_get_constraintdef_ext(16400, true)

-- refused 42
SELECT pg_event_trigger_dropped_objects(), pg_event_trigger_ddl_commands()

-- allowed
SELECT * FROM unnest('{16384,16385,16386,16387,16388,16389,16390,16391,16392,16393,16394,16395,16396,16397,16398,16399,16400,16401,16402,16403,16404,16405,16406}'::regclass[])

-- refused 42
SELECT '{codes,qvzrel_vault}'::regclass[]

-- refused 42
SELECT * FROM pg_class WHERE oid = ANY ('{qvzrel_vault}'::regclass[])

-- allowed
SELECT * FROM format_type(16400, NULL), obj_description(16400, 'pg_class') d, to_regclass('qvzrel_vault') c

-- allowed
SELECT o, c, t FROM generate_series(16384, 18500) o, obj_description(o::oid, 'pg_class') c, format_type(o::oid, NULL) t

-- allowed
SELECT current_setting('data_directory', true), current_setting('qvzset.secret', true), current_setting('ssl_key_file', true)
