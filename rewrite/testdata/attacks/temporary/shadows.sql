-- Where the operator allows temporary tables: tables that hide protected ones, and
-- what ends them, so that proxy and server could disagree about what a name means.

-- allowed
CREATE TEMP TABLE people (name text)
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
SELECT name FROM public.people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
DROP TABLE people
-- then
SELECT name FROM people

-- allowed
CREATE TEMP TABLE people (name text)
-- then
DROP TABLE people
-- then
SELECT illness FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
DROP TABLE people
-- then
DROP TABLE people

-- refused 42
BEGIN
-- then
CREATE TEMP TABLE people (name text)
-- then
ROLLBACK
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
SAVEPOINT a
-- then
CREATE TEMP TABLE people (name text)
-- then
ROLLBACK TO a
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
SAVEPOINT a
-- then
CREATE TEMP TABLE people (name text)
-- then
SAVEPOINT b
-- then
DROP TABLE people
-- then
RELEASE b
-- then
SELECT name FROM people

-- allowed
BEGIN
-- then
CREATE TEMP TABLE people (name text)
-- then
SAVEPOINT b
-- then
DROP TABLE people
-- then
ROLLBACK TO b
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
CREATE TEMP TABLE people (name text) ON COMMIT DROP
-- then
COMMIT
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
CREATE TEMP TABLE people (name text) ON COMMIT DROP
-- then
COMMIT AND CHAIN
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text) ON COMMIT DROP
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
DISCARD TEMP
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
DISCARD ALL
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
CREATE TEMP TABLE people (name text)
-- then
SELECT 1 / 0
-- then
COMMIT
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text); SELECT 1 / 0
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text); DROP TABLE people; SELECT name FROM people

-- allowed
CREATE TEMP TABLE people (name text); DROP TABLE people; CREATE TEMP TABLE people (name int); SELECT name + 1 FROM people

-- refused 42
CREATE TEMP TABLE people (name text); BEGIN; DROP TABLE people; ROLLBACK; SELECT name FROM public.people

-- BEGIN takes what the text did before it into the transaction.
-- refused 42
CREATE TEMP TABLE people (name text); BEGIN; DROP TABLE people; ROLLBACK; SELECT name FROM people

-- refused 42
BEGIN; CREATE TEMP TABLE people (name text); COMMIT; DROP TABLE people; SELECT name FROM people

-- refused 42
CREATE TEMP TABLE IF NOT EXISTS people (name text)
-- then
DROP TABLE IF EXISTS people
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
CREATE TEMP TABLE people (name int)

-- refused 42
CREATE TEMP TABLE people (name no_such_type)
-- then
SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text, name text)
-- then
SELECT name FROM people

-- allowed
PREPARE p AS SELECT illness FROM people
-- then
CREATE TEMP TABLE people (illness text)
-- then
EXECUTE p

-- refused 42 26 0A
CREATE TEMP TABLE people (name text)
-- then
PREPARE p AS SELECT name FROM people
-- then
DROP TABLE people
-- then
EXECUTE p

-- refused 42 34 55
BEGIN
-- then
CREATE TEMP TABLE people (name text)
-- then
DECLARE c CURSOR FOR SELECT name FROM people
-- then
ROLLBACK
-- then
FETCH ALL FROM c

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
WITH people AS (SELECT 1 AS x) SELECT name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
SELECT p.name FROM people t JOIN public.people p ON true

-- allowed
CREATE TEMP TABLE people (name text)
-- then
SELECT people.name FROM people JOIN codes ON true

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
SELECT public.people.name FROM people

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
SET search_path = public, pg_temp
-- then
SELECT name FROM people

-- allowed
CREATE TEMP TABLE people (name text)
-- then
SET search_path = pg_temp, public
-- then
SELECT name FROM people

-- allowed
CREATE TEMP TABLE pg_class (relname text, oid oid)
-- then
SELECT relname, oid::regclass FROM pg_class

-- allowed
CREATE TEMP TABLE pg_class (oid oid, relname text)
-- then
INSERT INTO pg_class SELECT o, 'x' FROM generate_series(16384, 18500) o
-- then
SELECT oid::regclass, pg_get_expr(NULL, oid), format_type(oid, NULL) FROM pg_class

-- allowed
CREATE TEMP TABLE pg_type (oid oid)
-- then
INSERT INTO pg_type SELECT o FROM generate_series(16384, 18500) o
-- then
SELECT oid::regtype, format_type(oid, -1) FROM pg_type

-- refused 42
CREATE TEMP TABLE pg_namespace (oid oid, nspname name)
-- then
SELECT nspname FROM pg_namespace
-- then
SELECT * FROM kproxy_store.records_1

-- refused 42
CREATE TEMP TABLE records_1 (name text)
-- then
SELECT * FROM kproxy_store.records_1

-- refused 42
CREATE TEMP TABLE text (x int)
-- then
SELECT 'qwe'::text, name FROM people

-- refused 42
CREATE TEMP TABLE "public.people" (name text)
-- then
SELECT name FROM public.people

-- allowed
CREATE TEMP TABLE "kproxy_store.records_1" (name text)
-- then
SELECT name FROM "kproxy_store.records_1"

-- refused 42
CREATE TEMP TABLE PeOpLe (name text)
-- then
SELECT name FROM "PeOpLe"

-- refused 42
CREATE TEMP TABLE "People" (name text)
-- then
SELECT name FROM people
