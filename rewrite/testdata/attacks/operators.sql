-- Operators, casts, types, domains, collations, aggregates and other objects of
-- users, which have functions behind them.

-- refused 42
SELECT illness FROM people WHERE illness === town

-- refused 42
SELECT illness FROM people WHERE illness OPERATOR(public.===) town

-- refused 42
SELECT illness FROM people WHERE illness OPERATOR(other.=) town

-- refused 42
SELECT illness FROM people WHERE illness OPERATOR(clinic.public.===) town

-- refused 42
SELECT OPERATOR(public.@#@) 'x'::text

-- refused 42
SELECT @#@ 'x'::text

-- refused 42
SELECT illness FROM people WHERE illness OPERATOR(public.===) ANY (ARRAY['a', 'b'])

-- refused 42
SELECT illness FROM people WHERE illness OPERATOR(public.===) ALL (SELECT code FROM codes)

-- refused 42
SELECT illness FROM people WHERE (illness, town) OPERATOR(public.===) (town, illness)

-- refused 42
SELECT (illness, town) OPERATOR(public.===) ANY (SELECT town, illness FROM people) FROM people

-- refused 42
SELECT illness FROM people ORDER BY illness USING OPERATOR(public.===)

-- refused 42
SELECT rank() OVER (ORDER BY illness USING OPERATOR(public.===)) FROM people

-- refused 42
SELECT array_agg(illness ORDER BY illness USING OPERATOR(other.=)) FROM people

-- refused 42
SELECT illness IS DISTINCT FROM name FROM people

-- refused 42
SELECT illness LIKE name FROM people

-- refused 42
SELECT town SIMILAR TO name FROM people

-- refused 42
SELECT cost BETWEEN SYMMETRIC id AND 5 FROM people

-- refused 42
SELECT illness::probe FROM people

-- refused 42
SELECT CAST(illness AS public.probe) FROM people

-- refused 42
SELECT illness::text::"probe" FROM people

-- refused 42
SELECT probe(illness) FROM people

-- refused 42
SELECT public.probe(illness) FROM people

-- refused 42
SELECT to_probe(illness) FROM people

-- refused 42
SELECT probe 'x'

-- refused 42
SELECT public.probe '(x)'

-- refused 42
SELECT illness::chatty FROM people

-- refused 42
SELECT ARRAY[illness]::public.chatty[] FROM people

-- refused 42
SELECT chatty 'text'

-- refused 42
SELECT NULL::probe[], '{}'::_probe

-- allowed
SELECT (NULL::people).illness

-- refused 42
SELECT ROW(1, 2, 3)::kproxy_release_public.people

-- refused 42
SELECT '(1,2)'::kproxy_store.records_1

-- refused 42
SELECT NULL::pg_class, NULL::pg_catalog.pg_statistic

-- refused 42
SELECT NULL::_people, NULL::"_qvzrel_vault"

-- refused 42
SELECT NULL::people%ROWTYPE

-- refused 42 0A
SELECT NULL::people.name%TYPE

-- refused 42 0A
SELECT NULL::SETOF people

-- refused 42
SELECT 'x'::anyelement, NULL::cstring

-- refused 42
SELECT 'x'::pg_node_tree, 'x'::pg_mcv_list

-- refused 42
SELECT NULL::trigger, NULL::event_trigger, NULL::internal

-- refused 42
SELECT span('a', illness) FROM people

-- refused 42
SELECT '[a,b)'::span

-- refused 42
SELECT collected(illness) FROM people

-- refused 42
SELECT public.collected(illness) OVER () FROM people

-- refused 42
SELECT other.count(illness) FROM people

-- refused 42
SELECT public.lower(5::bigint)

-- refused 42
SELECT lower(5::bigint)

-- refused 42
SELECT abs(illness) FROM people

-- refused 42
SELECT length(5)

-- refused 42
SELECT illness COLLATE numbered FROM people

-- refused 42
SELECT illness FROM people ORDER BY illness COLLATE public.numbered

-- refused 42
SELECT illness COLLATE "kproxy_store"."x" FROM people

-- allowed
SELECT to_tsvector('public.ours', illness) FROM people

-- refused 42
SELECT to_tsvector('ours', illness) FROM people

-- harmless
SELECT ts_parse('default', illness) FROM people

-- refused 42
SELECT ts_debug('simple', illness) FROM people

-- refused 42 22
SELECT 'ours'::regconfig

-- allowed
SELECT oprname, oprcode FROM pg_operator WHERE oid > 16384

-- allowed
SELECT castsource, casttarget, castfunc FROM pg_cast WHERE oid > 16384

-- refused 0A 42
SELECT * FROM people TABLESAMPLE BERNOULLI (50) REPEATABLE (1)

-- refused 0A 42
SELECT * FROM codes TABLESAMPLE system_rows (10)

-- Arguments by name, by default and in number: what is called is the function that
-- the name says, whatever its arguments.

-- refused 42
SELECT padded('x')

-- refused 42
SELECT public.padded(value => 'x')

-- refused 42
SELECT padded('x', query => 'SELECT name FROM people')

-- refused 42
SELECT padded(query := 'SELECT name FROM people', value := 'x')

-- refused 42
SELECT many('SELECT name FROM people', 'x')

-- refused 42
SELECT many(VARIADIC ARRAY['SELECT name FROM people'])

-- refused 42
SELECT * FROM padded('x') AS f (name)

-- refused 42
SELECT query_to_xml(query => 'SELECT name FROM people', nulls => true, tableforest => false, targetns => '')

-- refused 42
SELECT concat(VARIADIC ARRAY[name]) FROM people

-- refused 42
SELECT make_interval(secs => id) FROM people

-- refused 42
SELECT format('%1$s %2$s', VARIADIC ARRAY[illness, name]) FROM people

-- allowed
SELECT make_date(year => 2000, month => 1, day => 1), concat(VARIADIC ARRAY[illness, town]) FROM people

-- refused 42
SELECT to_json(p.name) FROM people AS p

-- refused 42
SELECT row_to_json(ROW(p.name, p.illness)) FROM people p

-- allowed
SELECT row_to_json(ROW(p.*), true) FROM people p
