SELECT 1
--> SELECT 1

SELECT * FROM patients
--> SELECT * FROM kproxy_release_public.patients patients

select count(*), avg(age) from patients where diagnosis like 'J%' group by sex having count(*) > 10 order by 2 desc nulls last limit 10 offset 5
--> SELECT pg_catalog.count(*), pg_catalog.avg(age) FROM kproxy_release_public.patients patients WHERE diagnosis LIKE 'J%' GROUP BY sex HAVING pg_catalog.count(*) > 10 ORDER BY 2 DESC NULLS LAST LIMIT 10 OFFSET 5

SELECT patients.age, patients.*, patients FROM patients
--> SELECT patients.age, patients.*, patients FROM kproxy_release_public.patients patients

SELECT p.age FROM patients p, wards w WHERE p.ward = w.id
--> SELECT p.age FROM kproxy_release_public.patients p, kproxy_release_public.wards w WHERE p.ward = w.id

SELECT * FROM patients JOIN wards USING (ward) NATURAL LEFT JOIN hospital.visits
--> SELECT * FROM kproxy_release_public.patients patients JOIN kproxy_release_public.wards wards USING (ward) NATURAL LEFT JOIN kproxy_release_hospital.visits visits

SELECT * FROM (patients CROSS JOIN wards) AS j
--> SELECT * FROM (kproxy_release_public.patients patients CROSS JOIN kproxy_release_public.wards wards ) j

SELECT * FROM patients AS a (x, y) FULL JOIN wards b ON a.x = b.id AND b.name IS NOT NULL
--> SELECT * FROM kproxy_release_public.patients a(x, y) FULL JOIN kproxy_release_public.wards b ON a.x = b.id AND b.name IS NOT NULL

SELECT (SELECT max(age) FROM patients), EXISTS (SELECT FROM patients), ARRAY(SELECT age FROM patients), 3 IN (SELECT age FROM patients), 3 = ANY (SELECT age FROM patients), (1, 2) < ALL (SELECT age, cost FROM patients)
--> SELECT (SELECT pg_catalog.max(age) FROM kproxy_release_public.patients patients), EXISTS (SELECT FROM kproxy_release_public.patients patients), ARRAY(SELECT age FROM kproxy_release_public.patients patients), 3 IN (SELECT age FROM kproxy_release_public.patients patients), 3 = ANY (SELECT age FROM kproxy_release_public.patients patients), (1, 2) < ALL (SELECT age, cost FROM kproxy_release_public.patients patients)

SELECT * FROM wards WHERE id IN (SELECT ward FROM patients WHERE patients.ward = wards.id)
--> SELECT * FROM kproxy_release_public.wards wards WHERE id IN (SELECT ward FROM kproxy_release_public.patients patients WHERE patients.ward = wards.id)

SELECT * FROM wards w, LATERAL (SELECT * FROM patients p WHERE p.ward = w.id LIMIT 3) x
--> SELECT * FROM kproxy_release_public.wards w, LATERAL (SELECT * FROM kproxy_release_public.patients p WHERE p.ward = w.id LIMIT 3) x

SELECT * FROM wards w CROSS JOIN LATERAL generate_series(1, w.beds) WITH ORDINALITY AS g (n, i)
--> SELECT * FROM kproxy_release_public.wards w CROSS JOIN LATERAL pg_catalog.generate_series(1, w.beds) WITH ORDINALITY g(n, i)

SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) AS r (a, b)
--> SELECT * FROM ROWS FROM (pg_catalog.generate_series(1, 3) , pg_catalog.unnest(ARRAY['a', 'b']) ) r(a, b)

SELECT * FROM json_to_recordset('[{"a":1}]') AS x (a int, b text)
--> SELECT * FROM pg_catalog.json_to_recordset('[{"a":1}]') x (a int, b pg_catalog.text)

WITH a AS (SELECT * FROM patients) SELECT * FROM a
--> WITH a AS (SELECT * FROM kproxy_release_public.patients patients) SELECT * FROM a

WITH a AS MATERIALIZED (SELECT age FROM patients), b AS (SELECT * FROM a) SELECT * FROM b JOIN a USING (age)
--> WITH a AS MATERIALIZED (SELECT age FROM kproxy_release_public.patients patients), b AS (SELECT * FROM a) SELECT * FROM b JOIN a USING (age)

WITH RECURSIVE t (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT sum(n) FROM t
--> WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 100) SELECT pg_catalog.sum(n) FROM t

