-- Statements that are equal but for constants, one after another: what was learned
-- of the first must not be applied to the next where the constant is what matters.

-- refused 42
SELECT current_setting('timezone')
-- then
SELECT current_setting('data_directory')

-- allowed
SELECT current_setting('TimeZone', true)
-- then
SELECT current_setting('config_file', true)

-- refused 42
SELECT 'codes'::regclass
-- then
SELECT 'people_view'::regclass

-- allowed
SELECT 'codes'::regclass::oid
-- then
SELECT 'people'::regclass::oid

-- refused 42
SELECT 'codes'::regclass::text
-- then
SELECT 'qvzrel_vault'::regclass::text

-- allowed
SELECT to_regclass('codes')
-- then
SELECT to_regclass('qvzrel_vault')

-- refused 42
SELECT CAST('pg_class' AS regclass)
-- then
SELECT CAST('kproxy_store.records_1' AS regclass)

-- harmless
SELECT 'text'::regtype
-- then
SELECT 'public.probe'::regtype

-- refused 3F 42
SELECT 'pg_catalog'::regnamespace
-- then
SELECT 'kproxy_store'::regnamespace

-- refused 42
SELECT has_table_privilege('codes', 'SELECT')
-- then
SELECT has_table_privilege('unlisted', 'SELECT')

-- refused 42
SELECT pg_get_serial_sequence('codes', 'code')
-- then
SELECT pg_get_serial_sequence('people', 'name')

-- refused 42
SELECT obj_description('codes'::regclass, 'pg_class')
-- then
SELECT obj_description('people_copy'::regclass, 'pg_class')

-- allowed
SELECT set_config('application_name', 'x', false)
-- then
SELECT set_config('search_path', 'other', false)

-- refused 22
SET TimeZone = 'UTC'
-- then
SET TimeZone = 'nowhere/at all'

-- refused 42
SET search_path = 'public'
-- then
SET search_path = 'kproxy_store'
-- then
SELECT * FROM records_1

-- refused 22
SET client_min_messages = 'notice'
-- then
SET client_min_messages = 'debug1'

-- refused 22
SET client_encoding = 'UTF8'
-- then
SET client_encoding = 'MULE_INTERNAL'

-- refused 22
SET standard_conforming_strings = 'on'
-- then
SET standard_conforming_strings = 'off'

-- refused 42 08 22
SHOW timezone
-- then
SHOW hba_file

-- allowed
SELECT illness::varchar(1) FROM people
-- then
SELECT illness::varchar(2) FROM people

-- allowed
SELECT interval '1' year, '1.23456'::interval second(1)
-- then
SELECT interval '1' second, '1.23456'::interval second(3)

-- allowed
SELECT '2000-01-01 00:00:00.123456'::timestamp(0)
-- then
SELECT '2000-01-01 00:00:00.123456'::timestamp(6)

-- allowed
SELECT 1 AS "a", 't'::bool
-- then
SELECT 1 AS "b", 'f'::bool

-- allowed
SELECT * FROM people ORDER BY 1 LIMIT 1
-- then
SELECT * FROM people ORDER BY 5 LIMIT 2

-- refused 42
SELECT illness FROM people ORDER BY 1
-- then
SELECT illness FROM people ORDER BY 9

-- refused 42
SELECT illness, count(*) FROM people GROUP BY 1
-- then
SELECT illness, count(*) FROM people GROUP BY 2

-- allowed
SELECT cost FROM people GROUP BY 1
-- then
SELECT cost FROM people GROUP BY 1, cost + 2

-- refused 22
SELECT 1, 'x' UNION SELECT cost, illness FROM people
-- then
SELECT 'x', 1 UNION SELECT cost, illness FROM people

-- refused 22 42
SELECT '12'::int + 1
-- then
SELECT 'twelve'::int + 1

-- refused 22
SELECT 1 / 1 FROM people
-- then
SELECT 1 / 0 FROM people

-- allowed
SELECT '1' || '; SELECT name FROM people'
-- then
SELECT '''' || name FROM (SELECT 'x' AS name) s

-- refused 42
SELECT $1 || 'name' FROM people
-- then
SELECT 'people'::text || name FROM people

-- allowed
SELECT extract(year FROM born) FROM people
-- then
SELECT extract('epoch' FROM born) FROM people

-- refused 0A 22 42
SELECT extract(year FROM born) FROM people
-- then
SELECT extract('nonsense' FROM born) FROM people

-- allowed
SELECT xmlparse(CONTENT '<a/>')
-- then
SELECT xmlparse(CONTENT 'text <b/>')

-- refused 42 22
COPY (SELECT 1) TO STDOUT (FORMAT 'csv')
-- then
COPY (SELECT 1) TO STDOUT (FORMAT 'no such')

-- allowed
COPY (SELECT 1) TO STDOUT (DELIMITER ',')
-- then
COPY (SELECT 1) TO STDOUT (DELIMITER '|')

-- refused 42
COPY codes TO STDOUT
-- then
COPY codes TO '/tmp/codes'

-- allowed
EXPLAIN SELECT * FROM people WHERE cost = 5
-- then
EXPLAIN SELECT * FROM people WHERE cost = 500000

-- allowed
SELECT to_tsvector('simple', illness) FROM people
-- then
SELECT to_tsvector('english', illness) FROM people

-- refused 42
SELECT to_tsvector('simple', 'x')
-- then
SELECT to_tsvector('public.nobodys', 'x')

-- allowed
SELECT illness COLLATE "C" FROM people
-- then
SELECT illness COLLATE "POSIX" FROM people

-- refused 42
SELECT illness COLLATE "C" FROM people
-- then
SELECT illness COLLATE "numbered" FROM people

-- allowed
SELECT ARRAY[1, 2, 3], '{1,2}'::int[]
-- then
SELECT ARRAY[1, 2, 3], '{}'::int[]

-- allowed
SELECT n FROM generate_series(1, 3) n
-- then
SELECT n FROM generate_series(1, 4) n

-- allowed
SELECT U&'\0061', E'\t', 'a'
-- then
SELECT U&'\0062', E'\n', 'b'

-- allowed
SELECT -1, - 1, +1, 1e3
-- then
SELECT -2147483648, - 9223372036854775808, +1.5, 1e400

-- allowed
SELECT CASE illness WHEN 'illness 1' THEN 1 ELSE 0 END FROM people
-- then
SELECT CASE illness WHEN 'illness 2' THEN 1 ELSE 0 END FROM people

-- allowed
PREPARE p AS SELECT illness FROM people WHERE cost > 5
-- then
DEALLOCATE p
-- then
PREPARE p AS SELECT illness FROM people WHERE cost > 50
-- then
EXECUTE p

-- refused 42
EXPLAIN (FORMAT 'json') SELECT 1
-- then
EXPLAIN (FORMAT 'json', SETTINGS 'on') SELECT 1

-- refused 42
SELECT * FROM xmltable('/a' PASSING '<a/>' COLUMNS b text PATH 'b')
-- then
SELECT * FROM xmltable(name PASSING '<a/>' COLUMNS b text PATH 'b'), people

-- refused 42
SELECT relname FROM pg_class WHERE oid = 'codes'::regclass
-- then
SELECT relname FROM pg_class WHERE oid = 'ledger_a'::regclass

-- allowed
SELECT relname FROM pg_class WHERE relname = 'codes'
-- then
SELECT relname FROM pg_class WHERE relname = 'ledger' || '_a'
