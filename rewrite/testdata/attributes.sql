SELECT s.pg_sleep FROM (SELECT 1 AS pg_sleep) s
--> SELECT s.pg_sleep FROM (SELECT 1 AS pg_sleep) s

SELECT s.nope FROM (SELECT 1 AS pg_sleep) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.nope FROM (SELECT * FROM patients) s
--> SELECT s.nope FROM (SELECT * FROM kproxy_release_public.patients patients) s

SELECT s.pg_sleep FROM (SELECT * FROM patients) s
--! 42501 permission denied for function pg_sleep
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT s.currval FROM (SELECT * FROM patients) s
--> SELECT s.currval FROM (SELECT * FROM kproxy_release_public.patients patients) s

SELECT s.currval FROM (SELECT p.* FROM patients p) s
--> SELECT s.currval FROM (SELECT p.* FROM kproxy_release_public.patients p) s

SELECT s.currval FROM (SELECT p.* FROM patients p, wards w) s
--> SELECT s.currval FROM (SELECT p.* FROM kproxy_release_public.patients p, kproxy_release_public.wards w) s

SELECT s.currval FROM (SELECT w.* FROM patients p, wards w) s
--! 42501 permission denied for function currval
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT s.currval FROM (SELECT public.patients.* FROM public.patients) s
--> SELECT s.currval FROM (SELECT patients.* FROM kproxy_release_public.patients patients) s

SELECT s.nope FROM (SELECT public.patients.* FROM public.patients) s
--> SELECT s.nope FROM (SELECT patients.* FROM kproxy_release_public.patients patients) s

SELECT s.currval FROM (SELECT age AS x FROM patients) s
--! 42501 permission denied for function currval
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT s.currval FROM (SELECT age AS x, currval FROM patients) s
--> SELECT s.currval FROM (SELECT age AS x, currval FROM kproxy_release_public.patients patients) s

SELECT s.currval FROM (SELECT age, p.currval FROM patients p) s
--> SELECT s.currval FROM (SELECT age, p.currval FROM kproxy_release_public.patients p) s

SELECT s.nextval FROM (VALUES (1, 2)) s (a, nextval)
--> SELECT s.nextval FROM (VALUES (1, 2)) s(a, nextval)

SELECT s.nextval FROM (VALUES (1, 2)) s (nextval)
--> SELECT s.nextval FROM (VALUES (1, 2)) s(nextval)

SELECT s.column2, s.column3 FROM (VALUES (1, 2)) s
--! 42703 column s.column3 does not exist
--! position: 19
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.column2, s.nope FROM (VALUES (1, 2)) s (a)
--! 42703 column s.nope does not exist
--! position: 19
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.column1 FROM (VALUES (1, 2)) s (nextval)
--! 42703 column s.column1 does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.nextval FROM (SELECT 1 AS nextval UNION SELECT 2) s
--> SELECT s.nextval FROM (SELECT 1 AS nextval UNION SELECT 2) s

SELECT s.nope FROM (SELECT 1 AS nextval UNION SELECT 2) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.lastval FROM (SELECT 1 AS nextval UNION SELECT 2 AS lastval) s
--! 42501 permission denied for function lastval
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

WITH s AS (SELECT 1 AS nextval) SELECT s.nextval FROM s
--> WITH s AS (SELECT 1 AS nextval) SELECT s.nextval FROM s

WITH s AS (SELECT 1 AS nextval) SELECT s.nope FROM s
--! 42703 column s.nope does not exist
--! position: 40
--! hint: Nothing in FROM gives it a column of this name.

WITH s (lastval) AS (SELECT 1 AS nextval, 2 AS b) SELECT s.lastval, s.b FROM s
--> WITH s(lastval) AS (SELECT 1 AS nextval, 2 AS b) SELECT s.lastval, s.b FROM s

WITH s (lastval) AS (SELECT 1 AS nextval, 2 AS b) SELECT s.nextval FROM s
--! 42501 permission denied for function nextval
--! position: 58
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

WITH s AS (SELECT 1 AS a), t AS (SELECT a AS nextval FROM s) SELECT t.nextval FROM t
--> WITH s AS (SELECT 1 AS a), t AS (SELECT a AS nextval FROM s) SELECT t.nextval FROM t

WITH RECURSIVE s AS (SELECT 1 AS nextval UNION ALL SELECT s.nextval + 1 FROM s) SELECT s.nextval FROM s
--> WITH RECURSIVE s AS (SELECT 1 AS nextval UNION ALL SELECT s.nextval + 1 FROM s) SELECT s.nextval FROM s

