-- The helpers for analysts: they are told names and labels as texts, look some up in tables
-- of kproxy's own, and stand in a schema that others may be tempted to use.

-- refused 42
SELECT * FROM kproxy.described

-- refused 42
SELECT * FROM kproxy_catalog.described

-- refused 42
SELECT * FROM kproxy_catalog.label

-- refused 42
SELECT * FROM kproxy_store.description

-- refused 42
SELECT kproxy_catalog.meaning('people', 'town', '*')

-- refused 42
SELECT kproxy_catalog.described_table('people')

-- refused 42
SELECT * FROM kproxy.describe('kproxy_store.records_1'::regclass)

-- harmless
SELECT * FROM kproxy.describe('qvzrel_vault'::text)

-- harmless
SELECT d.* FROM generate_series(16384, 20000) o CROSS JOIN LATERAL kproxy.describe(o::oid) d

-- allowed
SELECT * FROM kproxy.describe('people')

-- allowed
SELECT * FROM kproxy.tables()

-- harmless
SELECT * FROM kproxy.labels('qvzrel_vault', 'qvzcol_code')

-- harmless
SELECT l.* FROM kproxy.tables() t CROSS JOIN LATERAL kproxy.describe(t."table") c CROSS JOIN LATERAL kproxy.labels(t."table", c."column") l

-- refused 42
SELECT kproxy.certain(name, 'a') FROM people

-- refused 42
SELECT kproxy.overlap(p, p) FROM people p

-- refused 42
SELECT ('a'::text).certain

-- refused 42
SELECT ('a'::text).tables

-- harmless
SET search_path = kproxy, kproxy_catalog, kproxy_store
-- then
SELECT * FROM described

-- refused 42
CREATE FUNCTION kproxy.certain(int) RETURNS int LANGUAGE sql AS 'SELECT 1'

-- refused 42
CREATE TABLE kproxy.mine (a int)

-- harmless
SELECT p.proname, pg_get_function_arguments(p.oid), pg_get_function_result(p.oid), obj_description(p.oid, 'pg_proc') FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace WHERE n.nspname ~ 'kproxy'

-- harmless
SELECT 'kproxy.certain'::regproc

-- harmless
EXPLAIN SELECT kproxy.overlap('a', 'b', 'people', 'town'), kproxy.describe('people')

-- refused 22
SELECT * FROM kproxy.describe('people"; SELECT 1')

-- harmless
SELECT kproxy.overlap('a', 'b', $$people$$, $$name' OR true$$)
