SELECT * FROM patients TABLESAMPLE SYSTEM (10)
--> SELECT * FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 10) patients

SELECT p.age FROM public.patients AS p (a) TABLESAMPLE BERNOULLI ($1) JOIN wards TABLESAMPLE SYSTEM (5) ON true
--! 42703 column p.age does not exist
--! position: 8
--! hint: Nothing in FROM gives it a column of this name.

SELECT p.a FROM public.patients AS p (a) TABLESAMPLE BERNOULLI ($1) JOIN wards TABLESAMPLE SYSTEM (5) ON true
--> SELECT p.a FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < $1::real) p(a) JOIN (SELECT * FROM kproxy_release_public.wards WHERE (pg_catalog.random() * 100) < 5) wards ON true

SELECT * FROM wards TABLESAMPLE SYSTEM (5) REPEATABLE (3)
--! 0A000 TABLESAMPLE of table "wards" cannot be repeated: its rows have no fixed places
--! position: 33
--! hint: Leave REPEATABLE out, or choose rows by what is in them: WHERE hashtext(t::text) % 10 = 0.

SELECT public.patients.age FROM public.patients TABLESAMPLE BERNOULLI (0.5)
--> SELECT patients.age FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 0.5) patients

SELECT * FROM wards TABLESAMPLE BERNOULLI (20)
--> SELECT * FROM (SELECT * FROM kproxy_release_public.wards WHERE (pg_catalog.random() * 100) < 20) wards

SELECT * FROM patients TABLESAMPLE BERNOULLI (10) REPEATABLE (1)
--! 0A000 TABLESAMPLE of table "patients" cannot be repeated: its rows have no fixed places
--! position: 36
--! hint: Leave REPEATABLE out, or choose rows by what is in them: WHERE hashtext(t::text) % 10 = 0.

SELECT * FROM patients TABLESAMPLE BERNOULLI (101)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM patients TABLESAMPLE BERNOULLI (age)
--! 0A000 TABLESAMPLE of table "patients" takes a number or a parameter only
--! position: 36
--! hint: Write the percentage as a number or a parameter.

SELECT * FROM patients TABLESAMPLE system_rows (10)
--! 42704 tablesample method system_rows does not exist
--! position: 36
--! hint: Use BERNOULLI or SYSTEM.

SELECT * FROM patients TABLESAMPLE public.bernoulli (10)
--! 42704 tablesample method public.bernoulli does not exist
--! position: 36
--! hint: Use BERNOULLI or SYSTEM.

SELECT * FROM secrets TABLESAMPLE BERNOULLI (10)
--! 42501 permission denied for table secrets
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM frozen TABLESAMPLE BERNOULLI (10)
--! 55000 table "frozen" is not published now
--! position: 15
--! hint: A column was added; run kproxy check.

SELECT NULL::bpchar, 'a'::pg_catalog.bpchar, '{}'::_text, '{}'::pg_catalog._int4, (5).length
--> SELECT NULL::bpchar, 'a'::bpchar, '{}'::pg_catalog._text, '{}'::pg_catalog._int4, ((5)).length

SELECT '{}'::_regclass
--! 42704 type "_regclass" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT NULL::frozen
--! 42704 type "frozen" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT NULL::hospital.patients
--! 42704 type "hospital.patients" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT NULL::wards, '{}'::hospital.visits[], NULL::_patients
--> SELECT NULL::kproxy_release_public.wards, '{}'::kproxy_release_hospital.visits[], NULL::kproxy_release_public._patients

SELECT xmlparse(DOCUMENT '<a/>' PRESERVE WHITESPACE)
--> SELECT xmlparse(document '<a/>')

SELECT * FROM patients FOR UPDATE
--! 42501 kproxy publishes read-only views: SELECT FOR UPDATE/SHARE is not allowed
--! position: 1
--! hint: Leave the locking clause out.

SELECT overlay('a', 'b', 1, 2), overlay('a', 'b', 1), overlay('a'), overlay('a' placing 'b' from 1 for 2)
--> SELECT OVERLAY('a' PLACING 'b' FROM 1 FOR 2), overlay('a' placing 'b' from 1), pg_catalog."overlay"('a'), OVERLAY('a' PLACING 'b' FROM 1 FOR 2)