WITH RECURSIVE tree AS (SELECT id, parent FROM wards UNION SELECT w.id, w.parent FROM wards w JOIN tree ON w.parent = tree.id) SEARCH DEPTH FIRST BY id SET ordering CYCLE id SET looped USING path SELECT * FROM tree
--> WITH RECURSIVE tree AS (SELECT id, parent FROM kproxy_release_public.wards wards UNION SELECT w.id, w.parent FROM kproxy_release_public.wards w JOIN tree ON w.parent = tree.id) SEARCH DEPTH FIRST BY id SET ordering CYCLE id SET looped TO true DEFAULT false USING path SELECT * FROM tree

SELECT age FROM patients UNION SELECT beds FROM wards INTERSECT SELECT 3 EXCEPT ALL (SELECT 4 ORDER BY 1 LIMIT 1) ORDER BY 1
--> (SELECT age FROM kproxy_release_public.patients patients UNION (SELECT beds FROM kproxy_release_public.wards wards INTERSECT SELECT 3)) EXCEPT ALL (SELECT 4 ORDER BY 1 LIMIT 1) ORDER BY 1

VALUES (1, 'a'), (2, 'b')
--> VALUES (1, 'a'), (2, 'b')

TABLE patients
--> SELECT * FROM kproxy_release_public.patients patients

TABLE ONLY patients
--> SELECT * FROM ONLY kproxy_release_public.patients patients

SELECT age, rank() OVER (PARTITION BY ward ORDER BY cost DESC) r, sum(cost) OVER w FROM patients WINDOW w AS (PARTITION BY ward ORDER BY age ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES)
--> SELECT age, pg_catalog.rank() OVER (PARTITION BY ward ORDER BY cost DESC) AS r, pg_catalog.sum(cost) OVER w FROM kproxy_release_public.patients patients WINDOW w AS (PARTITION BY ward ORDER BY age ROWS BETWEEN 2 PRECEDING AND CURRENT ROW EXCLUDE TIES)

SELECT ward, sex, grouping(ward, sex), count(*) FROM patients GROUP BY GROUPING SETS ((ward, sex), ROLLUP (ward), CUBE (sex), ())
--> SELECT ward, sex, GROUPING(ward, sex), pg_catalog.count(*) FROM kproxy_release_public.patients patients GROUP BY GROUPING SETS ((ward, sex), ROLLUP (ward), CUBE (sex), ())

SELECT DISTINCT ON (ward) ward, age FROM patients ORDER BY ward, age
--> SELECT DISTINCT ON (ward) ward, age FROM kproxy_release_public.patients patients ORDER BY ward, age

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), string_agg(DISTINCT sex, ',' ORDER BY sex), count(*) FILTER (WHERE age > 60) FROM patients
--> SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY cost), pg_catalog.string_agg(DISTINCT sex, ',' ORDER BY sex), pg_catalog.count(*) FILTER (WHERE age > 60) FROM kproxy_release_public.patients patients

SELECT CASE WHEN age > 60 THEN 'old' WHEN age < 20 THEN 'young' ELSE NULL END, CASE sex WHEN 'f' THEN 1 END, coalesce(age, 0), nullif(age, 0), greatest(1, 2), least(1, 2) FROM patients
--> SELECT CASE WHEN age > 60 THEN 'old' WHEN age < 20 THEN 'young' ELSE NULL END, CASE sex WHEN 'f' THEN 1 END, COALESCE(age, 0), NULLIF(age, 0), GREATEST(1, 2), LEAST(1, 2) FROM kproxy_release_public.patients patients

SELECT extract(year FROM admission), position('a' IN 'abc'), substring('abc' FROM 2 FOR 1), substring('abc' SIMILAR 'a#"b#"c' ESCAPE '#'), overlay('abc' PLACING 'x' FROM 1 FOR 1), trim(both 'x' FROM 'xax'), trim(leading 'x' FROM 'xa'), trim('  a '), admission AT TIME ZONE 'UTC', normalize('a', NFC), 'a' IS NFKC NORMALIZED FROM patients
--> SELECT extract ('year' FROM admission), POSITION('a' IN 'abc'), SUBSTRING('abc' FROM 2 FOR 1), SUBSTRING('abc' FROM 'a#"b#"c' FOR '#'), OVERLAY('abc' PLACING 'x' FROM 1 FOR 1), TRIM (BOTH 'x' FROM 'xax'), TRIM (LEADING 'x' FROM 'xa'), TRIM (BOTH  FROM '  a '), admission AT TIME ZONE 'UTC', normalize ('a', NFC), 'a' IS NFKC NORMALIZED  FROM kproxy_release_public.patients patients

