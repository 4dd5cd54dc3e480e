-- Questions about groups of records that are answered from the summary of classes.
SELECT count(*) FROM stays
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT region, count(*) FROM stays GROUP BY region ORDER BY 2 DESC, region LIMIT 10
--> SELECT region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region ORDER BY 2 DESC, region LIMIT 10

SELECT s.region AS r, count(*) AS n, count(*) FILTER (WHERE s.age > 60) FROM public.stays s WHERE s.born >= '1950-01-01' AND region = $1 GROUP BY r HAVING count(*) > 5 ORDER BY n DESC, count(*)
--> SELECT s.region AS r, COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS n, COALESCE(pg_catalog.sum(s.kproxy_count) FILTER (WHERE s.age > 60), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b s WHERE s.born >= '1950-01-01' AND region = $1 GROUP BY r HAVING COALESCE(pg_catalog.sum(s.kproxy_count), 0) > 5 ORDER BY n DESC, COALESCE(pg_catalog.sum(s.kproxy_count), 0)

SELECT count(age), count(age + 1) FILTER (WHERE region = 'N'), count('x'), count(1) FROM stays
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE age IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE region = 'N' AND age + 1 IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE 'x' IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE 1 IS NOT NULL), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT sum(age), avg(age), sum(height), avg(height) FILTER (WHERE age < 5), sum(age::bigint), sum(age::numeric), sum(1), avg(age * 2 - 1) FROM stays
--> SELECT pg_catalog.sum(age::bigint * stays.kproxy_count)::bigint, pg_catalog.sum(age::bigint * stays.kproxy_count) / pg_catalog.sum(stays.kproxy_count) FILTER (WHERE age IS NOT NULL) AS avg, pg_catalog.sum(height * stays.kproxy_count), pg_catalog.sum(height * stays.kproxy_count) FILTER (WHERE age < 5) / pg_catalog.sum(stays.kproxy_count) FILTER (WHERE age < 5 AND height IS NOT NULL) AS avg, pg_catalog.sum(age::bigint::numeric * stays.kproxy_count), pg_catalog.sum(age::numeric * stays.kproxy_count), pg_catalog.sum(1::bigint * stays.kproxy_count)::bigint, pg_catalog.sum(CAST((age * 2) - 1 AS bigint) * stays.kproxy_count) / pg_catalog.sum(stays.kproxy_count) FILTER (WHERE (age * 2) - 1 IS NOT NULL) AS avg FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT sum(CASE WHEN region = 'N' THEN 1 ELSE 0 END), sum(CASE WHEN region = 'N' THEN 1 END), sum(coalesce(age, 0)), sum(-age) FROM stays
--> SELECT pg_catalog.sum(CASE WHEN region = 'N' THEN 1 ELSE 0 END::bigint * stays.kproxy_count)::bigint, pg_catalog.sum(CASE WHEN region = 'N' THEN 1 END::bigint * stays.kproxy_count)::bigint, pg_catalog.sum(COALESCE(age, 0)::bigint * stays.kproxy_count)::bigint, pg_catalog.sum(CAST(- age AS bigint) * stays.kproxy_count)::bigint FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT min(age), max(born), bool_and(age > 5), every(region = 'N'), bool_or(weight > 5), bit_or(age), min(weight) FROM stays
--> SELECT pg_catalog.min(age), pg_catalog.max(born), pg_catalog.bool_and(age > 5), pg_catalog.every(region = 'N'), pg_catalog.bool_or(weight > 5), pg_catalog.bit_or(age), pg_catalog.min(weight) FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT count(DISTINCT region), sum(DISTINCT age), avg(DISTINCT weight), count(DISTINCT weight) FROM stays
--> SELECT pg_catalog.count(DISTINCT region), pg_catalog.sum(DISTINCT age), pg_catalog.avg(DISTINCT weight), pg_catalog.count(DISTINCT weight) FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT date_trunc('month', born) AS month, count(*) FROM stays GROUP BY month ORDER BY month
--> SELECT pg_catalog.date_trunc('month', born) AS month, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY month ORDER BY month

