-- Views, materialized views and functions that read with their owner's rights.

-- refused 42
SELECT * FROM people_view

-- refused 42
SELECT name FROM public.people_view

-- refused 42
SELECT * FROM people_barrier WHERE reveal(name)

-- refused 42
TABLE people_copy

-- refused 42
SELECT * FROM people_copy LIMIT 1

-- refused 42
SELECT people_names()

-- refused 42
SELECT * FROM people_names() AS n

-- refused 42
SELECT * FROM ROWS FROM (people_names(), generate_series(1, 3)) AS r

-- refused 42
SELECT name FROM other.people

-- refused 42
SELECT * FROM "People"

-- refused 42
SELECT * FROM unlisted

-- refused 42
SELECT * FROM people WHERE reveal(illness)

-- refused 42
SELECT * FROM people WHERE public.reveal(name)

-- refused 42
SELECT count(*) FROM people p, LATERAL people_names() n

-- refused 42
SELECT account::small FROM people

-- refused 42
SELECT cost::public.small FROM people

-- refused 42
SELECT illness::mood FROM people
