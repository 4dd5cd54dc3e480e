-- Errors that would quote a value.

-- refuse
SELECT name::integer FROM people

-- refuse
SELECT CAST(remark AS date) FROM people

-- refuse
SELECT id / 0 FROM people

-- refuse
SELECT 1 / (account - account) FROM people

-- refuse
SELECT town::integer FROM people

-- refuse
SELECT postcode::bigint FROM people

-- refuse
SELECT illness::numeric FROM people

-- refuse
SELECT (illness || 'x')::inet FROM people

-- refuse
SELECT CASE WHEN name = 'x' THEN 1 / 0 END FROM people

-- refuse
SELECT 1 / (SELECT count(*) - 120 FROM people)

-- refuse
SELECT name FROM people GROUP BY illness

-- refuse
SELECT nme FROM people

-- refuse
SELECT people.remark FROM people

-- refuse
SELECT added FROM people p WHERE EXISTS (SELECT added FROM codes)

-- refuse
SELECT (SELECT illness FROM people)

-- refuse
SELECT to_date(town, 'YYYY') + 'x' FROM people

-- refuse
SELECT illness::json FROM people

-- refuse
SELECT xmlparse(DOCUMENT illness) FROM people

-- refuse
SELECT ('{' || illness)::text[] FROM people

-- refuse
SELECT born::timestamp::time::integer FROM people

-- refuse
SELECT regexp_replace(town, illness || '(', '') FROM people

-- refuse
SELECT decode(illness, 'hex') FROM people

-- refuse
SELECT pg_input_error_message(name, 'integer') FROM people

-- refuse
SELECT * FROM people LIMIT illness

-- refuse
SELECT json_object(ARRAY[name]) FROM people

-- refuse
SELECT born_ FROM people

-- refuse
SELECT md5(name), length(name), name || '' FROM people

-- refuse
SELECT encode(name::bytea, 'hex') FROM people

-- refuse
SELECT reverse(name) FROM people