SELECT date_trunc('month', born), region, count(*) FROM stays GROUP BY 1, 2 ORDER BY 1
--> SELECT pg_catalog.date_trunc('month', born), region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY 1, 2 ORDER BY 1

SELECT region, age, grouping(region, age), count(*) FROM stays GROUP BY ROLLUP (region, age)
--> SELECT region, age, GROUPING(region, age), COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY ROLLUP (region, age)

SELECT region, age, count(*) FROM stays GROUP BY GROUPING SETS ((region, age), (region), ())
--> SELECT region, age, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY GROUPING SETS ((region, age), region, ())

SELECT DISTINCT region, age FROM stays ORDER BY age
--> SELECT DISTINCT region, age FROM kproxy_catalog.classes_d179c68255f0ba7b stays ORDER BY age

SELECT region FROM stays GROUP BY region
--> SELECT region FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region

SELECT region, count(*), count(*) * 100.0 / sum(count(*)) OVER (), rank() OVER (ORDER BY count(*) DESC), sum(avg(age)) OVER w FROM stays GROUP BY region WINDOW w AS (PARTITION BY region)
--> SELECT region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count, (COALESCE(pg_catalog.sum(stays.kproxy_count), 0) * 100.0) / pg_catalog.sum(COALESCE(pg_catalog.sum(stays.kproxy_count), 0)) OVER (), pg_catalog.rank() OVER (ORDER BY COALESCE(pg_catalog.sum(stays.kproxy_count), 0) DESC), pg_catalog.sum(pg_catalog.sum(age::bigint * stays.kproxy_count) / pg_catalog.sum(stays.kproxy_count) FILTER (WHERE age IS NOT NULL)) OVER w FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region WINDOW w AS (PARTITION BY region)

SELECT count(*)::float, round(avg(age), 1), coalesce(count(*), 0), greatest(count(*), 1), CASE WHEN count(*) > 5 THEN 1 ELSE count(*) END, -count(*) FROM stays
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0)::double precision AS count, pg_catalog.round(pg_catalog.sum(age::bigint * stays.kproxy_count) / pg_catalog.sum(stays.kproxy_count) FILTER (WHERE age IS NOT NULL), 1), COALESCE(COALESCE(pg_catalog.sum(stays.kproxy_count), 0), 0), GREATEST(COALESCE(pg_catalog.sum(stays.kproxy_count), 0), 1), CASE WHEN COALESCE(pg_catalog.sum(stays.kproxy_count), 0) > 5 THEN 1 ELSE COALESCE(pg_catalog.sum(stays.kproxy_count), 0) END AS count, - COALESCE(pg_catalog.sum(stays.kproxy_count), 0) FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT * FROM (SELECT region, count(*) AS n FROM stays GROUP BY 1) t WHERE n > 5
--> SELECT * FROM (SELECT region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS n FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY 1) t WHERE n > 5

WITH a AS (SELECT region, count(*) FROM stays GROUP BY 1) SELECT (SELECT count(*) FROM stays), a.* FROM a UNION ALL SELECT 1, region, max(age) FROM stays GROUP BY region
--> WITH a AS (SELECT region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY 1) SELECT (SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays), a.* FROM a UNION ALL SELECT 1, region, pg_catalog.max(age) FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region

EXPLAIN SELECT count(*) FROM stays
--> EXPLAIN SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays

COPY (SELECT region, count(*) FROM stays GROUP BY region) TO STDOUT
--> COPY (SELECT region, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region) TO STDOUT

SELECT count(*) FROM stays WHERE born > now() - interval '30 years' AND born < current_date AND born_range @> '1980-01-01'::date AND region IN ('a', 'b') AND region LIKE 'x%' AND age BETWEEN 1 AND 5 AND (age IS NULL OR age = ANY ($1))
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays WHERE born > (pg_catalog.now() - '30 years'::interval) AND born < current_date AND born_range @> '1980-01-01'::pg_catalog.date AND region IN ('a', 'b') AND region LIKE 'x%' AND age BETWEEN 1 AND 5 AND (age IS NULL OR age = ANY($1))

