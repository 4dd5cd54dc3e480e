-- Errors, counts, plans and orders as oracles of what is not shown.

-- refused 22
SELECT 1 / (SELECT count(*) - 120 FROM people WHERE cost > 0)

-- refused 42
SELECT 1 / (count(*) - 48611) FROM qvzrel_vault

-- refused 42
SELECT CASE WHEN EXISTS (SELECT FROM qvzrel_vault) THEN 1 ELSE 1 / 0 END

-- refused 42
SELECT CASE WHEN false THEN (SELECT name FROM people LIMIT 1) END

-- refused 42
SELECT 1 WHERE false AND (SELECT count(*) FROM people_view) > 0

-- refused 42
SELECT illness FROM people WHERE cost = 1 OR name < 'm'

-- refused 42
SELECT illness FROM people LIMIT (SELECT length(name) FROM people LIMIT 1)

-- refused 42
SELECT illness FROM people OFFSET (SELECT count(*) FROM qvzrel_vault)

-- refused 42
SELECT generate_series(1, length(name)) FROM people

-- refused 42
SELECT sum(cost) OVER (PARTITION BY name) FROM people

-- refused 42
SELECT sum(cost) OVER w FROM people WINDOW w AS (ORDER BY id ROWS 1 PRECEDING)

-- refused 42
SELECT lag(name) OVER (), first_value(id) OVER () FROM people

-- refused 42
SELECT cost FROM people ORDER BY length(name), cost

-- refused 42
SELECT DISTINCT ON (name) illness FROM people

-- refused 42
SELECT mode() WITHIN GROUP (ORDER BY remark) FROM people

-- refused 42
SELECT p.illness FROM people p JOIN ledger l ON l.holder = p.town

-- refused 42
SELECT 1 FROM people p NATURAL JOIN qvzrel_vault

-- refused 42
SELECT 1 FROM people JOIN codes USING (name)

-- refused 42
SELECT 1 FROM people p, LATERAL (SELECT p.name) q

-- refused 42
SELECT 1 FROM people p CROSS JOIN LATERAL generate_series(1, p.id) g

-- refused 42
SELECT 1 FROM ROWS FROM (unnest(ARRAY[1]), unnest((SELECT array_agg(name) FROM people))) r

-- refused 42
SELECT (WITH q AS (SELECT name FROM people) SELECT count(*) FROM q)

-- refused 42
WITH q (a, b, c, d, e, f, g, h, i, j, k, l, m, n) AS (SELECT * FROM people) SELECT n FROM q

-- refused 42
WITH q AS MATERIALIZED (SELECT * FROM people) SELECT name FROM q

-- refused 42
WITH RECURSIVE q AS (SELECT name FROM people UNION SELECT q.name FROM q) CYCLE name SET c USING p SELECT * FROM q

-- refused 42
WITH RECURSIVE q (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM q, people WHERE a < 3 AND name > '') SEARCH DEPTH FIRST BY a SET o SELECT * FROM q

-- refused 42
SELECT * FROM (SELECT * FROM people) q (a, b) WHERE name = 'x'

-- refused 42
SELECT q.name FROM (TABLE people) q

-- refused 42
SELECT * FROM (VALUES ((SELECT max(name) FROM people))) v (x)

-- refused 42
SELECT illness FROM people EXCEPT ALL SELECT name FROM people

-- refused 42
(SELECT illness FROM people) INTERSECT (SELECT remark FROM people)

-- refused 42
SELECT illness FROM people GROUP BY illness HAVING bool_or(name = 'x')

-- refused 42
SELECT count(*) FROM people GROUP BY GROUPING SETS ((illness), (name), ())

-- refused 42
SELECT illness FROM people WHERE cost IN (SELECT id FROM people)

-- refused 42
SELECT illness FROM people WHERE (illness, name) IN (VALUES ('a', 'b'))

-- refused 42
SELECT illness FROM people WHERE ROW(name, 1) < ROW('m', 2)

-- refused 42
SELECT illness FROM people WHERE name IS NOT NULL

-- refused 42
SELECT illness FROM people p WHERE p.name IS OF (text)

-- refused 42
SELECT COALESCE(name, illness), NULLIF(illness, name), GREATEST(illness, name) FROM people

