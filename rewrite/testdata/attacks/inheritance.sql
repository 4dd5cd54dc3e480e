-- Partitions, ONLY, and rows taken as a whole.

-- refused 42
SELECT * FROM ledger_a

-- refused 42
SELECT holder FROM public.ledger_b

-- refused 42
SELECT holder FROM ONLY ledger

-- refused 42
SELECT * FROM ONLY ledger_a

-- allowed
SELECT * FROM ONLY people

-- allowed
SELECT * FROM ledger *

-- allowed
SELECT * FROM people

-- allowed
TABLE people

-- allowed
SELECT people.* FROM people

-- allowed
SELECT people FROM people

-- allowed
SELECT p FROM people p

-- allowed
SELECT (p).* FROM people p

-- refused 42
SELECT (p).name FROM people p

-- refused 42
SELECT p.name FROM people p

-- refused 42
SELECT name(p) FROM people p

-- refused 42
SELECT (SELECT p).name FROM people p

-- allowed
SELECT (ROW(p)).f1 FROM people p

-- allowed
SELECT (ROW(p.*)).f1 FROM people p

-- allowed
SELECT row_to_json(p) FROM people p

-- allowed
SELECT to_jsonb(people) FROM people

-- allowed
SELECT json_agg(p) FROM people p

-- allowed
SELECT jsonb_agg(to_jsonb(p) - 'illness') FROM people p

-- allowed
SELECT to_jsonb(p) ->> 'name' FROM people p

-- allowed
SELECT jsonb_path_query(to_jsonb(p), '$.*') FROM people p

-- allowed
SELECT key, value FROM people p, jsonb_each_text(to_jsonb(p))

-- allowed
SELECT p::text FROM people p

-- allowed
SELECT concat(p.*) FROM people p

-- allowed
SELECT format('%s', p) FROM people p

-- allowed
SELECT array_agg(p) FROM people p

-- allowed
SELECT count(DISTINCT p) FROM people p

-- refused 22 42
SELECT ROW(1, 'x')::people

-- allowed
SELECT NULL::public.people

-- harmless
SELECT p::record::people FROM people p

-- harmless
SELECT (json_populate_record(NULL::people, '{}')).name

-- allowed
SELECT * FROM jsonb_to_recordset('[]') AS x(a people)

-- allowed
SELECT (NULL::people[])[1]

-- allowed
SELECT xmlforest(illness, cost) FROM people

-- allowed
SELECT xmlelement(name p, people) FROM people

-- allowed
SELECT * FROM people NATURAL JOIN people q

-- refused 42
SELECT a.* FROM people a FULL JOIN ledger b USING (kind)

-- refused 42
SELECT name FROM people UNION SELECT illness FROM people

-- refused 42
SELECT illness FROM people ORDER BY name

-- refused 42
SELECT count(*) FROM people GROUP BY postcode, name

-- refused 42
SELECT illness FROM people WHERE name LIKE 'q%'

-- refused 42
SELECT min(id) FROM people

-- refused 42
SELECT max(remark), max(added) FROM people
