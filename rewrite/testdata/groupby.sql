-- The primary key of a readable table carries its other columns.
SELECT w.*, count(p.age) FROM wards w LEFT JOIN patients p USING (ward) GROUP BY w.ward
--> SELECT w.*, pg_catalog.count(p.age) FROM kproxy_release_public.wards w LEFT JOIN kproxy_release_public.patients p USING (ward) GROUP BY w.ward, w.beds, w.building

SELECT w.building || '!', beds, (SELECT w.beds + 1), sum(w.beds) FROM wards AS w GROUP BY ward HAVING max(building) > 'A' ORDER BY w.building
--> SELECT w.building || '!', beds, (SELECT w.beds + 1), pg_catalog.sum(w.beds) FROM kproxy_release_public.wards w GROUP BY ward, w.building, w.beds HAVING pg_catalog.max(building) > 'A' ORDER BY w.building

SELECT w FROM public.wards w GROUP BY 1, w.ward
--> SELECT w FROM kproxy_release_public.wards w GROUP BY 1, w.ward, w

SELECT public.wards.building FROM public.wards GROUP BY public.wards.ward
--> SELECT wards.building FROM kproxy_release_public.wards wards GROUP BY wards.ward, wards.building

SELECT ward, beds FROM wards GROUP BY 1
--> SELECT ward, beds FROM kproxy_release_public.wards wards GROUP BY 1, wards.beds

SELECT ward AS key, beds FROM wards GROUP BY key
--> SELECT ward AS key, beds FROM kproxy_release_public.wards wards GROUP BY key, wards.beds

SELECT c, a FROM wards AS w (a, b, c) GROUP BY (b, 'x')
--> SELECT c, a FROM kproxy_release_public.wards w(a, b, c) GROUP BY (b, 'x'), w.c, w.a

SELECT building, rank() OVER (ORDER BY sum(beds)), mode() WITHIN GROUP (ORDER BY beds) FROM wards TABLESAMPLE SYSTEM (10) GROUP BY ward
--> SELECT building, pg_catalog.rank() OVER (ORDER BY pg_catalog.sum(beds)), pg_catalog.mode() WITHIN GROUP (ORDER BY beds) FROM (SELECT * FROM kproxy_release_public.wards WHERE (pg_catalog.random() * 100) < 10) wards GROUP BY ward, wards.building

SELECT title FROM "Icd Codes" GROUP BY version, code
--> SELECT title FROM kproxy_release_public."Icd Codes" "Icd Codes" GROUP BY version, code, "Icd Codes".title

-- Nothing is added where nothing is shown besides the key, or where the key is not grouped by.
SELECT ward, count(*), sum(beds) FROM wards GROUP BY ward
--> SELECT ward, pg_catalog.count(*), pg_catalog.sum(beds) FROM kproxy_release_public.wards wards GROUP BY ward

SELECT building, beds FROM wards GROUP BY building
--> SELECT building, beds FROM kproxy_release_public.wards wards GROUP BY building

SELECT w.building FROM wards w JOIN wards v ON true GROUP BY v.ward
--> SELECT w.building FROM kproxy_release_public.wards w JOIN kproxy_release_public.wards v ON true GROUP BY v.ward

SELECT building FROM wards GROUP BY ROLLUP (ward)
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY ROLLUP (ward)

SELECT building FROM (SELECT * FROM wards) w GROUP BY ward
--> SELECT building FROM (SELECT * FROM kproxy_release_public.wards wards) w GROUP BY ward

WITH wards AS (SELECT 1 AS ward, 2 AS building) SELECT building FROM wards GROUP BY ward
--> WITH wards AS (SELECT 1 AS ward, 2 AS building) SELECT building FROM wards GROUP BY ward

SELECT diagnosis FROM patients GROUP BY age
--> SELECT diagnosis FROM kproxy_release_public.patients patients GROUP BY age

SELECT title FROM "Icd Codes" GROUP BY code
--> SELECT title FROM kproxy_release_public."Icd Codes" "Icd Codes" GROUP BY code

SELECT *, ward FROM wards GROUP BY 2
--> SELECT *, ward FROM kproxy_release_public.wards wards GROUP BY 2

SELECT string_agg(building, ',' ORDER BY beds) FROM wards GROUP BY ward
--> SELECT pg_catalog.string_agg(building, ',' ORDER BY beds) FROM kproxy_release_public.wards wards GROUP BY ward
