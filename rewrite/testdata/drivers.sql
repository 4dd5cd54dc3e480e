-- pgjdbc getTables
SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM, c.relname AS TABLE_NAME,  CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema'  WHEN true THEN CASE  WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TABLE'   WHEN 'v' THEN 'SYSTEM VIEW'   WHEN 'i' THEN 'SYSTEM INDEX'   ELSE NULL   END  WHEN n.nspname = 'pg_toast' THEN CASE c.relkind   WHEN 'r' THEN 'SYSTEM TOAST TABLE'   WHEN 'i' THEN 'SYSTEM TOAST INDEX'   ELSE NULL   END  ELSE CASE c.relkind   WHEN 'r' THEN 'TEMPORARY TABLE'   WHEN 'p' THEN 'TEMPORARY TABLE'   WHEN 'v' THEN 'TEMPORARY VIEW'   ELSE NULL   END  END  WHEN false THEN CASE c.relkind  WHEN 'r' THEN 'TABLE'  WHEN 'p' THEN 'PARTITIONED TABLE'  WHEN 'v' THEN 'VIEW'  WHEN 'm' THEN 'MATERIALIZED VIEW'  ELSE NULL  END  ELSE NULL  END  AS TABLE_TYPE, d.description AS REMARKS,  '' as TYPE_CAT, '' as TYPE_SCHEM, '' as TYPE_NAME, '' AS SELF_REFERENCING_COL_NAME, '' AS REF_GENERATION  FROM pg_catalog.pg_namespace n, pg_catalog.pg_class c  LEFT JOIN pg_catalog.pg_description d ON (c.oid = d.objoid AND d.objsubid = 0  and d.classoid = 'pg_class'::regclass)  WHERE c.relnamespace = n.oid  AND c.relname LIKE 'patients' AND (false  OR ( c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' ) ) ORDER BY TABLE_TYPE,TABLE_SCHEM,TABLE_NAME
--> SELECT NULL AS table_cat, n.nspname AS table_schem, c.relname AS table_name, CASE n.nspname ~ '^pg_' OR n.nspname = 'information_schema' WHEN true THEN CASE WHEN n.nspname = 'pg_catalog' OR n.nspname = 'information_schema' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TABLE' WHEN 'v' THEN 'SYSTEM VIEW' WHEN 'i' THEN 'SYSTEM INDEX' ELSE NULL END WHEN n.nspname = 'pg_toast' THEN CASE c.relkind WHEN 'r' THEN 'SYSTEM TOAST TABLE' WHEN 'i' THEN 'SYSTEM TOAST INDEX' ELSE NULL END ELSE CASE c.relkind WHEN 'r' THEN 'TEMPORARY TABLE' WHEN 'p' THEN 'TEMPORARY TABLE' WHEN 'v' THEN 'TEMPORARY VIEW' ELSE NULL END END WHEN false THEN CASE c.relkind WHEN 'r' THEN 'TABLE' WHEN 'p' THEN 'PARTITIONED TABLE' WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' ELSE NULL END ELSE NULL END AS table_type, d.description AS remarks, '' AS type_cat, '' AS type_schem, '' AS type_name, '' AS self_referencing_col_name, '' AS ref_generation FROM kproxy_catalog.pg_namespace n, kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_description d ON c.oid = d.objoid AND d.objsubid = 0 AND d.classoid = 'pg_class'::pg_catalog.regclass::pg_catalog.oid WHERE c.relnamespace = n.oid AND c.relname LIKE 'patients' AND (false OR (c.relkind = 'r' AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema')) ORDER BY table_type, table_schem, table_name

-- pgjdbc getColumns
SELECT * FROM (SELECT n.nspname,c.relname,a.attname,a.atttypid,a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull,a.atttypmod,a.attlen,t.typtypmod,row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, nullif(a.attidentity, '') as attidentity,nullif(a.attgenerated, '') as attgenerated,pg_catalog.pg_get_expr(def.adbin, def.adrelid) AS adsrc,dsc.description,t.typbasetype,t.typtype  FROM pg_catalog.pg_namespace n  JOIN pg_catalog.pg_class c ON (c.relnamespace = n.oid)  JOIN pg_catalog.pg_attribute a ON (a.attrelid=c.oid)  JOIN pg_catalog.pg_type t ON (a.atttypid = t.oid)  LEFT JOIN pg_catalog.pg_attrdef def ON (a.attrelid=def.adrelid AND a.attnum = def.adnum)  LEFT JOIN pg_catalog.pg_description dsc ON (c.oid=dsc.objoid AND a.attnum = dsc.objsubid)  LEFT JOIN pg_catalog.pg_class dc ON (dc.oid=dsc.classoid AND dc.relname='pg_class')  LEFT JOIN pg_catalog.pg_namespace dn ON (dc.relnamespace=dn.oid AND dn.nspname='pg_catalog')  WHERE c.relkind in ('r','p','v','f','m') and a.attnum > 0 AND NOT a.attisdropped  AND n.nspname LIKE 'public' AND c.relname LIKE 'patients') c WHERE true  AND attname LIKE '%' ORDER BY nspname,c.relname,attnum
--> SELECT * FROM (SELECT n.nspname, c.relname, a.attname, a.atttypid, a.attnotnull OR (t.typtype = 'd' AND t.typnotnull) AS attnotnull, a.atttypmod, a.attlen, t.typtypmod, pg_catalog.row_number() OVER (PARTITION BY a.attrelid ORDER BY a.attnum) AS attnum, NULLIF(a.attidentity, '') AS attidentity, NULLIF(a.attgenerated, '') AS attgenerated, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT def.adrelid::pg_catalog.oid AS a0, def.adbin AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS adsrc, dsc.description, t.typbasetype, t.typtype FROM kproxy_catalog.pg_namespace n JOIN kproxy_catalog.pg_class c ON c.relnamespace = n.oid JOIN kproxy_catalog.pg_attribute a ON a.attrelid = c.oid JOIN kproxy_catalog.pg_type t ON a.atttypid = t.oid LEFT JOIN kproxy_catalog.pg_attrdef def ON a.attrelid = def.adrelid AND a.attnum = def.adnum LEFT JOIN kproxy_catalog.pg_description dsc ON c.oid = dsc.objoid AND a.attnum = dsc.objsubid LEFT JOIN kproxy_catalog.pg_class dc ON dc.oid = dsc.classoid AND dc.relname = 'pg_class' LEFT JOIN kproxy_catalog.pg_namespace dn ON dc.relnamespace = dn.oid AND dn.nspname = 'pg_catalog' WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm') AND a.attnum > 0 AND NOT a.attisdropped AND n.nspname LIKE 'public' AND c.relname LIKE 'patients') c WHERE true AND attname LIKE '%' ORDER BY nspname, c.relname, attnum

-- pgjdbc getPrimaryKeys
SELECT        result.TABLE_CAT,        result.TABLE_SCHEM,        result.TABLE_NAME,        result.COLUMN_NAME,        result.KEY_SEQ,        result.PK_NAME FROM      (SELECT NULL AS TABLE_CAT, n.nspname AS TABLE_SCHEM,   ct.relname AS TABLE_NAME, a.attname AS COLUMN_NAME,   (information_schema._pg_expandarray(i.indkey)).n AS KEY_SEQ, ci.relname AS PK_NAME,   information_schema._pg_expandarray(i.indkey) AS KEYS, a.attnum AS A_ATTNUM FROM pg_catalog.pg_class ct   JOIN pg_catalog.pg_attribute a ON (ct.oid = a.attrelid)   JOIN pg_catalog.pg_namespace n ON (ct.relnamespace = n.oid)   JOIN pg_catalog.pg_index i ON ( a.attrelid = i.indrelid)   JOIN pg_catalog.pg_class ci ON (ci.oid = i.indexrelid) WHERE true  AND n.nspname = 'public' AND ct.relname = 'patients' AND i.indisprimary  ) result where  result.A_ATTNUM = (result.KEYS).x  ORDER BY result.table_name, result.pk_name, result.key_seq
--> SELECT result.table_cat, result.table_schem, result.table_name, result.column_name, result.key_seq, result.pk_name FROM (SELECT NULL AS table_cat, n.nspname AS table_schem, ct.relname AS table_name, a.attname AS column_name, (information_schema._pg_expandarray(i.indkey)).n AS key_seq, ci.relname AS pk_name, information_schema._pg_expandarray(i.indkey) AS keys, a.attnum AS a_attnum FROM kproxy_catalog.pg_class ct JOIN kproxy_catalog.pg_attribute a ON ct.oid = a.attrelid JOIN kproxy_catalog.pg_namespace n ON ct.relnamespace = n.oid JOIN kproxy_catalog.pg_index i ON a.attrelid = i.indrelid JOIN kproxy_catalog.pg_class ci ON ci.oid = i.indexrelid WHERE true AND n.nspname = 'public' AND ct.relname = 'patients' AND i.indisprimary) result WHERE result.a_attnum = (result.keys).x ORDER BY result.table_name, result.pk_name, result.key_seq

-- pgjdbc type lookup
SELECT n.nspname = ANY(current_schemas(true)), n.nspname, t.typname FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1
--> SELECT n.nspname = ANY('{pg_catalog,public}'::pg_catalog.name[]), n.nspname, t.typname FROM kproxy_catalog.pg_type t JOIN kproxy_catalog.pg_namespace n ON t.typnamespace = n.oid WHERE t.oid = $1

-- pgjdbc type info cache
SELECT typinput='pg_catalog.array_in'::regproc as is_array, typtype, typname, pg_type.oid   FROM pg_catalog.pg_type   LEFT JOIN (select ns.oid as nspoid, ns.nspname, r.r           from pg_namespace as ns           join ( select s.r, (current_schemas(false))[s.r] as nspname                    from generate_series(1, array_upper(current_schemas(false), 1)) as s(r) ) as r          using ( nspname )        ) as sp     ON sp.nspoid = typnamespace  WHERE pg_type.oid = $1  ORDER BY sp.r, pg_type.oid DESC
--> SELECT typinput = 'pg_catalog.array_in'::pg_catalog.regproc::pg_catalog.oid AS is_array, typtype, typname, pg_type.oid FROM kproxy_catalog.pg_type pg_type LEFT JOIN (SELECT ns.oid AS nspoid, ns.nspname, r.r FROM kproxy_catalog.pg_namespace ns JOIN (SELECT s.r, ('{public}'::pg_catalog.name[])[s.r] AS nspname FROM pg_catalog.generate_series(1, pg_catalog.array_upper('{public}'::pg_catalog.name[], 1)) s(r)) r USING (nspname)) sp ON sp.nspoid = typnamespace WHERE pg_type.oid = $1 ORDER BY sp.r, pg_type.oid DESC

-- pgjdbc start
SET extra_float_digits = 3; SET application_name = 'PostgreSQL JDBC Driver'
--> SET extra_float_digits TO 3; SET application_name TO "PostgreSQL JDBC Driver"

-- pgx type by name
select t.oid, t.typname, t.typtype, t.typbasetype, t.typelem, t.typrelid, coalesce(e.oid, 0) from pg_type t left join pg_type e on e.oid = t.typarray where t.typname = $1::text and pg_type_is_visible(t.oid)
--> SELECT t.oid, t.typname, t.typtype, t.typbasetype, t.typelem, t.typrelid, COALESCE(e.oid, 0) FROM kproxy_catalog.pg_type t LEFT JOIN kproxy_catalog.pg_type e ON e.oid = t.typarray WHERE t.typname = $1::pg_catalog.text AND kproxy_catalog.type_is_visible(t.oid, '{pg_catalog,public}'::pg_catalog.name[])

-- Npgsql types
SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid
FROM (
    SELECT
        typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind,
        elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind,
        CASE WHEN elemproc.proname='array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype,
        typ.typcategory
    FROM (
        SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, typcategory,
            CASE WHEN proc.proname='array_recv' THEN 'a' ELSE typ.typtype END AS typtype,
            CASE
                WHEN proc.proname='array_recv' THEN typ.typelem
                WHEN typ.typtype='r' THEN rngsubtype
                WHEN typ.typtype='m' THEN (SELECT rngtypid FROM pg_range WHERE rngmultitypid = typ.oid)
                WHEN typ.typtype='d' THEN typ.typbasetype
            END AS elemtypoid
        FROM pg_type AS typ
        LEFT JOIN pg_class AS cls ON (cls.oid = typ.typrelid)
        LEFT JOIN pg_proc AS proc ON proc.oid = typ.typreceive
        LEFT JOIN pg_range ON (pg_range.rngtypid = typ.oid)
    ) AS typ
    LEFT JOIN pg_type AS elemtyp ON elemtyp.oid = elemtypoid
    LEFT JOIN pg_class AS elemcls ON (elemcls.oid = elemtyp.typrelid)
    LEFT JOIN pg_proc AS elemproc ON elemproc.oid = elemtyp.typreceive
) AS t
JOIN pg_namespace AS ns ON (ns.oid = typnamespace)
WHERE
    typtype IN ('b', 'r', 'm', 'e', 'd') OR
    (typtype = 'c' AND relkind='c') OR
    (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR
    (typtype = 'a' AND (
        elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR
        (elemtyptype = 'p' AND elemtypname IN ('record', 'void')) OR
        (elemtyptype = 'c' AND elemrelkind='c')
    ))
ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 ELSE 1 END
--> SELECT ns.nspname, t.oid, t.typname, t.typtype, t.typnotnull, t.elemtypoid FROM (SELECT typ.oid, typ.typnamespace, typ.typname, typ.typtype, typ.typrelid, typ.typnotnull, typ.relkind, elemtyp.oid AS elemtypoid, elemtyp.typname AS elemtypname, elemcls.relkind AS elemrelkind, CASE WHEN elemproc.proname = 'array_recv' THEN 'a' ELSE elemtyp.typtype END AS elemtyptype, typ.typcategory FROM (SELECT typ.oid, typnamespace, typname, typrelid, typnotnull, relkind, typelem AS elemoid, typcategory, CASE WHEN proc.proname = 'array_recv' THEN 'a' ELSE typ.typtype END AS typtype, CASE WHEN proc.proname = 'array_recv' THEN typ.typelem WHEN typ.typtype = 'r' THEN rngsubtype WHEN typ.typtype = 'm' THEN (SELECT rngtypid FROM kproxy_catalog.pg_range pg_range WHERE rngmultitypid = typ.oid) WHEN typ.typtype = 'd' THEN typ.typbasetype END AS elemtypoid FROM kproxy_catalog.pg_type typ LEFT JOIN kproxy_catalog.pg_class cls ON cls.oid = typ.typrelid LEFT JOIN kproxy_catalog.pg_proc proc ON proc.oid = typ.typreceive LEFT JOIN kproxy_catalog.pg_range pg_range ON pg_range.rngtypid = typ.oid) typ LEFT JOIN kproxy_catalog.pg_type elemtyp ON elemtyp.oid = elemtypoid LEFT JOIN kproxy_catalog.pg_class elemcls ON elemcls.oid = elemtyp.typrelid LEFT JOIN kproxy_catalog.pg_proc elemproc ON elemproc.oid = elemtyp.typreceive) t JOIN kproxy_catalog.pg_namespace ns ON ns.oid = typnamespace WHERE typtype IN ('b', 'r', 'm', 'e', 'd') OR (typtype = 'c' AND relkind = 'c') OR (typtype = 'p' AND typname IN ('record', 'void', 'unknown')) OR (typtype = 'a' AND (elemtyptype IN ('b', 'r', 'm', 'e', 'd') OR (elemtyptype = 'p' AND elemtypname IN ('record', 'void')) OR (elemtyptype = 'c' AND elemrelkind = 'c'))) ORDER BY CASE WHEN typtype IN ('b', 'e', 'p') THEN 0 ELSE 1 END

-- Metabase
SELECT has_any_column_privilege('public.patients', 'SELECT'), has_table_privilege(current_user, 'patients'::text, 'SELECT'), format('%I.%I', 'public', 'patients')::regclass::oid, pg_get_serial_sequence('public.patients', 'id')
--> SELECT pg_catalog.has_any_column_privilege('"kproxy_release_public"."patients"', 'SELECT'), pg_catalog.has_table_privilege(current_user, '"kproxy_release_public"."patients"'::pg_catalog.text, 'SELECT'), (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class(pg_catalog.format('%I.%I', 'public', 'patients')::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid AS format, pg_catalog.pg_get_serial_sequence('"kproxy_release_public"."patients"', COALESCE(pg_catalog.pg_get_serial_sequence('"kproxy_release_public"."patients"', 'id'), 'id'::pg_catalog.text))

-- SQLAlchemy has_table
SELECT pg_catalog.pg_class.relname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace ON pg_catalog.pg_namespace.oid = pg_catalog.pg_class.relnamespace WHERE pg_catalog.pg_class.relname = 'patients'::VARCHAR AND pg_catalog.pg_class.relkind = ANY (ARRAY['r'::VARCHAR, 'p'::VARCHAR, 'f'::VARCHAR, 'v'::VARCHAR, 'm'::VARCHAR]) AND pg_catalog.pg_table_is_visible(pg_catalog.pg_class.oid) AND pg_catalog.pg_namespace.nspname != 'pg_catalog'::VARCHAR
--> SELECT pg_class.relname FROM kproxy_catalog.pg_class pg_class JOIN kproxy_catalog.pg_namespace pg_namespace ON pg_namespace.oid = pg_class.relnamespace WHERE pg_class.relname = 'patients'::varchar AND pg_class.relkind = ANY(ARRAY['r'::varchar, 'p'::varchar, 'f'::varchar, 'v'::varchar, 'm'::varchar]) AND kproxy_catalog.table_is_visible(pg_class.oid, '{pg_catalog,public}'::pg_catalog.name[]) AND pg_namespace.nspname <> 'pg_catalog'::varchar

-- DBeaver
SELECT current_schema(), session_user; SHOW search_path
--> SELECT 'public'::pg_catalog.name AS "current_schema", session_user; SELECT '"$user", public'::pg_catalog.text AS search_path

-- DBeaver tables
SELECT c.oid,c.*,d.description,pg_catalog.pg_get_expr(c.relpartbound, c.oid) as partition_expr,  pg_catalog.pg_get_partkeydef(c.oid) as partition_key FROM pg_catalog.pg_class c LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid=c.oid AND d.objsubid=0 AND d.classoid='pg_class'::regclass WHERE c.relnamespace=$1 AND c.relkind not in ('i','I','c')
--> SELECT c.oid, c.*, d.description, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT c.oid::pg_catalog.oid AS a0, c.relpartbound AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS partition_expr, (SELECT pg_catalog.pg_get_partkeydef(kproxy_guard.partrelid) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_partitioned_table kproxy_guard WHERE kproxy_guard.partrelid = kproxy_argument.a0) AS partition_key FROM kproxy_catalog.pg_class c LEFT JOIN kproxy_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::pg_catalog.regclass::pg_catalog.oid WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c')

-- pgcli functions
SELECT n.nspname schema_name,
        p.proname func_name,
        p.proargnames,
        COALESCE(proallargtypes::regtype[], proargtypes::regtype[])::text[],
        p.proargmodes,
        prorettype::regtype::text return_type,
        p.prokind = 'a' is_aggregate,
        p.prokind = 'w' is_window,
        p.proretset is_set_returning,
        d.deptype = 'e' is_extension,
        pg_get_expr(proargdefaults, 0) AS arg_defaults
FROM pg_catalog.pg_proc p
        INNER JOIN pg_catalog.pg_namespace n
            ON n.oid = p.pronamespace
LEFT JOIN pg_depend d ON d.objid = p.oid and d.deptype = 'e'
WHERE p.prorettype::regtype != 'trigger'::regtype
ORDER BY 1, 2
--> SELECT n.nspname AS schema_name, p.proname AS func_name, p.proargnames, COALESCE(kproxy_catalog.type_names(proallargtypes::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[]), kproxy_catalog.type_names(proargtypes::pg_catalog.oid[], '{pg_catalog,public}'::pg_catalog.name[]))::pg_catalog.text[] AS "coalesce", p.proargmodes, (SELECT CASE WHEN kproxy_guard.oid < 16384 THEN kproxy_guard.oid::pg_catalog.regtype::pg_catalog.text ELSE kproxy_catalog.type_name(kproxy_guard.oid, NULL::int, '{pg_catalog,public}'::pg_catalog.name[]) END FROM (SELECT prorettype::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.text AS return_type, p.prokind = 'a' AS is_aggregate, p.prokind = 'w' AS is_window, p.proretset AS is_set_returning, d.deptype = 'e' AS is_extension, (SELECT pg_catalog.pg_get_expr(kproxy_argument.a1, kproxy_guard.oid) FROM (SELECT 0::pg_catalog.oid AS a0, proargdefaults AS a1) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0 AND kproxy_catalog.may_show(kproxy_argument.a1::pg_catalog.text, kproxy_guard.oid)) AS arg_defaults FROM kproxy_catalog.pg_proc p JOIN kproxy_catalog.pg_namespace n ON n.oid = p.pronamespace LEFT JOIN kproxy_catalog.pg_depend d ON d.objid = p.oid AND d.deptype = 'e' WHERE p.prorettype::pg_catalog.oid <> (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_type('trigger'::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_type kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) ORDER BY 1, 2

-- jOOQ types
SELECT a.attname, information_schema._pg_char_max_length(a.atttypid, a.atttypmod), information_schema._pg_numeric_precision(a.atttypid, a.atttypmod), information_schema._pg_numeric_precision_radix(a.atttypid, a.atttypmod), information_schema._pg_numeric_scale(a.atttypid, a.atttypmod), information_schema._pg_datetime_precision(a.atttypid, a.atttypmod) FROM pg_attribute a
--> SELECT a.attname, information_schema._pg_char_max_length(a.atttypid, a.atttypmod), information_schema._pg_numeric_precision(a.atttypid, a.atttypmod), information_schema._pg_numeric_precision_radix(a.atttypid, a.atttypmod), information_schema._pg_numeric_scale(a.atttypid, a.atttypmod), information_schema._pg_datetime_precision(a.atttypid, a.atttypmod) FROM kproxy_catalog.pg_attribute a
