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

SELECT beds, max(building) OVER () FROM wards GROUP BY ward
--> SELECT beds, pg_catalog.max(building) OVER () FROM kproxy_release_public.wards wards GROUP BY ward, wards.beds, wards.building

SELECT my_own(building) FROM wards GROUP BY ward
--! 42883 function my_own does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT lower(building), count(DISTINCT beds) FROM wards GROUP BY ward
--> SELECT pg_catalog.lower(building), pg_catalog.count(DISTINCT beds) FROM kproxy_release_public.wards wards GROUP BY ward, wards.building

SELECT hypothetical(DISTINCT building), hypothetical(beds ORDER BY building) FROM wards GROUP BY ward
--! 42883 function hypothetical does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT rank(1) WITHIN GROUP (ORDER BY building) FROM wards GROUP BY ward
--> SELECT pg_catalog.rank(1) WITHIN GROUP (ORDER BY building) FROM kproxy_release_public.wards wards GROUP BY ward

SELECT lower(building) FILTER (WHERE beds > 1) FROM wards GROUP BY ward
--> SELECT pg_catalog.lower(building) FILTER (WHERE beds > 1) FROM kproxy_release_public.wards wards GROUP BY ward

SELECT lower(DISTINCT building), upper(building ORDER BY beds) FROM wards GROUP BY ward
--> SELECT pg_catalog.lower(DISTINCT building), pg_catalog.upper(building ORDER BY beds) FROM kproxy_release_public.wards wards GROUP BY ward

SELECT lower(DISTINCT building) OVER (), upper(building) FILTER (WHERE beds > 1) OVER () FROM wards GROUP BY ward
--> SELECT pg_catalog.lower(DISTINCT building) OVER (), pg_catalog.upper(building) FILTER (WHERE beds > 1) OVER () FROM kproxy_release_public.wards wards GROUP BY ward, wards.building, wards.beds

SELECT title, version FROM "Icd Codes" GROUP BY (code, version)
--> SELECT title, version FROM kproxy_release_public."Icd Codes" "Icd Codes" GROUP BY (code, version), "Icd Codes".title

SELECT title FROM "Icd Codes" GROUP BY (code), version
--> SELECT title FROM kproxy_release_public."Icd Codes" "Icd Codes" GROUP BY code, version, "Icd Codes".title

SELECT c.title, w.building FROM "Icd Codes" c, wards w GROUP BY c.code, c.version, w.ward
--> SELECT c.title, w.building FROM kproxy_release_public."Icd Codes" c, kproxy_release_public.wards w GROUP BY c.code, c.version, w.ward, c.title, w.building

SELECT c.title, w.building FROM "Icd Codes" c, wards w GROUP BY c.code, w.ward
--> SELECT c.title, w.building FROM kproxy_release_public."Icd Codes" c, kproxy_release_public.wards w GROUP BY c.code, w.ward, w.building

SELECT building FROM wards GROUP BY 2
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY 2

SELECT building, ward FROM wards GROUP BY 2
--> SELECT building, ward FROM kproxy_release_public.wards wards GROUP BY 2, wards.building

SELECT building, ward FROM wards GROUP BY 3
--> SELECT building, ward FROM kproxy_release_public.wards wards GROUP BY 3

SELECT building, ward FROM wards GROUP BY 0
--> SELECT building, ward FROM kproxy_release_public.wards wards GROUP BY 0

SELECT building, ward FROM wards GROUP BY 99999999999999999999
--> SELECT building, ward FROM kproxy_release_public.wards wards GROUP BY 99999999999999999999

SELECT ward, w.*, building FROM wards w GROUP BY 1
--> SELECT ward, w.*, building FROM kproxy_release_public.wards w GROUP BY 1, w.beds, w.building

SELECT ward, w.*, building FROM wards w GROUP BY 3
--> SELECT ward, w.*, building FROM kproxy_release_public.wards w GROUP BY 3

SELECT *, ward FROM wards GROUP BY 5
--> SELECT *, ward FROM kproxy_release_public.wards wards GROUP BY 5

SELECT building AS ward, ward AS key FROM wards GROUP BY ward
--> SELECT building AS ward, ward AS key FROM kproxy_release_public.wards wards GROUP BY ward, wards.building

SELECT building AS b, ward AS key FROM wards GROUP BY b, key
--> SELECT building AS b, ward AS key FROM kproxy_release_public.wards wards GROUP BY b, key

SELECT building AS key, ward AS key FROM wards GROUP BY key
--> SELECT building AS key, ward AS key FROM kproxy_release_public.wards wards GROUP BY key

SELECT ward || '' AS key, building FROM wards GROUP BY key
--> SELECT ward || '' AS key, building FROM kproxy_release_public.wards wards GROUP BY key