WITH RECURSIVE s AS (SELECT 1 AS a UNION ALL SELECT s.nextval FROM s) SELECT a FROM s
--! 42501 permission denied for function nextval
--! position: 53
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

WITH RECURSIVE s (nextval) AS (SELECT 1 AS a UNION ALL SELECT s.nextval + 1 FROM s) SELECT s.nextval FROM s
--> WITH RECURSIVE s(nextval) AS (SELECT 1 AS a UNION ALL SELECT s.nextval + 1 FROM s) SELECT s.nextval FROM s

WITH RECURSIVE s AS (SELECT 1 AS a UNION ALL SELECT a FROM s) SEARCH DEPTH FIRST BY a SET nextval SELECT s.nextval FROM s
--! 42501 permission denied for function nextval
--! position: 106
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

WITH RECURSIVE s AS (SELECT 1 AS a UNION ALL SELECT a FROM s) CYCLE a SET lastval USING nextval SELECT s.nope FROM s
--> WITH RECURSIVE s AS (SELECT 1 AS a UNION ALL SELECT a FROM s) CYCLE a SET lastval TO true DEFAULT false USING nextval SELECT s.nope FROM s

WITH RECURSIVE s AS (SELECT t.nextval FROM t), t AS (SELECT 1 AS nextval) SELECT s.nextval FROM s
--! 42501 permission denied for function nextval
--! position: 29
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT j.nextval FROM ((SELECT 1 AS nextval) a CROSS JOIN (SELECT 2 AS b) c) j
--> SELECT j.nextval FROM ((SELECT 1 AS nextval) a CROSS JOIN (SELECT 2 AS b) c ) j

SELECT j.nope FROM ((SELECT 1 AS nextval) a CROSS JOIN (SELECT 2 AS b) c) j
--! 42703 column j.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT j.nextval, j.b FROM ((SELECT 1 AS a) a CROSS JOIN (SELECT 2 AS b) c) j (nextval)
--> SELECT j.nextval, j.b FROM ((SELECT 1 AS a) a CROSS JOIN (SELECT 2 AS b) c ) j(nextval)

SELECT j.a FROM ((SELECT 1 AS a) a CROSS JOIN (SELECT 2 AS b) c) j (nextval)
--! 42703 column j.a does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT j.nope FROM ((SELECT 1 AS a) a JOIN (SELECT 1 AS a) c USING (a)) j
--! 42703 column j.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT j.nope FROM ((SELECT 1 AS a) a JOIN (SELECT 1 AS a) c USING (a)) j (nextval)
--> SELECT j.nope FROM ((SELECT 1 AS a) a JOIN (SELECT 1 AS a) c USING (a) ) j(nextval)

SELECT j.nope FROM ((SELECT 1 AS a) a NATURAL JOIN (SELECT 1 AS a) c) j (nextval)
--> SELECT j.nope FROM ((SELECT 1 AS a) a NATURAL JOIN (SELECT 1 AS a) c ) j(nextval)

SELECT j.a, j.nextval FROM (SELECT 1 AS a, 2 AS nextval) a JOIN (SELECT 1 AS a) c USING (a) AS j
--! 42501 permission denied for function nextval
--! position: 13
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT j.nope FROM (SELECT 1 AS a) a JOIN (SELECT 1 AS a) c USING (a) AS j
--! 42703 column j.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT f.nextval FROM unnest(ARRAY[1]) f
--! 42501 permission denied for function nextval
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT f.nextval FROM unnest(ARRAY[1]) f (nextval)
--> SELECT f.nextval FROM pg_catalog.unnest(ARRAY[1]) f(nextval)

SELECT f.nope FROM unnest(ARRAY[1]) f (nextval)
--> SELECT f.nope FROM pg_catalog.unnest(ARRAY[1]) f(nextval)

SELECT f.nextval FROM json_to_record('{}') AS f (nextval int)
--> SELECT f.nextval FROM pg_catalog.json_to_record('{}') f (nextval int)

SELECT f.lastval FROM json_to_record('{}') AS f (nextval int)
--! 42501 permission denied for function lastval
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT x.nextval FROM XMLTABLE('/r' PASSING '<r/>' COLUMNS nextval int, b int) x
--> SELECT x.nextval FROM xmltable(('/r') PASSING '<r/>' COLUMNS nextval int, b int) AS x

