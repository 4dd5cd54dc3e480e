-- Where the operator allows temporary tables: statements that fill, change and make
-- them, and those that reach for other tables on the way.

-- refused 42
CREATE TEMP TABLE t AS SELECT name FROM people

-- refused 42
CREATE TEMP TABLE t AS SELECT * FROM people_view

-- refused 42
CREATE TEMP TABLE t AS TABLE qvzrel_vault WITH NO DATA

-- refused 42
CREATE TEMP TABLE t (name) AS SELECT qvzcol_ssn FROM chart

-- allowed
CREATE TEMP TABLE t AS SELECT * FROM chart
-- then
SELECT * FROM t

-- refused 42
SELECT * INTO TEMP t FROM people p JOIN rare r ON r.amount = p.cost
-- then
SELECT count(*), min(t::text) FROM t

-- refused 42
SELECT name INTO TEMP t FROM people

-- refused 42
SELECT illness INTO public.t FROM people

-- refused 42
SELECT illness INTO t FROM people

-- refused 42
SELECT illness INTO TEMP t FROM people UNION SELECT name FROM people

-- refused 42
CREATE TABLE t AS SELECT illness FROM people

-- refused 42
CREATE UNLOGGED TABLE t (a int)

-- refused 42
CREATE TABLE public.t (a int)

-- refused 42
CREATE TEMP TABLE public.t (a int)

-- refused 42
CREATE TEMP TABLE kproxy_store.t (a int)

-- refused 0A 42
CREATE TEMP TABLE t (LIKE people INCLUDING ALL)

-- refused 0A 42
CREATE TEMP TABLE t () INHERITS (people)

-- refused 0A 42
CREATE TEMP TABLE t PARTITION OF visits DEFAULT

-- refused 0A 42
CREATE TEMP TABLE t OF probe

-- refused 0A 42
CREATE TEMP TABLE t (a int) PARTITION BY RANGE (a)

-- refused 0A 42
CREATE TEMP TABLE t (a int) USING heap

-- refused 0A 42
CREATE TEMP TABLE t (a int) WITH (autovacuum_enabled = off)

-- refused 0A 42
CREATE TEMP TABLE t (a int) TABLESPACE pg_default

-- refused 0A 42
CREATE TEMP TABLE t (a text REFERENCES people (name))

-- refused 0A 42
CREATE TEMP TABLE t (a int, FOREIGN KEY (a) REFERENCES qvzrel_vault)

-- refused 0A 42
CREATE TEMP TABLE t (a text, EXCLUDE USING gist (a WITH ===))

-- refused 0A 42
CREATE TEMP TABLE t (a int GENERATED ALWAYS AS IDENTITY)

-- refused 0A 42
CREATE TEMP TABLE t (a int, b text GENERATED ALWAYS AS (peek('SELECT name FROM people')) STORED)

-- refused 42 0A
CREATE TEMP TABLE t (a serial, b bigserial)

-- refused 42
CREATE TEMP TABLE t (a text DEFAULT peek('SELECT name FROM people'))

-- refused 42
CREATE TEMP TABLE t (a int DEFAULT nextval('people_seq'))

-- refused 42
CREATE TEMP TABLE t (a text CHECK (reveal(a)))

-- refused 42
CREATE TEMP TABLE t (a text CHECK (a === 'x'))

-- refused 42 0A
CREATE TEMP TABLE t (a text CHECK (a IN (SELECT name FROM people)))

-- refused 42
CREATE TEMP TABLE t (a probe)

-- refused 42
CREATE TEMP TABLE t (a chatty)

-- refused 42
CREATE TEMP TABLE t (a qvzrel_vault)

-- refused 42 0A
CREATE TEMP TABLE t (a regclass)

-- refused 42 0A
CREATE TEMP TABLE t (a regclass[], b regtype)

-- refused 42
CREATE TEMP TABLE t (a xid, b tid)

-- refused 42
CREATE TEMP TABLE t (a text COLLATE public.numbered)

-- refused 42
CREATE TEMP VIEW v AS SELECT illness FROM people

-- refused 42
CREATE TEMP SEQUENCE s

-- refused 42
CREATE TEMP RECURSIVE VIEW v (n) AS SELECT 1

-- refused 42
CREATE FUNCTION pg_temp.f() RETURNS text LANGUAGE sql AS 'SELECT name FROM people'

-- refused 42
CREATE TEMP TABLE t (a int)
-- then
CREATE TRIGGER x BEFORE INSERT ON t EXECUTE FUNCTION reveal()

-- refused 42
CREATE TEMP TABLE t (a int)
-- then
CREATE RULE r AS ON INSERT TO t DO ALSO SELECT name FROM people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
INSERT INTO t SELECT name FROM people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
INSERT INTO t VALUES ((SELECT min(name) FROM people)) RETURNING *

