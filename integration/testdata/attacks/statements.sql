-- Statements other than reading ones.

-- refuse
DO $$ BEGIN RAISE NOTICE '%', (SELECT string_agg(name, ',') FROM people); END $$

-- refuse
DO LANGUAGE plpgsql 'DECLARE r record; BEGIN FOR r IN SELECT * FROM people LOOP RAISE NOTICE ''%'', r; END LOOP; END'

-- refuse
CALL reveal_all()

-- refuse
CREATE FUNCTION leak() RETURNS SETOF text LANGUAGE sql AS 'SELECT name FROM people'

-- refuse
CREATE FUNCTION pg_temp.leak() RETURNS SETOF text LANGUAGE sql AS 'SELECT name FROM people'; SELECT pg_temp.leak()

-- refuse
CREATE VIEW leak AS SELECT name FROM people

-- refuse
CREATE MATERIALIZED VIEW leak AS SELECT name FROM people

-- refuse
REFRESH MATERIALIZED VIEW people_copy

-- refuse
CREATE RULE r AS ON SELECT TO codes DO INSTEAD SELECT name FROM people

-- refuse
CREATE TRIGGER t BEFORE INSERT ON codes EXECUTE FUNCTION people_names()

-- refuse
CREATE TABLE t AS SELECT name FROM people

-- refuse
CREATE TABLE t (LIKE people INCLUDING ALL)

-- refuse
CREATE EXTENSION dblink

-- refuse
CREATE SERVER s FOREIGN DATA WRAPPER postgres_fdw

-- refuse
CREATE PUBLICATION p FOR TABLE people

-- refuse
CREATE POLICY p ON people USING (true)

-- refuse
CREATE STATISTICS s ON name, town FROM people

-- refuse
CREATE OPERATOR public.=== (FUNCTION = reveal, RIGHTARG = text)

-- refuse
CREATE CAST (text AS integer) WITH INOUT AS IMPLICIT

-- refuse
INSERT INTO codes SELECT name, name FROM people

-- refuse
INSERT INTO codes VALUES ('x', 'y') RETURNING *

-- refuse
UPDATE people SET name = name RETURNING *

-- refuse
UPDATE codes SET meaning = (SELECT name FROM people LIMIT 1) RETURNING *

-- refuse
DELETE FROM people RETURNING *

-- refuse
MERGE INTO codes USING people ON false WHEN NOT MATCHED THEN INSERT VALUES (name, name)

-- refuse
TRUNCATE people

-- refuse
DROP TABLE people

-- refuse
ALTER TABLE people ADD COLUMN x text DEFAULT 'y'

-- refuse
COMMENT ON TABLE people IS 'x'

-- refuse
GRANT SELECT ON people TO PUBLIC

-- refuse
ANALYZE VERBOSE people

-- refuse
VACUUM people

-- refuse
CLUSTER people USING people_pkey

-- refuse
REINDEX TABLE people

-- refuse
LOCK TABLE people IN ACCESS SHARE MODE

-- refuse
LISTEN people

-- refuse
NOTIFY people, 'x'

-- refuse
LOAD 'auto_explain'

-- refuse
CHECKPOINT

-- refuse
PREPARE TRANSACTION 'x'

-- refuse
SELECT illness FROM people FOR UPDATE

-- refuse
SELECT illness FROM people FOR KEY SHARE OF people

-- refuse
SELECT * FROM codes FOR SHARE NOWAIT

-- refuse
SECURITY LABEL ON TABLE people IS 'x'

-- refuse
IMPORT FOREIGN SCHEMA public FROM SERVER s INTO public

-- refuse
REASSIGN OWNED BY postgres TO CURRENT_USER

-- refuse
SELECT 1; DROP TABLE people

-- refuse
SELECT 1; SELECT name FROM people

-- refuse
; ; SELECT name FROM people ;

-- refuse
SELECT 1; COMMIT; DELETE FROM people

-- refuse
BEGIN; SELECT name FROM people; COMMIT