SELECT x.nope FROM XMLTABLE('/r' PASSING '<r/>' COLUMNS nextval int, b int) x
--! 42703 column x.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT x.lastval, x.b FROM XMLTABLE('/r' PASSING '<r/>' COLUMNS nextval int, b int) x (lastval)
--> SELECT x.lastval, x.b FROM xmltable(('/r') PASSING '<r/>' COLUMNS nextval int, b int) AS x(lastval)

SELECT x.nextval FROM XMLTABLE('/r' PASSING '<r/>' COLUMNS nextval int, b int) x (lastval)
--! 42501 permission denied for function nextval
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT w.nextval FROM wards w (nextval)
--> SELECT w.nextval FROM kproxy_release_public.wards w(nextval)

SELECT w.ward, w.nope FROM wards w (nextval)
--> SELECT w.ward, w.nope FROM kproxy_release_public.wards w(nextval)

SELECT w.pg_sleep FROM wards w (nextval)
--! 42501 permission denied for function pg_sleep
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (w).ward, (w).nextval FROM wards w
--! 42501 permission denied for function nextval
--! position: 19
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (w).nope FROM wards w
--> SELECT (w).nope FROM kproxy_release_public.wards w

SELECT (SELECT w.nextval) FROM wards w (nextval)
--> SELECT (SELECT w.nextval) FROM kproxy_release_public.wards w(nextval)

SELECT (SELECT x.nextval FROM (SELECT 1 AS a) y) FROM (SELECT 1 AS nextval) x
--> SELECT (SELECT x.nextval FROM (SELECT 1 AS a) y) FROM (SELECT 1 AS nextval) x

SELECT (SELECT x.nextval FROM (SELECT 1 AS a) x) FROM (SELECT 1 AS nextval) x
--! 42501 permission denied for function nextval
--! position: 16
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (SELECT x.nextval FROM (SELECT 1 AS nextval) x) FROM (SELECT 1 AS nextval) x
--> SELECT (SELECT x.nextval FROM (SELECT 1 AS nextval) x) FROM (SELECT 1 AS nextval) x

SELECT (SELECT x.nextval FROM (SELECT 1 AS nextval) x) FROM (SELECT 1 AS a) x
--! 42501 permission denied for function nextval
--! position: 16
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (SELECT x.nope FROM (SELECT 1 AS a) x) FROM (SELECT 1 AS b) x
--! 42703 column x.nope does not exist
--! position: 16
--! hint: Nothing in FROM gives it a column of this name.