SELECT count(*) FROM stays WHERE (region, age) = ('N', 5) AND (ARRAY[region])[1] = 'N' AND region COLLATE "C" > 'a'
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays WHERE (((region, age) = ('N', 5))) AND ((((ARRAY[region]))[1] = 'N')) AND (((region COLLATE "C") > 'a'))

-- Joins with other relations: a class has as many of their rows as each of its records.
SELECT w.building, count(*), sum(s.age), min(w.beds), count(DISTINCT w.ward) FROM stays s JOIN wards w ON w.ward = s.region WHERE w.beds > 5 GROUP BY w.building
--> SELECT w.building, COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS count, pg_catalog.sum(s.age::bigint * s.kproxy_count)::bigint, pg_catalog.min(w.beds), pg_catalog.count(DISTINCT w.ward) FROM kproxy_catalog.classes_d179c68255f0ba7b s JOIN kproxy_release_public.wards w ON w.ward = s.region WHERE w.beds > 5 GROUP BY w.building

SELECT building, count(*) FROM stays, wards WHERE ward = region AND born > '1970-01-01' GROUP BY building ORDER BY building
--> SELECT building, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays, kproxy_release_public.wards wards WHERE ward = region AND born > '1970-01-01' GROUP BY building ORDER BY building

SELECT s.region, w.building, count(s.region) FROM stays s LEFT JOIN wards w ON w.ward = s.region GROUP BY ROLLUP (1, 2)
--> SELECT s.region, w.building, COALESCE(pg_catalog.sum(s.kproxy_count) FILTER (WHERE s.region IS NOT NULL), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b s LEFT JOIN kproxy_release_public.wards w ON w.ward = s.region GROUP BY ROLLUP (1, 2)

SELECT code, count(*) FROM wards w RIGHT JOIN stays s ON w.ward = s.region LEFT JOIN "Icd Codes" i ON i.version = 'x' GROUP BY code
--> SELECT code, COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS count FROM kproxy_release_public.wards w RIGHT JOIN kproxy_catalog.classes_d179c68255f0ba7b s ON w.ward = s.region LEFT JOIN kproxy_release_public."Icd Codes" i ON i.version = 'x' GROUP BY code

SELECT region, count(*) FROM stays s WHERE region IN (SELECT ward FROM wards WHERE beds > 3) AND age > (SELECT avg(w.beds) FROM wards w) GROUP BY region
--> SELECT region, COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b s WHERE region IN (SELECT ward FROM kproxy_release_public.wards wards WHERE beds > 3) AND age > (SELECT pg_catalog.avg(w.beds) FROM kproxy_release_public.wards w) GROUP BY region

SELECT region, count(*) * 100.0 / (SELECT count(*) FROM stays) FROM stays WHERE EXISTS (SELECT 1 FROM wards WHERE building = 'A') GROUP BY region
--> SELECT region, (COALESCE(pg_catalog.sum(stays.kproxy_count), 0) * 100.0) / (SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays) FROM kproxy_catalog.classes_d179c68255f0ba7b stays WHERE EXISTS (SELECT 1 FROM kproxy_release_public.wards wards WHERE building = 'A') GROUP BY region

SELECT count(*) FROM stays a JOIN stays b ON a.region = b.region
--> SELECT COALESCE(pg_catalog.sum(a.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b a JOIN kproxy_release_public.stays b ON a.region = b.region

SELECT a.region, count(*) FROM patients b JOIN stays a ON b.age = a.age GROUP BY a.region
--> SELECT a.region, COALESCE(pg_catalog.sum(a.kproxy_count), 0) AS count FROM kproxy_release_public.patients b JOIN kproxy_catalog.classes_d179c68255f0ba7b a ON b.age = a.age GROUP BY a.region

SELECT age, count(*) FROM stays JOIN patients USING (age) GROUP BY age
--> SELECT age, COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays JOIN kproxy_release_public.patients patients USING (age) GROUP BY age

SELECT count(*) FROM stays, wards
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays, kproxy_release_public.wards wards

SELECT count(*) FROM stays s JOIN wards w ON w.ward = s.region
--> SELECT COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b s JOIN kproxy_release_public.wards w ON w.ward = s.region

SELECT count(*) FROM stays WHERE region IN (SELECT ward FROM wards)
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays WHERE region IN (SELECT ward FROM kproxy_release_public.wards wards)

SELECT count(*) FROM stays s JOIN (wards w JOIN wards v USING (beds)) ON w.ward = s.region
--> SELECT COALESCE(pg_catalog.sum(s.kproxy_count), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b s JOIN (kproxy_release_public.wards w JOIN kproxy_release_public.wards v USING (beds)) ON w.ward = s.region

-- Others are asked of the published relation.
SELECT diagnosis, count(*) FROM stays GROUP BY diagnosis
--> SELECT diagnosis, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY diagnosis

SELECT region, count(*) FROM stays WHERE cost > 5 GROUP BY region
--> SELECT region, pg_catalog.count(*) FROM kproxy_release_public.stays stays WHERE cost > 5 GROUP BY region

SELECT region, sum(cost), avg(s.cost) FROM stays s GROUP BY region
--> SELECT region, pg_catalog.sum(cost), pg_catalog.avg(s.cost) FROM kproxy_release_public.stays s GROUP BY region

SELECT region, count(diagnosis) FROM stays GROUP BY region
--> SELECT region, pg_catalog.count(diagnosis) FROM kproxy_release_public.stays stays GROUP BY region

SELECT region, count(*) FROM stays GROUP BY region HAVING max(cost) > 5
--> SELECT region, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY region HAVING pg_catalog.max(cost) > 5

SELECT region, count(*) FROM stays GROUP BY region ORDER BY max(diagnosis)
--> SELECT region, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY region ORDER BY pg_catalog.max(diagnosis)

SELECT region, count(*) FILTER (WHERE diagnosis = 'x') FROM stays GROUP BY region
--> SELECT region, pg_catalog.count(*) FILTER (WHERE diagnosis = 'x') FROM kproxy_release_public.stays stays GROUP BY region

SELECT upper(region) AS diagnosis, count(*) FROM stays GROUP BY diagnosis
--> SELECT pg_catalog.upper(region) AS diagnosis, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY diagnosis

SELECT sum(weight), avg(weight) FROM stays
--> SELECT pg_catalog.sum(weight), pg_catalog.avg(weight) FROM kproxy_release_public.stays stays

SELECT region, string_agg(region, ','), array_agg(age), stddev(age) FROM stays GROUP BY region
--> SELECT region, pg_catalog.string_agg(region, ','), pg_catalog.array_agg(age), pg_catalog.stddev(age) FROM kproxy_release_public.stays stays GROUP BY region

SELECT mode() WITHIN GROUP (ORDER BY age) FROM stays
--> SELECT pg_catalog.mode() WITHIN GROUP (ORDER BY age) FROM kproxy_release_public.stays stays

SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM stays
--> SELECT pg_catalog.percentile_cont(0.5) WITHIN GROUP (ORDER BY age) FROM kproxy_release_public.stays stays

SELECT region FROM stays
--> SELECT region FROM kproxy_release_public.stays stays

SELECT region, count(*) OVER () FROM stays
--> SELECT region, pg_catalog.count(*) OVER () FROM kproxy_release_public.stays stays

SELECT DISTINCT region, count(*) OVER () FROM stays
--> SELECT DISTINCT region, pg_catalog.count(*) OVER () FROM kproxy_release_public.stays stays

SELECT DISTINCT ON (region) region, age FROM stays ORDER BY region, age
--> SELECT DISTINCT ON (region) region, age FROM kproxy_release_public.stays stays ORDER BY region, age

SELECT region, sum(count(*)::float) OVER () FROM stays GROUP BY region
--> SELECT region, pg_catalog.sum(pg_catalog.count(*)::double precision) OVER () FROM kproxy_release_public.stays stays GROUP BY region

SELECT count(*) FROM stays WHERE random() < 0.5
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays stays WHERE pg_catalog.random() < 0.5

SELECT count(*) FROM stays TABLESAMPLE BERNOULLI (10)
--> SELECT pg_catalog.count(*) FROM (SELECT * FROM kproxy_release_public.stays WHERE (pg_catalog.random() * 100) < 10) stays

SELECT w.ward, (SELECT count(*) FROM stays s WHERE s.region = w.ward) FROM wards w
--> SELECT w.ward, (SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s WHERE s.region = w.ward) FROM kproxy_release_public.wards w

SELECT count(*) FROM stays AS s(a, b)
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s(a, b)

SELECT count(s), count(s.*) FROM stays s
--> SELECT pg_catalog.count(s), pg_catalog.count(s.*) FROM kproxy_release_public.stays s

SELECT count($1), sum($2) FROM stays
--> SELECT pg_catalog.count($1), pg_catalog.sum($2) FROM kproxy_release_public.stays stays

SELECT count(ROW(age, region)) FROM stays
--> SELECT pg_catalog.count(ROW(age, region)) FROM kproxy_release_public.stays stays

SELECT region AS kproxy_count, count(*) FROM stays GROUP BY kproxy_count
--> SELECT region AS kproxy_count, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY kproxy_count

SELECT region, generate_series(1, 2), count(*) FROM stays GROUP BY region
--> SELECT region, pg_catalog.generate_series(1, 2), pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY region

SELECT sum(count(*)) FROM stays
--> SELECT pg_catalog.sum(pg_catalog.count(*)) FROM kproxy_release_public.stays stays

SELECT count(*) FROM patients
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.patients patients

SELECT count(*) FROM visits
--! 42P01 relation "visits" does not exist
--! position: 22

SELECT kproxy_count FROM stays
--> SELECT kproxy_count FROM kproxy_release_public.stays stays

SELECT sum(kproxy_count) FROM stays
--> SELECT pg_catalog.sum(kproxy_count) FROM kproxy_release_public.stays stays

SELECT * FROM kproxy_catalog.classes_0c1ae0b4a3d2c8b6
--! 42P01 relation "kproxy_catalog.classes_0c1ae0b4a3d2c8b6" does not exist
--! position: 15

SELECT count(*) FILTER (WHERE count(*) > 1) FROM stays
--> SELECT pg_catalog.count(*) FILTER (WHERE pg_catalog.count(*) > 1) FROM kproxy_release_public.stays stays

SELECT nope, count(*) FROM stays GROUP BY nope
--> SELECT nope, pg_catalog.count(*) FROM kproxy_release_public.stays stays GROUP BY nope

SELECT sum(9999999999), sum(1.5), sum(age + 1.5) FROM stays
--> SELECT pg_catalog.sum(9999999999), pg_catalog.sum(1.5), pg_catalog.sum(age + 1.5) FROM kproxy_release_public.stays stays

SELECT count(coalesce(ROW(age, NULL), ROW(1, NULL))), count(CASE WHEN age > 0 THEN ROW(age, NULL) END) FROM stays
--> SELECT pg_catalog.count(COALESCE(ROW(age, NULL), ROW(1, NULL))), pg_catalog.count(CASE WHEN age > 0 THEN ROW(age, NULL) END) FROM kproxy_release_public.stays stays

SELECT count(nullif(region, 'N')) FROM stays
--> SELECT pg_catalog.count(NULLIF(region, 'N')) FROM kproxy_release_public.stays stays

SELECT count(repeat(region, 2)), count(upper(region)) FROM stays
--> SELECT pg_catalog.count(pg_catalog.repeat(region, 2)), pg_catalog.count(pg_catalog.upper(region)) FROM kproxy_release_public.stays stays

SELECT count(upper(region)), count(coalesce(region, 'x')), count(CASE WHEN age > 1 THEN region END), count(born > '1970-01-01') FROM stays
--> SELECT COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE pg_catalog.upper(region) IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE COALESCE(region, 'x') IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE CASE WHEN age > 1 THEN region END IS NOT NULL), 0) AS count, COALESCE(pg_catalog.sum(stays.kproxy_count) FILTER (WHERE born > '1970-01-01' IS NOT NULL), 0) AS count FROM kproxy_catalog.classes_d179c68255f0ba7b stays

SELECT w.building, count(*) FROM wards w LEFT JOIN stays s ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.wards w LEFT JOIN kproxy_release_public.stays s ON w.ward = s.region GROUP BY w.building

SELECT w.building, count(*) FROM wards w LEFT JOIN (stays s JOIN wards v ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.wards w LEFT JOIN (kproxy_release_public.stays s JOIN kproxy_release_public.wards v ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building

SELECT w.building, count(*) FROM wards w LEFT JOIN (stays s LEFT JOIN wards v ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.wards w LEFT JOIN (kproxy_release_public.stays s LEFT JOIN kproxy_release_public.wards v ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building

SELECT w.building, count(*) FROM wards w LEFT JOIN (wards v RIGHT JOIN stays s ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.wards w LEFT JOIN (kproxy_release_public.wards v RIGHT JOIN kproxy_release_public.stays s ON v.ward = s.region) ON w.ward = s.region GROUP BY w.building

SELECT count(*) FROM stays s JOIN patients p USING (age) AS j
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.patients p USING (age) AS j

SELECT count(*) FROM stays s JOIN hospital.visits v ON s.age > 5
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_hospital.visits v ON s.age > 5

SELECT w.building, count(*) FROM wards w FULL JOIN stays s ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.wards w FULL JOIN kproxy_release_public.stays s ON w.ward = s.region GROUP BY w.building

SELECT w.building, count(w.ward), sum(w.beds) FROM stays s JOIN wards w ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.count(w.ward), pg_catalog.sum(w.beds) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = s.region GROUP BY w.building

SELECT w.building, count(*) FROM stays s JOIN wards w ON w.ward = s.diagnosis GROUP BY w.building
--> SELECT w.building, pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = s.diagnosis GROUP BY w.building

SELECT count(*) FROM stays s JOIN patients p USING (diagnosis)
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.patients p USING (diagnosis)

SELECT sum(age) FROM stays s JOIN patients p USING (age)
--> SELECT pg_catalog.sum(age) FROM kproxy_release_public.stays s JOIN kproxy_release_public.patients p USING (age)

SELECT count(*) FROM stays NATURAL JOIN wards
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays stays NATURAL JOIN kproxy_release_public.wards wards

SELECT count(*) FROM (stays s JOIN wards w ON w.ward = s.region) AS j
--> SELECT pg_catalog.count(*) FROM (kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = s.region ) j

SELECT count(*) FROM stays s JOIN wards w(a, b, c) ON a = region
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w(a, b, c) ON a = region

SELECT count(*) FROM stays s JOIN (SELECT ward FROM wards) w ON w.ward = region
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN (SELECT ward FROM kproxy_release_public.wards wards) w ON w.ward = region

WITH w AS (SELECT ward FROM wards) SELECT count(*) FROM stays s JOIN w ON w.ward = region
--> WITH w AS (SELECT ward FROM kproxy_release_public.wards wards) SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN w ON w.ward = region

SELECT nope, count(*) FROM stays s JOIN wards w ON w.ward = region GROUP BY nope
--> SELECT nope, pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = region GROUP BY nope

SELECT w.nope, count(*) FROM stays s JOIN wards w ON w.ward = region GROUP BY w.nope
--> SELECT w.nope, pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = region GROUP BY w.nope

SELECT w, count(*) FROM stays s JOIN wards w ON w.ward = region GROUP BY w
--> SELECT w, pg_catalog.count(*) FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = region GROUP BY w

SELECT w.building, sum(count(*)) OVER () FROM stays s JOIN wards w ON w.ward = region GROUP BY 1 HAVING sum(cost) > 5
--> SELECT w.building, pg_catalog.sum(pg_catalog.count(*)) OVER () FROM kproxy_release_public.stays s JOIN kproxy_release_public.wards w ON w.ward = region GROUP BY 1 HAVING pg_catalog.sum(cost) > 5

SELECT region, count(*) FROM stays s WHERE EXISTS (WITH c AS (SELECT s.height) SELECT 1 FROM wards) GROUP BY region
--> SELECT region, pg_catalog.count(*) FROM kproxy_release_public.stays s WHERE EXISTS (WITH c AS (SELECT s.height) SELECT 1 FROM kproxy_release_public.wards wards) GROUP BY region

SELECT region, count(*) FROM stays s WHERE EXISTS (WITH c AS (SELECT s.kproxy_count) SELECT 1 FROM wards) GROUP BY region
--> SELECT region, pg_catalog.count(*) FROM kproxy_release_public.stays s WHERE EXISTS (WITH c AS (SELECT s.kproxy_count) SELECT 1 FROM kproxy_release_public.wards wards) GROUP BY region

SELECT region FROM stays GROUP BY region HAVING count(*) > (WITH c AS (SELECT 1) SELECT min(beds) FROM wards)
--> SELECT region FROM kproxy_release_public.stays stays GROUP BY region HAVING pg_catalog.count(*) > (WITH c AS (SELECT 1) SELECT pg_catalog.min(beds) FROM kproxy_release_public.wards wards)

SELECT count(*) FROM stays s WHERE EXISTS (SELECT 1 FROM wards w WHERE w.ward = s.region)
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays s WHERE EXISTS (SELECT 1 FROM kproxy_release_public.wards w WHERE w.ward = s.region)

SELECT count(*) FROM stays WHERE region IN (SELECT ward FROM wards WHERE random() < 0.5)
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays stays WHERE region IN (SELECT ward FROM kproxy_release_public.wards wards WHERE pg_catalog.random() < 0.5)

SELECT count(*) FROM stays WHERE diagnosis IN (SELECT ward FROM wards)
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays stays WHERE diagnosis IN (SELECT ward FROM kproxy_release_public.wards wards)

SELECT count(*) FILTER (WHERE region IN (SELECT ward FROM wards)) FROM stays
--> SELECT pg_catalog.count(*) FILTER (WHERE region IN (SELECT ward FROM kproxy_release_public.wards wards)) FROM kproxy_release_public.stays stays

SELECT count(*) FROM stays WHERE region IN (SELECT ward FROM wards UNION SELECT 'x')
--> SELECT pg_catalog.count(*) FROM kproxy_release_public.stays stays WHERE region IN (SELECT ward FROM kproxy_release_public.wards wards UNION SELECT 'x')

SELECT region, (SELECT max(s.age) FROM wards) FROM stays s GROUP BY region
--> SELECT region, (SELECT pg_catalog.max(s.age) FROM kproxy_release_public.wards wards) FROM kproxy_release_public.stays s GROUP BY region

SELECT region, (SELECT count(*) FROM wards WHERE beds > age) FROM stays GROUP BY region, age
--> SELECT region, (SELECT pg_catalog.count(*) FROM kproxy_release_public.wards wards WHERE beds > age) FROM kproxy_release_public.stays stays GROUP BY region, age

-- Of numbers that are published as they are, rows of the summary have sums.
SELECT region, count(nights), sum(nights), avg(nights), sum(s.nights), max(age) FROM stays s GROUP BY region
--> SELECT region, COALESCE(pg_catalog.sum(s.kproxy_known_de5c9050dc18c72f), 0) AS count, pg_catalog.sum(s.kproxy_sum_de5c9050dc18c72f)::bigint, pg_catalog.sum(s.kproxy_sum_de5c9050dc18c72f) / pg_catalog.sum(s.kproxy_known_de5c9050dc18c72f) AS avg, pg_catalog.sum(s.kproxy_sum_de5c9050dc18c72f)::bigint, pg_catalog.max(age) FROM kproxy_catalog.classes_d179c68255f0ba7b s GROUP BY region

SELECT sum(fee) FILTER (WHERE age > 60), avg(fee) FILTER (WHERE age > 60), round(avg(fee), 2), sum(fee) / nullif(count(*), 0) FROM stays HAVING sum(fee) > 5 ORDER BY avg(fee)
--> SELECT pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) FILTER (WHERE age > 60), pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) FILTER (WHERE age > 60) / pg_catalog.sum(stays.kproxy_known_b80cdaae9b322bba) FILTER (WHERE age > 60) AS avg, pg_catalog.round(pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) / pg_catalog.sum(stays.kproxy_known_b80cdaae9b322bba), 2), pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) / (NULLIF(COALESCE(pg_catalog.sum(stays.kproxy_count), 0), 0)) FROM kproxy_catalog.classes_d179c68255f0ba7b stays HAVING pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) > 5 ORDER BY pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) / pg_catalog.sum(stays.kproxy_known_b80cdaae9b322bba)

SELECT region, sum(fee) AS fee, sum(sum(fee)) OVER (), rank() OVER (ORDER BY avg(nights)) FROM stays WHERE age > 5 GROUP BY region ORDER BY fee
--> SELECT region, pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba) AS fee, pg_catalog.sum(pg_catalog.sum(stays.kproxy_sum_b80cdaae9b322bba)) OVER (), pg_catalog.rank() OVER (ORDER BY pg_catalog.sum(stays.kproxy_sum_de5c9050dc18c72f) / pg_catalog.sum(stays.kproxy_known_de5c9050dc18c72f)) FROM kproxy_catalog.classes_d179c68255f0ba7b stays WHERE age > 5 GROUP BY region ORDER BY fee

