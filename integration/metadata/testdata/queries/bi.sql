-- Power BI (PostgreSQL connector over Npgsql): character set
select character_set_name from INFORMATION_SCHEMA.character_sets

-- Power BI: tables and views
select TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE from INFORMATION_SCHEMA.tables where TABLE_SCHEMA not in ('information_schema', 'pg_catalog') order by TABLE_SCHEMA, TABLE_NAME

-- Power BI: columns of a table
select COLUMN_NAME, ORDINAL_POSITION, IS_NULLABLE, case when (data_type like '%unsigned%') then DATA_TYPE || ' unsigned' else DATA_TYPE end as DATA_TYPE
from INFORMATION_SCHEMA.columns where TABLE_SCHEMA = 'public' and TABLE_NAME = 'patients' order by TABLE_SCHEMA, TABLE_NAME, ORDINAL_POSITION

-- Power BI: keys that refer to a table
select pkcol.COLUMN_NAME as PK_COLUMN_NAME, fkcol.TABLE_SCHEMA AS FK_TABLE_SCHEMA, fkcol.TABLE_NAME AS FK_TABLE_NAME, fkcol.COLUMN_NAME as FK_COLUMN_NAME,
  fkcol.ORDINAL_POSITION as ORDINAL, fkcon.CONSTRAINT_SCHEMA || '_' || fkcol.TABLE_NAME || '_' || 'persons' || '_' || fkcon.CONSTRAINT_NAME as FK_NAME
from (select distinct constraint_catalog, constraint_schema, unique_constraint_schema, constraint_name, unique_constraint_name from INFORMATION_SCHEMA.REFERENTIAL_CONSTRAINTS) fkcon
inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE fkcol on fkcon.CONSTRAINT_SCHEMA = fkcol.CONSTRAINT_SCHEMA and fkcon.CONSTRAINT_NAME = fkcol.CONSTRAINT_NAME
inner join INFORMATION_SCHEMA.KEY_COLUMN_USAGE pkcol on fkcon.UNIQUE_CONSTRAINT_SCHEMA = pkcol.CONSTRAINT_SCHEMA and fkcon.UNIQUE_CONSTRAINT_NAME = pkcol.CONSTRAINT_NAME
where pkcol.TABLE_SCHEMA = 'public' and pkcol.TABLE_NAME = 'persons' and pkcol.ORDINAL_POSITION = fkcol.ORDINAL_POSITION
order by FK_NAME, fkcol.ORDINAL_POSITION

-- Power BI: keys of a table
select i.CONSTRAINT_SCHEMA || '_' || i.CONSTRAINT_NAME as INDEX_NAME, ii.COLUMN_NAME, ii.ORDINAL_POSITION, case when i.CONSTRAINT_TYPE = 'PRIMARY KEY' then 'Y' else 'N' end as PRIMARY_KEY
from INFORMATION_SCHEMA.table_constraints i inner join INFORMATION_SCHEMA.key_column_usage ii
on i.CONSTRAINT_SCHEMA = ii.CONSTRAINT_SCHEMA and i.CONSTRAINT_NAME = ii.CONSTRAINT_NAME and i.TABLE_SCHEMA = ii.TABLE_SCHEMA and i.TABLE_NAME = ii.TABLE_NAME
where i.TABLE_SCHEMA = 'public' and i.TABLE_NAME in ('wards', 'persons', 'stays') and i.CONSTRAINT_TYPE in ('PRIMARY KEY', 'UNIQUE')
order by i.CONSTRAINT_SCHEMA || '_' || i.CONSTRAINT_NAME, ii.TABLE_SCHEMA, ii.TABLE_NAME, ii.ORDINAL_POSITION

-- Grafana 10: tables
SELECT CASE WHEN quote_ident(table_schema) IN (
    SELECT CASE WHEN trim(s[i]) = '"$user"' THEN user ELSE trim(s[i]) END
    FROM generate_series(array_lower(string_to_array(current_setting('search_path'),','),1), array_upper(string_to_array(current_setting('search_path'),','),1)) as i,
      string_to_array(current_setting('search_path'),',') s)
  THEN quote_ident(table_name) ELSE quote_ident(table_schema) || '.' || quote_ident(table_name) END AS "table"
