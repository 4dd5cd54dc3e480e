-- Plans and estimates.

EXPLAIN SELECT * FROM people

EXPLAIN (FORMAT json) SELECT * FROM people WHERE cost > 5

EXPLAIN ANALYZE SELECT * FROM people ORDER BY cost

EXPLAIN (ANALYZE, BUFFERS, FORMAT xml) SELECT count(*) FROM people JOIN ledger ON true

EXPLAIN ANALYZE SELECT * FROM people WHERE account > 500000000 AND town <> 'x'

-- refuse
EXPLAIN VERBOSE SELECT * FROM people

-- refuse
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM people

-- refuse
EXPLAIN (SETTINGS) SELECT * FROM people

-- refuse
EXPLAIN SELECT * FROM people WHERE name = 'x'

-- refuse
EXPLAIN SELECT * FROM people_view

-- refuse
EXPLAIN SELECT * FROM people_copy WHERE name < 'q'

-- refuse
EXPLAIN ANALYZE DELETE FROM people

-- refuse
EXPLAIN ANALYZE CREATE TABLE t AS SELECT * FROM people

-- refuse
EXPLAIN ANALYZE SELECT people_names()

-- refuse
EXPLAIN DECLARE c CURSOR FOR SELECT name FROM people

-- refuse
EXPLAIN ANALYZE EXECUTE nothing_is_prepared