-- refused 42
SELECT (ARRAY[illness, town])[id] FROM people

-- refused 42
SELECT illness[name] FROM people

-- refused 42
SELECT name AT TIME ZONE 'UTC' FROM people

-- refused 42
SELECT xmlserialize(CONTENT name AS text) FROM people

-- refused 42
SELECT substring(name FROM 1 FOR 3), position('x' IN name), overlay(name PLACING 'x' FROM 1), trim(name) FROM people

-- refused 42
SELECT extract(year FROM name::date), CAST(name AS date) FROM people

-- refused 42
SELECT ascii(name), get_byte(name::bytea, 0), to_hex(id) FROM people

-- refused 42
SELECT similarity(name, 'x'), levenshtein(name, 'x') FROM people

-- refused 42
SELECT hashtext(name), hashint8(id) FROM people

-- harmless
SELECT hashtext(illness) FROM people

-- refused 42
SELECT sha256(name::bytea), crypt(name, 'x') FROM people

-- refused 42
SELECT nme, nam, naem, qvzcol_sn FROM people

-- refused 42
SELECT qvzcol_sn FROM chart

-- refused 42
SELECT p.qvzcol_insurr FROM chart p

-- refused 42
SELECT 1 FROM qvzrel_vaul

-- refused 42
SELECT people.cost FROM people p

-- refused 42
SELECT cost FROM people p JOIN people q ON p.cost = q.cost

-- refused 22
SELECT illness::date FROM people

-- refused 22
SELECT illness::uuid FROM people

-- refused 22
SELECT illness::bool FROM people

-- refused 22
SELECT (illness)::timestamptz FROM people

-- refused 42
SELECT to_number(illness, 'X999') + to_timestamp(illness, 'YYYY-MM')::date - NULL::date FROM people

-- refused 22
SELECT born + interval '1 day' * cost * 1e15 FROM people

-- refused 22
SELECT cost::smallint * 1000000::int * cost * 100000 FROM people

-- refused 22
SELECT illness ~ ('(' || illness) FROM people

-- refused 22
SELECT illness LIKE 'x' ESCAPE illness FROM people

-- refused 22
SELECT substring(illness SIMILAR '(' ESCAPE '#') FROM people

-- refused 22 21
SELECT string_to_array(illness, ' ')::int[] FROM people

-- allowed
SELECT decode(illness, 'base64') FROM people

-- refused 22
SELECT illness::bit(3), illness::int4range FROM people

-- refused 22
SELECT int4range(cost, 0) FROM people

-- refused 22
SELECT width_bucket(cost, 1, 1, 0) FROM people

-- refused 22
SELECT sqrt(-cost), ln(-cost) FROM people

-- refused 22
SELECT get_byte(illness::bytea, 1000) FROM people

-- refused 22
SELECT set_byte(illness::bytea, 1000, 1) FROM people

-- refused 22
SELECT nth_value(illness, 0) OVER () FROM people

-- refused 22
SELECT ntile(0) OVER () FROM people

-- refused 22
SELECT percentile_cont(2) WITHIN GROUP (ORDER BY cost) FROM people

-- refused 21
SELECT (SELECT town FROM people WHERE q.cost > 0) FROM people q

-- refused 22
SELECT json_object(ARRAY[illness]) FROM people

-- refused 42
SELECT to_tsquery(illness || ' &') FROM people

-- refused 22 42
SELECT illness::inet, illness::macaddr FROM people

-- refused 22 42
SELECT illness::point, illness::polygon FROM people

-- refused 42
SELECT CAST(illness AS jsonpath) FROM people

-- refused 22
SELECT make_date(cost, 13, 1) FROM people

-- refused 22
SELECT make_time(cost + 25, 0, 0) FROM people

-- refused 22
SELECT date_trunc(illness, now()) FROM people

-- allowed
SELECT now() AT TIME ZONE illness FROM people

-- refused 22
SELECT encode('x', illness) FROM people

-- refused 22
SELECT chr(-cost) FROM people

-- refused 22
SELECT format(illness || '%', 1) FROM people

-- refused 22
SELECT regexp_count(illness, 'x', 0) FROM people

-- refused 42
SELECT unistr('\' || illness) FROM people
