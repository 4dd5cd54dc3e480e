-- Attribute notation: value.f and (value).f call f(value) or cast to f where there
-- is no such column. PostgreSQL looks for f on the search path.

-- refused 42
SELECT p.pg_sleep FROM (SELECT 10.0::float8) p

-- refused 42
SELECT (3600::float8).pg_sleep

-- refused 42
SELECT ('people_seq'::text).nextval

-- refused 42
SELECT g.nextval FROM (SELECT 'people_seq') g

-- refused 42
SELECT ('x'::text).as_owner

-- refused 42
SELECT ('SELECT 1'::text).peek

-- refused 42
SELECT g.peek FROM (SELECT 'SELECT name FROM people'::text) g

-- refused 42
SELECT (l).holder FROM ledger l

-- refused 42
SELECT l.holder FROM ledger l

-- refused 42
SELECT (ROW(1)::record).name FROM people

-- refused 42
SELECT (p).kproxy_class FROM people p

-- refused 42
SELECT (p.illness).abs FROM people p

-- refused 42
SELECT (5).length

-- refused 42
SELECT (5::bigint).lower

-- refused 42
SELECT ('postgresql.conf'::text).pg_read_file

-- refused 42
SELECT ('/etc/passwd'::text).pg_ls_dir

-- refused 42
SELECT g.pg_stat_file FROM (SELECT '/etc/passwd'::text) g

-- refused 42
SELECT (424242::oid).lo_get

-- harmless
SELECT (16400::oid).pg_relation_filenode

-- refused 42
SELECT g.pg_get_functiondef FROM (SELECT 16400::oid) g

-- refused 42
SELECT g.regclass FROM (SELECT 16400::oid) g

-- refused 42
SELECT (16400::oid).regtype

-- refused 42
SELECT (16400::oid).format_type

-- refused 42
SELECT (16400::oid).regclassout

-- refused 42
SELECT ('SELECT 1'::text).ts_stat

-- harmless
SELECT ('x'::text).current_setting

-- harmless
SELECT ('search_path'::text).current_setting

-- harmless
SELECT (true).current_schemas

-- allowed
SELECT (0.5::float8).setseed

-- refused 42
SELECT (ARRAY[1]).txid_snapshot_xmin

-- refused 42
SELECT (1).pg_advisory_lock

-- refused 42
SELECT (now()).pg_sleep_until

-- harmless
SELECT ((SELECT 'qvzrel_vault'::text)).to_regclass

-- refused 42
SELECT ('a'::text).probe

-- refused 42
SELECT ('a'::text).chatty

-- refused 42
SELECT (p.*).name, p.* FROM people p

-- refused 42
SELECT ((p).illness).mood FROM people p

-- refused 42
SELECT (ARRAY[p])[1].name FROM people p

-- refused 42
SELECT (SELECT q FROM people q LIMIT 1).name

-- refused 42
SELECT x.name FROM (SELECT p FROM people p) x

-- refused 42
SELECT (x.p).name FROM (SELECT p FROM people p) x

-- refused 42
SELECT (array_agg(p))[1].name FROM people p

-- refused 42
SELECT public.people.name FROM people

-- refused 42
SELECT clinic.public.people.name FROM people

-- refused 42
SELECT kproxy_store.records_1.name FROM people

-- refused 42
SELECT p.xmin, p.cmax FROM codes p, LATERAL (SELECT p.xmax) q WHERE p.xid IS NULL
