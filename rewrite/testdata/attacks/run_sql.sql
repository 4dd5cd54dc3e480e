-- Functions that run a text as SQL.

-- refused 42
SELECT query_to_xml('SELECT * FROM people', true, false, '')

-- refused 42
SELECT query_to_xml('SELECT * FROM public.people_view', false, true, '')::text

-- refused 42
SELECT pg_catalog.query_to_xml_and_xmlschema('SELECT * FROM people', true, false, '')

-- refused 42
SELECT query_to_xmlschema('SELECT * FROM people', true, false, '')

-- refused 42
SELECT table_to_xml('people', true, false, '')

-- refused 42
SELECT table_to_xml('public.people'::regclass, true, false, '')

-- refused 42
SELECT table_to_xmlschema('people', true, false, '')

-- refused 42
SELECT schema_to_xml('public', true, false, '')

-- refused 42
SELECT schema_to_xml_and_xmlschema('kproxy_store', true, false, '')

-- refused 42
SELECT database_to_xml(true, false, '')

-- refused 42
SELECT database_to_xml_and_xmlschema(true, true, '')

-- refused 42
SELECT (true).database_to_xml

-- refused 42
SELECT cursor_to_xml('c', 100, true, false, '')

-- refused 42
DECLARE c CURSOR FOR SELECT name FROM people; SELECT cursor_to_xml('c', 100, true, false, '')

-- refused 42
SELECT * FROM ts_stat('SELECT to_tsvector(name) FROM people')

-- refused 42
SELECT * FROM ts_stat($$SELECT to_tsvector('simple', name) FROM public.people$$, 'ab')

-- refused 42
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, quote_literal(name)::tsquery FROM people')

-- refused 42
SELECT * FROM xmltable('/table/row' PASSING query_to_xml('SELECT name FROM people', true, false, '') COLUMNS name text PATH 'name')

-- refused 42
SELECT xpath('//name/text()', query_to_xml('SELECT name FROM people', true, false, ''))

-- refused 42
SELECT peek('SELECT string_agg(name, '','') FROM people')

-- refused 42
SELECT public.peek('SELECT name FROM people')

-- refused 42
SELECT * FROM dblink('dbname=postgres', 'SELECT name FROM people') AS t(a text)

-- refused 42
SELECT crosstab('SELECT name, name, name FROM people')
