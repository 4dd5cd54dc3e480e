-- age, ward
SELECT patients.age, patients.ward FROM public.patients;
--> SELECT patients.age, patients.ward FROM kproxy_release_public.patients patients
--> columns: age, ward

-- id, name, age
SELECT id, name, age FROM public.patients;
--> SELECT age FROM kproxy_release_public.patients patients
--> columns: age
--> omitted: id, name

-- patient, age
SELECT p.name AS patient, p.age FROM public.patients p;
--> SELECT p.age FROM kproxy_release_public.patients p
--> columns: age
--> omitted: patient

-- id
SELECT p.id FROM public.patients p;
--! 42501 none of its columns is published
--! hint: List columns that are published.

-- id, age
SELECT DISTINCT p.id, p.age FROM public.patients p;
--! 42501 it computes with column id of public.patients, which is not published
--! position: 17
--! hint: Publish the column, or leave it out of the view.

-- age
SELECT DISTINCT ON (p.ward) p.age FROM public.patients p ORDER BY p.ward, p.age;
--> SELECT DISTINCT ON (p.ward) p.age FROM kproxy_release_public.patients p ORDER BY p.ward, p.age
--> columns: age

-- id, n
SELECT p.id, count(*) AS n FROM public.patients p GROUP BY p.id;
--! 42501 it computes with column id of public.patients, which is not published
--! position: 8
--! hint: Publish the column, or leave it out of the view.

-- ward, n, mean
SELECT p.ward, count(*) AS n, avg(p.age) AS mean FROM public.patients p GROUP BY p.ward HAVING (count(*) > 2);
--> SELECT p.ward, pg_catalog.count(*) AS n, pg_catalog.avg(p.age) AS mean FROM kproxy_release_public.patients p GROUP BY p.ward HAVING pg_catalog.count(*) > 2
--> columns: ward, n, mean

-- id
SELECT p.id FROM public.patients p UNION ALL SELECT w.ward FROM public.wards w;
--! 42501 it computes with column id of public.patients, which is not published
--! position: 8
--! hint: Publish the column, or leave it out of the view.

-- ward
SELECT p.ward FROM public.patients p UNION SELECT w.ward FROM public.wards w EXCEPT VALUES ('x'::text);
--> (SELECT p.ward FROM kproxy_release_public.patients p UNION SELECT w.ward FROM public.wards w) EXCEPT VALUES ('x'::pg_catalog.text)
--> columns: ward

-- age
SELECT p.age FROM public.patients p ORDER BY p.name;
--! 42501 it computes with column name of public.patients, which is not published
--! position: 46
--! hint: Publish the column, or leave it out of the view.

-- age
SELECT p.age FROM public.patients p WHERE (p.name ~~ 'A%'::text);
--! 42501 it computes with column name of public.patients, which is not published
--! position: 44
--! hint: Publish the column, or leave it out of the view.

-- name, initial
SELECT p.name, upper("left"(p.name, 1)) AS initial FROM public.patients p;
--! 42501 it computes with column name of public.patients, which is not published
--! position: 29
--! hint: Publish the column, or leave it out of the view.

-- ward, ward_name, age
SELECT w.ward, w.name AS ward_name, p.age FROM (public.patients p JOIN public.wards w ON ((w.ward = p.ward)));
--> SELECT w.ward, w.name AS ward_name, p.age FROM kproxy_release_public.patients p JOIN public.wards w ON w.ward = p.ward
--> columns: ward, ward_name, age

-- name, age
SELECT w.name, p.age FROM (public.patients p JOIN public.wards w USING (ward));
--> SELECT w.name, p.age FROM kproxy_release_public.patients p JOIN public.wards w USING (ward)
--> columns: name, age

-- a, n
SELECT p.a, p.n FROM public.patients p(i, n, a, s, w, b);
--> SELECT p.a FROM kproxy_release_public.patients p(a, age_range, s, w)
--> columns: a
--> omitted: n

-- s
SELECT p.s FROM public.patients p(i, n, a, s);
--> SELECT p.s FROM kproxy_release_public.patients p(a, age_range, s, ward)
--> columns: s

-- age, day
SELECT p.age, v."Day" FROM (public.patients p(patient_id, n, age) JOIN "Ward ""B""".visits v USING (patient_id));
--! 42501 it computes with column patient_id of public.patients, which is not published
--! hint: Publish the column, or leave it out of the view.

-- other
SELECT w.name AS other FROM (public.wards w JOIN public.patients p USING (name));
--! 42501 it computes with column name of public.patients, which is not published
--! hint: Publish the column, or leave it out of the view.

-- n
SELECT count(*) AS n FROM ((public.wards w JOIN public.patients p USING (ward)) JOIN public.patients q(id, other) USING (id)) j;
--! 42501 it computes with column id of public.patients, which is not published
--! hint: Publish the column, or leave it out of the view.