SELECT date '2020-01-01' + interval '1 day', timestamp '2020-01-01', interval '1' day, interval(3) '1.2345 s', time with time zone '12:00+0', CURRENT_DATE, CURRENT_TIMESTAMP(3), LOCALTIME, now()
--> SELECT '2020-01-01'::pg_catalog.date + '1 day'::interval, '2020-01-01'::timestamp, '1'::interval day, '1.2345 s'::interval(3), '12:00+0'::time with time zone, current_date, current_timestamp(3), localtime, pg_catalog.now()

SELECT (DATE '2020-01-01', DATE '2020-02-01') OVERLAPS (DATE '2020-01-15', INTERVAL '1 month'), age BETWEEN 1 AND 3, age NOT BETWEEN SYMMETRIC 3 AND 1, name ILIKE 'a%' ESCAPE '!', name NOT SIMILAR TO 'a' , age IS DISTINCT FROM 3, age IS NOT NULL, (age > 3) IS NOT UNKNOWN FROM patients
--> SELECT ('2020-01-01'::pg_catalog.date, '2020-02-01'::pg_catalog.date) overlaps ('2020-01-15'::pg_catalog.date, '1 month'::interval) , age BETWEEN 1 AND 3, age NOT BETWEEN SYMMETRIC 3 AND 1, name ILIKE pg_catalog.like_escape('a%', '!'), name NOT SIMILAR TO 'a', age IS DISTINCT FROM 3, age IS NOT NULL, age > 3 IS NOT UNKNOWN FROM kproxy_release_public.patients patients

SELECT age::float8, CAST(age AS numeric(10,2)), '{1,2}'::int[], age::text COLLATE "C", 'a'::character varying(3), 'a'::char(3), 'x'::"char", x'1F', b'01', 1.5e10, -5, - 5, +age, -(-age), NOT NOT true, 'a\b', E'a\nb', $$it's$$, U&'d\0061t' FROM patients
--> SELECT age::double precision, age::numeric(10, 2), '{1,2}'::int[], age::pg_catalog.text COLLATE "C", 'a'::varchar(3), 'a'::char(3), 'x'::pg_catalog.char, x'1F', b'01', 1.5e10, -5, -5, + age, - (- age), NOT NOT true, E'a\\b', 'a
--> b', 'it''s', 'dat' FROM kproxy_release_public.patients patients

SELECT a[1], a[1:2], a[:2], (ARRAY[[1,2],[3,4]])[1][2], ARRAY[1,2] || 3, age_range @> 5, lower(age_range), upper(age_range), data ->> 'a', data #> '{a,b}', (ROW(1,2)).f1, ROW(1, 2) = ROW(3, 4) FROM patients
--> SELECT a[1], a[1:2], a[:2], ((ARRAY[ARRAY[1, 2], ARRAY[3, 4]]))[1][2], (ARRAY[1, 2]) || 3, age_range @> 5, pg_catalog.lower(age_range), pg_catalog.upper(age_range), data ->> 'a', data #> '{a,b}', (ROW(1, 2)).f1, ROW(1, 2) = ROW(3, 4) FROM kproxy_release_public.patients patients

SELECT * FROM patients WHERE age = $1 AND ward = ANY($2::text[]) LIMIT $3
--> SELECT * FROM kproxy_release_public.patients patients WHERE age = $1 AND ward = ANY($2::pg_catalog.text[]) LIMIT $3

SELECT * FROM XMLTABLE('/r' PASSING ('<r><a>1</a></r>'::xml) COLUMNS a int PATH 'a', n FOR ORDINALITY)
--> SELECT * FROM xmltable(('/r') PASSING (('<r><a>1</a></r>'::pg_catalog.xml)) COLUMNS a int PATH 'a', n FOR ORDINALITY)

SELECT xmlelement(name a, xmlattributes(1 AS b), 'c'), xmlforest(1 AS x), xmlconcat('<a/>', '<b/>'), xmlserialize(content '<a/>' AS text), xmlparse(document '<a/>'), xmlexists('a' PASSING '<a/>')
--> SELECT xmlelement(name a, xmlattributes(1 AS b), 'c'), xmlforest(1 AS x), xmlconcat('<a/>', '<b/>'), xmlserialize(content '<a/>' AS pg_catalog.text), xmlparse(document '<a/>'), xmlexists ('a' PASSING '<a/>')

