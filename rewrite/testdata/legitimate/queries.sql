SELECT ward FROM patients UNION SELECT ward FROM wards EXCEPT SELECT 'urology'

(SELECT ward, 1 AS n FROM patients LIMIT 0) UNION ALL (SELECT ward, 2 FROM wards ORDER BY ward LIMIT 2) INTERSECT ALL (VALUES ('cardiology', 2), ('x', 3))

SELECT sex FROM patients EXCEPT ALL (SELECT sex FROM hospital.visits UNION ALL SELECT sex FROM claims)

(SELECT ward FROM patients INTERSECT SELECT ward FROM hospital.visits) ORDER BY ward DESC LIMIT 3

SELECT 1 AS a, 'x' AS b UNION ALL SELECT 2, NULL UNION ALL TABLE regions ORDER BY 1

TABLE patients

TABLE hospital.visits ORDER BY age LIMIT 5

VALUES (1, 'a'), (2, 'b') ORDER BY 1 DESC LIMIT 1

SELECT * FROM (VALUES (1, 'surgery'), (2, 'urology')) AS v(n, ward) JOIN patients USING (ward)

SELECT DISTINCT ON (ward) ward, cost, diagnosis FROM patients ORDER BY ward, cost DESC, admitted

SELECT DISTINCT ward, sex FROM patients

SELECT ward, cost FROM patients ORDER BY ward FETCH FIRST 3 ROWS WITH TIES

SELECT cost FROM patients ORDER BY cost DESC NULLS LAST OFFSET 5 ROWS FETCH NEXT ROW ONLY

SELECT cost FROM patients ORDER BY cost USING > LIMIT 3

SELECT cost FROM patients ORDER BY cost LIMIT ALL OFFSET 395

SELECT cost FROM patients ORDER BY cost LIMIT (SELECT count(*) / 100 FROM patients)

SELECT p.ward, w.beds FROM patients p INNER JOIN wards w ON w.ward = p.ward AND w.beds > 15

SELECT p.ward, w.ward FROM (SELECT DISTINCT ward FROM patients) p FULL JOIN (SELECT ward FROM wards WHERE beds > 20) w ON p.ward = w.ward

SELECT a.ward, b.sex FROM (SELECT DISTINCT ward FROM patients) a CROSS JOIN (SELECT DISTINCT sex FROM patients) b

SELECT * FROM patients NATURAL JOIN wards

SELECT j.ward, j.beds FROM (patients p JOIN wards w USING (ward)) AS j

SELECT x.ward, w.building FROM patients p JOIN wards w USING (ward) AS x

SELECT a.k, a.total FROM (SELECT ward, sum(cost) FROM patients GROUP BY ward) AS a(k, total)

SELECT p.a, p.b FROM patients AS p(a, b, c)

SELECT patients FROM patients ORDER BY cost LIMIT 2

SELECT p, (p).ward, (p.*).cost FROM patients p ORDER BY cost LIMIT 2

SELECT p.* FROM patients p, wards w WHERE p.ward = w.ward AND w.building = 'A'

SELECT public.patients.cost, hospital.visits.age FROM public.patients, hospital.visits WHERE public.patients.ward = hospital.visits.ward AND hospital.visits.age < 25

SELECT count(patients.*), count(DISTINCT patients) > 10 FROM patients

SELECT row_to_json(p) FROM (SELECT ward, cost FROM patients ORDER BY cost LIMIT 3) p

SELECT to_jsonb(p) - 'details' - 'tags' FROM patients p ORDER BY cost LIMIT 2

SELECT w.ward, (SELECT max(cost) FROM patients p WHERE p.ward = w.ward) FROM wards w

SELECT ward, ARRAY(SELECT DISTINCT diagnosis FROM patients p WHERE p.ward = wards.ward ORDER BY 1) FROM wards

SELECT ward FROM wards WHERE ward IN (SELECT ward FROM patients WHERE cost > 4900)

SELECT ward FROM wards WHERE (ward, 'F') NOT IN (SELECT ward, sex FROM patients)

SELECT code FROM icd10 WHERE NOT EXISTS (SELECT 1 FROM patients WHERE diagnosis = code AND mood = 'low')

SELECT ward FROM patients WHERE cost >= ALL (SELECT cost FROM patients) OR cost = ANY (SELECT min(cost) FROM patients)

SELECT ward FROM patients WHERE (ward, sex) = (SELECT ward, sex FROM patients ORDER BY cost LIMIT 1)

SELECT CASE WHEN EXISTS (SELECT FROM patients WHERE cost > 4000) THEN 'yes' ELSE 'no' END

SELECT (SELECT (SELECT (SELECT count(*) FROM patients p3 WHERE p3.ward = p1.ward) FROM (SELECT 1) x) FROM (SELECT 1) y) FROM patients p1 LIMIT 3

SELECT w.ward, l.* FROM wards w, LATERAL (SELECT cost, diagnosis FROM patients p WHERE p.ward = w.ward ORDER BY cost DESC LIMIT 2) l

SELECT w.ward, l.n FROM wards w LEFT JOIN LATERAL (SELECT count(*) AS n FROM patients p WHERE p.ward = w.ward AND p.cost < w.beds * 10) l ON true

SELECT p.ward, t.tag, t.ord FROM patients p, unnest(p.tags) WITH ORDINALITY AS t(tag, ord) WHERE p.share < 5

SELECT p.cost, g FROM patients p CROSS JOIN LATERAL generate_series(1, p.share) g WHERE p.share < 4

SELECT * FROM ROWS FROM (generate_series(1, 3), unnest(ARRAY['a', 'b'])) WITH ORDINALITY AS t(n, s, o)