-- n
SELECT (SELECT count(*) AS count FROM (public.patients p JOIN public.patients q USING (ward, name))) AS n FROM public.wards;
--! 42501 it computes with column name of public.patients, which is not published
--! hint: Publish the column, or leave it out of the view.

-- age
SELECT p.age FROM (public.wards w(x, y) JOIN public.patients p(x, y, age) USING (x));
--! 42501 it computes with column x of public.patients, which is not published
--! hint: Publish the column, or leave it out of the view.

-- name
SELECT w.name FROM (public.wards w JOIN (SELECT q.ward, count(*) AS name FROM public.patients q GROUP BY q.ward) s USING (ward));
--> SELECT w.name FROM public.wards w JOIN (SELECT q.ward, pg_catalog.count(*) AS name FROM kproxy_release_public.patients q GROUP BY q.ward) s USING (ward)
--> columns: name

-- ward
SELECT j.ward FROM (public.patients p JOIN public.wards w USING (ward)) j(ward, i, n, a, s, b, name);
--! 0A000 it renames the columns of a join, of which not all may be published
--! hint: Name columns in a subquery instead.

-- Day, cost
SELECT v."Day", v.cost FROM "Ward ""B""".visits v;
--> SELECT v."Day", v.cost FROM "kproxy_release_Ward ""B""".visits v
--> columns: Day, cost

-- age, day
SELECT p.age, v."Day" FROM (public.patients p JOIN "Ward ""B""".visits v ON ((v.patient_id = p.id)));
--! 42501 it computes with column patient_id of "Ward ""B""".visits, which is not published
--! position: 79
--! hint: Publish the column, or leave it out of the view.

-- age
SELECT overview.age FROM public.overview;
--> SELECT overview.age FROM kproxy_release_public.overview overview
--> columns: age

-- patient, age
SELECT o.patient, o.age FROM public.overview o;
--> SELECT o.age FROM kproxy_release_public.overview o
--> columns: age
--> omitted: patient

-- ward, n
WITH RECURSIVE chain AS (SELECT w.ward, 1 AS n FROM public.wards w UNION ALL SELECT c.ward, (c.n + 1) FROM (chain c JOIN public.patients p ON ((p.ward = c.ward))) WHERE (c.n < 3)) SELECT chain.ward, chain.n FROM chain;
--> WITH RECURSIVE chain AS (SELECT w.ward, 1 AS n FROM public.wards w UNION ALL SELECT c.ward, c.n + 1 FROM chain c JOIN kproxy_release_public.patients p ON p.ward = c.ward WHERE c.n < 3) SELECT chain.ward, chain.n FROM chain
--> columns: ward, n

-- age
WITH patients AS (SELECT p.age FROM public.patients p) SELECT patients.age FROM patients;
--> WITH patients AS (SELECT p.age FROM kproxy_release_public.patients p) SELECT patients.age FROM patients
--> columns: age

-- name
WITH t AS (SELECT p.name FROM public.patients p) SELECT t.name FROM t;
--! 42501 it computes with column name of public.patients, which is not published
--! position: 19
--! hint: Publish the column, or leave it out of the view.

-- age, older
SELECT p.age, l.older FROM (public.patients p CROSS JOIN LATERAL (SELECT count(*) AS older FROM public.patients q WHERE (q.age > p.age)) l);
--> SELECT p.age, l.older FROM kproxy_release_public.patients p CROSS JOIN LATERAL (SELECT pg_catalog.count(*) AS older FROM kproxy_release_public.patients q WHERE q.age > p.age) l
--> columns: age, older

-- age, place
SELECT p.age, rank() OVER (PARTITION BY p.ward ORDER BY p.age) AS place FROM public.patients p;
--> SELECT p.age, pg_catalog.rank() OVER (PARTITION BY p.ward ORDER BY p.age) AS place FROM kproxy_release_public.patients p
--> columns: age, place

-- age, n
SELECT p.age, (SELECT count(*) AS count FROM "Ward ""B""".visits v WHERE (v.patient_id = p.id)) AS n FROM public.patients p;
--! 42501 it computes with column patient_id of "Ward ""B""".visits, which is not published
--! position: 75
--! hint: Publish the column, or leave it out of the view.

-- row
SELECT row_to_json(p.*) AS "row" FROM public.patients p;
--> SELECT pg_catalog.row_to_json(p.*) AS "row" FROM kproxy_release_public.patients p
--> columns: row

-- p
SELECT p.*::public.patients AS p FROM public.patients p;
--! 42704 type "public.patients" does not exist
--! position: 13
--! hint: Built-in types, and those of columns that can be read, can be named.

