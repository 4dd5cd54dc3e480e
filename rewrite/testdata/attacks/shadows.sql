-- Names that hide others, and statements that keep a query for later.

-- refused 42
CREATE TEMP TABLE people (name text)

-- refused 42
CREATE TEMP TABLE t AS SELECT * FROM people

-- refused 42
CREATE TEMP VIEW v AS SELECT name FROM people

-- refused 42
SELECT * INTO TEMP t FROM people

-- refused 42
SELECT name INTO t FROM people

-- refused 42
SELECT pg_temp.f()

-- refused 42
WITH people AS (SELECT name FROM people) SELECT * FROM people

-- refused 42
WITH x AS (SELECT name FROM people) SELECT * FROM x

-- allowed
WITH people AS (SELECT 1 AS name) SELECT name FROM people

-- refused 42
WITH people AS (SELECT 1 AS name) SELECT name FROM public.people

-- refused 42
WITH RECURSIVE people AS (SELECT 'a' AS name UNION ALL SELECT name FROM public.people) SELECT * FROM people

-- refused 42
WITH a AS (WITH people AS (SELECT 1 AS name) SELECT * FROM people), b AS (SELECT name FROM people) SELECT * FROM a, b

-- refused 42
SELECT name FROM (WITH people AS (SELECT 1 AS x) SELECT * FROM people) q, people

-- refused 42
WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x

-- refused 42
WITH x AS (INSERT INTO codes SELECT name, name FROM people RETURNING *) SELECT * FROM x

-- refused 42
PREPARE p AS SELECT name FROM people

-- refused 42
PREPARE p AS SELECT * FROM people_view

-- refused 42
PREPARE p AS DELETE FROM people

-- allowed
PREPARE p (people) AS SELECT 1

-- refused 42
PREPARE p AS SELECT name FROM people; EXECUTE p

-- refused 26
EXECUTE nothing_is_prepared

-- refused 42
DECLARE c CURSOR WITH HOLD FOR SELECT name FROM people

-- refused 42
BEGIN; DECLARE c CURSOR FOR SELECT name FROM people; FETCH ALL FROM c

-- allowed
BEGIN; DECLARE c CURSOR FOR SELECT * FROM people; FETCH ALL FROM c; FETCH FORWARD ALL FROM c

-- allowed
BEGIN; DECLARE c BINARY CURSOR FOR SELECT * FROM people; FETCH ALL FROM c

-- allowed
PREPARE kept AS SELECT * FROM people WHERE cost > $1; EXECUTE kept(5); DEALLOCATE kept

-- refused 42
EXECUTE p(query_to_xml('SELECT name FROM people', true, false, ''))