SELECT * FROM unnest(ARRAY[1, 2], ARRAY['x', 'y', 'z']) AS u(a, b)

SELECT * FROM json_to_recordset('[{"a":1,"b":"x"},{"a":2}]') AS r(a int, b text)

WITH p AS (SELECT ward, avg(cost) AS c FROM patients GROUP BY ward), q AS MATERIALIZED (SELECT * FROM p WHERE c > 0), r AS NOT MATERIALIZED (SELECT ward FROM q) SELECT * FROM r JOIN p USING (ward)

WITH patients AS (SELECT 'shadow' AS ward) SELECT * FROM patients

WITH patients AS (SELECT ward FROM patients WHERE sex = 'F') SELECT count(*) FROM patients

WITH a AS (WITH b AS (SELECT ward FROM patients) SELECT * FROM b) SELECT * FROM a UNION ALL (WITH b AS (SELECT 'x') SELECT * FROM b)

WITH w(k, n) AS (SELECT ward, count(*) FROM patients GROUP BY ward) SELECT k FROM w WHERE n = (SELECT max(n) FROM w)

WITH RECURSIVE t(n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM t WHERE n < 10) SELECT sum(n), (SELECT count(*) FROM patients WHERE share = 10) FROM t

WITH RECURSIVE tree AS (SELECT code, parent, 0 AS depth FROM icd10 WHERE parent IS NULL UNION ALL SELECT c.code, c.parent, t.depth + 1 FROM icd10 c JOIN tree t ON c.parent = t.code) SELECT t.code, t.depth, count(p.cost) FROM tree t LEFT JOIN patients p ON p.diagnosis = t.code GROUP BY 1, 2

WITH RECURSIVE tree(code, parent) AS (SELECT code, parent FROM icd10 WHERE parent IS NULL UNION ALL SELECT c.code, c.parent FROM icd10 c JOIN tree t ON c.parent = t.code) SEARCH DEPTH FIRST BY code SET o SELECT code FROM tree ORDER BY o

WITH RECURSIVE tree(code, parent) AS (SELECT code, parent FROM icd10 WHERE parent IS NULL UNION ALL SELECT c.code, c.parent FROM icd10 c JOIN tree t ON c.parent = t.code) SEARCH BREADTH FIRST BY code SET o CYCLE code SET looped USING path SELECT code, looped, path FROM tree ORDER BY o

WITH RECURSIVE g(a, b) AS (VALUES (1, 2), (2, 3), (3, 1)), p(a, b) AS (SELECT * FROM g WHERE a = 1 UNION ALL SELECT g.* FROM g, p WHERE g.a = p.b) CYCLE a, b SET c TO 'Y' DEFAULT 'N' USING q SELECT a, b, c FROM p

WITH RECURSIVE days AS (SELECT date '2024-01-01' AS d UNION ALL SELECT d + 1 FROM days WHERE d < '2024-01-10') SELECT d, count(p.admitted) FROM days LEFT JOIN patients p ON p.admitted::date = d GROUP BY d

SELECT ward FROM (SELECT ward FROM (SELECT ward FROM (SELECT ward FROM patients) a) b) c GROUP BY ward

SELECT (SELECT p.cost + w.beds FROM patients p WHERE p.ward = w.ward ORDER BY p.cost LIMIT 1) AS s FROM wards w ORDER BY s

-- straight: SELECT * FROM patients
SELECT * FROM patients TABLESAMPLE BERNOULLI (100)

-- straight: SELECT count(p.*), min(p.ward) FROM public.patients AS p JOIN wards w ON w.ward = p.ward
SELECT count(p.*), min(p.ward) FROM public.patients AS p TABLESAMPLE SYSTEM (100.0) JOIN wards w ON w.ward = p.ward

-- straight: SELECT (patients).cost, patients FROM (SELECT * FROM patients) patients ORDER BY cost LIMIT 1
SELECT (patients).cost, patients FROM patients TABLESAMPLE bernoulli(100) ORDER BY cost LIMIT 1

-- straight: SELECT count(*), max(a) FROM hospital.visits AS v(a, b) WHERE false
SELECT count(*), max(a) FROM hospital.visits AS v(a, b) TABLESAMPLE BERNOULLI (0)

-- straight: SELECT count(*) BETWEEN 50 AND 350 FROM patients WHERE random() < 0.5
SELECT count(*) BETWEEN 50 AND 350 FROM patients TABLESAMPLE BERNOULLI (50)

-- straight: SELECT * FROM public.orders TABLESAMPLE BERNOULLI (100)
SELECT * FROM orders TABLESAMPLE BERNOULLI (100)

-- straight: SELECT count(*) FROM public.orders AS o TABLESAMPLE system(100) WHERE o.status = 'F'
SELECT count(*) FROM orders AS o TABLESAMPLE system(100) WHERE o.status = 'F'

SELECT * FROM items, patients WHERE items.quantity > 49 AND patients.cost > 4950

SELECT a.ward FROM patients a, patients b, patients c WHERE a.ward = b.ward AND b.ward = c.ward AND a.cost > 4800 AND b.cost > 4800 AND c.cost > 4800

SELECT

SELECT FROM patients LIMIT 2

SELECT ALL sex FROM ONLY wards, patients WHERE patients.ward = wards.ward

SELECT * FROM ONLY (regions)

SELECT * FROM patients *

SELECT t.n, u.n FROM (SELECT 1 AS n) t JOIN (SELECT 2 AS n) u ON (t.n, u.n) < (u.n, 3)

SELECT count(*) FROM patients p JOIN hospital.visits v ON p.birth_date_range && daterange('1950-01-01', '1960-01-01') AND v.age_range @> 40