-- age
SELECT p.age FROM public.patients p WHERE (p.sex = 'f'::public.sex);
--> SELECT p.age FROM kproxy_release_public.patients p WHERE p.sex = 'f'
--> columns: age

-- age
SELECT p.age FROM public.patients p WHERE (p.sex = ANY (ARRAY['f'::public.sex, 'm'::public.sex])) AND (p.sex <> ALL (ARRAY['x'::public.sex]));
--> SELECT p.age FROM kproxy_release_public.patients p WHERE p.sex IN ('f', 'm') AND p.sex NOT IN ('x')
--> columns: age

-- age
SELECT p.age FROM public.patients p WHERE (p.sex = (p.ward)::public.sex);
--! 42704 type "public.sex" does not exist
--! position: 62
--! hint: Built-in types, and those of columns that can be read, can be named.

-- age
SELECT p.age FROM public.patients p TABLESAMPLE bernoulli (10);
--> SELECT p.age FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 10) p
--> columns: age

-- name
SELECT s.name FROM public.secrets s;
--! 42P01 relation "public.secrets" does not exist
--! position: 20

-- age, relname
SELECT p.age, c.relname FROM (public.patients p CROSS JOIN pg_class c);
--! 0A000 the definition reads system catalogs, or calls a function that does: pg_class
--! hint: Leave system catalogs out of views over protected tables.

-- age, zone
SELECT p.age, z.name AS zone FROM (public.patients p CROSS JOIN pg_timezone_names z);
--! 0A000 the definition reads system catalogs, or calls a function that does: pg_timezone_names
--! hint: Leave system catalogs out of views over protected tables.

-- age, kind
SELECT p.age, (pg_typeof(p.age))::text AS kind FROM public.patients p;
--> SELECT p.age, pg_catalog.pg_typeof(p.age)::pg_catalog.text AS kind FROM kproxy_release_public.patients p
--> columns: age, kind

-- age, kind
SELECT p.age, format_type((23)::oid, NULL::integer) AS kind FROM public.patients p;
--! 0A000 the definition reads system catalogs, or calls a function that does: type_name
--! hint: Leave system catalogs out of views over protected tables.

-- age
SELECT public.mask(p.age) AS age FROM public.patients p;
--! 42501 permission denied for function public.mask
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

-- age
SELECT p.age FROM public.patients p WHERE (pg_sleep((1)::double precision) IS NOT NULL);
--! 42501 permission denied for function pg_sleep
--! position: 44
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

-- age
SELECT p.age FROM public.patients p WHERE (p.age OPERATOR(public.<<<) 3);
--! 42501 permission denied for operator public.<<<
--! position: 50
--! hint: Only the operators of pg_catalog are allowed.

-- age
SELECT p.age FROM kproxy_store.records_1 p;
--! 42P01 relation "kproxy_store.records_1" does not exist
--! position: 19

-- age, ward
SELECT p.age FROM public.patients p;
--! XX000 the definition has 1 columns, the view 2

-- age
SELECT 1 AS age; SELECT 2 AS age;
--! XX000 the definition is not a query

-- column1, column2
VALUES (1, 2), (3, 4);
--> VALUES (1, 2), (3, 4)
--> columns: column1, column2

-- ward, grade
 SELECT staff.ward, s.grade
   FROM public.staff, public.staff s, public.staff s2(w, g)
  WHERE staff.ward = s2.w
--> SELECT staff.ward, s.grade FROM (SELECT ward, grade FROM ONLY public.staff) staff, (SELECT ward, grade FROM ONLY public.staff) s, (SELECT ward, grade FROM ONLY public.staff) s2(w, g) WHERE staff.ward = s2.w
--> columns: ward, grade

-- ward
 SELECT staff.ward
   FROM public.staff TABLESAMPLE bernoulli (10)
--> SELECT staff.ward FROM (SELECT * FROM (SELECT ward, grade FROM ONLY public.staff) staff WHERE (pg_catalog.random() * 100) < 10) staff
--> columns: ward

-- ward
 SELECT s.ward
   FROM ONLY public.staff s
--! 0A000 it reads ONLY public.staff
--! hint: Leave ONLY out.

-- ward
 SELECT s.ward
   FROM public.staff s
  WHERE EXISTS (SELECT FROM public.patients p WHERE ((SELECT name)) = 'x')
--! 42501 it computes with column name of public.patients, which is not published
--! position: 100
--! hint: Publish the column, or leave it out of the view.

-- ward, answer
 SELECT s.ward, (SELECT ward) AS answer
   FROM public.staff s
--> SELECT s.ward, (SELECT ward) AS answer FROM (SELECT ward, grade FROM ONLY public.staff) s
--> columns: ward, answer

-- w
 SELECT s.w
   FROM public.wards s(w)
--> SELECT s.w FROM public.wards s(w, name)
--> columns: w
