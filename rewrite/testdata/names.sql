SELECT * FROM "Patients", PATIENTS
--> SELECT * FROM kproxy_release_public."Patients" "Patients", kproxy_release_public.patients patients

SELECT * FROM U&"pat\0069ents"
--> SELECT * FROM kproxy_release_public.patients patients

SELECT * FROM U&"!0070atients" UESCAPE '!'
--> SELECT * FROM kproxy_release_public.patients patients

SELECT * FROM public.patients
--> SELECT * FROM kproxy_release_public.patients patients

SELECT * FROM clinic.public.patients
--> SELECT * FROM kproxy_release_public.patients patients

SELECT * FROM other.public.patients
--! 0A000 cross-database references are not implemented: "other"
--! position: 15
--! hint: Leave the database's name out.

SELECT * FROM hospital.visits v
--> SELECT * FROM kproxy_release_hospital.visits v

SELECT * FROM hospital."select"
--> SELECT * FROM kproxy_release_hospital."select" "select"

SELECT * FROM visits
--! 42P01 relation "visits" does not exist
--! position: 15

SELECT * FROM "Icd Codes"
--> SELECT * FROM kproxy_release_public."Icd Codes" "Icd Codes"

SELECT "Icd Codes".* FROM "Icd Codes"
--> SELECT "Icd Codes".* FROM kproxy_release_public."Icd Codes" "Icd Codes"

SELECT * FROM hospital.patients
--! 42501 permission denied for table hospital.patients
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM frozen
--! 55000 table "frozen" is not published now
--! position: 15
--! hint: A column was added; run kproxy check.

SELECT * FROM kproxy_release_public.patients
--! 42P01 relation "kproxy_release_public.patients" does not exist
--! position: 15

SELECT * FROM kproxy_store.patients
--! 42P01 relation "kproxy_store.patients" does not exist
--! position: 15

SELECT * FROM kproxy_catalog.pg_class
--! 42P01 relation "kproxy_catalog.pg_class" does not exist
--! position: 15

SELECT * FROM pg_temp.patients
--! 42501 permission denied for table pg_temp.patients
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT * FROM pg_toast.pg_toast_16384
--! 42501 permission denied for table pg_toast.pg_toast_16384
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT 'ä', * FROM nowhere
--! 42P01 relation "nowhere" does not exist
--! position: 20

SELECT public.patients.age FROM patients
--> SELECT patients.age FROM kproxy_release_public.patients patients

SELECT public.patients.* FROM public.patients JOIN wards ON public.patients.ward = clinic.public.wards.ward
--> SELECT patients.* FROM kproxy_release_public.patients patients JOIN kproxy_release_public.wards wards ON patients.ward = wards.ward

SELECT public.patients.age FROM patients p
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 8
--! hint: Name the column by its table's alias.

SELECT public.patients.age FROM hospital.visits AS patients
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 8
--! hint: Name the column by its table's alias.

SELECT (SELECT public.patients.age) FROM patients
--> SELECT (SELECT patients.age) FROM kproxy_release_public.patients patients

SELECT (SELECT public.patients.age FROM wards AS patients) FROM patients
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 16
--! hint: Name the column by its table's alias.

SELECT public.patients.age FROM (patients CROSS JOIN wards) AS j
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 8
--! hint: Name the column by its table's alias.

SELECT hospital.patients.age FROM patients
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 8
--! hint: Name the column by its table's alias.

SELECT a.b.c.d.e FROM patients
--! 42601 improper qualified name (too many dotted names)
--! position: 8

WITH patients AS (SELECT 1 AS x) SELECT * FROM patients
--> WITH patients AS (SELECT 1 AS x) SELECT * FROM patients

WITH patients AS (SELECT 1 AS x) SELECT * FROM public.patients
--> WITH patients AS (SELECT 1 AS x) SELECT * FROM kproxy_release_public.patients patients

WITH patients AS (SELECT * FROM patients) SELECT * FROM patients
--> WITH patients AS (SELECT * FROM kproxy_release_public.patients patients) SELECT * FROM patients

WITH RECURSIVE patients AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM patients WHERE n < 3) SELECT * FROM patients
--> WITH RECURSIVE patients AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM patients WHERE n < 3) SELECT * FROM patients

WITH a AS (SELECT * FROM patients), patients AS (SELECT * FROM patients) SELECT * FROM a, patients
--> WITH a AS (SELECT * FROM kproxy_release_public.patients patients), patients AS (SELECT * FROM kproxy_release_public.patients patients) SELECT * FROM a, patients

WITH RECURSIVE a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a
--> WITH RECURSIVE a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a

WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a
--! 42501 permission denied for table secrets
--! position: 26
--! hint: Only published tables and those that the operator lists can be read.

WITH secrets AS (SELECT 1 AS n) SELECT (SELECT n FROM secrets), * FROM (SELECT * FROM secrets) x
--> WITH secrets AS (SELECT 1 AS n) SELECT (SELECT n FROM secrets), * FROM (SELECT * FROM secrets) x

SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x, secrets
--! 42501 permission denied for table secrets
--! position: 69
--! hint: Only published tables and those that the operator lists can be read.

WITH secrets AS (SELECT 1) SELECT 1 UNION (SELECT * FROM secrets ORDER BY 1)
--> WITH secrets AS (SELECT 1) SELECT 1 UNION (SELECT * FROM secrets ORDER BY 1)

SELECT 1 UNION (WITH secrets AS (SELECT 1) SELECT * FROM secrets) UNION SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 87
--! hint: Only published tables and those that the operator lists can be read.

WITH secrets AS (SELECT 1) SELECT * FROM (WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets) x
--> WITH secrets AS (SELECT 1) SELECT * FROM (WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets) x

