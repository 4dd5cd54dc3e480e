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
