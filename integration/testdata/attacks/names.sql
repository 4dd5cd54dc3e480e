-- Other spellings of a name.

-- refuse
SELECT "name" FROM "people"

-- refuse
SELECT U&"n\0061me" FROM U&"p\0065ople"

-- refuse
SELECT U&"!006eame" UESCAPE '!' FROM people

SELECT * FROM U&"p\0065ople"

SELECT * FROM PEOPLE

SELECT * FROM "public"."people"

-- refuse
SELECT * FROM "PEOPLE"

-- refuse
SELECT name FROM clinic.public.people

SELECT * FROM clinic.public.people

-- refuse
SELECT * FROM postgres.public.people

-- refuse
SELECT * FROM template1.pg_catalog.pg_class

-- refuse
SELECT * FROM kproxy_store.records_1

-- refuse
SELECT * FROM kproxy_store.release_1

-- refuse
SELECT * FROM kproxy_store.position

-- refuse
SELECT * FROM kproxy_store.generation

-- refuse
SELECT * FROM kproxy_release_public.people

-- refuse
SELECT kproxy_class FROM people

-- refuse
SELECT * FROM kproxy_catalog.pg_class

-- refuse
SELECT * FROM "kproxy_store"."records_2"

-- refuse
SELECT kproxy_catalog.visible(1)

SELECT 'people'::regclass, 'people'::regclass::oid

-- refuse
SELECT 'other.people'::regclass

SELECT to_regclass('kproxy_store.records_1')

-- refuse
SELECT 'kproxy_store.records_1'::regclass::oid

-- refuse
SELECT * FROM people AS p (a, b, c, d, e, f, g, h, i, j, k, l, name)

SELECT * FROM people AS name

SELECT name FROM people AS name
