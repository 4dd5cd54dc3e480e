SELECT (CASE WHEN true THEN 1 END)[1]
--> SELECT ((CASE WHEN true THEN 1 END))[1]

SELECT ($1).a
--> SELECT $1.a

SELECT ($1)[1]
--> SELECT $1[1]

SELECT (ARRAY[1])[1]
--> SELECT ((ARRAY[1]))[1]

SELECT (ARRAY(SELECT 1))[1]
--> SELECT ((ARRAY(SELECT 1)))[1]

SELECT (coalesce(a, b))[1]
--> SELECT ((COALESCE(a, b)))[1]

SELECT (a || b)[1]
--> SELECT (a || b)[1]

SELECT (a.b)[1], (a.*).b, (a).*
--> SELECT a.b[1], (a.*).b, (a).*

SELECT (NOT a)[1], (a COLLATE "C")[1]
--> SELECT ((NOT a))[1], ((a COLLATE "C"))[1]

SELECT (string_to_array('a,b', ','))[1]
--> SELECT (pg_catalog.string_to_array('a,b', ','))[1]

SELECT (regexp_match('a', 'b'))[1] FROM patients
--> SELECT (pg_catalog.regexp_match('a', 'b'))[1] FROM kproxy_release_public.patients patients

SELECT NOT (a IS NULL), (NOT a) IS NULL, (a = b) = c, a = (b = c), (a AND b) IS TRUE, (a OR b) AND c, (SELECT 1) + 1, - (a + b), (a + b)::int, (a COLLATE "C") || b, (a IN (1)) = b, (a BETWEEN 1 AND 2) = c, a BETWEEN (b AND c) AND d, (a LIKE b) LIKE c
--> SELECT NOT (a IS NULL), (NOT a) IS NULL, ((a = b)) = c, a = ((b = c)), (a AND b) IS TRUE, (a OR b) AND c, ((SELECT 1)) + 1, - ((a + b)), ((a + b))::int, (a COLLATE "C") || b, ((a IN (1))) = b, ((a BETWEEN 1 AND 2)) = c, a BETWEEN (b AND c) AND d, ((a LIKE b)) LIKE c

SELECT (a AT TIME ZONE 'UTC')::date, (a || b) COLLATE "C", (a::text)::int, (CASE WHEN a THEN b END)::int, (a IS NULL)::int, (a, b)::record, (-a)::int, (a > b)::int
--> SELECT ((a AT TIME ZONE 'UTC'))::pg_catalog.date, ((a || b)) COLLATE "C", ((a::pg_catalog.text))::int, (CASE WHEN a THEN b END)::int, (a IS NULL)::int, (a, b)::pg_catalog.record, ((- a))::int, ((a > b))::int

SELECT a FROM ((SELECT 1 AS a) UNION (SELECT 2) ORDER BY 1) x
--> SELECT a FROM (SELECT 1 AS a UNION SELECT 2 ORDER BY 1) x

(SELECT 1) UNION ALL (SELECT 2 LIMIT 1) ORDER BY 1
--> SELECT 1 UNION ALL (SELECT 2 LIMIT 1) ORDER BY 1

WITH a AS (SELECT 1) (SELECT 2) UNION (WITH b AS (SELECT 3) SELECT * FROM b)
--> WITH a AS (SELECT 1) SELECT 2 UNION (WITH b AS (SELECT 3) SELECT * FROM b)

SELECT 1 UNION (SELECT 2 UNION ALL SELECT 3)
--> SELECT 1 UNION (SELECT 2 UNION ALL SELECT 3)

SELECT a NOT IN (1, 2), a NOT LIKE 'b', a NOT ILIKE b ESCAPE 'c', a SIMILAR TO 'b' ESCAPE 'c', a <> ALL (ARRAY[1]), a > ANY ('{1}'), a IS NOT DISTINCT FROM b
--> SELECT a NOT IN (1, 2), a NOT LIKE 'b', a NOT ILIKE pg_catalog.like_escape(b, 'c'), a SIMILAR TO 'b' ESCAPE 'c', a <> ALL(ARRAY[1]), a > ANY('{1}'), a IS NOT DISTINCT FROM b

