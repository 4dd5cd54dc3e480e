-- Syntax newer than the parser, broken syntax, and texts that server and proxy
-- could read in two ways.

-- refused 42
SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a people PATH '$'))

-- refused 42
SELECT JSON_QUERY(to_jsonb(p), '$.name') FROM people p WHERE name IS JSON

-- refused 42
SELECT MERGE_ACTION()

-- refused 42
MERGE INTO people USING codes ON true WHEN MATCHED THEN DELETE RETURNING *

-- refused 42
CREATE PROPERTY GRAPH g VERTEX TABLES (people)

-- refused 42
SELECT * FROM GRAPH_TABLE (g MATCH (a) COLUMNS (a.name))

-- refused 42
DELETE FROM people RETURNING WITH (OLD AS o) o.name

-- refused 42
COPY people TO STDOUT (FORMAT json)

-- refused 42
WAIT FOR LSN '0/0'

-- refused 42
REPACK people

-- refused 42
SELECT * FROM people WINDOW

-- refused 42
SELECT name FROM people --

-- refused 42
SELECT/**/name/**/FROM/**/people

-- refused 42
SELECT /* nested /* comment */ */ name FROM people

-- refused 42
SELECT name FROM people \; SELECT 1

-- refused 42
SELECT E'\'' || name FROM people

-- refused 42
SELECT '\' || name || ' FROM people

-- refused 42
SELECT $a$ $b$ $a$ || name FROM people

-- refused 42
SELECT name::text COLLATE "C" FROM people

-- refused 42
SELECT 1 OPERATOR(public.===) name FROM people

-- refused 42
SELECT illness FROM people ORDER BY illness USING OPERATOR(public.<)

-- refused 0A 42
SELECT * FROM people TABLESAMPLE public.leak(10)

-- refused 0A 42
SELECT ctid FROM people TABLESAMPLE SYSTEM (100)

-- refused 42
SELECT * FROM LATERAL (SELECT name FROM people) x

-- refused 42
VALUES ((SELECT string_agg(name, ',') FROM people))

-- refused 42
SELECT ARRAY(SELECT name FROM people)

-- refused 42
SELECT EXISTS (SELECT 1 FROM people WHERE name > 'q')

-- refused 42
SELECT illness FROM people WHERE (SELECT count(*) FROM people q WHERE q.name = 'x') = 0

-- refused 42
SELECT rank() OVER (ORDER BY name) FROM people

-- refused 42
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM people

-- refused 42
SELECT count(*) FILTER (WHERE name > 'q') FROM people

-- refused 42
SELECT GROUPING(name) FROM people GROUP BY CUBE (name)

-- refused 42
SELECT 1 FROM people HAVING max(name) > 'q'

-- refused 42
SELECT p.* FROM people p JOIN codes c ON p.name = c.code

-- refused 42
SELECT * FROM people JOIN codes USING (name)
