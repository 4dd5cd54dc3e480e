-- psql 15, tab completion: SELECT * FROM pa
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE 'pa%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE 'pa%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000

-- psql 15, tab completion: \d with any name
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')
UNION ALL
SELECT NULL::pg_catalog.text, n.nspname FROM pg_catalog.pg_namespace n WHERE n.nspname LIKE '%' AND n.nspname NOT LIKE E'pg\\_%'
LIMIT 1000

-- psql 15, tab completion: columns of patients
SELECT a.attname, NULL::pg_catalog.text FROM pg_catalog.pg_attribute a, pg_catalog.pg_class c WHERE c.oid = a.attrelid and a.attnum > 0 and not a.attisdropped AND (a.attname) LIKE '%' AND c.relname = 'patients' AND pg_catalog.pg_table_is_visible(c.oid)

-- psql 15, tab completion: SELECT * FROM hospital.
SELECT c.relname, n.nspname FROM pg_catalog.pg_class c, pg_catalog.pg_namespace n WHERE c.relnamespace = n.oid AND c.relkind IN ('r', 'S', 'v', 'm', 'f', 'p') AND (c.relname) LIKE '%' AND n.nspname = 'hospital'

-- psql 15, tab completion: \c
SELECT datname FROM pg_catalog.pg_database  WHERE datname LIKE '%'

-- psql 15, tab completion: \du
SELECT rolname    FROM pg_catalog.pg_roles   WHERE rolname NOT LIKE 'pg\_%'

-- psql 15, tab completion: \dT am
SELECT t.typname, NULL::pg_catalog.text FROM pg_catalog.pg_type t WHERE (t.typrelid = 0  OR (SELECT c.relkind = 'c'     FROM pg_catalog.pg_class c WHERE c.oid = t.typrelid)) AND t.typname !~ '^_' AND (t.typname) LIKE '%m%o%' AND pg_catalog.pg_type_is_visible(t.oid) AND t.oid >= 16384

-- psql 15, tab completion: SET time
SELECT pg_catalog.lower(name) FROM pg_catalog.pg_settings  WHERE context IN ('user', 'superuser')    AND pg_catalog.lower(name) LIKE pg_catalog.lower('TIMEZ%')

-- psql 15, tab completion: COPY pa
SELECT c.relname, NULL::pg_catalog.text FROM pg_catalog.pg_class c WHERE c.relkind IN ('r', 'p') AND (c.relname) LIKE '%' AND pg_catalog.pg_table_is_visible(c.oid) AND c.relnamespace <> (SELECT oid FROM pg_catalog.pg_namespace WHERE nspname = 'pg_catalog')

-- psql 15, tab completion: \encoding UT
SELECT DISTINCT pg_catalog.pg_encoding_to_char(conforencoding)    FROM pg_catalog.pg_conversion   WHERE pg_catalog.pg_encoding_to_char(conforencoding) LIKE pg_catalog.upper('UT%')