SELECT a ! b
--> SELECT a ! b

SELECT a IS DOCUMENT, a IS NOT TRUE, row(a) IS NULL, row(), (a, b) IN (SELECT 1, 2), (a,b) IN ((1,2),(3,4))
--> SELECT a IS DOCUMENT, a IS NOT TRUE, ROW(a) IS NULL, ROW(), (a, b) IN (SELECT 1, 2), (a, b) IN ((1, 2), (3, 4))

SELECT EXTRACT(EPOCH FROM a), EXTRACT('dow' FROM a), date_part('x', a)
--> SELECT extract ('epoch' FROM a), extract ('dow' FROM a), pg_catalog.date_part('x', a)

SELECT "Group", "SELECT", "a""b", "ä", "User"."Order" FROM patients "User"
--> SELECT "Group", "SELECT", "a""b", "ä", "User"."Order" FROM kproxy_release_public.patients "User"

SELECT E'\'', 'a''b', U&'\0041' UESCAPE '\', B'1', X'F', '', E'\u00e4'
--> SELECT '''', 'a''b', 'A', b'1', x'F', '', 'ä'

SELECT * FROM patients AS "P Q" (a, "B c")
--> SELECT * FROM kproxy_release_public.patients "P Q"(a, "B c")

SELECT current_date + 1, localtimestamp(2), current_catalog, user, current_user, session_user, current_role
--> SELECT current_date + 1, localtimestamp(2), 'clinic'::pg_catalog.name AS "current_catalog", user, current_user, session_user, current_role

SELECT JSON_ARRAY(SELECT age FROM patients), JSON_ARRAY(1 NULL ON NULL RETURNING text), JSON_OBJECT('a' VALUE 1 ABSENT ON NULL WITH UNIQUE KEYS RETURNING jsonb), JSON_ARRAYAGG(a ORDER BY b RETURNING jsonb) FILTER (WHERE c) OVER (PARTITION BY d)
--> SELECT JSON_ARRAY(SELECT age FROM kproxy_release_public.patients patients), JSON_ARRAY(1 NULL ON NULL RETURNING pg_catalog.text), JSON_OBJECT('a': 1 ABSENT ON NULL WITH UNIQUE RETURNING pg_catalog.jsonb), JSON_ARRAYAGG(a ORDER BY b RETURNING pg_catalog.jsonb) FILTER (WHERE c) OVER (PARTITION BY d)

SELECT * FROM XMLTABLE('/r' PASSING ('<r><a>1</a></r>'::xml) COLUMNS a int PATH 'a' DEFAULT 3 NOT NULL, n FOR ORDINALITY) x
--> SELECT * FROM xmltable(('/r') PASSING (('<r><a>1</a></r>'::pg_catalog.xml)) COLUMNS a int PATH 'a' DEFAULT 3 NOT NULL, n FOR ORDINALITY) AS x

SELECT * FROM XMLTABLE(XMLNAMESPACES('http://x' AS x), '/x:r' PASSING BY REF a COLUMNS a int)
--> SELECT * FROM xmltable(xmlnamespaces('http://x' AS x), ('/x:r') PASSING a COLUMNS a int)

SELECT * FROM wards a JOIN wards b ON a.x = b.x, wards
--> SELECT * FROM kproxy_release_public.wards a JOIN kproxy_release_public.wards b ON a.x = b.x, kproxy_release_public.wards wards

SELECT * FROM wards JOIN (patients p JOIN wards w ON p.ward = w.id) ON true
--> SELECT * FROM kproxy_release_public.wards wards JOIN (kproxy_release_public.patients p JOIN kproxy_release_public.wards w ON p.ward = w.id) ON true

SELECT * FROM wards JOIN patients p USING (ward) AS j
--> SELECT * FROM kproxy_release_public.wards wards JOIN kproxy_release_public.patients p USING (ward) AS j

SELECT * FROM (wards a LEFT JOIN wards b ON true) RIGHT JOIN (wards c FULL JOIN wards d ON true) ON true
--> SELECT * FROM kproxy_release_public.wards a LEFT JOIN kproxy_release_public.wards b ON true RIGHT JOIN (kproxy_release_public.wards c FULL JOIN kproxy_release_public.wards d ON true) ON true

SELECT sum(a) OVER (w ROWS UNBOUNDED PRECEDING) FROM patients WINDOW w AS (ORDER BY b), v AS (w)
--> SELECT pg_catalog.sum(a) OVER (w ROWS UNBOUNDED PRECEDING) FROM kproxy_release_public.patients patients WINDOW w AS (ORDER BY b), v AS (w)

SELECT sum(a) OVER (w), sum(a) OVER (ORDER BY a GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW), sum(a) OVER (ORDER BY a RANGE BETWEEN '1 day' PRECEDING AND '1 day' FOLLOWING EXCLUDE GROUP) FROM patients WINDOW w AS (ORDER BY b)
--> SELECT pg_catalog.sum(a) OVER (w), pg_catalog.sum(a) OVER (ORDER BY a GROUPS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE CURRENT ROW), pg_catalog.sum(a) OVER (ORDER BY a RANGE BETWEEN '1 day' PRECEDING AND '1 day' FOLLOWING EXCLUDE GROUP) FROM kproxy_release_public.patients patients WINDOW w AS (ORDER BY b)

SELECT a FROM patients ORDER BY a COLLATE "C" DESC LIMIT (SELECT 1) OFFSET 1 + 1
--> SELECT a FROM kproxy_release_public.patients patients ORDER BY a COLLATE "C" DESC LIMIT (SELECT 1) OFFSET 1 + 1

SELECT percentile_disc(ARRAY[0.1]) WITHIN GROUP (ORDER BY a DESC) FILTER (WHERE b)
--> SELECT pg_catalog.percentile_disc(ARRAY[0.1]) WITHIN GROUP (ORDER BY a DESC) FILTER (WHERE b)

SELECT (ARRAY[[1,2],[3,4]])[1][2]
--> SELECT ((ARRAY[ARRAY[1, 2], ARRAY[3, 4]]))[1][2]

SELECT NOT (a IS NULL)
--> SELECT NOT a IS NULL

SELECT (NOT a) IS NULL
--> SELECT (NOT a) IS NULL

SELECT (a = b) = c, a = (b = c)
--> SELECT (a = b) = c, a = (b = c)

SELECT (a AND b) IS TRUE
--> SELECT (a AND b) IS TRUE

SELECT (a COLLATE "C") || b
--> SELECT a COLLATE "C" || b

SELECT (a IN (1)) = b
--> SELECT (a IN (1)) = b

SELECT (a BETWEEN 1 AND 2) = c
--> SELECT (a BETWEEN 1 AND 2) = c

SELECT a BETWEEN (b AND c) AND d
--> SELECT a BETWEEN (b AND c) AND d

SELECT (a LIKE b) LIKE c
--> SELECT ((a LIKE b)) LIKE c

SELECT (a AT TIME ZONE 'UTC')::date, (a || b) COLLATE "C"
--> SELECT ((a AT TIME ZONE 'UTC'))::pg_catalog.date, ((a || b)) COLLATE "C"

SELECT (CASE WHEN a THEN b END)::int
--> SELECT CASE WHEN a THEN b END::int

SELECT (a IS NULL)::int
--> SELECT a IS NULL::int

SELECT (a, b)::record
--> SELECT (a, b)::pg_catalog.record

SELECT (-a)::int
--> SELECT CAST(- a AS int)

SELECT (a > b)::int, (EXISTS (SELECT 1))::int, (a IN (SELECT 1))::int, (a IN (SELECT 1)) = b, ((a, b)).f1, (a IS JSON) IS NULL, (a IS DOCUMENT)::int, (a = ANY (b)) = c, (a || b)[1], ((a).b + 1)::int
--> SELECT CAST(a > b AS int), EXISTS (SELECT 1)::int, a IN (SELECT 1)::int, a IN (SELECT 1) = b, ((a, b)).f1, a IS JSON IS NULL, a IS DOCUMENT::int, (a = ANY(b)) = c, (a || b)[1], CAST((a).b + 1 AS int)

SELECT (a LIKE b ESCAPE 'x') IS NULL, (a OVERLAPS b)::int
--! 42601 syntax error at or near "OVERLAPS"
--! position: 42
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT (a AT TIME ZONE 'UTC') AT TIME ZONE 'X', (extract(year FROM a))::int, (x AT TIME ZONE 'a').b
--> SELECT a AT TIME ZONE 'UTC' AT TIME ZONE 'X', extract ('year' FROM a)::int, (x AT TIME ZONE 'a').b

SELECT ((a,b) OVERLAPS (c,d))::int, (a IS NORMALIZED)::int, (a IS NORMALIZED) IS NULL
--> SELECT (a, b) overlaps (c, d) ::int, a IS  NORMALIZED ::int, a IS  NORMALIZED  IS NULL

SELECT (SELECT 1)::int, (ARRAY(SELECT 1))::int[], (coalesce(a,b))::int, (greatest(a,b))[1], (xmlelement(name a))::text
--> SELECT ((SELECT 1))::int, (ARRAY(SELECT 1))::int[], (COALESCE(a, b))::int, ((GREATEST(a, b)))[1], (xmlelement(name a))::pg_catalog.text

SELECT 't'::boolean, 'f'::bool, boolean 't', cast('f' AS boolean), true, 'true'::bool, 'tr'::bool
--> SELECT 'true'::boolean, 'false'::boolean, 'true'::boolean, 'false'::boolean, true, 'true'::boolean, 'tr'::boolean

SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b']) AS t(a, b)
--> SELECT * FROM ROWS FROM (pg_catalog.unnest(ARRAY[1, 2]) , pg_catalog.unnest(ARRAY['a', 'b']) ) t(a, b)

SELECT * FROM unnest(ARRAY[1, 2], ARRAY['a', 'b', 'c']) WITH ORDINALITY
--> SELECT * FROM ROWS FROM (pg_catalog.unnest(ARRAY[1, 2]) , pg_catalog.unnest(ARRAY['a', 'b', 'c']) ) WITH ORDINALITY

SELECT (age).current_schema.x FROM patients p
--! 0A000 kproxy does not support what follows "current_schema" here
--! position: 9
--! hint: Write current_schema(...) as a call.

SELECT (age).pg_typeof.x, ward FROM patients
--! 0A000 kproxy does not support what follows "pg_typeof" here
--! position: 9
--! hint: Write pg_typeof(...) as a call.

SELECT (age).pg_typeof FROM patients
--> SELECT pg_catalog.pg_typeof(age)::pg_catalog.text AS pg_typeof FROM kproxy_release_public.patients patients

SELECT _int4 '{1}', '{1}'::pg_catalog._text, '{1}'::_varchar
--> SELECT '{1}'::pg_catalog._int4, '{1}'::pg_catalog._text, '{1}'::pg_catalog._varchar

SELECT NULL::_regclass
--! 42704 type "_regclass" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT NULL::_nowhere
--! 42704 type "_nowhere" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT (SELECT (x).pg_typeof FROM (SELECT p AS x FROM patients p) i) FROM (SELECT 1 AS x) o
--! 42501 permission denied for function pg_typeof
--! position: 17
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (SELECT (x).pg_typeof FROM (SELECT 1 AS x) i) FROM wards
--> SELECT (SELECT pg_catalog.pg_typeof(x)::pg_catalog.text AS pg_typeof FROM (SELECT 1 AS x) i) FROM kproxy_release_public.wards wards

EXPLAIN (ANALYZE 1.5) SELECT 1
--! 22023 EXPLAIN option "analyze" does not take this value
--! position: 10

COPY patients TO STDOUT (HEADER 0.5)
--! 22023 COPY option "header" does not take this value
--! position: 26

SELECT x.currval FROM (SELECT p.age FROM patients p) x
--! 42501 permission denied for function currval
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT 'patients'::varchar::regclass, c.oid::regclass::varchar, (c.relname || '')::varchar::regclass FROM pg_class c
--> SELECT kproxy_catalog.class_name('"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid, '{pg_catalog,public}'::pg_catalog.name[]) AS regclass, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT c.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::varchar AS oid, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class(CAST(c.relname || '' AS varchar)::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass FROM kproxy_catalog.pg_class c
