-- COPY in all forms, files and large objects.

COPY people TO STDOUT

COPY people TO STDOUT (FORMAT csv, HEADER)

COPY people TO STDOUT (FORMAT binary)

COPY public.people (illness, account) TO STDOUT

-- refuse
COPY people (name) TO STDOUT

-- refuse
COPY people_view TO STDOUT

-- refuse
COPY people_copy TO STDOUT

-- refuse
COPY ledger_a TO STDOUT

-- refuse
COPY kproxy_store.records_1 TO STDOUT

-- refuse
COPY (SELECT name FROM people) TO STDOUT

-- refuse
COPY (SELECT * FROM people_names()) TO STDOUT

-- refuse
COPY (DELETE FROM people RETURNING *) TO STDOUT

-- refuse
COPY people TO '/tmp/people'

-- refuse
COPY (SELECT 1) TO PROGRAM 'cat'

-- refuse
COPY people FROM STDIN

-- refuse
COPY codes FROM '/etc/passwd'

-- refuse
COPY codes FROM PROGRAM 'id'

-- refuse
COPY people TO STDOUT WHERE true

-- refuse
SELECT pg_read_file('postgresql.conf')

-- refuse
SELECT pg_read_binary_file('PG_VERSION')

-- refuse
SELECT pg_ls_dir('.')

-- refuse
SELECT * FROM pg_stat_file('PG_VERSION')

-- refuse
SELECT lo_get(424242)

-- refuse
SELECT loread(lo_open(424242, 262144), 100)

-- refuse
SELECT (424242).lo_get

-- refuse
SELECT lo_import('/etc/passwd')

-- refuse
SELECT lo_export(424242, '/tmp/lo')

-- refuse
SELECT lo_creat(-1)

-- refuse
SELECT * FROM pg_largeobject

-- refuse
SELECT * FROM pg_largeobject_metadata
