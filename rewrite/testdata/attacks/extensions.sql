-- Functions of extensions that read by name, run texts, or look into pages.

-- refused 42
SELECT dblink_connect('dbname=postgres')

-- refused 42
SELECT * FROM dblink_exec('dbname=postgres', 'DROP TABLE people')

-- refused 42
SELECT dblink_get_pkey('people'), dblink_build_sql_insert('people', '1', 1, '{1}', '{1}')

-- refused 42
SELECT * FROM connectby('people', 'name', 'illness', 'x', 0) AS t (a text, b text, c int)

-- refused 42
SELECT * FROM crosstab('SELECT name, illness, 1 FROM people', 'SELECT 1') AS t (a text, b text)

-- refused 42
SELECT * FROM crosstab2('SELECT illness, illness, name FROM people')

-- refused 42
SELECT normal_rand(3, 1, 1) FROM people

-- refused 42
SELECT * FROM pgstattuple('people')

-- refused 42
SELECT pg_relpages('kproxy_store.records_1'), pgstatindex('people_pkey')

-- refused 42
SELECT get_raw_page('people', 0)

-- refused 42
SELECT * FROM heap_page_items(get_raw_page('kproxy_store.records_1', 0))

-- refused 42
SELECT * FROM bt_page_items('people_name_key', 1)

-- refused 42
SELECT * FROM pg_freespace('people')

-- refused 42
SELECT * FROM pgrowlocks('people')

-- refused 42
SELECT query FROM public.pg_stat_statements

-- refused 42
SELECT * FROM pg_stat_statements(true)

-- refused 42
SELECT pg_stat_statements_reset()

-- refused 42
SELECT pg_file_write('/tmp/x', 'x', false), pg_logdir_ls()

-- refused 42
SELECT bt_index_check('people_pkey'), verify_heapam('people')

-- refused 42
SELECT * FROM pg_get_wal_records_info('0/1', '0/2')

-- refused 42
SELECT int_array_enum('{1,2}'), int_array_aggregate(cost) FROM people

-- refused 42
SELECT 'x'::lo, 'x'::hstore

-- refused 42
SELECT illness::citext FROM people

-- refused 42
SELECT illness = name::citext FROM people

-- refused 42
SELECT akeys(hstore(c)), avals(hstore(c)) FROM chart c

-- refused 42
SELECT * FROM pg_buffercache

-- refused 42
SELECT lo_manage(), lo_oid(1)

-- harmless
SELECT * FROM pg_available_extension_versions

-- refused 42
CREATE EXTENSION IF NOT EXISTS file_fdw CASCADE

-- refused 42
CREATE FOREIGN TABLE passwd (line text) SERVER s OPTIONS (filename '/etc/passwd')

-- refused 42
ALTER EXTENSION hstore SET SCHEMA kproxy_store

-- allowed
SELECT extname, extversion FROM pg_extension
