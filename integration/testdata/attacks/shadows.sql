-- Names that hide others, and statements that keep a query for later.

-- refuse
CREATE TEMP TABLE people (name text)

-- refuse
CREATE TEMP TABLE t AS SELECT * FROM people

-- refuse
CREATE TEMP VIEW v AS SELECT name FROM people

-- refuse
SELECT * INTO TEMP t FROM people

-- refuse
SELECT name INTO t FROM people

-- refuse
SELECT * FROM pg_temp.people

-- refuse
SELECT pg_temp.f()

-- refuse
WITH people AS (SELECT name FROM people) SELECT * FROM people

-- refuse
WITH x AS (SELECT name FROM people) SELECT * FROM x

WITH people AS (SELECT 1 AS name) SELECT name FROM people

-- refuse
WITH people AS (SELECT 1 AS name) SELECT name FROM public.people

-- refuse
WITH RECURSIVE people AS (SELECT 'a' AS name UNION ALL SELECT name FROM public.people) SELECT * FROM people

-- refuse
WITH a AS (WITH people AS (SELECT 1 AS name) SELECT * FROM people), b AS (SELECT name FROM people) SELECT * FROM a, b

-- refuse
SELECT name FROM (WITH people AS (SELECT 1 AS x) SELECT * FROM people) q, people

-- refuse
WITH x AS (DELETE FROM people RETURNING *) SELECT * FROM x

-- refuse
WITH x AS (INSERT INTO codes SELECT name, name FROM people RETURNING *) SELECT * FROM x

-- refuse
PREPARE p AS SELECT name FROM people

-- refuse
PREPARE p AS SELECT * FROM people_view

-- refuse
PREPARE p AS DELETE FROM people

-- refuse
PREPARE p (people) AS SELECT 1

-- refuse
PREPARE p AS SELECT name FROM people; EXECUTE p

-- refuse
EXECUTE nothing_is_prepared

-- refuse
DECLARE c CURSOR WITH HOLD FOR SELECT name FROM people

-- refuse
BEGIN; DECLARE c CURSOR FOR SELECT name FROM people; FETCH ALL FROM c

BEGIN; DECLARE c CURSOR FOR SELECT * FROM people; FETCH ALL FROM c; FETCH FORWARD ALL FROM c

BEGIN; DECLARE c BINARY CURSOR FOR SELECT * FROM people; FETCH ALL FROM c

PREPARE kept AS SELECT * FROM people WHERE cost > $1; EXECUTE kept(5); DEALLOCATE kept

-- refuse
EXECUTE p(query_to_xml('SELECT name FROM people', true, false, ''))
