SELECT 1 = 1
--! 42501 permission denied for operator =
--! position: 10
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT 1 + 1
--> SELECT 1 + 1

SELECT 1 OPERATOR(pg_catalog.=) 1
--! 42501 permission denied for operator =
--! position: 10
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT 1, - 2
--> SELECT 1, -2

SELECT - (1), 1 <> 1, 1 > 2
--> SELECT -1, 1 <> 1, 1 > 2

SELECT 1, age BETWEEN 1 AND 2 FROM patients
--! 42501 permission denied for operator >=
--! position: 15
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age BETWEEN SYMMETRIC 1 AND 2 FROM patients
--! 42501 permission denied for operator >=
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age NOT BETWEEN 1 AND 2 FROM patients
--! 42501 permission denied for operator <
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age NOT BETWEEN SYMMETRIC 1 AND 2 FROM patients
--! 42501 permission denied for operator <
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age IN (1, 2) FROM patients
--! 42501 permission denied for operator =
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age NOT IN (1, 2) FROM patients
--> SELECT age NOT IN (1, 2) FROM kproxy_release_public.patients patients

SELECT age IS DISTINCT FROM 1 FROM patients
--! 42501 permission denied for operator =
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age LIKE 'x' FROM patients
--> SELECT age LIKE 'x' FROM kproxy_release_public.patients patients

SELECT nullif(age, 1) FROM patients
--! 42501 permission denied for operator =
--! position: 8
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT CASE age WHEN 1 THEN 2 END FROM patients
--! 42501 permission denied for operator =
--! position: 8
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT 'ä', CASE age WHEN 1 THEN 2 END FROM patients
--! 42501 permission denied for operator =
--! position: 13
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT CASE WHEN age > 1 THEN 2 END FROM patients
--> SELECT CASE WHEN age > 1 THEN 2 END FROM kproxy_release_public.patients patients

SELECT 1 IN (SELECT 1)
--! 42501 permission denied for operator =
--! position: 10
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT 1, age IN (SELECT 1) FROM patients
--! 42501 permission denied for operator =
--! position: 15
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age = ANY (SELECT 1) FROM patients
--! 42501 permission denied for operator =
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT age < ANY (SELECT 1), age > ALL (SELECT 1) FROM patients
--! 42501 permission denied for operator <
--! position: 12
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT 1)
--> SELECT EXISTS (SELECT 1), ARRAY(SELECT 1), (SELECT 1)

SELECT * FROM patients JOIN wards USING (ward)
--! 42501 permission denied for operator =
--! position: 1
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT * FROM patients NATURAL JOIN wards
--! 42501 permission denied for operator =
--! position: 1
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT * FROM patients JOIN wards ON true
--> SELECT * FROM kproxy_release_public.patients patients JOIN kproxy_release_public.wards wards ON true

SELECT * FROM patients p JOIN wards w ON p.age > w.beds
--> SELECT * FROM kproxy_release_public.patients p JOIN kproxy_release_public.wards w ON p.age > w.beds

SELECT 1 ORDER BY 1 USING >=
--! 42501 permission denied for operator >=
--! position: 27
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT 1 ORDER BY 1 USING >
--> SELECT 1 ORDER BY 1 USING >

SELECT 1, lower('a')
--! 42501 permission denied for function lower
--! position: 11
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT pg_catalog.lower('a')
--! 42501 permission denied for function pg_catalog.lower
--! position: 8
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT upper('a'), pg_catalog.upper('a')
--> SELECT pg_catalog.upper('a'), pg_catalog.upper('a')

SELECT information_schema._pg_truetypid(1, 2), information_schema._pg_expandarray('{}')
--! 42501 permission denied for function information_schema._pg_truetypid
--! position: 8
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT pg_catalog.reveal('a')
--! 42883 function pg_catalog.reveal does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT reveal('a')
--! 42883 function reveal does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT (p.diagnosis).lower FROM patients p
--! 42501 permission denied for function lower
--! position: 9
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT p.lower FROM patients p
--! 42501 permission denied for function lower
--! position: 8
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT p.upper, (p.diagnosis).upper FROM patients p
--> SELECT p.upper, (p.diagnosis).upper FROM kproxy_release_public.patients p

SELECT (p.diagnosis).reveal FROM patients p
--! 42883 function reveal does not exist
--! position: 9
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT (p.diagnosis).peek FROM patients p
--! 42883 function peek does not exist
--! position: 9
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT s.lower FROM (SELECT 1 AS lower) s
--> SELECT s.lower FROM (SELECT 1 AS lower) s

SELECT (p.diagnosis).int4 FROM patients p
--! 42501 permission denied for function int4
--! position: 9
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

SELECT (p.diagnosis).int8 FROM patients p
--> SELECT (p.diagnosis).int8 FROM kproxy_release_public.patients p

SELECT (p.diagnosis).secret FROM patients p
--! 42703 column secret does not exist
--! position: 9
--! hint: Nothing in FROM gives it a column of this name.

SELECT 1::int4, 1
--! 42704 type "int4" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 1::pg_catalog.int4
--! 42704 type "pg_catalog.int4" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT '{}'::int4[], 1
--! 42704 type "int4" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT '{}'::_int4
--! 42704 type "_int4" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT '{}'::pg_catalog._int4
--! 42704 type "pg_catalog._int4" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 1::int8, '{}'::_int8
--> SELECT 1::bigint, '{}'::pg_catalog._int8

SELECT 1::secret
--! 42704 type "secret" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT * FROM json_to_record('{}') AS x (a int4)
--! 42704 type "int4" does not exist
--! position: 44
--! hint: Built-in types, and those of columns that can be read, can be named.

EXPLAIN SELECT 1 = 1
--! 42501 permission denied for operator =
--! position: 18
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

PREPARE p AS SELECT 1 = $1
--! 42501 permission denied for operator =
--! position: 23
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

DECLARE c CURSOR FOR SELECT lower('a')
--! 42501 permission denied for function lower
--! position: 29
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.

COPY (SELECT lower('a')) TO STDOUT
--! 42501 permission denied for function lower
--! position: 14
--! hint: In this database it does not only mean PostgreSQL's own; kproxy check tells the operator what there is.
