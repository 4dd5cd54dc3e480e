-- Several statements in one session, after which the server and the proxy could
-- disagree about what is prepared, open, set or rolled back.

-- refused 42 25
BEGIN
-- then
SET LOCAL search_path = other
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
SAVEPOINT a
-- then
SET search_path = other, public
-- then
ROLLBACK TO a
-- then
SELECT name FROM people

-- allowed
SET search_path = other, public
-- then
SELECT count(*) FROM public.people

-- refused 42
SET search_path = other
-- then
TABLE people

-- refused 42 25
BEGIN
-- then
SELECT 1 / 0
-- then
SELECT name FROM people

-- refused 42
BEGIN
-- then
SELECT 1 / 0
-- then
ROLLBACK
-- then
SELECT name FROM people

-- refused 26 42
BEGIN
-- then
PREPARE p AS SELECT illness FROM people
-- then
SELECT name FROM people
-- then
ROLLBACK
-- then
DEALLOCATE p
-- then
EXECUTE p

-- refused 26
PREPARE p AS SELECT name FROM people
-- then
EXECUTE p

-- refused 42 26
PREPARE p AS SELECT * FROM people
-- then
DEALLOCATE p
-- then
PREPARE p AS SELECT name FROM people
-- then
EXECUTE p

-- refused 42
PREPARE p AS SELECT * FROM people
-- then
PREPARE p AS SELECT illness FROM people

-- refused 26
PREPARE p AS SELECT * FROM people
-- then
DISCARD PLANS
-- then
DEALLOCATE ALL
-- then
EXECUTE p

-- refused 0A
PREPARE p (text) AS SELECT illness FROM people WHERE illness = $1
-- then
EXECUTE p((SELECT name FROM people LIMIT 1))

-- refused 42
PREPARE p (text) AS SELECT illness FROM people WHERE illness = $1
-- then
EXECUTE p(query_to_xml('SELECT name FROM people', true, false, '')::text)

-- refused 42
PREPARE p (text) AS SELECT illness FROM people WHERE illness = $1
-- then
EXPLAIN ANALYZE EXECUTE p(peek('SELECT name FROM people'))

-- refused 42
PREPARE p AS SELECT 1
-- then
CREATE TABLE t AS EXECUTE p

-- refused 42
PREPARE p AS SELECT 1
-- then
CREATE TEMP TABLE people AS EXECUTE p

-- refused 42
PREPARE p AS SELECT illness FROM people; PREPARE q AS SELECT name FROM people; EXECUTE p

-- refused 0A
PREPARE p (regclass, oid) AS SELECT $2::regclass, name FROM people

-- refused 42
PREPARE p AS INSERT INTO codes VALUES ($1, $2)

-- refused 42
PREPARE p AS SELECT illness INTO TEMP t FROM people

-- refused 34
BEGIN
-- then
DECLARE c CURSOR FOR SELECT illness FROM people
-- then
ROLLBACK
-- then
FETCH ALL FROM c

-- refused 34
DECLARE c CURSOR WITH HOLD FOR SELECT illness FROM people
-- then
CLOSE ALL
-- then
FETCH 1 FROM c

-- allowed
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM people
-- then
FETCH BACKWARD ALL FROM c
-- then
FETCH ABSOLUTE 3 FROM c
-- then
MOVE FORWARD 5 IN c
-- then
FETCH RELATIVE 0 FROM c

-- refused 42
DECLARE c SCROLL CURSOR WITH HOLD FOR SELECT * FROM people
-- then
SELECT cursor_to_xmlschema('c', true, false, '')

-- refused 42
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people
-- then
SELECT ctid FROM people WHERE CURRENT OF c

-- refused 42
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people FOR UPDATE

-- refused 42
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people
-- then
DELETE FROM people WHERE CURRENT OF c

-- allowed
DECLARE c CURSOR WITH HOLD FOR SELECT * FROM people
-- then
SELECT name, statement FROM pg_cursors

-- allowed
PREPARE p AS SELECT * FROM people
-- then
SELECT statement FROM pg_prepared_statements

-- refused 42
PREPARE p AS SELECT * FROM people
-- then
SELECT pg_prepared_statement(), pg_cursor()

-- refused 42
START TRANSACTION ISOLATION LEVEL SERIALIZABLE READ ONLY DEFERRABLE
-- then
SELECT name FROM people

-- Drivers send it with each transaction; it stays read-only all the same.
-- allowed
START TRANSACTION READ WRITE

-- refused 42
BEGIN ISOLATION LEVEL REPEATABLE READ, READ WRITE
-- then
DELETE FROM codes

-- refused 25 22
BEGIN
-- then
SET LOCAL transaction_read_only = off

-- refused 42 25
BEGIN; COMMIT AND CHAIN; ROLLBACK AND CHAIN; SELECT name FROM people

-- refused 42 25
BEGIN
-- then
SAVEPOINT s; RELEASE s; SAVEPOINT s; ROLLBACK TO s; INSERT INTO codes VALUES ('x', 'y')

-- refused 42
BEGIN
-- then
PREPARE TRANSACTION 'held'

-- refused 42
COMMIT PREPARED 'held'

-- refused 42
SET SESSION CHARACTERISTICS AS TRANSACTION READ ONLY
-- then
RESET ALL
-- then
UPDATE codes SET meaning = 'x'

-- refused 42
RESET default_transaction_read_only
-- then
INSERT INTO codes VALUES ('x', 'y')

-- refused 42
RESET SESSION AUTHORIZATION
-- then
SELECT name FROM people

-- refused 42
DISCARD ALL
-- then
CREATE TEMP TABLE people (name text)
-- then
SELECT name FROM people

-- refused 42
DISCARD TEMP; DISCARD SEQUENCES; SELECT currval('people_seq')

-- refused 42
SET application_name = 'SELECT name FROM people'
-- then
SELECT query_to_xml(current_setting('application_name'), true, false, '')

-- refused 42
SET DateStyle = 'German'
-- then
SELECT '2000-01-01'::date::text || name FROM people

-- allowed
SET xmloption = document
-- then
SELECT xmlserialize(CONTENT xmlelement(name p, illness) AS text) FROM people

-- allowed
SET bytea_output = 'escape'
-- then
SELECT illness::bytea FROM people

-- allowed
SET extra_float_digits = 3
-- then
SELECT avg(cost)::float4, account::float8 FROM people GROUP BY account

-- allowed
SET lc_monetary = 'C'
-- then
SELECT cost::money FROM people

-- refused 42 22 0A
SELECT 1; SET search_path = other; SELECT name FROM people; RESET search_path

-- refused 22
SELECT illness FROM people; SELECT 1 / 0; SELECT name FROM people

-- refused 42
ROLLBACK; ROLLBACK; COMMIT; SELECT name FROM people

-- refused 42
BEGIN READ ONLY; CREATE TEMP TABLE t (a int); SELECT * FROM t

-- refused 42
LISTEN kproxy; NOTIFY kproxy; SELECT 1

-- allowed
UNLISTEN *