SELECT DISTINCT ON (building) ward FROM wards GROUP BY ward
--> SELECT DISTINCT ON (building) ward FROM kproxy_release_public.wards wards GROUP BY ward, wards.building

SELECT ward FROM wards GROUP BY ward HAVING building > 'A'
--> SELECT ward FROM kproxy_release_public.wards wards GROUP BY ward, wards.building HAVING building > 'A'

SELECT ward FROM wards GROUP BY ward ORDER BY building
--> SELECT ward FROM kproxy_release_public.wards wards GROUP BY ward, wards.building ORDER BY building

SELECT ward, rank() OVER w FROM wards GROUP BY ward WINDOW w AS (ORDER BY building)
--> SELECT ward, pg_catalog.rank() OVER w FROM kproxy_release_public.wards wards GROUP BY ward, wards.building WINDOW w AS (ORDER BY building)

SELECT (SELECT building), (SELECT w.building FROM patients LIMIT 1), w.ward IN (SELECT beds) FROM wards w GROUP BY w.ward
--> SELECT (SELECT building), (SELECT w.building FROM kproxy_release_public.patients patients LIMIT 1), w.ward IN (SELECT beds) FROM kproxy_release_public.wards w GROUP BY w.ward, w.building

SELECT w.beds IN (SELECT 1), EXISTS (SELECT w.building) FROM wards w GROUP BY w.ward
--> SELECT w.beds IN (SELECT 1), EXISTS (SELECT w.building) FROM kproxy_release_public.wards w GROUP BY w.ward, w.beds, w.building

SELECT w.building, v.building FROM wards w JOIN wards v USING (ward) GROUP BY ward
--> SELECT w.building, v.building FROM kproxy_release_public.wards w JOIN kproxy_release_public.wards v USING (ward) GROUP BY ward, w.building

SELECT building FROM wards w JOIN wards v USING (ward) GROUP BY v.ward
--> SELECT building FROM kproxy_release_public.wards w JOIN kproxy_release_public.wards v USING (ward) GROUP BY v.ward, v.building

SELECT wards FROM wards GROUP BY ward
--> SELECT wards FROM kproxy_release_public.wards wards GROUP BY ward, wards

SELECT wards, wards FROM wards GROUP BY ward
--> SELECT wards, wards FROM kproxy_release_public.wards wards GROUP BY ward, wards

SELECT w.*, w.building FROM wards w GROUP BY ward
--> SELECT w.*, w.building FROM kproxy_release_public.wards w GROUP BY ward, w.beds, w.building

SELECT * FROM wards GROUP BY ward
--> SELECT * FROM kproxy_release_public.wards wards GROUP BY ward, wards.beds, wards.building

SELECT * FROM wards w, patients p GROUP BY w.ward
--> SELECT * FROM kproxy_release_public.wards w, kproxy_release_public.patients p GROUP BY w.ward, w.beds, w.building

SELECT public.wards.beds, x.a.b.c FROM wards x, public.wards GROUP BY public.wards.ward
--! 0A000 cross-database references are not implemented: "x"
--! position: 27
--! hint: Leave the database's name out.

SELECT a, ward FROM wards w (a) GROUP BY ward
--> SELECT a, ward FROM kproxy_release_public.wards w(a) GROUP BY ward

SELECT a, beds FROM wards w (a, ward) GROUP BY ward
--> SELECT a, beds FROM kproxy_release_public.wards w(a, ward) GROUP BY ward, w.a

SELECT building FROM ONLY wards GROUP BY ward
--> SELECT building FROM ONLY kproxy_release_public.wards wards GROUP BY ward, wards.building

SELECT nope FROM wards GROUP BY ward
--> SELECT nope FROM kproxy_release_public.wards wards GROUP BY ward

SELECT building FROM wards GROUP BY ward, ward
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY ward, ward, wards.building

SELECT building, building FROM wards GROUP BY ward, building
--> SELECT building, building FROM kproxy_release_public.wards wards GROUP BY ward, building

WITH RECURSIVE x AS (SELECT building FROM wards GROUP BY ward) SELECT building FROM x GROUP BY ward
--> WITH RECURSIVE x AS (SELECT building FROM kproxy_release_public.wards wards GROUP BY ward, wards.building) SELECT building FROM x GROUP BY ward

SELECT count(*), building FROM wards
--> SELECT pg_catalog.count(*), building FROM kproxy_release_public.wards wards

SELECT building FROM wards GROUP BY ()
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY ()

SELECT building FROM wards GROUP BY GROUPING SETS ((ward), ())
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY GROUPING SETS (ward, ())

SELECT building FROM wards GROUP BY ward, CUBE (beds)
--> SELECT building FROM kproxy_release_public.wards wards GROUP BY ward, CUBE (beds), wards.building
