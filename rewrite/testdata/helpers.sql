SELECT kproxy.overlap(birth_date_range, '1980-01-01', '1990-01-01') FROM patients
--> SELECT kproxy.overlap(birth_date_range, '1980-01-01', '1990-01-01') FROM kproxy_release_public.patients patients

SELECT overlap(a, b), certain(a, b), possible(a, b) FROM patients
--> SELECT kproxy.overlap(a, b), kproxy.certain(a, b), kproxy.possible(a, b) FROM kproxy_release_public.patients patients

SELECT * FROM describe('patients')
--> SELECT * FROM kproxy.describe('patients')

SELECT * FROM kproxy.describe('patients'::regclass)
--> SELECT * FROM kproxy.describe('"kproxy_release_public"."patients"'::pg_catalog.regclass::pg_catalog.oid)

SELECT * FROM kproxy.labels('patients', 'occupation', 'nurse') AS l JOIN kproxy.tables() AS t ON true
--> SELECT * FROM kproxy.labels('patients', 'occupation', 'nurse') l JOIN kproxy.tables() t ON true

SET search_path = kproxy
--> SET search_path TO DEFAULT
SHOW search_path
--> SELECT 'kproxy'::pg_catalog.text AS search_path
SELECT tables(), current_schemas(false)
--> SELECT kproxy.tables(), '{kproxy}'::pg_catalog.name[] AS current_schemas

SELECT overlaps(a, b, c, d), kproxy.overlaps(a, b)
--! 42883 function kproxy.overlaps does not exist
--! position: 30
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT kproxy.meaning('patients', 'occupation', 'nurse')
--! 42883 function kproxy.meaning does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

SELECT public.overlap(a, b)
--! 42883 function public.overlap does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.

TABLE kproxy.described
--! 42P01 relation "kproxy.described" does not exist
--! position: 7

SELECT 'kproxy.described'::regclass
--! 42P01 relation "kproxy.described" does not exist
--! position: 8

SELECT pg_catalog.overlap(a, b)
--! 42883 function pg_catalog.overlap does not exist
--! position: 8
--! hint: No function of that name is PostgreSQL's own, and the operator lists none.