SELECT json_object('a': 1, 'b': 2), json_array(1, 2), json_objectagg(sex: age), json_arrayagg(age ORDER BY age), '{}' IS JSON OBJECT FROM patients
--> SELECT JSON_OBJECT('a': 1, 'b': 2), JSON_ARRAY(1, 2), JSON_OBJECTAGG(sex: age), JSON_ARRAYAGG(age ORDER BY age), '{}' IS JSON OBJECT FROM kproxy_release_public.patients patients

SELECT row_to_json(patients), to_json(p.*), count(p), patients IS NULL FROM patients, patients p
--> SELECT pg_catalog.row_to_json(patients), pg_catalog.to_json(p.*), pg_catalog.count(p), patients IS NULL FROM kproxy_release_public.patients patients, kproxy_release_public.patients p

SELECT name(p), p.upper FROM (SELECT 'a'::text AS upper) p
--> SELECT pg_catalog.name(p), p.upper FROM (SELECT 'a'::pg_catalog.text AS upper) p

COPY patients TO STDOUT
--> COPY (SELECT * FROM kproxy_release_public.patients patients) TO STDOUT

COPY patients (age, "Sex") TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';', NULL '', FORCE_QUOTE (age))
--> COPY (SELECT age, "Sex" FROM kproxy_release_public.patients patients) TO STDOUT WITH (FORMAT CSV, HEADER, DELIMITER ';', NULL '', FORCE_QUOTE (age))

COPY public.wards TO STDOUT CSV HEADER
--> COPY (SELECT * FROM kproxy_release_public.wards wards) TO STDOUT WITH (FORMAT CSV, HEADER)

COPY (SELECT * FROM patients WHERE age > 3) TO STDOUT (FORMAT binary)
--> COPY (SELECT * FROM kproxy_release_public.patients patients WHERE age > 3) TO STDOUT WITH (FORMAT BINARY)

EXPLAIN SELECT * FROM patients
--> EXPLAIN SELECT * FROM kproxy_release_public.patients patients

EXPLAIN (ANALYZE, COSTS OFF, BUFFERS, TIMING false, SUMMARY, FORMAT json) SELECT * FROM patients JOIN wards USING (ward)
--! 42501 EXPLAIN option "buffers" is not allowed
--! position: 30
--! hint: ANALYZE, COSTS, GENERIC_PLAN and FORMAT may be given; VERBOSE adds nothing. The others tell of kproxy's own names, or of what else the server does, and can only be off.

EXPLAIN ANALYZE WITH a AS (TABLE patients) SELECT FROM a
--> EXPLAIN (ANALYZE, TIMING OFF, SUMMARY OFF, BUFFERS OFF) WITH a AS (SELECT * FROM kproxy_release_public.patients patients) SELECT FROM a

EXPLAIN EXECUTE q (1)
--> EXPLAIN (COSTS OFF) EXECUTE q(1)

PREPARE q (int, text) AS SELECT * FROM patients WHERE age > $1 AND sex = $2
--> PREPARE q(int, pg_catalog.text) AS SELECT * FROM kproxy_release_public.patients patients WHERE age > $1 AND sex = $2

EXECUTE q (1 + 2, lower('F'))
--> EXECUTE q(1 + 2, pg_catalog.lower('F'))

DEALLOCATE q
--> DEALLOCATE q

DEALLOCATE ALL
--> DEALLOCATE ALL

DECLARE c CURSOR FOR SELECT * FROM patients
--> DECLARE c CURSOR FOR SELECT * FROM kproxy_release_public.patients patients

DECLARE "C" BINARY INSENSITIVE SCROLL CURSOR WITH HOLD FOR TABLE patients
--> DECLARE "C" BINARY SCROLL INSENSITIVE CURSOR WITH HOLD FOR SELECT * FROM kproxy_release_public.patients patients

FETCH 10 FROM c
--> FETCH FORWARD 10 c

FETCH BACKWARD ALL IN c
--> FETCH BACKWARD ALL c

-- psqlODBC
FETCH 100 IN "SQL_CUR0x55"
--> FETCH FORWARD 100 "SQL_CUR0x55"