-- refused 42
CREATE TEMP TABLE t (a text PRIMARY KEY)
-- then
INSERT INTO t VALUES ('x') ON CONFLICT (a) DO UPDATE SET a = (SELECT min(qvzcol_ssn) FROM chart)

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
WITH t AS (SELECT 1) INSERT INTO t SELECT name FROM people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
INSERT INTO t SELECT illness FROM people RETURNING name

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
UPDATE t SET a = p.name FROM people p

-- refused 42
CREATE TEMP TABLE t (a text, b text)
-- then
UPDATE t SET (a, b) = (SELECT name, illness FROM people LIMIT 1)

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
DELETE FROM t USING people p WHERE p.name = a RETURNING p.*

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
DELETE FROM t WHERE a IN (SELECT qvzcol_code FROM qvzrel_vault)

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
MERGE INTO t USING people p ON true WHEN NOT MATCHED THEN INSERT VALUES (p.name)

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
INSERT INTO public.people VALUES (1)

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
TRUNCATE people, codes

-- refused 42
CREATE TEMP TABLE people (name text)
-- then
DROP TABLE people, public.people

-- refused 42
DROP TABLE IF EXISTS public.people, pg_temp.people

-- refused 42
DROP TABLE pg_temp.people

-- refused 42
DROP VIEW people

-- refused 42
INSERT INTO codes SELECT illness, town FROM people

-- refused 42
UPDATE codes SET meaning = 'x'

-- refused 42
DELETE FROM public.staff

-- refused 42
WITH x AS (DELETE FROM codes RETURNING *) SELECT * FROM x

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
WITH x AS (INSERT INTO t SELECT name FROM people RETURNING *) SELECT * FROM x

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
COPY t FROM '/etc/passwd'

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
COPY t FROM PROGRAM 'id'

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
COPY t TO '/tmp/t'

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
CREATE INDEX ON t (peek(a))

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
CREATE INDEX ON t ((a === 'x'))

-- refused 42 0A
CREATE TEMP TABLE t (a text)
-- then
CREATE INDEX ON t (a) WHERE a IN (SELECT name FROM people)

-- refused 42
CREATE INDEX ON people (illness)

-- refused 42
CREATE INDEX ON codes (meaning)

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
ALTER TABLE t INHERIT people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
ALTER TABLE t ADD COLUMN b text DEFAULT peek('SELECT name FROM people')

-- refused 42
ANALYZE people

-- refused 42
ANALYZE

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
ANALYZE t, people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
VACUUM t

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
LOCK TABLE people

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
COMMENT ON TABLE t IS 'x'

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
GRANT SELECT ON t TO PUBLIC

-- refused 42
CREATE TEMP TABLE t (a text)
-- then
SELECT * FROM t FOR UPDATE

-- refused 42
PREPARE p AS SELECT * FROM people
-- then
CREATE TEMP TABLE t AS EXECUTE p
-- then
SELECT name FROM t

-- refused 22
CREATE TEMP TABLE t (a int)
-- then
INSERT INTO t SELECT illness::int FROM people

-- refused 23
CREATE TEMP TABLE t (a text UNIQUE)
-- then
INSERT INTO t SELECT illness FROM people

-- refused 23
CREATE TEMP TABLE t (a text CHECK (a <> 'illness 1'))
-- then
INSERT INTO t SELECT illness FROM people

-- allowed
CREATE TEMP TABLE t AS SELECT * FROM people
-- then
SELECT 't'::regclass, 't'::regclass::oid::regclass, pg_typeof(t) FROM t

-- allowed
CREATE TEMP TABLE t AS SELECT p FROM people p
-- then
SELECT (p).*, to_jsonb(p), p::text FROM t

-- harmless
CREATE TEMP TABLE t AS SELECT * FROM people
-- then
SELECT * FROM pg_stats

-- allowed
CREATE TEMP TABLE t AS SELECT * FROM people
-- then
EXPLAIN ANALYZE SELECT * FROM t JOIN people USING (cost)

-- refused 42
CREATE TEMP TABLE t AS SELECT * FROM people
-- then
EXPLAIN ANALYZE INSERT INTO t SELECT * FROM people

-- allowed
CREATE TEMP TABLE t (a text)
-- then
SELECT relname, relnamespace::regnamespace FROM pg_class WHERE relpersistence = 't'

-- refused 42
SELECT * FROM pg_temp_3.t

-- A transaction's number counts the transactions of all the server.
-- refused 42
CREATE TEMP TABLE t AS SELECT 1 AS a
-- then
SELECT xmin FROM t

-- refused 42
CREATE TEMP TABLE t AS SELECT 1 AS a
-- then
SELECT (t).xmin, (t.*).cmax, (x.xmax) FROM t, t x

-- refused 42
CREATE TEMP TABLE t AS SELECT 1 AS a
-- then
UPDATE t SET a = 2 RETURNING xmax

-- refused 42
CREATE TEMP TABLE t AS SELECT 1 AS a
-- then
DELETE FROM t WHERE t.ctid = '(0,1)' RETURNING tableoid
