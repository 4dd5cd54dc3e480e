-- Other spellings of a name.

-- refused 42
SELECT "name" FROM "people"

-- refused 42
SELECT U&"n\0061me" FROM U&"p\0065ople"

-- refused 42
SELECT U&"!006eame" UESCAPE '!' FROM people

-- allowed
SELECT * FROM U&"p\0065ople"

-- allowed
SELECT * FROM PEOPLE

-- allowed
SELECT * FROM "public"."people"

-- refused 42
SELECT * FROM "PEOPLE"

-- refused 42
SELECT name FROM clinic.public.people

-- allowed
SELECT * FROM clinic.public.people

-- refused 0A
SELECT * FROM postgres.public.people

-- refused 0A
SELECT * FROM template1.pg_catalog.pg_class

-- refused 42
SELECT * FROM kproxy_store.records_1

-- refused 42
SELECT * FROM kproxy_store.release_1

-- refused 42
SELECT * FROM kproxy_store.position

-- refused 42
SELECT * FROM kproxy_store.generation

-- refused 42
SELECT * FROM kproxy_release_public.people

-- refused 42
SELECT kproxy_class FROM people

-- refused 42
SELECT * FROM kproxy_catalog.pg_class

-- refused 42
SELECT * FROM "kproxy_store"."records_2"

-- refused 42
SELECT kproxy_catalog.visible(1)

-- allowed
SELECT 'people'::regclass, 'people'::regclass::oid

-- refused 42
SELECT 'other.people'::regclass

-- allowed
SELECT to_regclass('kproxy_store.records_1')

-- refused 42
SELECT 'kproxy_store.records_1'::regclass::oid

-- refused 42
SELECT * FROM people AS p (a, b, c, d, e, f, g, h, i, j, k, l, name)

-- allowed
SELECT * FROM people AS name

-- allowed
SELECT name FROM people AS name