SELECT * FROM patients TABLESAMPLE SYSTEM (-1)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM patients TABLESAMPLE SYSTEM (100.5)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM patients TABLESAMPLE SYSTEM (0), wards TABLESAMPLE BERNOULLI (100)
--> SELECT * FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 0) patients, (SELECT * FROM kproxy_release_public.wards WHERE (pg_catalog.random() * 100) < 100) wards

SELECT (lower('a')).pg_sleep
--! 42501 permission denied for function pg_sleep
--! position: 9
--! hint: A column of this name can be read through column aliases: FROM t AS t(a, b).

SELECT (lower('a')::text).pg_read_file
--! 42501 permission denied for function pg_read_file
--! position: 9
--! hint: Only functions that compute from their arguments are allowed, and those that the operator lists.

SELECT * FROM pg_class TABLESAMPLE SYSTEM (10)
--> SELECT * FROM (SELECT * FROM kproxy_catalog.pg_class WHERE (pg_catalog.random() * 100) < 10) pg_class

SELECT * FROM pg_settings TABLESAMPLE SYSTEM (10)
--> SELECT * FROM (SELECT * FROM (SELECT * FROM kproxy_catalog.pg_settings UNION ALL SELECT 'search_path', '"$user", public', NULL, 'Client Connection Defaults / Statement Behavior', 'Sets the schema search order for names that are not schema-qualified.', NULL, 'user', 'string', 'session', NULL, NULL, NULL, '"$user", public', '"$user", public', NULL, NULL, 'false') pg_settings WHERE (pg_catalog.random() * 100) < 10) pg_settings

WITH patients AS (SELECT 1) SELECT * FROM patients TABLESAMPLE SYSTEM (10)
--> WITH patients AS (SELECT 1) SELECT * FROM patients TABLESAMPLE system(10)

WITH patients AS (SELECT 1) SELECT * FROM public.patients TABLESAMPLE SYSTEM (10)
--> WITH patients AS (SELECT 1) SELECT * FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 10) patients

SELECT 1, x.* FROM patients TABLESAMPLE SYSTEM (10, 20) x
--! 42601 syntax error at or near "x"
--! position: 57
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT 1, x.* FROM patients TABLESAMPLE BERNOULLI () x
--! 42601 syntax error at or near ")"
--! position: 52
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT * FROM patients TABLESAMPLE SYSTEM ('10')
--! 0A000 TABLESAMPLE of table "patients" takes a number or a parameter only
--! position: 36
--! hint: Write the percentage as a number or a parameter.

SELECT * FROM patients TABLESAMPLE SYSTEM (-0.5)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM patients TABLESAMPLE SYSTEM (1e400)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM patients TABLESAMPLE SYSTEM (100)
--> SELECT * FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 100) patients

SELECT * FROM patients TABLESAMPLE SYSTEM (101)
--! 2202H sample percentage must be between 0 and 100
--! position: 36
--! hint: Give a percentage from 0 to 100.

SELECT * FROM hospital.visits TABLESAMPLE Bernoulli (10)
--> SELECT * FROM (SELECT * FROM kproxy_release_hospital.visits WHERE (pg_catalog.random() * 100) < 10) visits

SELECT * FROM unnest(ARRAY[1]) TABLESAMPLE SYSTEM (10)
--! 42601 syntax error at or near "TABLESAMPLE"
--! position: 32
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT p.nextval FROM patients p (nextval) TABLESAMPLE SYSTEM (10)
--> SELECT p.nextval FROM (SELECT * FROM kproxy_release_public.patients WHERE (pg_catalog.random() * 100) < 10) p(nextval)

SELECT xmlroot('<a/>', version '1.0'), xmlroot('<a/>', version NO VALUE, standalone yes), xmlroot('<a/>', version '1.0', standalone no)
--> SELECT xmlroot('<a/>', version '1.0'), xmlroot('<a/>', version NO VALUE, STANDALONE YES), xmlroot('<a/>', version '1.0', STANDALONE NO)

SELECT xmlroot('<a/>', version lower('1.0')), 1
--! 0A000 kproxy supports xmlroot with a constant version only
--! position: 8
--! hint: Write the version as a constant.

SELECT xmlparse(CONTENT 'a' STRIP WHITESPACE), xmlparse(DOCUMENT '<a/>')
--> SELECT xmlparse(content 'a'), xmlparse(document '<a/>')