WITH secrets AS (WITH secrets AS (SELECT 2) SELECT * FROM secrets) SELECT * FROM secrets
--> WITH secrets AS (WITH secrets AS (SELECT 2) SELECT * FROM secrets) SELECT * FROM secrets

WITH x AS (WITH secrets AS (SELECT 2) SELECT * FROM secrets) SELECT * FROM secrets
--! 42501 permission denied for table secrets
--! position: 76
--! hint: Only published tables and those that the operator lists can be read.

WITH pg_class AS (SELECT 1) SELECT * FROM pg_class, pg_catalog.pg_class c
--> WITH pg_class AS (SELECT 1) SELECT * FROM pg_class, kproxy_catalog.pg_class c

SELECT * FROM pg_class
--> SELECT * FROM kproxy_catalog.pg_class pg_class

SELECT pg_class.relname, pg_catalog.pg_class.oid FROM pg_catalog.pg_class
--> SELECT pg_class.relname, pg_class.oid FROM kproxy_catalog.pg_class pg_class

SELECT * FROM information_schema.tables t, information_schema.columns
--> SELECT * FROM kproxy_catalog.information_schema_tables t, kproxy_catalog.information_schema_columns columns

WITH w AS (SELECT 1) SELECT 1; SELECT * FROM w
--! 42P01 relation "w" does not exist
--! position: 46

PREPARE p AS WITH w AS (TABLE patients) TABLE w; EXECUTE p
--> PREPARE p AS WITH w AS (SELECT * FROM kproxy_release_public.patients patients) SELECT * FROM w; EXECUTE p

SELECT patients FROM patients WHERE patients IS NOT NULL AND patients = patients
--> SELECT patients FROM kproxy_release_public.patients patients WHERE patients IS NOT NULL AND patients = patients

SELECT (patients).age, (patients).*, (patients.*).age FROM patients
--> SELECT (patients).age, (patients).*, (patients.*).age FROM kproxy_release_public.patients patients

SELECT patients.ctid, xmin, tableoid FROM patients
--! 42703 column patients.ctid does not exist
--! position: 8
--! hint: Tables have no system columns here, as views have none.

SET search_path = hospital
--> SET search_path TO DEFAULT
SELECT * FROM visits
--> SELECT * FROM kproxy_release_hospital.visits visits
SELECT * FROM public.patients
--> SELECT * FROM kproxy_release_public.patients patients
SELECT * FROM patients
--! 42501 permission denied for table patients
--! position: 15
--! hint: Only published tables and those that the operator lists can be read.

SELECT public.wards.ward FROM wards
--> SELECT wards.ward FROM kproxy_release_public.wards wards

SELECT hospital.visits.ward, public.wards.ward, clinic.public.wards.* FROM hospital.visits, public.wards
--> SELECT visits.ward, wards.ward, wards.* FROM kproxy_release_hospital.visits visits, kproxy_release_public.wards wards

SET search_path = public, hospital
--> SET search_path TO DEFAULT
SELECT a.t FROM patients a
--> SELECT a.t FROM kproxy_release_public.patients a

SELECT public.patients.age FROM public.patients, hospital.patients
--! 42501 permission denied for table hospital.patients
--! position: 50
--! hint: Only published tables and those that the operator lists can be read.

SELECT (SELECT public.patients.age FROM wards patients) FROM patients
--! 42P01 invalid reference to FROM-clause entry for table "patients"
--! position: 16
--! hint: Name the column by its table's alias.

WITH visits AS (SELECT 1 AS a) SELECT * FROM visits, hospital.visits
--> WITH visits AS (SELECT 1 AS a) SELECT * FROM visits, kproxy_release_hospital.visits visits

WITH patients AS (SELECT * FROM patients) SELECT * FROM patients
--> WITH patients AS (SELECT * FROM kproxy_release_public.patients patients) SELECT * FROM patients

WITH RECURSIVE patients AS (SELECT 1 UNION ALL SELECT * FROM patients) SELECT * FROM patients
--> WITH RECURSIVE patients AS (SELECT 1 UNION ALL SELECT * FROM patients) SELECT * FROM patients

(WITH patients AS (SELECT 1) SELECT * FROM patients) UNION SELECT age FROM patients
--> (WITH patients AS (SELECT 1) SELECT * FROM patients) UNION SELECT age FROM kproxy_release_public.patients patients

WITH p AS (WITH patients AS (SELECT 1) TABLE patients) SELECT * FROM p, patients
--> WITH p AS (WITH patients AS (SELECT 1) SELECT * FROM patients) SELECT * FROM p, kproxy_release_public.patients patients

SELECT * FROM (hospital.visits JOIN "Patients" USING (id)) AS patients, wards
--> SELECT * FROM (kproxy_release_hospital.visits visits JOIN kproxy_release_public."Patients" "Patients" USING (id) ) patients, kproxy_release_public.wards wards

SELECT to_regclass(name), name::regclass::oid, (name || 's')::regclass FROM wards
--> SELECT (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class(name::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS to_regclass, (SELECT kproxy_guard.oid FROM (SELECT kproxy_catalog.to_class(name::pg_catalog.text, '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0)::pg_catalog.oid AS name, (SELECT kproxy_catalog.class_name(kproxy_guard.oid, '{pg_catalog,public}'::pg_catalog.name[]) FROM (SELECT kproxy_catalog.to_class(CAST(name || 's' AS pg_catalog.text), '{pg_catalog,public}'::pg_catalog.name[])::pg_catalog.oid AS a0 OFFSET 0) kproxy_argument, kproxy_catalog.pg_class kproxy_guard WHERE kproxy_guard.oid = kproxy_argument.a0) AS regclass FROM kproxy_release_public.wards wards
