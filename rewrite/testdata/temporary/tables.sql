CREATE TEMP TABLE t (a int PRIMARY KEY, b text COLLATE "C" DEFAULT upper('x') NOT NULL, CHECK (a > 0), UNIQUE (a, b)) ON COMMIT PRESERVE ROWS
--> CREATE TEMPORARY TABLE pg_temp.t (a int PRIMARY KEY, b pg_catalog.text DEFAULT pg_catalog.upper('x') NOT NULL COLLATE "C", CHECK (a > 0), UNIQUE (a, b)) ON COMMIT PRESERVE ROWS
SELECT * FROM t
--> SELECT * FROM pg_temp.t t
INSERT INTO t VALUES (1, DEFAULT), (2, 'y')
--> INSERT INTO pg_temp.t VALUES (1, DEFAULT), (2, 'y')
INSERT INTO t (a) SELECT age FROM patients ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE t.a > 1 RETURNING t.*, pg_temp.t.b
--> INSERT INTO pg_temp.t (a) SELECT age FROM kproxy_release_public.patients patients ON CONFLICT (a) DO UPDATE SET b = excluded.b WHERE t.a > 1 RETURNING t.*, t.b
WITH p AS (SELECT 1 AS a) INSERT INTO t (a) SELECT a FROM p
--> WITH p AS (SELECT 1 AS a) INSERT INTO pg_temp.t (a) SELECT a FROM p
UPDATE t SET (a, b) = (3, 'z') FROM patients p WHERE p.age = t.a RETURNING t.a
--> UPDATE pg_temp.t SET (a, b) = (3, 'z') FROM kproxy_release_public.patients p WHERE p.age = t.a RETURNING t.a
DELETE FROM t AS u USING wards WHERE u.b = wards.ward
--> DELETE FROM pg_temp.t u USING kproxy_release_public.wards wards WHERE u.b = wards.ward
CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON t USING btree (a, lower(b) DESC NULLS LAST) INCLUDE (b) WHERE a > 0
--> CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS i ON pg_temp.t USING btree (a, pg_catalog.lower(b) DESC NULLS LAST) INCLUDE (b) WHERE a > 0
ANALYZE t (a)
--> ANALYZE pg_temp.t(a)
TRUNCATE TABLE t
--> TRUNCATE pg_temp.t
COPY t TO STDOUT
--> COPY (SELECT * FROM pg_temp.t t) TO STDOUT
DROP TABLE t
--> DROP TABLE pg_temp.t
SELECT * FROM t
--! 42P01 relation "t" does not exist
--! position: 15

CREATE TEMP TABLE patients AS SELECT * FROM patients
--> CREATE TEMPORARY TABLE pg_temp.patients AS SELECT * FROM kproxy_release_public.patients patients
SELECT * FROM patients, public.patients p
--> SELECT * FROM pg_temp.patients patients, kproxy_release_public.patients p
SELECT pg_table_is_visible(1), current_schema, current_schemas(true) IS NULL
--> SELECT kproxy_catalog.table_is_visible(1, '{pg_temp,pg_catalog,public}'::pg_catalog.name[]) AS pg_table_is_visible, 'public'::pg_catalog.name AS "current_schema", '{pg_temp,pg_catalog,public}'::pg_catalog.name[] IS NULL
DROP TABLE public.patients
--! 42501 must be owner of table patients
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.
DROP TABLE patients CASCADE
--> DROP TABLE pg_temp.patients CASCADE
SELECT * FROM patients
--> SELECT * FROM kproxy_release_public.patients patients

SELECT age INTO TEMP ages FROM patients
--> SELECT age INTO TEMPORARY pg_temp.ages FROM kproxy_release_public.patients patients
SELECT * FROM pg_temp.ages
--> SELECT * FROM pg_temp.ages ages
SELECT age INTO TEMPORARY TABLE more FROM patients UNION ALL SELECT 1
--> SELECT age INTO TEMPORARY pg_temp.more FROM kproxy_release_public.patients patients UNION ALL SELECT 1
TABLE more
--> SELECT * FROM pg_temp.more more

