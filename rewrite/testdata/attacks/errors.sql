-- Errors that would quote a value.

-- refused 42
SELECT name::integer FROM people

-- refused 42
SELECT CAST(remark AS date) FROM people

-- refused 42
SELECT id / 0 FROM people

-- refused 22
SELECT 1 / (account - account) FROM people

-- refused 22
SELECT town::integer FROM people

-- refused 22
SELECT postcode::bigint FROM people

-- refused 22
SELECT illness::numeric FROM people

-- refused 22
SELECT (illness || 'x')::inet FROM people

-- refused 42
SELECT CASE WHEN name = 'x' THEN 1 / 0 END FROM people

-- refused 22
SELECT 1 / (SELECT count(*) - 120 FROM people)

-- refused 42
SELECT name FROM people GROUP BY illness

-- refused 42
SELECT nme FROM people

-- refused 42
SELECT people.remark FROM people

-- refused 42
SELECT added FROM people p WHERE EXISTS (SELECT added FROM codes)

-- refused 21
SELECT (SELECT illness FROM people)

-- refused 42
SELECT to_date(town, 'YYYY') + 'x' FROM people

-- refused 22
SELECT illness::json FROM people

-- refused 22
SELECT xmlparse(DOCUMENT illness) FROM people

-- refused 22
SELECT ('{' || illness)::text[] FROM people

-- refused 42
SELECT born::timestamp::time::integer FROM people

-- refused 22
SELECT regexp_replace(town, illness || '(', '') FROM people

-- refused 22
SELECT decode(illness, 'hex') FROM people

-- refused 42
SELECT pg_input_error_message(name, 'integer') FROM people

-- refused 42
SELECT * FROM people LIMIT illness

-- refused 42
SELECT json_object(ARRAY[name]) FROM people

-- refused 42
SELECT born_ FROM people

-- refused 42
SELECT md5(name), length(name), name || '' FROM people

-- refused 42
SELECT encode(name::bytea, 'hex') FROM people

-- refused 42
SELECT reverse(name) FROM people
