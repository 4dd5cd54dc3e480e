SELECT c.oid::regclass FROM pg_class c
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_class c

SELECT g::regclass, g::regtype, g::regproc, g::regprocedure, g::regnamespace, g::regrole FROM generate_series(1, 9) g
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g, (SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g, (SELECT kproxy_guard.oid::pg_catalog.regprocedure::pg_catalog.text FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g, (SELECT kproxy_guard.oid::pg_catalog.regnamespace::pg_catalog.text FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_namespace kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g, (SELECT kproxy_guard.oid::pg_catalog.regrole::pg_catalog.text FROM (SELECT g::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_roles kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS g FROM pg_catalog.generate_series(1, 9) g

SELECT 16500::regclass, '16500'::regclass, '16500'::oid::regclass::text, NULL::regclass
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT 16500::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT '16500'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT '16500'::pg_catalog.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS text, NULL::pg_catalog.text AS regclass

SELECT CASE WHEN true THEN '16500' ELSE 'pg_class'::regclass END, coalesce('16500', 1::regclass)
--> SELECT CASE WHEN true THEN '16500' ELSE 'pg_class'::pg_catalog.regclass::pg_catalog.text END AS "case", COALESCE('16500', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT 1::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) AS "coalesce"

VALUES ('pg_class'::regclass), ('16500')
--> VALUES ('pg_class'::pg_catalog.regclass::pg_catalog.text), ('16500')

SELECT conrelid::pg_catalog.regclass AS ontable, conname FROM pg_constraint WHERE confrelid = 'wards'::regclass AND contype = 'f'
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT conrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS ontable, conname FROM kproxy_catalog.pg_constraint pg_constraint WHERE confrelid = '"public"."wards"'::pg_catalog.regclass::pg_catalog.oid AND contype = 'f'

SELECT attname FROM pg_attribute WHERE attrelid = 'public.patients'::regclass AND attnum > 0
--> SELECT attname FROM kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = '"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid AND attnum > 0

SELECT attname FROM pg_attribute WHERE attrelid = $1::regclass
--> SELECT attname FROM kproxy_catalog.pg_attribute pg_attribute WHERE attrelid = (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class($1::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)

SELECT a.attrelid::regclass::text, a.atttypid::regtype FROM pg_attribute a WHERE a.attrelid::regclass = 'wards'::regclass ORDER BY a.attrelid::regclass
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT a.attrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS attrelid, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS atttypid FROM kproxy_catalog.pg_attribute a WHERE a.attrelid::pg_catalog.oid = '"public"."wards"'::pg_catalog.regclass::pg_catalog.oid ORDER BY (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT a.attrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)

SELECT 'wards'::regclass, 'patients'::regclass, 'pg_class'::regclass, 'wards'::regclass::oid, '"Icd Codes"'::text::regclass
--> SELECT kproxy_catalog.class_name('"public"."wards"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass, kproxy_catalog.class_name('"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass, 'pg_class'::pg_catalog.regclass::pg_catalog.text AS regclass, '"public"."wards"'::pg_catalog.regclass::pg_catalog.oid AS oid, kproxy_catalog.class_name('"public"."Icd Codes"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass

SELECT 'table ' || c.oid::regclass, format('%s', c.oid::regclass) FROM pg_class c
--> SELECT 'table ' || (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), pg_catalog.format('%s', (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) AS format FROM kproxy_catalog.pg_class c

SELECT to_regclass('patients'), to_regclass('wards')::oid, to_regclass('nowhere') IS NULL, to_regclass($1), to_regtype('int4'), to_regclass(relname::text) FROM pg_class
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT '"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regclass, (SELECT kproxy_guard.oid FROM (SELECT '"public"."wards"'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid AS to_regclass, NULL::pg_catalog.oid IS NULL, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class($1::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regclass, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT kproxy_catalog.to_type('int4'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regtype, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class(relname::pg_catalog.text::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regclass FROM kproxy_catalog.pg_class pg_class

SELECT 'integer'::regtype, 'timestamp with time zone'::regtype::oid, 'pg_catalog.int4'::regtype, 'pg_catalog.array_in'::regproc, 'abs(integer)'::regprocedure
--> SELECT (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT kproxy_catalog.to_type('integer'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regtype, 'timestamp with time zone'::pg_catalog.regtype::pg_catalog.oid AS oid, 'pg_catalog.int4'::pg_catalog.regtype::pg_catalog.text AS regtype, 'pg_catalog.array_in'::pg_catalog.regproc::pg_catalog.text AS regproc, 'abs(integer)'::pg_catalog.regprocedure::pg_catalog.text AS regprocedure

SELECT pg_typeof(1), pg_typeof(age)::text = 'integer', pg_typeof(1) = 'integer'::regtype FROM patients
--> SELECT pg_catalog.pg_typeof(1)::pg_catalog.text AS pg_typeof, pg_catalog.pg_typeof(age)::pg_catalog.text = 'integer', pg_catalog.pg_typeof(1)::pg_catalog.oid = (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_type('integer'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) FROM kproxy_release_public.patients patients

SELECT oid::regclass, count(*) FROM pg_class GROUP BY oid::regclass
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid, pg_catalog.count(*) FROM kproxy_catalog.pg_class pg_class GROUP BY (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)

SELECT 1 WHERE 5 IN (SELECT pg_catalog.pg_partition_ancestors('16390') UNION ALL VALUES ('16390'::pg_catalog.regclass))
--> SELECT 1 WHERE 5 IN (SELECT pg_catalog.unnest(ARRAY(SELECT pg_catalog.pg_partition_ancestors((SELECT kproxy_guard.oid FROM (SELECT '16390'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0))::pg_catalog.oid)) AS pg_partition_ancestors UNION ALL VALUES ('16390'::pg_catalog.oid))

SELECT a.relid, a.depth FROM pg_catalog.pg_partition_ancestors(16390) WITH ORDINALITY AS a(relid, depth)
--> SELECT a.relid, a.depth FROM pg_catalog.unnest(ARRAY(SELECT pg_catalog.pg_partition_ancestors((SELECT kproxy_guard.oid FROM (SELECT 16390::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0))::pg_catalog.oid)) WITH ORDINALITY a(relid, depth)

SELECT relid FROM pg_partition_ancestors('wards')
--> SELECT relid FROM pg_catalog.unnest(ARRAY(SELECT pg_catalog.pg_partition_ancestors('"public"."wards"')::pg_catalog.oid)) pg_partition_ancestors(relid)

SELECT pg_table_is_visible(c.oid), pg_catalog.pg_table_is_visible(c.oid) AS v, pg_type_is_visible(1) FROM pg_class c WHERE pg_catalog.pg_table_is_visible(c.oid)
--> SELECT kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS pg_table_is_visible, kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS v, kproxy_catalog.type_is_visible(1, '{pg_catalog,public}'::pg_catalog.name[]) AS pg_type_is_visible FROM kproxy_catalog.pg_class c WHERE kproxy_catalog.table_is_visible(c.oid, '{pg_catalog,public}'::pg_catalog.name[])

SELECT * FROM pg_table_is_visible(1259)
--> SELECT * FROM kproxy_catalog.table_is_visible(1259, '{pg_catalog,public}'::pg_catalog.name[]) pg_table_is_visible

SELECT format_type(a.atttypid, a.atttypmod), format_type(23, NULL), pg_get_expr(d.adbin, d.adrelid), pg_get_expr(d.adbin, d.adrelid, true) FROM pg_attribute a, pg_attrdef d
--> SELECT (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, kproxy_argument.a1) ELSE kproxy_catalog.type_name(kproxy_guard.oid, kproxy_argument.a1, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT a.atttypid::pg_catalog.oid AS a0, a.atttypmod AS a1) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN pg_catalog.format_type(kproxy_guard.oid, NULL) ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT 23::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS format_type, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid, true) FROM (SELECT d.adrelid::pg_catalog.oid AS a0, d.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS pg_get_expr FROM kproxy_catalog.pg_attribute a, kproxy_catalog.pg_attrdef d

SELECT pg_get_constraintdef(c.oid), pg_get_constraintdef(c.oid, true) FROM pg_constraint c
--> SELECT (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid)) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef, (SELECT COALESCE(kproxy_catalog.key_definition(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]), pg_catalog.pg_get_constraintdef(kproxy_guard.oid, true)) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_constraint kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.confrelid = 0 OR kproxy_guard.confrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_constraintdef FROM kproxy_catalog.pg_constraint c

SELECT pg_get_triggerdef(t.oid, true), pg_get_indexdef(16500, 1, true) FROM pg_trigger t
--> SELECT (SELECT pg_catalog.pg_get_triggerdef(kproxy_guard.oid, true) FROM (SELECT t.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_trigger kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND (kproxy_guard.tgconstrrelid = 0 OR kproxy_guard.tgconstrrelid IN (SELECT oid FROM kproxy_catalog.pg_class))) AS pg_get_triggerdef, (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 1), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid, 1, true)) FROM (SELECT 16500::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef FROM kproxy_catalog.pg_trigger t

SELECT has_table_privilege(c.oid, 'SELECT'), has_table_privilege('16500', 'SELECT'), has_column_privilege('patients', 'age', 'SELECT'), has_table_privilege(current_user, c.oid, 'SELECT'), has_table_privilege(quote_ident(c.relname), 'select'), has_function_privilege('abs(int)', 'execute'), has_type_privilege(16500, 'usage'), has_schema_privilege(n.nspname, 'USAGE') FROM pg_class c, pg_namespace n
--> SELECT pg_catalog.has_table_privilege(kproxy_catalog.stand_in_oid((SELECT kproxy_guard.oid FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid), 'SELECT') AS has_table_privilege, pg_catalog.has_table_privilege(kproxy_catalog.stand_in_oid((SELECT kproxy_guard.oid FROM (SELECT '16500'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid), 'SELECT') AS has_table_privilege, pg_catalog.has_column_privilege('"kproxy_release_public"."patients"', 'age', 'SELECT'), pg_catalog.has_table_privilege(current_user, kproxy_catalog.stand_in_oid((SELECT kproxy_guard.oid FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid), 'SELECT') AS has_table_privilege, pg_catalog.has_table_privilege(kproxy_catalog.stand_in_oid((SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class(pg_catalog.quote_ident(c.relname)::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid), 'select') AS has_table_privilege, pg_catalog.has_function_privilege('abs(int)', 'execute'), pg_catalog.has_type_privilege((SELECT kproxy_guard.oid FROM (SELECT 16500::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), 'usage') AS has_type_privilege, pg_catalog.has_schema_privilege(kproxy_catalog.schema_oid(n.nspname::pg_catalog.text), 'USAGE') FROM kproxy_catalog.pg_class c, kproxy_catalog.pg_namespace n

SELECT pg_table_size('patients'), pg_table_size(c.oid), pg_get_viewdef(c.oid), pg_get_ruledef(1), pg_relation_is_publishable('16390'), row_security_active('wards') FROM pg_class c
--> SELECT NULL::bigint AS pg_table_size, NULL::bigint AS pg_table_size, ' -- not shown by kproxy'::pg_catalog.text AS pg_get_viewdef, ' -- not shown by kproxy'::pg_catalog.text AS pg_get_ruledef, pg_catalog.pg_relation_is_publishable((SELECT kproxy_guard.oid FROM (SELECT '16390'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)) AS pg_relation_is_publishable, pg_catalog.row_security_active('"public"."wards"') FROM kproxy_catalog.pg_class c

SELECT age(admission), age(now(), admission), age(relfrozenxid) FROM patients, pg_class
--> SELECT pg_catalog.age(admission::timestamp), pg_catalog.age(pg_catalog.now(), admission), pg_catalog.age(relfrozenxid::timestamp) FROM kproxy_release_public.patients patients, kproxy_catalog.pg_class pg_class

SELECT pg_catalog.col_description((format('%I.%I', t.table_schema, t.table_name)::regclass)::oid, 1) FROM information_schema.tables t
--> SELECT (SELECT kproxy_guard.description FROM (SELECT (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class(pg_catalog.format('%I.%I', t.table_schema, t.table_name)::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid::pg_catalog.oid AS a0, 1 AS a1 OFFSET 0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = kproxy_argument.a1) AS col_description FROM kproxy_catalog.information_schema_tables t

SELECT regclass('wards'), regclass(16500)
--> SELECT kproxy_catalog.class_name('"public"."wards"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT 16500::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass

SELECT 'hospital.visits'::regclass, 'hospital.visits'::regclass::text, 'hospital.visits'::regclass::oid
--> SELECT kproxy_catalog.class_name('"kproxy_release_hospital"."visits"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass, kproxy_catalog.class_name('"kproxy_release_hospital"."visits"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.text AS text, '"kproxy_release_hospital"."visits"'::pg_catalog.regclass::pg_catalog.oid AS oid

SELECT proargtypes::regtype[], proallargtypes::regtype[]::text[], array_to_string(p.proargtypes::regtype[], ', ') FROM pg_proc p
--> SELECT kproxy_catalog.type_names(proargtypes::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[]) AS proargtypes, kproxy_catalog.type_names(proallargtypes::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.text[] AS proallargtypes, pg_catalog.array_to_string(kproxy_catalog.type_names(p.proargtypes::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[]), ', ') AS array_to_string FROM kproxy_catalog.pg_proc p

SELECT coalesce(proallargtypes, proargtypes)::regtype[]::text[], ARRAY['pg_class'::regclass, 'wards'::regclass]::text[], ARRAY(SELECT t.oid::regtype FROM pg_type t)::varchar[] FROM pg_proc
--> SELECT kproxy_catalog.type_names(COALESCE(proallargtypes, proargtypes)::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.text[] AS "coalesce", ARRAY['pg_class'::pg_catalog.regclass::pg_catalog.text, kproxy_catalog.class_name('"public"."wards"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[])]::pg_catalog.text[] AS "array", ARRAY(SELECT (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT t.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS oid FROM kproxy_catalog.pg_type t)::varchar[] AS "varchar" FROM kproxy_catalog.pg_proc pg_proc

SELECT 1, 'nope'::regclass
--! 42P01 relation "nope" does not exist
--! position: 11

-- constant arrays of objects
SELECT a.attname FROM pg_attribute a WHERE a.atttypid = ANY ('{int,int8,"character varying", mood}'::regtype[])
--> SELECT a.attname FROM kproxy_catalog.pg_attribute a WHERE a.atttypid = ANY(ARRAY[(SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_type('int'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), 'int8'::pg_catalog.regtype::pg_catalog.oid, 'character varying'::pg_catalog.regtype::pg_catalog.oid, (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_type('mood'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)]::pg_catalog.oid[])

SELECT '{patients,NULL,"wards"}'::regclass[], '{}'::regtype[], ARRAY['pg_class', NULL]::regclass[], '{16500}'::regclass[]::text[]
--> SELECT ARRAY[kproxy_catalog.class_name('"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]), NULL::pg_catalog.text, kproxy_catalog.class_name('"public"."wards"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[])]::pg_catalog.text[] AS regclass, ARRAY[]::pg_catalog.text[] AS regtype, ARRAY['pg_class'::pg_catalog.regclass::pg_catalog.text, NULL::pg_catalog.text]::pg_catalog.text[] AS "array", ARRAY[(SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT '16500'::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)]::pg_catalog.text[]::pg_catalog.text[] AS text

SELECT 1 FROM pg_class c WHERE c.oid = ANY (ARRAY['patients', 'nowhere']::regclass[])
--! 42P01 relation "nowhere" does not exist
--! position: 63

SELECT '{a,{b}}'::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 19
--! hint: Write the array as a constant, or cast single values in the query.

SELECT '{int'::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 16
--! hint: Write the array as a constant, or cast single values in the query.

SELECT '{int,}'::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 18
--! hint: Write the array as a constant, or cast single values in the query.

SELECT '{"in\"t", i"nt}'::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 27
--! hint: Write the array as a constant, or cast single values in the query.

SELECT '[1:1]={int}'::regtype[]
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 23
--! hint: Write the array as a constant, or cast single values in the query.

SELECT typreceive, t.typsend, typname FROM pg_type t ORDER BY typreceive, 3
--> SELECT typreceive, t.typsend, typname FROM kproxy_catalog.pg_type t ORDER BY typreceive, 3

SELECT oid, typname, typreceive FROM pg_catalog.pg_type WHERE (typreceive != 0 OR typsend != 0) AND typreceive::TEXT != 'array_recv' AND pg_type.typsend::name = 'x'
--> SELECT oid, typname, CASE WHEN typreceive IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT typreceive::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END AS typreceive FROM kproxy_catalog.pg_type pg_type WHERE (typreceive <> 0 OR typsend <> 0) AND CASE WHEN typreceive IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT typreceive::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END::pg_catalog.text <> 'array_recv' AND CASE WHEN pg_type.typsend IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT pg_type.typsend::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END::pg_catalog.name = 'x'

SELECT DISTINCT typreceive FROM pg_type UNION SELECT oprcode FROM pg_operator
--> SELECT DISTINCT typreceive FROM kproxy_catalog.pg_type pg_type UNION SELECT oprcode FROM kproxy_catalog.pg_operator pg_operator

SELECT typreceive, count(*) FROM pg_type GROUP BY typreceive
--> SELECT typreceive, pg_catalog.count(*) FROM kproxy_catalog.pg_type pg_type GROUP BY typreceive

SELECT p.proname, u.typreceive FROM (SELECT typreceive FROM pg_type) u JOIN pg_proc p ON p.oid = u.typreceive
--> SELECT p.proname, u.typreceive FROM (SELECT typreceive FROM kproxy_catalog.pg_type pg_type) u JOIN kproxy_catalog.pg_proc p ON p.oid = u.typreceive

SELECT pg_catalog.pg_type.typinput FROM pg_catalog.pg_type
--> SELECT CASE WHEN pg_type.typinput IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT pg_type.typinput::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END AS typinput FROM kproxy_catalog.pg_type pg_type

SELECT 'x' || typreceive, typreceive::oid, typreceive::varchar(3), (SELECT typinput FROM pg_type LIMIT 1) FROM pg_type
--> SELECT 'x' || typreceive, typreceive::pg_catalog.oid, typreceive::varchar(3), (SELECT typinput FROM kproxy_catalog.pg_type pg_type LIMIT 1) FROM kproxy_catalog.pg_type pg_type

SELECT v.typreceive::text, v.typreceive FROM (VALUES (1)) v (typreceive), pg_am
--> SELECT v.typreceive::pg_catalog.text, v.typreceive FROM (VALUES (1)) v(typreceive), kproxy_catalog.pg_am pg_am

COPY (SELECT typsend FROM pg_type) TO STDOUT
--> COPY (SELECT CASE WHEN typsend IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT typsend::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END AS typsend FROM kproxy_catalog.pg_type pg_type) TO STDOUT

SELECT oprcode FROM pg_operator ORDER BY oprcode LIMIT 3
--> SELECT oprcode FROM kproxy_catalog.pg_operator pg_operator ORDER BY oprcode LIMIT 3

SELECT oprcode FROM pg_operator o ORDER BY o.oprcode LIMIT 3
--> SELECT CASE WHEN oprcode IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT oprcode::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END AS oprcode FROM kproxy_catalog.pg_operator o ORDER BY o.oprcode LIMIT 3

SELECT amhandler FROM pg_am AS t (x, amhandler, y, z)
--> SELECT amhandler FROM kproxy_catalog.pg_am t(x, amhandler, y, z)

SELECT t.typinput, typinput FROM pg_type t LEFT JOIN pg_range r ON r.rngtypid = t.oid
--> SELECT CASE WHEN t.typinput IS NOT NULL THEN COALESCE((SELECT kproxy_guard.oid::pg_catalog.regproc::pg_catalog.text FROM (SELECT t.typinput::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_proc kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0), '-'::pg_catalog.text) END AS typinput, typinput FROM kproxy_catalog.pg_type t LEFT JOIN kproxy_catalog.pg_range r ON r.rngtypid = t.oid

SELECT pg_has_role(a => 'x', b => 'USAGE')
--> SELECT pg_catalog.pg_has_role(a := 'x', b := 'USAGE')

SELECT pg_get_serial_sequence('patients', pg_get_serial_sequence('patients', 'id'))
--> SELECT NULL::pg_catalog.text AS pg_get_serial_sequence

SELECT DISTINCT typinput FROM pg_type
--> SELECT DISTINCT typinput FROM kproxy_catalog.pg_type pg_type

SELECT oprcode FROM pg_operator ORDER BY 1 LIMIT 3
--> SELECT oprcode FROM kproxy_catalog.pg_operator pg_operator ORDER BY 1 LIMIT 3

EXECUTE p (typinput::text)
--> EXECUTE p(typinput::pg_catalog.text)
