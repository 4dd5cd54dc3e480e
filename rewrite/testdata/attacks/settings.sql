-- The search path and other settings that change what names and texts mean.

-- allowed
SET search_path = kproxy_store, public

-- allowed
SET LOCAL search_path = other

-- allowed
SET SESSION search_path TO other, public

-- allowed
SELECT set_config('search_path', 'other', false)

-- allowed
SELECT pg_catalog.set_config('search_path', 'other', true)

-- allowed
SET SCHEMA 'other'

-- refused 42
SET search_path = other; SELECT name FROM people

-- refused 42
ALTER ROLE CURRENT_USER SET search_path = other

-- refused 42
ALTER DATABASE clinic SET search_path = other

-- refused 22
SET standard_conforming_strings = off

-- refused 22
SET standard_conforming_strings = off; SELECT '\'' || ' FROM people; SELECT name FROM people --'

-- refused 42
SET backslash_quote = on

-- allowed
SET client_encoding = 'SJIS'

-- allowed
SET NAMES 'GBK'

-- refused 22
SET client_encoding = 'MULE_INTERNAL'

-- refused 22
SET client_encoding TO 1.5

-- refused 22
SET client_encoding = 99999999999

-- refused 22
SET client_encoding TO 'UTF8', 1.5

-- refused 22
SET client_encoding TO 'LATIN1', 'SJIS'

-- refused 42
SET client_encoding = 'SJIS'; SELECT name AS "表" FROM people WHERE name <> E'表\' OR true

-- refused 42
SELECT set_config('client_encoding', 'BIG5', false)
-- then
SELECT E'許\', name FROM people --'

-- refused 42
SET ROLE postgres

-- refused 42
SET SESSION AUTHORIZATION postgres

-- allowed
SET SESSION AUTHORIZATION DEFAULT

-- allowed
RESET ROLE

-- refused 42
SET session_replication_role = replica

-- refused 22
SET default_transaction_read_only = off

-- refused 22
SET transaction_read_only = off

-- allowed
BEGIN; SET TRANSACTION READ WRITE

-- Pools send it; sessions stay read-only all the same.
-- allowed
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE

-- refused 42
SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE
-- then
INSERT INTO codes VALUES ('x', 'y')

-- refused 22
SET client_min_messages = debug5

-- refused 42
SET log_min_messages = debug5

-- refused 42
SET debug_print_parse = on

-- refused 22 42
SET row_security = off

-- refused 42
SET lo_compat_privileges = on

-- refused 42
SET allow_system_table_mods = on

-- refused 42
SET session_preload_libraries = 'auto_explain'

-- refused 42
SET "auto_explain.log_min_duration" = 0

-- refused 42
SET default_tablespace = ''

-- refused 0A
SET TRANSACTION SNAPSHOT '00000003-0000001B-1'

-- refused 42
SET plpgsql.extra_warnings = 'all'

-- refused 42
SHOW data_directory

-- harmless
SHOW ALL

-- refused 42
SELECT current_setting('hba_file')

-- allowed
RESET ALL

-- allowed
DISCARD ALL

-- allowed
SET application_name = 'x'

-- allowed
SET search_path = public

-- Settings that change how the server writes names and plans.

-- allowed
SET quote_all_identifiers = on
-- then
SELECT 'people'::regclass, 'people'::regclass::text, o.oid::regclass FROM pg_class o WHERE o.relname = 'codes'

-- allowed
SET quote_all_identifiers = on
-- then
EXPLAIN SELECT * FROM people p JOIN chart c ON c.age = p.cost

-- allowed
SET quote_all_identifiers = on
-- then
SELECT pg_get_indexdef(indexrelid) FROM pg_index UNION ALL SELECT pg_get_constraintdef(c.oid) FROM pg_constraint c

-- harmless
SET force_parallel_mode = on
-- then
SELECT 1 / (cost - cost) FROM people

-- allowed
SET enable_seqscan = off
-- then
EXPLAIN (ANALYZE, FORMAT json) SELECT * FROM people WHERE cost = 5

-- allowed
SET plan_cache_mode = force_generic_plan
-- then
PREPARE p (int) AS SELECT * FROM people WHERE cost = $1
-- then
EXPLAIN EXECUTE p(1)

-- harmless
SET default_text_search_config = 'public.ours'
-- then
SELECT to_tsvector(illness) FROM people

-- refused 42 22 25
SET default_text_search_config = 'kproxy_store.ours'
-- then
SELECT to_tsvector(name) FROM people

-- allowed
SET xmlbinary = hex
-- then
SELECT xmlelement(name a, illness::bytea) FROM people

-- allowed
SELECT CASE WHEN false THEN set_config('search_path', 'other', false) END
-- then
SELECT count(*) FROM public.people

-- refused 42 0A
SELECT set_config(DISTINCT 'search_path', 'other', false)

-- refused 42 0A
SELECT set_config('search_path', 'other', false ORDER BY (SELECT name FROM people))

-- refused 42 0A
SELECT set_config('search_path', 'other', false) WITHIN GROUP (ORDER BY 1)

-- refused 42 0A
SELECT set_config('search_path', 'other', VARIADIC ARRAY[false])

-- refused 42 0A
SELECT current_setting('search_path' ORDER BY 1), set_config('search_path', 'other', false)

-- refused 42 0A
SELECT set_config('search_path', 'other', false) FOR UPDATE

-- refused 22
SET default_text_search_config = 'other.simple'

-- refused 22
SELECT set_config('default_text_search_config', '"other".simple', false)

-- allowed
SET default_text_search_config = 'pg_catalog.english'

-- refused 42
SELECT set_config('search_path', 'other', false) FROM generate_series(1, 0)
-- then
SELECT name FROM people

-- refused 42 0A 22
SELECT set_config(n, 'other', false) FROM (VALUES ('search_path'), ('role')) v (n)

-- refused 42 0A 22
SELECT set_config('search_path', illness, false) FROM people

-- refused 42
SELECT set_config('role', 'postgres', false)

-- refused 42 22
SELECT set_config('session_authorization', 'postgres', true)

-- refused 22 42
SELECT set_config('transaction_read_only', 'off', true)

-- refused 42
SELECT set_config('log_statement', 'none', false)

-- refused 42
SELECT s.set_config FROM (SELECT set_config('session_preload_libraries', 'x', false)) s

-- refused 42
SET search_path = '"$user", public, pg_temp, kproxy_store'
-- then
SELECT * FROM records_1

-- refused 42
SET search_path = pg_catalog, public, pg_toast
-- then
SELECT * FROM pg_toast_1255

-- refused 42 22
SELECT set_config('search_path', '"unfinished, public', false)

-- refused 42
SET search_path TO kproxy_release_public
-- then
SELECT * FROM people

-- refused 42
SET search_path TO kproxy_catalog, kproxy_store, pg_catalog
-- then
SELECT visible(1), shown_types()

-- refused 42
SET search_path = ''
-- then
SELECT * FROM people

-- refused 42
SET search_path = other
-- then
SELECT abs(illness) FROM public.people

-- refused 42
SET search_path = public, other
-- then
SELECT illness = town, illness === town FROM people

-- allowed
SET search_path = other, public
-- then
SELECT illness = town FROM public.people

-- refused 42
SET search_path = "public", "Other"
-- then
SELECT padded('x')

-- refused 42
SET search_path = public
-- then
SELECT 'x'::probe