MOVE FORWARD 5 FROM c
--> MOVE FORWARD 5 c

CLOSE c
--> CLOSE c

CLOSE ALL
--> CLOSE ALL

SELECT generate_series(1, 3) /* comment patients */ -- another
--> SELECT pg_catalog.generate_series(1, 3)

SELECT 1; SELECT * FROM patients; ; SHOW timezone;
--> SELECT 1; SELECT * FROM kproxy_release_public.patients patients; SHOW TIME ZONE

SELECT (((age))) + (1 - (2 - 3)) * 4, a.b FROM patients, (SELECT 1 AS b) a WHERE (age = 1 OR age = 2) AND NOT (sex = 'f' AND ward = 'x')
--> SELECT age + ((1 - (2 - 3)) * 4), a.b FROM kproxy_release_public.patients patients, (SELECT 1 AS b) a WHERE (age = 1 OR age = 2) AND NOT (sex = 'f' AND ward = 'x')

SELECT FROM patients ORDER BY age FETCH FIRST 3 ROWS WITH TIES
--> SELECT FROM kproxy_release_public.patients patients ORDER BY age FETCH FIRST 3 ROWS WITH TIES

SELECT * FROM patients ORDER BY age USING >, sex COLLATE pg_catalog."default", ward OPERATOR(pg_catalog.||) 'x'
--> SELECT * FROM kproxy_release_public.patients patients ORDER BY age USING >, sex COLLATE pg_catalog."default", ward OPERATOR(pg_catalog.||) 'x'

SELECT date_trunc('month', admission), to_char(cost, 'FM999.00'), regexp_replace(diagnosis, '^(.).*', '\1'), width_bucket(age, 0, 100, 10), make_date(year => 2020, month => 1, day => 2), concat_ws(',', VARIADIC ARRAY['a','b']) FROM patients
--> SELECT pg_catalog.date_trunc('month', admission), pg_catalog.to_char(cost, 'FM999.00'), pg_catalog.regexp_replace(diagnosis, '^(.).*', E'\\1'), pg_catalog.width_bucket(age, 0, 100, 10), pg_catalog.make_date(year := 2020, month := 1, day := 2), pg_catalog.concat_ws(',', VARIADIC ARRAY['a', 'b']) FROM kproxy_release_public.patients patients

SELECT x.* FROM (VALUES (1, 'a')) AS x (n, t) JOIN patients ON true
--> SELECT x.* FROM (VALUES (1, 'a')) x(n, t) JOIN kproxy_release_public.patients patients ON true

-- psql with FETCH_COUNT
DECLARE _psql_cursor NO SCROLL CURSOR FOR
SELECT * FROM patients;
--> DECLARE _psql_cursor NO SCROLL CURSOR FOR SELECT * FROM kproxy_release_public.patients patients

FETCH FORWARD 100 FROM _psql_cursor
--> FETCH FORWARD 100 _psql_cursor

-- psql \copy
COPY  patients (age, ward) TO STDOUT WITH CSV HEADER
--> COPY (SELECT age, ward FROM kproxy_release_public.patients patients) TO STDOUT WITH (FORMAT CSV, HEADER)

SELECT pg_get_indexdef(indexrelid), obj_description('patients'::regclass, 'pg_class') FROM pg_index WHERE indrelid = 'patients'::regclass
--> SELECT (SELECT COALESCE(kproxy_catalog.key_index_definition(kproxy_guard.indexrelid, 0), pg_catalog.pg_get_indexdef(kproxy_guard.indexrelid)) FROM (SELECT indexrelid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_index kproxy_guard WHERE kproxy_guard.indexrelid = kproxy_argument.a0) AS pg_get_indexdef, (SELECT kproxy_guard.description FROM (SELECT '"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid::pg_catalog.oid AS a0) kproxy_argument, kproxy_catalog.pg_description kproxy_guard WHERE kproxy_guard.objoid = kproxy_argument.a0 AND kproxy_guard.classoid = 'pg_catalog."pg_class"'::pg_catalog.regclass::pg_catalog.oid AND kproxy_guard.objsubid = 0) AS obj_description FROM kproxy_catalog.pg_index pg_index WHERE indrelid = '"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid

SELECT * FROM patients p WHERE p.diagnosis = 'it''s' AND p.name ~ '^\d+$'
--> SELECT * FROM kproxy_release_public.patients p WHERE p.diagnosis = 'it''s' AND p.name ~ E'^\\d+$'
