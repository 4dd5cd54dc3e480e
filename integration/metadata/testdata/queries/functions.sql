-- TypeORM asks so which schema it works in
SELECT * FROM current_schema()

-- the database, under an alias
SELECT d, d.d FROM current_database() AS d

-- with a name for the column
SELECT s.path FROM current_schemas(false) AS s(path)

-- as a whole, which is no row, and with numbers
SELECT s, n.* FROM current_schemas(false) AS s(path), current_schema() WITH ORDINALITY AS n

-- in ROWS FROM
SELECT * FROM ROWS FROM (to_regclass('wards')) AS r, ROWS FROM (obj_description('patients'::regclass, 'pg_class')) WITH ORDINALITY d(comment, n)

-- whether a relation is there
SELECT * FROM to_regclass('patients'), to_regclass('nowhere') AS missing

-- types by number, of columns before them in FROM
SELECT a.attname, f.* FROM pg_attribute a, format_type(a.atttypid, a.atttypmod) f WHERE a.attrelid = 'patients'::regclass AND a.attnum > 0 ORDER BY a.attnum

-- comments of relations
SELECT c.relname, d IS NULL AS uncommented FROM pg_class c LEFT JOIN LATERAL obj_description(c.oid, 'pg_class') d ON true WHERE c.oid = 'patients'::regclass

-- sizes
SELECT * FROM pg_relation_size('patients'::regclass) size

-- drizzle-kit asks for types by a constant array
SELECT a.attname, a.atttypid = ANY ('{int,int8,int2}'::regtype[]) AS integer FROM pg_attribute a WHERE a.attrelid = 'patients'::regclass AND a.attnum > 0 ORDER BY a.attnum

-- relations and types by constant arrays
SELECT '{patients,wards,pg_class}'::regclass[], ARRAY['int4', 'mood', NULL]::regtype[], '{}'::regrole[]

-- settings that Atlas and others ask for
SELECT current_setting('default_table_access_method'), current_setting('max_identifier_length'), current_setting('app.tenant', true) IS NULL AS custom, current_setting('data_directory', true) IS NULL AS hidden, current_setting('no_such_setting', true) IS NULL AS unknown

-- addresses, which pg_activity asks for
SELECT inet_server_addr(), inet_server_port(), inet_client_addr(), inet_client_port()