SELECT 1 COLLATE pg_catalog."C", 'a' COLLATE "C"
--> SELECT 1 COLLATE pg_catalog."C", 'a' COLLATE "C"

SELECT 1 COLLATE public."C"
--! 42501 permission denied for collation public.C
--! position: 10
--! hint: Only the collations of pg_catalog are allowed.

SELECT 1 COLLATE a.pg_catalog."C"
--! 42501 permission denied for collation a.pg_catalog.C
--! position: 10
--! hint: Only the collations of pg_catalog are allowed.

SELECT 1 OPERATOR(pg_catalog.+) 1, 1 OPERATOR(+) 1
--> SELECT 1 OPERATOR(pg_catalog.+) 1, 1 + 1

SELECT 1 OPERATOR(a.pg_catalog.+) 1
--! 42501 permission denied for operator a.pg_catalog.+
--! position: 10
--! hint: Only the operators of pg_catalog are allowed.

SELECT 1 OPERATOR(public.+) 1
--! 42501 permission denied for operator public.+
--! position: 10
--! hint: Only the operators of pg_catalog are allowed.

SELECT 1 ORDER BY 1 USING OPERATOR(public.<)
--! 42501 permission denied for operator public.<
--! position: 27
--! hint: Only the operators of pg_catalog are allowed.

SELECT 1 = OPERATOR(public.=) ANY (SELECT 1)
--! 42601 syntax error at or near "ANY"
--! position: 31
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT 1 OPERATOR(public.=) ANY (SELECT 1)
--! 42501 permission denied for operator public.=
--! position: 10
--! hint: Only the operators of pg_catalog are allowed.

SELECT 'a'::varchar(10), 'a'::char(3), 'a'::bpchar, 1::numeric(10, 2), '1'::interval(2), interval '1' second(2), 1::float(3)
--> SELECT 'a'::varchar(10), 'a'::char(3), 'a'::bpchar, 1::numeric(10, 2), '1'::interval(2), '1'::interval second(2), 1::real

SELECT 'a'::varchar(x)
--! 42601 syntax error at or near "x"
--! position: 21
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT 'a'::varchar('x')
--! 42601 syntax error at or near "'x'"
--! position: 21
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT CAST(1 AS pg_class.relname%TYPE)
--! 42601 syntax error at or near "%"
--! position: 34
--! hint: If it is syntax of a newer PostgreSQL: kproxy reads that of PostgreSQL 16.

SELECT CAST(1 AS SETOF int)
--! 0A000 kproxy does not support this type
--! position: 24
--! hint: Write the type's name.

SELECT 1::nope, 2
--! 42704 type "nope" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 1::public.nope
--! 42704 type "public.nope" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 1::a.b.c
--! 42704 type "a.b.c" does not exist
--! position: 11
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT 1::pg_catalog.int4, '1'::information_schema.cardinal_number, '{}'::information_schema.sql_identifier[]
--> SELECT 1::int, '1'::information_schema.cardinal_number, '{}'::information_schema.sql_identifier[]

SELECT '{}'::_void, 1
--! 42704 type "_void" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT '{}'::void
--> SELECT '{}'::pg_catalog.void

SELECT '{}'::__int4
--! 42704 type "__int4" does not exist
--! position: 14
--! hint: Built-in types, and those of columns that can be read, can be named.

SELECT json_to_recordset FROM json_to_recordset('[]') AS (a regclass)
--! 0A000 kproxy supports type regclass in casts of single values only
--! position: 61
--! hint: Cast single values in the query instead.

SELECT * FROM json_to_recordset('[]') AS x (a regtype[])
--! 0A000 kproxy supports type regtype[] in casts of constant arrays only
--! position: 47
--! hint: Write the array as a constant, or cast single values in the query.

SELECT * FROM json_to_recordset('[]') AS x (a int, b text[])
--> SELECT * FROM pg_catalog.json_to_recordset('[]') x (a int, b pg_catalog.text[])

SELECT * FROM patients TABLESAMPLE system.bernoulli (10)
--! 42704 tablesample method system.bernoulli does not exist
--! position: 36
--! hint: Use BERNOULLI or SYSTEM.

SELECT * FROM patients TABLESAMPLE pg_catalog.system (10)
--! 42704 tablesample method pg_catalog.system does not exist
--! position: 36
--! hint: Use BERNOULLI or SYSTEM.