BEGIN
--> BEGIN
CREATE LOCAL TEMPORARY TABLE x ON COMMIT DROP AS VALUES (1)
--> CREATE TEMPORARY TABLE pg_temp.x ON COMMIT DROP AS VALUES (1)
SAVEPOINT s
--> SAVEPOINT s
DROP TABLE x
--> DROP TABLE pg_temp.x
SELECT * FROM x
--! 42P01 relation "x" does not exist
--! position: 15
ROLLBACK TO s
--> ROLLBACK TO SAVEPOINT s
SELECT * FROM x
--> SELECT * FROM pg_temp.x x
COMMIT
--> COMMIT
SELECT * FROM x
--! 42P01 relation "x" does not exist
--! position: 15

CREATE TABLE pg_temp.x AS EXECUTE p(1)
--> CREATE TEMPORARY TABLE pg_temp.x AS EXECUTE p(1)
SET search_path = public, pg_temp
--> SET search_path TO DEFAULT
SELECT * FROM x
--> SELECT * FROM pg_temp.x x
DISCARD TEMP
--> DISCARD TEMP
SELECT * FROM x
--! 42P01 relation "x" does not exist
--! position: 15

DROP TABLE IF EXISTS "#Tableau_1", pg_temp.b
--> DROP TABLE IF EXISTS pg_temp."#Tableau_1", pg_temp.b

DROP TABLE IF EXISTS patients
--! 42501 must be owner of table patients
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

DROP TABLE IF EXISTS secrets
--! 42501 must be owner of table secrets
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

DROP TABLE nothing
--! 42P01 table "nothing" does not exist
--! position: 1

CREATE TABLE t (a int)
--! 42501 kproxy publishes read-only views: CREATE TABLE is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE UNLOGGED TABLE t (a int)
--! 42501 kproxy publishes read-only views: CREATE TABLE is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE GLOBAL TEMP TABLE t (a int)
--! 42501 kproxy publishes read-only views: CREATE GLOBAL is not allowed
--! position: 1
--! hint: Leave GLOBAL out: CREATE TEMPORARY TABLE.

CREATE TEMP TABLE public.t (a int)
--! 42P16 cannot create temporary relation in non-temporary schema
--! position: 19

CREATE TEMP TABLE t (a serial)
--! 0A000 kproxy does not support columns of type serial: they draw on a sequence
--! position: 24
--! hint: Declare an integer, and number rows by row_number() OVER ().

CREATE TEMP TABLE t (a patients)
--! 0A000 kproxy supports built-in types in temporary tables only
--! position: 24
--! hint: Use built-in types.

CREATE TEMP TABLE t (a int REFERENCES patients)
--! 0A000 kproxy does not support this constraint
--! position: 28
--! hint: NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE are allowed.

CREATE TEMP TABLE t (a int GENERATED ALWAYS AS IDENTITY)
--! 0A000 kproxy does not support this constraint
--! position: 28
--! hint: NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE are allowed.

CREATE TEMP TABLE t (LIKE patients)
--! 0A000 kproxy supports columns and constraints in CREATE TABLE only
--! position: 1
--! hint: Write CREATE TEMPORARY TABLE ... AS SELECT ... instead.

CREATE TEMP TABLE t () INHERITS (patients)
--! 0A000 kproxy does not support inh relations here
--! position: 1
--! hint: Temporary tables have columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE.

CREATE TEMP TABLE t (a int) WITH (fillfactor = 10)
--! 0A000 kproxy does not support options here
--! position: 1
--! hint: Temporary tables have columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE.

CREATE TEMP TABLE t (a int) TABLESPACE x
--! 0A000 kproxy does not support tablespacename here
--! position: 1
--! hint: Temporary tables have columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE.

CREATE TEMP TABLE t (a int) PARTITION BY LIST (a)
--! 0A000 kproxy does not support partspec here
--! position: 1
--! hint: Temporary tables have columns, NOT NULL, DEFAULT, CHECK, PRIMARY KEY and UNIQUE.

CREATE TEMP TABLE t (a int DEFAULT pg_sleep(1))
--! 42501 permission denied for function pg_sleep
--! position: 36
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

CREATE TEMP TABLE t AS SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 38
--! hint: Only published tables and those that the operator lists can be read.