SELECT min(fee), max(nights) FROM stays
--> SELECT pg_catalog.min(fee), pg_catalog.max(nights) FROM kproxy_release_public.stays stays

SELECT sum(fee + 1), sum(DISTINCT fee) FROM stays
--> SELECT pg_catalog.sum(fee + 1), pg_catalog.sum(DISTINCT fee) FROM kproxy_release_public.stays stays

SELECT sum(fee) FILTER (WHERE fee > 5) FROM stays
--> SELECT pg_catalog.sum(fee) FILTER (WHERE fee > 5) FROM kproxy_release_public.stays stays

SELECT sum(fee) FROM stays WHERE nights > 5
--> SELECT pg_catalog.sum(fee) FROM kproxy_release_public.stays stays WHERE nights > 5

SELECT fee, sum(nights) FROM stays GROUP BY fee
--> SELECT fee, pg_catalog.sum(nights) FROM kproxy_release_public.stays stays GROUP BY fee

SELECT sum(x.fee) FROM stays
--> SELECT pg_catalog.sum(x.fee) FROM kproxy_release_public.stays stays

SELECT region, min(nights) FILTER (WHERE age > 5), max(nights), max(nights) - min(nights), rank() OVER (ORDER BY max(nights)) FROM stays GROUP BY region
--> SELECT region, pg_catalog.min(stays.kproxy_least_de5c9050dc18c72f) FILTER (WHERE age > 5), pg_catalog.max(stays.kproxy_greatest_de5c9050dc18c72f), pg_catalog.max(stays.kproxy_greatest_de5c9050dc18c72f) - pg_catalog.min(stays.kproxy_least_de5c9050dc18c72f), pg_catalog.rank() OVER (ORDER BY pg_catalog.max(stays.kproxy_greatest_de5c9050dc18c72f)) FROM kproxy_catalog.classes_d179c68255f0ba7b stays GROUP BY region

