-- Partitions, ONLY, and rows taken as a whole.

-- refuse
SELECT * FROM ledger_a

-- refuse
SELECT holder FROM public.ledger_b

-- refuse
SELECT holder FROM ONLY ledger

-- refuse
SELECT * FROM ONLY ledger_a

SELECT * FROM ONLY people

SELECT * FROM ledger *

SELECT * FROM people

TABLE people

SELECT people.* FROM people

SELECT people FROM people

SELECT p FROM people p

SELECT (p).* FROM people p

-- refuse
SELECT (p).name FROM people p

-- refuse
SELECT p.name FROM people p

-- refuse
SELECT name(p) FROM people p

-- refuse
SELECT (SELECT p).name FROM people p

SELECT (ROW(p)).f1 FROM people p

SELECT (ROW(p.*)).f1 FROM people p

SELECT row_to_json(p) FROM people p

SELECT to_jsonb(people) FROM people

SELECT json_agg(p) FROM people p

SELECT jsonb_agg(to_jsonb(p) - 'illness') FROM people p

SELECT to_jsonb(p) ->> 'name' FROM people p

SELECT jsonb_path_query(to_jsonb(p), '$.*') FROM people p

SELECT key, value FROM people p, jsonb_each_text(to_jsonb(p))

SELECT p::text FROM people p

SELECT concat(p.*) FROM people p

SELECT format('%s', p) FROM people p

SELECT array_agg(p) FROM people p

SELECT count(DISTINCT p) FROM people p

-- refuse
SELECT ROW(1, 'x')::people

-- refuse
SELECT NULL::public.people

-- refuse
SELECT p::record::people FROM people p

-- refuse
SELECT (json_populate_record(NULL::people, '{}')).name

-- refuse
SELECT * FROM jsonb_to_recordset('[]') AS x(a people)

-- refuse
SELECT (NULL::people[])[1]

SELECT xmlforest(illness, cost) FROM people

SELECT xmlelement(name p, people) FROM people

SELECT * FROM people NATURAL JOIN people q

SELECT a.* FROM people a FULL JOIN ledger b USING (kind)

-- refuse
SELECT name FROM people UNION SELECT illness FROM people

-- refuse
SELECT illness FROM people ORDER BY name

-- refuse
SELECT count(*) FROM people GROUP BY postcode, name

-- refuse
SELECT illness FROM people WHERE name LIKE 'q%'

-- refuse
SELECT min(id) FROM people

-- refuse
SELECT max(remark), max(added) FROM people
