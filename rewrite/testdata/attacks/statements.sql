-- Statements other than reading ones.

-- refused 42
DO $$ BEGIN RAISE NOTICE '%', (SELECT string_agg(name, ',') FROM people); END $$

-- refused 42
DO LANGUAGE plpgsql 'DECLARE r record; BEGIN FOR r IN SELECT * FROM people LOOP RAISE NOTICE ''%'', r; END LOOP; END'

-- refused 42
CALL reveal_all()

-- refused 42
CREATE FUNCTION leak() RETURNS SETOF text LANGUAGE sql AS 'SELECT name FROM people'

-- refused 42
CREATE FUNCTION pg_temp.leak() RETURNS SETOF text LANGUAGE sql AS 'SELECT name FROM people'; SELECT pg_temp.leak()

-- refused 42
CREATE VIEW leak AS SELECT name FROM people

-- refused 42
CREATE MATERIALIZED VIEW leak AS SELECT name FROM people

-- refused 42
REFRESH MATERIALIZED VIEW people_copy

-- refused 42
CREATE RULE r AS ON SELECT TO codes DO INSTEAD SELECT name FROM people

-- refused 42
CREATE TRIGGER t BEFORE INSERT ON codes EXECUTE FUNCTION people_names()

-- refused 42
CREATE TABLE t AS SELECT name FROM people

-- refused 42
CREATE TABLE t (LIKE people INCLUDING ALL)

-- refused 42
CREATE EXTENSION dblink

-- refused 42
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw

-- refused 42
CREATE PUBLICATION p FOR TABLE people

-- refused 42
CREATE POLICY p ON people USING (true)

-- refused 42
CREATE STATISTICS s ON name, town FROM people

-- refused 42
CREATE OPERATOR public.=== (FUNCTION = reveal, RIGHTARG = text)

-- refused 42
CREATE CAST (text AS integer) WITH INOUT AS IMPLICIT

-- refused 42
INSERT INTO codes SELECT name, name FROM people

-- refused 42
INSERT INTO codes VALUES ('x', 'y') RETURNING *

-- refused 42
UPDATE people SET name = name RETURNING *

-- refused 42
UPDATE codes SET meaning = (SELECT name FROM people LIMIT 1) RETURNING *

-- refused 42
DELETE FROM people RETURNING *

-- refused 42
MERGE INTO codes USING people ON false WHEN NOT MATCHED THEN INSERT VALUES (name, name)

-- refused 42
TRUNCATE people

-- refused 42
DROP TABLE people

-- refused 42
ALTER TABLE people ADD COLUMN x text DEFAULT 'y'

-- refused 42
COMMENT ON TABLE people IS 'x'

-- refused 42
GRANT SELECT ON people TO PUBLIC

-- refused 42
ANALYZE VERBOSE people

-- refused 42
VACUUM people

-- refused 42
CLUSTER people USING people_pkey

-- refused 42
REINDEX TABLE people

-- refused 42
LOCK TABLE people IN ACCESS SHARE MODE

-- refused 42
LISTEN people

-- refused 42
NOTIFY people, 'x'

-- refused 42
LOAD 'auto_explain'

-- refused 42
CHECKPOINT

-- refused 42
PREPARE TRANSACTION 'x'

-- refused 42
SELECT illness FROM people FOR UPDATE

-- refused 42
SELECT illness FROM people FOR KEY SHARE OF people

-- refused 42
SELECT * FROM codes FOR SHARE NOWAIT

-- refused 42
SECURITY LABEL ON TABLE people IS 'x'

-- refused 42
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public

-- refused 42
REASSIGN OWNED BY postgres TO CURRENT_USER

-- refused 42
SELECT 1; DROP TABLE people

-- refused 42
SELECT 1; SELECT name FROM people

-- refused 42
; ; SELECT name FROM people ;

-- refused 42
SELECT 1; COMMIT; DELETE FROM people

-- refused 42
BEGIN; SELECT name FROM people; COMMIT

-- refused 42
CREATE EVENT TRIGGER t ON ddl_command_end EXECUTE FUNCTION reveal()

-- refused 42
CREATE TABLE t () INHERITS (people)

-- refused 42
CREATE TABLE t PARTITION OF visits DEFAULT

-- refused 42
ALTER TABLE visits DETACH PARTITION qvzrel_visits_late

-- refused 42
CREATE SCHEMA leak CREATE VIEW v AS SELECT name FROM public.people

