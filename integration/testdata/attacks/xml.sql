-- Functions that run a text as SQL.

-- refuse
SELECT query_to_xml('SELECT * FROM people', true, false, '')

-- refuse
SELECT query_to_xml('SELECT * FROM public.people_view', false, true, '')::text

-- refuse
SELECT pg_catalog.query_to_xml_and_xmlschema('SELECT * FROM people', true, false, '')

-- refuse
SELECT query_to_xmlschema('SELECT * FROM people', true, false, '')

-- refuse
SELECT table_to_xml('people', true, false, '')

-- refuse
SELECT table_to_xml('public.people'::regclass, true, false, '')

-- refuse
SELECT table_to_xmlschema('people', true, false, '')

-- refuse
SELECT schema_to_xml('public', true, false, '')

-- refuse
SELECT schema_to_xml_and_xmlschema('kproxy_store', true, false, '')

-- refuse
SELECT database_to_xml(true, false, '')

-- refuse
SELECT database_to_xml_and_xmlschema(true, true, '')

-- refuse
SELECT (true).database_to_xml

-- refuse
SELECT cursor_to_xml('c', 100, true, false, '')

-- refuse
DECLARE c CURSOR FOR SELECT name FROM people; SELECT cursor_to_xml('c', 100, true, false, '')

-- refuse
SELECT * FROM ts_stat('SELECT to_tsvector(name) FROM people')

-- refuse
SELECT * FROM ts_stat($$SELECT to_tsvector('simple', name) FROM public.people$$, 'ab')

-- refuse
SELECT ts_rewrite('a'::tsquery, 'SELECT ''a''::tsquery, quote_literal(name)::tsquery FROM people')

-- refuse
SELECT * FROM xmltable('/table/row' PASSING query_to_xml('SELECT name FROM people', true, false, '') COLUMNS name text PATH 'name')

-- refuse
SELECT xpath('//name/text()', query_to_xml('SELECT name FROM people', true, false, ''))

-- refuse
SELECT peek('SELECT string_agg(name, '','') FROM people')

-- refuse
SELECT public.peek('SELECT name FROM people')

-- refuse
SELECT * FROM dblink('dbname=postgres', 'SELECT name FROM people') AS t(a text)

-- refuse
SELECT crosstab('SELECT name, name, name FROM people')