SELECT (SELECT (x.a).nextval FROM (SELECT (1, 2) AS a) x) FROM (SELECT 1 AS a) x
--! 42501 permission denied for function nextval
--! position: 17
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (SELECT 1 FROM (SELECT 2 AS pg_sleep) x, (SELECT x.pg_sleep) y) FROM unnest(ARRAY[0.1::float8]) x
--! 42501 permission denied for function pg_sleep
--! position: 57
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (x.a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x
--> SELECT (x.a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x

SELECT (x.a).nope FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x
--> SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x

SELECT (a).nope FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x, (SELECT 1 AS b) z
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x, (SELECT 1 AS a) z
--! 42501 permission denied for function nextval
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x, unnest(ARRAY[1]) z
--! 42501 permission denied for function nextval
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x, patients
--> SELECT (a).nextval FROM (SELECT y AS a FROM (SELECT 1 AS nextval) y) x, kproxy_release_public.patients patients

SELECT (x).nextval FROM (SELECT 1 AS nextval) x
--> SELECT (x).nextval FROM (SELECT 1 AS nextval) x

SELECT (x).nope FROM (SELECT 1 AS nextval) x
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (x.a).nextval FROM (SELECT 1::int AS a) x
--! 42501 permission denied for function nextval
--! position: 9
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT (x.a).nope FROM (SELECT 1::int AS a) x
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (x.a).nope FROM (SELECT '(1)'::record AS a) x
--> SELECT (x.a).nope FROM (SELECT '(1)'::pg_catalog.record AS a) x

SELECT (x.a).nope FROM (SELECT 1 AS a, 2 AS a) x
--> SELECT (x.a).nope FROM (SELECT 1 AS a, 2 AS a) x

SELECT (x.a).nope FROM (SELECT 1 AS a) x
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (x.a).nope FROM (SELECT 'text' AS a) x
--> SELECT (x.a).nope FROM (SELECT 'text' AS a) x

SELECT (x.a).nope FROM (SELECT b + 1 AS a FROM (SELECT 1 AS b) y) x
--> SELECT (x.a).nope FROM (SELECT b + 1 AS a FROM (SELECT 1 AS b) y) x

SELECT (w.beds).nope, (w.ward).nope FROM wards w
--! 42703 column nope does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT ((SELECT y FROM (SELECT 1 AS nextval) y)).nextval
--> SELECT (SELECT y FROM (SELECT 1 AS nextval) y).nextval

SELECT ((SELECT y FROM (SELECT 1 AS nextval) y)).nope
--! 42703 column nope does not exist
--! position: 1
--! hint: Nothing in FROM gives it a column of this name.

SELECT ((SELECT y FROM (SELECT 1 AS nextval) y)).nextval.nope
--! 42703 column nope does not exist
--! position: 1
--! hint: Nothing in FROM gives it a column of this name.

SELECT (ARRAY(SELECT y FROM (SELECT 1 AS nextval) y))[1].nextval
--! 42501 permission denied for function nextval
--! position: 1
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (ARRAY(SELECT y FROM (SELECT 1 AS nextval) y)).nope
--> SELECT ((ARRAY(SELECT y FROM (SELECT 1 AS nextval) y))).nope

SELECT ((SELECT z FROM (SELECT y AS b FROM (SELECT 1 AS nextval) y) z)).b.nextval
--> SELECT (SELECT z FROM (SELECT y AS b FROM (SELECT 1 AS nextval) y) z).b.nextval

SELECT ((SELECT z FROM (SELECT y AS b FROM (SELECT 1 AS nextval) y) z)).b.nope
--! 42703 column nope does not exist
--! position: 1
--! hint: Nothing in FROM gives it a column of this name.

SELECT ((SELECT z FROM (SELECT y AS b FROM (SELECT 1 AS nextval) y) z).b[1]).nope
--> SELECT ((SELECT z FROM (SELECT y AS b FROM (SELECT 1 AS nextval) y) z).b[1]).nope

SELECT s.a FROM (SELECT (y.b).nextval, (y).b FROM (SELECT (x).a AS b FROM (SELECT 1 AS a) x) y) s
--! 42501 permission denied for function nextval
--! position: 26
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT s.nextval, s.b FROM (SELECT (y).nextval, (y).b FROM (SELECT 1 AS nextval, 2 AS b) y) s
--> SELECT s.nextval, s.b FROM (SELECT (y).nextval, (y).b FROM (SELECT 1 AS nextval, 2 AS b) y) s

SELECT s.nope FROM (SELECT (y).nextval FROM (SELECT 1 AS nextval) y) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.nope FROM (SELECT (y).* FROM (SELECT 1 AS nextval) y) s
--> SELECT s.nope FROM (SELECT (y).* FROM (SELECT 1 AS nextval) y) s

SELECT s.nope FROM (SELECT 1, 'a', a + 1, a IS NULL, a IS TRUE, NOT a, $1 FROM (SELECT true AS a) y) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.nope FROM (SELECT nullif(1, 2)) s
--> SELECT s.nope FROM (SELECT NULLIF(1, 2)) s

SELECT s.nope FROM (SELECT nullif(a, 2), 1 AS b FROM (SELECT 1 AS a) y) s
--> SELECT s.nope FROM (SELECT NULLIF(a, 2), 1 AS b FROM (SELECT 1 AS a) y) s

SELECT s.lower, s.coalesce, s.int4, s.c FROM (SELECT lower('a'), coalesce(1, 2), 1::int, c COLLATE "C" FROM (SELECT 'c' AS c) y) s
--> SELECT s.lower, s."coalesce", s.int4, s.c FROM (SELECT pg_catalog.lower('a'), COALESCE(1, 2), 1::int, c COLLATE "C" FROM (SELECT 'c' AS c) y) s

SELECT s.nope FROM (SELECT lower('a'), coalesce(1, 2), 1::int, c COLLATE "C" FROM (SELECT 'c' AS c) y) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT s.nope FROM (SELECT greatest(1, 2)) s
--> SELECT s.nope FROM (SELECT GREATEST(1, 2)) s

SELECT s.nope FROM (SELECT CASE WHEN true THEN 1 END) s
--> SELECT s.nope FROM (SELECT CASE WHEN true THEN 1 END) s

SELECT s.nope FROM (SELECT ARRAY[1], EXISTS (SELECT 1), ROW(1, 2)) s
--> SELECT s.nope FROM (SELECT ARRAY[1], EXISTS (SELECT 1), ROW(1, 2)) s

SELECT s.nope FROM (SELECT current_schema, current_catalog) s
--! 42703 column s.nope does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT (w).pg_typeof, w.pg_typeof, (w.beds).pg_typeof, (1).pg_typeof FROM wards w
--! 42703 column pg_typeof does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT (x.a).pg_typeof FROM (SELECT 1 AS a) x
--> SELECT pg_catalog.pg_typeof(x.a)::pg_catalog.text AS pg_typeof FROM (SELECT 1 AS a) x

SELECT x.pg_typeof FROM (SELECT 1 AS a) x
--! 42703 column x.pg_typeof does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT x.pg_typeof FROM unnest(ARRAY[1]) x
--! 42501 permission denied for function pg_typeof
--! position: 8
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (p.age).lower, (p).lower, p.lower FROM patients p
--> SELECT (p.age).lower, (p).lower, p.lower FROM kproxy_release_public.patients p

SELECT (p.age).text, (p.age).int8, (p).regclass FROM patients p
--! 42703 column regclass does not exist
--! position: 37
--! hint: Nothing in FROM gives it a column of this name.

SELECT (1).regclass, (1).oid
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT 1::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass, ((1)).oid

SELECT (1::oid).regtype
--! 42883 function regtype does not exist
--! position: 1
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT (p.age).xmin FROM patients p
--! 42703 column xmin does not exist
--! position: 9
--! hint: Tables have no system columns here, as views have none.

SELECT p.ctid FROM patients p
--! 42703 column p.ctid does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SELECT (p).tableoid FROM patients p
--! 42703 column tableoid does not exist
--! position: 9
--! hint: Tables have no system columns here, as views have none.

SELECT (c).xmax, c.xmin FROM pg_class c
--! 42703 column xmax does not exist
--! position: 9
--! hint: Tables have no system columns here, as views have none.

SELECT xmin, tableoid FROM pg_class
--> SELECT '2'::pg_catalog.xid AS xmin, 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AS tableoid FROM kproxy_catalog.pg_class pg_class

SELECT ctid FROM patients
--! 42703 column "ctid" does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SELECT cmin FROM (SELECT 1 AS a) x
--> SELECT cmin FROM (SELECT 1 AS a) x

SELECT (SELECT cmax FROM (SELECT 1 AS a) x) FROM wards
--! 42703 column "cmax" does not exist
--! position: 16
--! hint: Tables have no system columns here, as views have none.

SELECT xmax
--> SELECT xmax

SELECT tableoid FROM wards
--! 42703 column "tableoid" does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SELECT tableoid, xmin FROM pg_class, pg_namespace
--! 42703 column "tableoid" does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SELECT information_schema.tables.xmin FROM information_schema.tables
--! 42703 column tables.xmin does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SELECT pg_class.xmin, pg_catalog.pg_class.tableoid FROM pg_catalog.pg_class
--> SELECT '2'::pg_catalog.xid AS xmin, 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AS tableoid FROM kproxy_catalog.pg_class pg_class

SELECT (p.age).random, (p.age).setseed FROM patients p
--> SELECT (p.age).random, (p.age).setseed FROM kproxy_release_public.patients p

SELECT ((p.age).pg_typeof).nope FROM patients p
--! 42703 column nope does not exist
--! position: 10
--! hint: Nothing in FROM gives it a column of this name.

SELECT (ROW(1)).a.pg_typeof
--! 42501 permission denied for function pg_typeof
--! position: 1
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (ARRAY[1])[1].pg_typeof
--! 42501 permission denied for function pg_typeof
--! position: 1
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT ((SELECT 1)).pg_typeof, (lower('a')).pg_typeof, ('a'::text).pg_typeof, ('a'::text).pg_sleep
--! 42501 permission denied for function pg_typeof
--! position: 33
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (lower('a')).pg_read_file, 1
--! 42501 permission denied for function pg_read_file
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT 1, (beds).pg_read_file FROM wards
--! 42501 permission denied for function pg_read_file
--! position: 12
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT 1, (beds::text).pg_read_file FROM wards
--! 42501 permission denied for function pg_read_file
--! position: 12
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT 1, (1::text).pg_read_file
--! 42501 permission denied for function pg_read_file
--! position: 1
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.
