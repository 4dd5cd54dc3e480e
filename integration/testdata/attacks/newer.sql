-- Syntax newer than the parser, broken syntax, and texts that server and proxy
-- could read in two ways.

-- refuse
SELECT * FROM JSON_TABLE('[]', '$[*]' COLUMNS (a people PATH '$'))

-- refuse
SELECT JSON_QUERY(to_jsonb(p), '$.name') FROM people p WHERE name IS JSON

-- refuse
SELECT MERGE_ACTION()

-- refuse
MERGE INTO people USING codes ON true WHEN MATCHED THEN DELETE RETURNING *

-- refuse
CREATE PROPERTY GRAPH g VERTEX TABLES (people)

-- refuse
SELECT * FROM GRAPH_TABLE (g MATCH (a) COLUMNS (a.name))

-- refuse
DELETE FROM people RETURNING WITH (OLD AS o) o.name

-- refuse
COPY people TO STDOUT (FORMAT json)

-- refuse
WAIT FOR LSN '0/0'

-- refuse
REPACK people

-- refuse
SELECT * FROM people WINDOW

-- refuse
SELECT name FROM people --

-- refuse
SELECT/**/name/**/FROM/**/people

-- refuse
SELECT /* nested /* comment */ */ name FROM people

-- refuse
SELECT name FROM people \; SELECT 1

-- refuse
SELECT E'\'' || name FROM people

-- refuse
SELECT '\' || name || ' FROM people

-- refuse
SELECT $a$ $b$ $a$ || name FROM people

-- refuse
SELECT name::text COLLATE "C" FROM people

-- refuse
SELECT 1 OPERATOR(public.===) name FROM people

-- refuse
SELECT illness FROM people ORDER BY illness USING OPERATOR(public.<)

-- refuse
SELECT * FROM people TABLESAMPLE public.leak(10)

-- refuse
SELECT ctid FROM people TABLESAMPLE SYSTEM (100)

-- refuse
SELECT * FROM LATERAL (SELECT name FROM people) x

-- refuse
VALUES ((SELECT string_agg(name, ',') FROM people))

-- refuse
SELECT ARRAY(SELECT name FROM people)

-- refuse
SELECT EXISTS (SELECT 1 FROM people WHERE name > 'q')

-- refuse
SELECT illness FROM people WHERE (SELECT count(*) FROM people q WHERE q.name = 'x') = 0

-- refuse
SELECT rank() OVER (ORDER BY name) FROM people

-- refuse
SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY name) FROM people

-- refuse
SELECT count(*) FILTER (WHERE name > 'q') FROM people

-- refuse
SELECT GROUPING(name) FROM people GROUP BY CUBE (name)

-- refuse
SELECT 1 FROM people HAVING max(name) > 'q'

-- refuse
SELECT p.* FROM people p JOIN codes c ON p.name = c.code

-- refuse
SELECT * FROM people JOIN codes USING (name)