-- refused 42
CREATE DOMAIN d AS text CHECK ((SELECT name FROM people) = VALUE)

-- refused 42
CREATE AGGREGATE leak (text) (SFUNC = tells, STYPE = text)

-- refused 42
CREATE TYPE leak AS (a people)

-- refused 42
CREATE PROCEDURE leak() LANGUAGE sql AS 'SELECT name FROM people'

-- refused 42
CREATE FUNCTION leak() RETURNS text LANGUAGE sql BEGIN ATOMIC SELECT name FROM people; END

-- refused 42
CREATE INDEX ON people (name)

-- refused 42
CREATE SEQUENCE s OWNED BY people.id

-- refused 42
CREATE COLLATION c FROM numbered

-- refused 42
CREATE CONVERSION c FOR 'UTF8' TO 'LATIN1' FROM tells

-- refused 42
CREATE TEXT SEARCH CONFIGURATION c (COPY = ours)

-- refused 42
CREATE USER MAPPING FOR PUBLIC SERVER s OPTIONS (password 'x')

-- refused 42
CREATE SUBSCRIPTION s CONNECTION 'dbname=postgres' PUBLICATION kproxy

-- refused 42
ALTER PUBLICATION kproxy ADD TABLE qvzrel_vault

-- refused 42
DROP PUBLICATION kproxy

-- refused 42
CREATE ROLE leak SUPERUSER

-- refused 42
ALTER ROLE postgres PASSWORD NULL

-- refused 42
GRANT pg_read_all_data TO CURRENT_USER

-- refused 42
ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO PUBLIC

-- refused 42
ALTER SYSTEM SET shared_preload_libraries = 'auto_explain'

-- refused 42
ALTER TABLE people DISABLE ROW LEVEL SECURITY

-- refused 42
ALTER TABLE people REPLICA IDENTITY FULL

-- refused 42
ALTER FUNCTION as_owner(text) OWNER TO CURRENT_USER

-- refused 42
DROP OWNED BY postgres CASCADE

-- refused 42
INSERT INTO people SELECT * FROM people RETURNING name

-- refused 42
INSERT INTO codes VALUES ('illness 1', 'x') ON CONFLICT (code) DO UPDATE SET meaning = (SELECT min(name) FROM people) RETURNING meaning

-- refused 42
INSERT INTO codes VALUES ('illness 1', 'x') ON CONFLICT DO NOTHING

-- refused 42
UPDATE codes SET meaning = name FROM people WHERE code = illness

-- refused 42
DELETE FROM codes USING people WHERE reveal(name)

-- refused 42
WITH q AS (MERGE INTO codes USING people ON true WHEN MATCHED THEN DELETE RETURNING *) SELECT * FROM q

-- refused 42
WITH q AS (UPDATE people SET name = name RETURNING *) SELECT illness FROM people

-- refused 42
SELECT * FROM (INSERT INTO codes VALUES ('x', 'y') RETURNING *) q

-- refused 42
SELECT name INTO TABLE leak FROM people

-- refused 42
SELECT illness INTO UNLOGGED leak FROM people

-- refused 42
TRUNCATE TABLE ONLY people, codes RESTART IDENTITY CASCADE

-- refused 42
LOCK people, codes IN ACCESS EXCLUSIVE MODE NOWAIT

-- refused 42
SELECT * FROM people FOR NO KEY UPDATE SKIP LOCKED

-- refused 42
SELECT * FROM (SELECT * FROM codes FOR UPDATE) q

-- refused 42
CALL pg_catalog.pg_sleep(1)

-- refused 42
DO 'BEGIN PERFORM pg_sleep(10); END'

-- refused 42
LOAD '$libdir/plpgsql'

-- refused 42
EXECUTE IMMEDIATE 'SELECT name FROM people'

-- refused 42
SHUTDOWN

-- refused 42
BASE_BACKUP

-- refused 42
IDENTIFY_SYSTEM

-- refused 42
START_REPLICATION SLOT kproxy LOGICAL 0/0 (proto_version '1', publication_names 'kproxy')

-- refused 42
CREATE_REPLICATION_SLOT mine TEMPORARY LOGICAL test_decoding EXPORT_SNAPSHOT

-- refused 42
SHOW is_superuser; SHOW config_file

-- refused 42
HELP

-- refused 42
; DROP TABLE people; --
