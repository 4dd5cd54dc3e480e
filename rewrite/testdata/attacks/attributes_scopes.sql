-- Attribute notation where it is not plain what stands before the dot: joins, subqueries,
-- CTEs, functions, VALUES, rows, and items that another one of the name hides.

-- refused 42
SELECT (SELECT 1 FROM (SELECT 2 AS pg_sleep) x, (SELECT x.pg_sleep) y) FROM unnest(ARRAY[0.1::float8]) x

-- refused 42
SELECT (SELECT 1 FROM (SELECT 2 AS nextval) x, codes a JOIN codes b ON x.nextval = 1) FROM unnest(ARRAY['people_seq']) x

-- refused 42
SELECT j.pg_current_wal_lsn FROM (people a CROSS JOIN codes b) AS j

-- refused 42
SELECT j.current_query FROM people a JOIN people b USING (illness) AS j

-- harmless
WITH x AS (SELECT 'people'::text AS a) SELECT (x.a).to_regclass FROM x

-- refused 42
WITH RECURSIVE x(a) AS (SELECT 16400::oid UNION ALL SELECT (x.a).lo_get::oid FROM x) TABLE x

-- refused 42
SELECT (x.column1).pg_read_file FROM (VALUES ('PG_VERSION')) x

-- refused 42
SELECT ((SELECT 'people_seq'::text)).currval

-- refused 42
SELECT (ARRAY['people_seq'::text])[1].nextval

-- refused 42
SELECT (CASE WHEN true THEN 'people_seq'::text END).nextval

-- refused 42
SELECT (coalesce('people_seq'::text)).nextval FROM people

-- refused 42
SELECT ($1).pg_sleep

-- refused 42
SELECT 1 FROM people p ORDER BY (p.illness).plpgsql_validator

-- refused 42
SELECT (16400::oid).plpgsql_validator

-- refused 42
SELECT (16400::oid).fmgr_sql_validator

-- harmless
SELECT count(*) OVER (PARTITION BY (p.illness).current_setting) FROM people p

-- refused 42
SELECT p.illness FROM people p WHERE (p).query_to_xml IS NULL

-- refused 42
SELECT ('x'::text).regconfig

-- refused 42
SELECT (16400).regoper

-- refused 42
SELECT (16400).regcollation

-- refused 42
SELECT (p).xmin FROM people p

-- refused 42
SELECT (p.*).xmax FROM people p

-- refused 42
SELECT (c).xmin, (c.*).cmax FROM codes c

-- refused 42
SELECT (c).ctid FROM codes c

-- refused 42
SELECT (c).tableoid FROM codes c

-- refused 42
SELECT ((SELECT c FROM codes c LIMIT 1)).xmin

-- refused 42
SELECT x.xmin FROM (SELECT * FROM codes) x

-- refused 42
SELECT j.xmax FROM (codes a CROSS JOIN codes b) AS j

-- refused 42
SELECT ('1'::text::"xid").age

-- refused 42
SELECT ('1'::text).xid

-- refused 42
SELECT (g.g).xid8 FROM generate_series(1, 2) g

-- refused 42
SELECT (c.relfrozenxid).mxid_age FROM pg_class c

-- refused 42
SELECT ('SELECT 1'::text).pg_temp

-- harmless
SELECT (16400::oid).pg_get_functiondef

-- refused 42
SELECT x.lo_unlink FROM unnest(ARRAY[424242::oid]) x

-- refused 42
SELECT x.y.pg_sleep FROM (SELECT 1.0::float8) x(y)

-- refused 42
SELECT people.pg_sleep FROM people

-- refused 42
SELECT public.people.pg_typeof FROM people

-- allowed
SELECT (p.illness).upper, (p).illness, p.illness FROM people p LIMIT 1

-- allowed
SELECT (timestamp '2020-01-01').age IS NULL

-- allowed
SELECT x.nextval FROM (SELECT 1 AS nextval) x
