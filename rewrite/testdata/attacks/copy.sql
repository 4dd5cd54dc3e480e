-- COPY in all forms, files and large objects.

-- allowed
COPY people TO STDOUT

-- allowed
COPY people TO STDOUT (FORMAT csv, HEADER)

-- allowed
COPY people TO STDOUT (FORMAT binary)

-- allowed
COPY public.people (illness, account) TO STDOUT

-- refused 42
COPY people (name) TO STDOUT

-- refused 42
COPY people_view TO STDOUT

-- refused 42
COPY people_copy TO STDOUT

-- refused 42
COPY ledger_a TO STDOUT

-- refused 42
COPY kproxy_store.records_1 TO STDOUT

-- refused 42
COPY (SELECT name FROM people) TO STDOUT

-- refused 42
COPY (SELECT * FROM people_names()) TO STDOUT

-- refused 42
COPY (DELETE FROM people RETURNING *) TO STDOUT

-- refused 42
COPY people TO '/tmp/people'

-- refused 42
COPY (SELECT 1) TO PROGRAM 'cat'

-- refused 42
COPY people FROM STDIN

-- refused 42
COPY codes FROM '/etc/passwd'

-- refused 42
COPY codes FROM PROGRAM 'id'

-- refused 42
COPY people TO STDOUT WHERE true

-- refused 42
SELECT pg_read_file('postgresql.conf')

-- refused 42
SELECT pg_read_binary_file('PG_VERSION')

-- refused 42
SELECT pg_ls_dir('.')

-- refused 42
SELECT * FROM pg_stat_file('PG_VERSION')

-- refused 42
SELECT lo_get(424242)

-- refused 42
SELECT loread(lo_open(424242, 262144), 100)

-- refused 42
SELECT (424242).lo_get

-- refused 42
SELECT lo_import('/etc/passwd')

-- refused 42
SELECT lo_export(424242, '/tmp/lo')

-- refused 42
SELECT lo_creat(-1)

-- refused 42
SELECT * FROM pg_largeobject

-- refused 42
SELECT * FROM pg_largeobject_metadata

-- refused 42
COPY (SELECT * FROM people) TO '/tmp/people.csv' CSV

-- refused 42
COPY public.people (illness) TO PROGRAM 'curl http://127.0.0.1/'

-- refused 42
COPY (SELECT * FROM people p, people_view v) TO STDOUT

-- refused 42
COPY chart (qvzcol_ssn, age) TO STDOUT

-- allowed
COPY chart TO STDOUT (FORMAT binary)

-- allowed
COPY visits TO STDOUT WITH CSV HEADER

-- refused 55
COPY (TABLE rare) TO STDOUT

-- refused 42
COPY qvzrel_visits_late TO STDOUT

-- refused 42
COPY qvzrel_vault TO STDOUT WITH (FORMAT text, HEADER)

-- refused 42
COPY clinic.public.qvzrel_vault TO STDOUT

-- refused 42
COPY pg_statistic TO STDOUT

-- refused 42
COPY pg_authid TO STDOUT

-- refused 42
COPY (VALUES ((SELECT min(name) FROM people))) TO STDOUT

-- refused 42
COPY (WITH q AS (DELETE FROM people RETURNING name) SELECT * FROM q) TO STDOUT

-- refused 42
COPY (UPDATE codes SET meaning = 'x' RETURNING *) TO STDOUT

-- refused 42
COPY (SELECT illness INTO leak FROM people) TO STDOUT

-- refused 42
COPY (EXECUTE p) TO STDOUT

-- refused 42
COPY people FROM STDIN (FREEZE)

-- refused 42
COPY codes (code) FROM STDIN WHERE code = 'x'

-- refused 42
COPY codes FROM STDIN (FORMAT binary, FORCE_NULL (code))

-- refused 42
COPY BINARY people FROM STDIN

-- refused 42
COPY people TO STDOUT (FORMAT text, DEFAULT 'x')

-- refused 42
COPY people TO STDOUT (FORMAT csv, FORCE_QUOTE (name))

-- allowed
COPY people TO STDOUT (FORMAT csv, FORCE_QUOTE *, QUOTE '''', ESCAPE '\', NULL 'nothing')

-- refused 42
SELECT lo_from_bytea(0, 'x'), lo_put(424242, 0, 'x')

-- refused 42
SELECT lo_unlink(424242)

-- refused 42
SELECT lo_open(424242, 131072)

-- refused 42
SELECT loid, pageno, data FROM pg_catalog.pg_largeobject WHERE loid = 424242

-- refused 42
ALTER LARGE OBJECT 424242 OWNER TO CURRENT_USER