CREATE TEMP VIEW v AS SELECT * FROM patients
--! 42501 kproxy publishes read-only views: CREATE VIEW is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE TEMP SEQUENCE s
--! 42501 kproxy publishes read-only views: CREATE SEQUENCE is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE MATERIALIZED VIEW v AS SELECT 1
--! 42501 kproxy publishes read-only views: CREATE MATERIALIZED VIEW is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE FUNCTION pg_temp.f() RETURNS int LANGUAGE sql AS 'SELECT 1'
--! 42501 kproxy publishes read-only views: CREATE FUNCTION is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE SCHEMA s
--! 42501 kproxy publishes read-only views: CREATE SCHEMA is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE ROLE r
--! 42501 kproxy publishes read-only views: CREATE ROLE is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

CREATE INDEX ON patients (age)
--! 42501 permission denied for table patients
--! position: 17
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

INSERT INTO patients VALUES (1)
--! 42501 permission denied for table patients
--! position: 13
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

INSERT INTO nothing VALUES (1)
--! 42P01 relation "nothing" does not exist
--! position: 13

WITH t AS (SELECT 1) INSERT INTO t SELECT 1
--! 42P01 relation "t" does not exist
--! position: 34

UPDATE public.patients SET age = 1
--! 42501 permission denied for table patients
--! position: 8
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

UPDATE kproxy_store.position SET a = 1
--! 42P01 relation "kproxy_store.position" does not exist
--! position: 8

UPDATE pg_class SET relname = 'x'
--! 42501 permission denied for table pg_class
--! position: 8
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

DELETE FROM secrets
--! 42501 permission denied for table secrets
--! position: 13
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

TRUNCATE patients
--! 42501 permission denied for table patients
--! position: 10
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

ANALYZE
--! 42501 kproxy publishes read-only views: VACUUM, or ANALYZE of all tables, is not allowed
--! position: 1
--! hint: ANALYZE of temporary tables is allowed.

ANALYZE patients
--! 42501 permission denied for table patients
--! position: 9
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

VACUUM t
--! 42501 kproxy publishes read-only views: VACUUM is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

ALTER TABLE t ADD a int
--! 42501 kproxy publishes read-only views: ALTER is not allowed
--! position: 1
--! hint: Temporary tables cannot be altered: make another, CREATE TEMPORARY TABLE ... AS SELECT.

DROP VIEW patients
--! 42501 kproxy publishes read-only views: DROP of anything but a temporary table is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

DROP SCHEMA public
--! 42501 kproxy publishes read-only views: DROP of anything but a temporary table is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d
--! 42501 kproxy publishes read-only views: changing data in WITH is not allowed
--! position: 1
--! hint: Only SELECT may stand inside WITH.

PREPARE p AS INSERT INTO t VALUES (1)
--! 42501 kproxy publishes read-only views: PREPARE of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

EXPLAIN DELETE FROM t
--! 42501 kproxy publishes read-only views: EXPLAIN of anything but a query is not allowed
--! position: 1
--! hint: Only SELECT, VALUES and TABLE may stand there.

START TRANSACTION READ WRITE
--> START TRANSACTION READ WRITE

CREATE TEMP TABLE bpchar (a int)
--! 0A000 kproxy does not support a temporary table of this name
--! position: 19
--! hint: Choose another name.

CREATE TEMP VIEW w AS SELECT 1
--! 42501 kproxy publishes read-only views: CREATE VIEW is not allowed
--! position: 1
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

ALTER TABLE t ADD b int
--! 42501 kproxy publishes read-only views: ALTER is not allowed
--! position: 1
--! hint: Temporary tables cannot be altered: make another, CREATE TEMPORARY TABLE ... AS SELECT.

COPY t FROM STDIN
--! 42501 kproxy publishes read-only views: COPY FROM is not allowed
--! position: 1
--! hint: Fill temporary tables with INSERT.

SELECT 1; COMMENT ON TABLE t IS 'x'
--! 42501 kproxy publishes read-only views: COMMENT is not allowed
--! position: 11
--! hint: Only temporary tables can be made and changed: CREATE TEMPORARY TABLE.

SELECT typinput INTO TEMP named FROM pg_type
--> SELECT typinput INTO TEMPORARY pg_temp.named FROM kproxy_catalog.pg_type pg_type

CREATE TEMP TABLE named_as AS SELECT typinput FROM pg_type
--> CREATE TEMPORARY TABLE pg_temp.named_as AS SELECT typinput FROM kproxy_catalog.pg_type pg_type
