-- DBeaver 23: the database
--$ clinic
SELECT db.oid, db.datname, db.datistemplate, db.datallowconn FROM pg_catalog.pg_database db WHERE datallowconn AND NOT datistemplate OR db.datname = $1 ORDER BY db.datname

-- DBeaver 23: session
SELECT current_schema(), session_user

-- DBeaver 23: schemas
SELECT n.oid, n.nspname, d.description FROM pg_catalog.pg_namespace n
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = n.oid AND d.objsubid = 0 AND d.classoid = 'pg_namespace'::regclass
ORDER BY nspname

-- DBeaver 23: tables of a schema, by its number
--$ @public
SELECT c.oid, c.relname, c.relkind, c.reltuples, c.relpages, c.relowner, c.relpersistence, c.relhasindex, c.relispartition, d.description,
  pg_catalog.pg_get_expr(c.relpartbound, c.oid) AS partition_expr, pg_catalog.pg_get_partkeydef(c.oid) AS partition_key
FROM pg_catalog.pg_class c
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_class'::regclass
WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c')
ORDER BY relname

-- DBeaver 23: columns of a table, by its number
--$ @patients
SELECT c.relname, a.attname, a.atttypid, pg_catalog.pg_get_expr(ad.adbin, ad.adrelid, true) AS def_value, dsc.description, dep.objid
FROM pg_catalog.pg_attribute a
INNER JOIN pg_catalog.pg_class c ON (a.attrelid = c.oid)
LEFT OUTER JOIN pg_catalog.pg_attrdef ad ON (a.attrelid = ad.adrelid AND a.attnum = ad.adnum)
LEFT OUTER JOIN pg_catalog.pg_description dsc ON (c.oid = dsc.objoid AND a.attnum = dsc.objsubid)
LEFT OUTER JOIN pg_depend dep ON dep.refobjid = a.attrelid AND dep.deptype = 'i' AND dep.refobjsubid = a.attnum AND dep.classid = dep.refclassid
WHERE NOT a.attisdropped AND a.attnum > 0 AND c.oid = $1
ORDER BY a.attnum

-- DBeaver 23: keys of a schema
--$ @public
SELECT c.oid, c.conname, c.contype, c.conkey, c.confrelid, t.relname AS tabrelname, rt.relnamespace AS refnamespace, d.description, pg_catalog.pg_get_constraintdef(c.oid, true) AS definition
FROM pg_catalog.pg_constraint c
INNER JOIN pg_catalog.pg_class t ON t.oid = c.conrelid
LEFT OUTER JOIN pg_catalog.pg_class rt ON rt.oid = c.confrelid
LEFT OUTER JOIN pg_catalog.pg_description d ON d.objoid = c.oid AND d.objsubid = 0 AND d.classoid = 'pg_constraint'::regclass
WHERE t.relnamespace = $1 AND c.contype <> 'n'
ORDER BY c.conname

-- DBeaver 23: indexes of a table
--$ @wards
SELECT i.indisunique, i.indisprimary, i.indkey, c.relname, c.relam, pg_catalog.pg_get_indexdef(i.indexrelid, 0, true) AS definition, pg_catalog.pg_relation_size(i.indexrelid) AS index_rel_size,
  pg_catalog.pg_get_expr(i.indpred, i.indrelid) AS pred_expr
FROM pg_catalog.pg_index i
INNER JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid = $1
ORDER BY c.relname

-- DBeaver 23: sizes of a schema's tables
--$ @public
SELECT c.relname, pg_catalog.pg_total_relation_size(c.oid) AS total_rel_size, pg_catalog.pg_relation_size(c.oid) AS rel_size
FROM pg_class c WHERE c.relnamespace = $1 AND c.relkind NOT IN ('i', 'I', 'c') ORDER BY c.relname

-- DBeaver 23: roles
SELECT a.rolname, a.rolsuper, a.rolcanlogin FROM pg_catalog.pg_roles a WHERE a.rolname !~ '^pg_' ORDER BY a.rolname

-- DBeaver 23: types of a schema, by its number
--$ @public
SELECT t.oid, t.typname, t.typtype, t.typcategory, c.relkind, pg_catalog.format_type(nullif(t.typbasetype, 0), t.typtypmod) AS base_type_name
FROM pg_catalog.pg_type t
LEFT OUTER JOIN pg_catalog.pg_class c ON c.oid = t.typrelid
WHERE t.typnamespace = $1 AND t.typname IS NOT NULL AND (c.relkind IS NULL OR c.relkind = 'c')
ORDER BY t.typname

-- DBeaver 23: sessions
SELECT sa.datname, sa.usename, sa.client_addr, sa.state, sa.query FROM pg_catalog.pg_stat_activity sa

-- DBeaver 23: settings
SELECT name, setting FROM pg_catalog.pg_settings WHERE name IN ('server_version_num', 'search_path')

-- DataGrip 2023: databases and schemas
SELECT N.oid::bigint AS id, datname AS name, D.description, datistemplate AS is_template, pg_catalog.pg_get_userbyid(N.datdba) AS "owner"
FROM pg_catalog.pg_database N LEFT JOIN pg_catalog.pg_shdescription D ON N.oid = D.objoid

-- DataGrip 2023: schemas, with their state
SELECT N.nspname AS name, N.xmin AS state_number, D.description, pg_catalog.pg_get_userbyid(N.nspowner) AS "owner"
FROM pg_catalog.pg_namespace N LEFT JOIN pg_catalog.pg_description D ON N.oid = D.objoid AND D.classoid = 'pg_namespace'::regclass
ORDER BY N.nspname

-- DataGrip 2023: relations of a schema, with their state
--$ @public
SELECT T.relkind AS table_kind, T.relname AS table_name, T.xmin AS table_state_number, T.relhasoids_ AS with_oids, T.tableoid = 'pg_class'::regclass AS here
FROM (SELECT T.relkind, T.relname, T.xmin, false AS relhasoids_, T.tableoid FROM pg_catalog.pg_class T WHERE T.relnamespace = $1::oid AND T.relkind IN ('r', 'm', 'v', 'f', 'p')) T
ORDER BY T.relname

-- pgAdmin 8: relations with their sizes
--$ @public
SELECT rel.relname AS name, (SELECT count(*) FROM pg_catalog.pg_trigger WHERE tgrelid = rel.oid AND tgisinternal = FALSE) AS triggercount,
  (SELECT count(1) FROM pg_catalog.pg_inherits WHERE inhrelid = rel.oid LIMIT 1) AS is_inherits, pg_catalog.pg_size_pretty(pg_catalog.pg_total_relation_size(rel.oid)) AS size, des.description
FROM pg_catalog.pg_class rel
LEFT OUTER JOIN pg_catalog.pg_description des ON (des.objoid = rel.oid AND des.objsubid = 0 AND des.classoid = 'pg_class'::regclass)
WHERE rel.relkind IN ('r', 's', 't', 'p', 'v') AND rel.relnamespace = $1::oid AND NOT rel.relispartition
ORDER BY rel.relname