SELECT max(DISTINCT nights), min(nights + 0) FROM stays
--> SELECT pg_catalog.max(DISTINCT nights), pg_catalog.min(nights + 0) FROM kproxy_release_public.stays stays

SELECT w.building, sum(s.nights), avg(fee), max(s.nights) FROM stays s JOIN wards w ON w.ward = s.region GROUP BY w.building
--> SELECT w.building, pg_catalog.sum(s.kproxy_sum_de5c9050dc18c72f)::bigint, pg_catalog.sum(s.kproxy_sum_b80cdaae9b322bba) / pg_catalog.sum(s.kproxy_known_b80cdaae9b322bba) AS avg, pg_catalog.max(s.kproxy_greatest_de5c9050dc18c72f) FROM kproxy_catalog.classes_d179c68255f0ba7b s JOIN kproxy_release_public.wards w ON w.ward = s.region GROUP BY w.building

SELECT sum(nights), sum(n.fee) FROM stays s, (SELECT 1 AS fee) n
--> SELECT pg_catalog.sum(nights), pg_catalog.sum(n.fee) FROM kproxy_release_public.stays s, (SELECT 1 AS fee) n

SELECT sum(nights) FROM stays s, stays other
--> SELECT pg_catalog.sum(nights) FROM kproxy_release_public.stays s, kproxy_release_public.stays other