FROM information_schema.tables
WHERE quote_ident(table_schema) NOT IN ('information_schema', 'pg_catalog', '_timescaledb_cache')
ORDER BY 1

-- Grafana 10: columns
SELECT quote_ident(column_name) AS "column", data_type AS "type" FROM information_schema.columns
WHERE quote_ident(table_schema) = 'hospital' AND quote_ident(table_name) = 'visits' ORDER BY ordinal_position

-- Grafana 10: version
SELECT current_setting('server_version_num')::int/100 > 1000 as version

-- Cube 0.35: columns of all tables
SELECT columns.column_name as "column_name", columns.table_name as "table_name", columns.table_schema as "table_schema", columns.data_type as "data_type"
FROM information_schema.columns
WHERE columns.table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys', 'INFORMATION_SCHEMA', 'pg_catalog')
ORDER BY columns.table_schema, columns.table_name, columns.ordinal_position

-- Cube 0.35: types of users
SELECT DISTINCT pg_type.oid, pg_type.typname FROM pg_type JOIN pg_attribute ON pg_attribute.atttypid = pg_type.oid WHERE pg_type.typcategory = 'E' ORDER BY pg_type.typname

-- dbt 1.7: catalog of a schema
select 'clinic' as table_database, sch.nspname as table_schema, tbl.relname as table_name, case tbl.relkind when 'v' then 'VIEW' else 'BASE TABLE' end as table_type,
  tbl_desc.description as table_comment, col.attname as column_name, col.attnum as column_index, pg_catalog.format_type(col.atttypid, col.atttypmod) as column_type,
  col_desc.description as column_comment, pg_get_userbyid(tbl.relowner) as table_owner
from pg_catalog.pg_namespace sch
join pg_catalog.pg_class tbl on tbl.relnamespace = sch.oid
join pg_catalog.pg_attribute col on col.attrelid = tbl.oid
left outer join pg_catalog.pg_description tbl_desc on (tbl_desc.objoid = tbl.oid and tbl_desc.objsubid = 0)
left outer join pg_catalog.pg_description col_desc on (col_desc.objoid = tbl.oid and col_desc.objsubid = col.attnum)
where upper(sch.nspname) = upper('hospital') and not pg_is_other_temp_schema(sch.oid) and tbl.relpersistence in ('p', 'u') and tbl.relkind in ('r', 'v', 'f', 'p')
  and col.attnum > 0 and not col.attisdropped
order by sch.nspname, tbl.relname, col.attnum

-- Tableau 2023 (over psqlODBC): what the database can
SELECT current_database(), current_schema(), current_user

-- Tableau 2023: the capability check that needs a table of its own
CREATE LOCAL TEMPORARY TABLE "#Tableau_1_1_Connect" ( "COL" INTEGER ) ON COMMIT PRESERVE ROWS

-- Tableau 2023: schemas
select nspname from pg_namespace n where n.nspname not like 'pg\_%' and n.nspname <> 'information_schema' order by nspname

-- Hasura, Supabase (pg-meta): tables with sizes and estimates
SELECT c.oid :: int8 AS id, nc.nspname AS schema, c.relname AS name, pg_total_relation_size(format('%I.%I', nc.nspname, c.relname)) :: int8 AS bytes,
  pg_size_pretty(pg_total_relation_size(format('%I.%I', nc.nspname, c.relname))) AS size, pg_stat_get_live_tuples(c.oid) AS live_rows_estimate, obj_description(c.oid) AS comment
FROM pg_namespace nc JOIN pg_class c ON nc.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p') AND NOT pg_is_other_temp_schema(nc.oid) AND nc.nspname = 'public'
ORDER BY c.relname

-- Hasura 2: comments of tables, through the older form of the function
SELECT table_schema, table_name, obj_description(c.oid) AS comment
FROM information_schema.tables JOIN pg_class c ON quote_ident(table_schema)::regnamespace = c.relnamespace AND c.relname = table_name
LEFT JOIN pg_stat_user_tables ON pg_stat_user_tables.schemaname = tables.table_schema AND pg_stat_user_tables.relname = tables.table_name
WHERE table_schema NOT IN ('hdb_catalog', 'pg_catalog', 'information_schema')
ORDER BY table_schema, table_name
