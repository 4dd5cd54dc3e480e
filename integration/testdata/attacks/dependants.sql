-- Views, materialized views and functions that read with their owner's rights.

-- refuse
SELECT * FROM people_view

-- refuse
SELECT name FROM public.people_view

-- refuse
SELECT * FROM people_barrier WHERE reveal(name)

-- refuse
TABLE people_copy

-- refuse
SELECT * FROM people_copy LIMIT 1

-- refuse
SELECT people_names()

-- refuse
SELECT * FROM people_names() AS n

-- refuse
SELECT * FROM ROWS FROM (people_names(), generate_series(1, 3)) AS r

-- refuse
SELECT name FROM other.people

-- refuse
SELECT * FROM "People"

-- refuse
SELECT * FROM unlisted

-- refuse
SELECT * FROM people WHERE reveal(illness)

-- refuse
SELECT * FROM people WHERE public.reveal(name)

-- refuse
SELECT count(*) FROM people p, LATERAL people_names() n

-- refuse
SELECT account::small FROM people

-- refuse
SELECT cost::public.small FROM people

-- refuse
SELECT illness::mood FROM people
