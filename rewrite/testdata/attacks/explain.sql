-- Plans and estimates.

-- allowed
EXPLAIN SELECT * FROM people

-- allowed
EXPLAIN (FORMAT json) SELECT * FROM people WHERE cost > 5

-- allowed
EXPLAIN ANALYZE SELECT * FROM people ORDER BY cost

-- refused 42
EXPLAIN (ANALYZE, BUFFERS, FORMAT xml) SELECT count(*) FROM people JOIN ledger ON true

-- allowed
EXPLAIN ANALYZE SELECT * FROM people WHERE account > 500000000 AND town <> 'x'

-- allowed
EXPLAIN VERBOSE SELECT * FROM people

-- allowed
EXPLAIN (VERBOSE, COSTS OFF) SELECT * FROM people

-- refused 42
EXPLAIN (SETTINGS) SELECT * FROM people

-- refused 42
EXPLAIN SELECT * FROM people WHERE name = 'x'

-- refused 42
EXPLAIN SELECT * FROM people_view

-- refused 42
EXPLAIN SELECT * FROM people_copy WHERE name < 'q'

-- refused 42
EXPLAIN ANALYZE DELETE FROM people

-- refused 42
EXPLAIN ANALYZE CREATE TABLE t AS SELECT * FROM people

-- refused 42
EXPLAIN ANALYZE SELECT people_names()

-- refused 42
EXPLAIN DECLARE c CURSOR FOR SELECT name FROM people

-- refused 26
EXPLAIN EXECUTE nothing_is_prepared

-- refused 42
EXPLAIN (SETTINGS off, VERBOSE off) SELECT name FROM people

-- refused 42
EXPLAIN (SETTINGS on) SELECT 1

-- refused 42
EXPLAIN (ANALYZE, VERBOSE, BUFFERS, WAL) SELECT * FROM people

-- refused 42
EXPLAIN (ANALYZE, BUFFERS, TIMING off, SUMMARY off, FORMAT yaml) SELECT * FROM chart WHERE age > 30

-- refused 42
EXPLAIN (ANALYZE, WAL, COSTS off) SELECT illness, count(*) FROM people GROUP BY illness ORDER BY 2

-- refused 55
EXPLAIN SELECT * FROM rare

-- allowed
EXPLAIN (FORMAT json) SELECT * FROM visits v JOIN people p ON p.cost = v.day

-- allowed
EXPLAIN SELECT relname FROM pg_class WHERE relname = 'x'

-- allowed
EXPLAIN (FORMAT xml) SELECT format_type(atttypid, atttypmod) FROM pg_attribute

-- allowed
EXPLAIN SELECT 'people'::regclass

-- allowed
EXPLAIN WITH q AS MATERIALIZED (SELECT * FROM people) SELECT * FROM q a, q b

-- allowed
EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) SELECT * FROM people p WHERE p.cost = (SELECT max(cost) FROM people q WHERE q.illness = p.illness)

-- allowed
EXPLAIN (GENERIC_PLAN off) SELECT * FROM people
-- then
EXPLAIN SELECT * FROM people ORDER BY account, town

-- refused 42
EXPLAIN (ANALYZE) COPY people TO STDOUT

-- refused 42
EXPLAIN ANALYZE REFRESH MATERIALIZED VIEW people_copy

-- refused 42
EXPLAIN ANALYZE INSERT INTO codes SELECT name, name FROM people

-- refused 22
EXPLAIN (FORMAT no_such) SELECT 1

-- refused 22
EXPLAIN (ANALYZE maybe) SELECT 1

-- refused 42
EXPLAIN (ANALYZE, ANALYZE off, NO_SUCH 5) SELECT 1

-- refused 42
EXPLAIN EXPLAIN SELECT 1

-- refused 42
EXPLAIN SELECT * FROM qvzrel_vault

-- refused 42
EXPLAIN SELECT count(*) FROM ONLY people_view

-- refused 42
PREPARE p AS SELECT name FROM people; EXPLAIN ANALYZE EXECUTE p

-- allowed
PREPARE p (int) AS SELECT * FROM people WHERE cost > $1
-- then
EXPLAIN (FORMAT json) EXECUTE p(3)

-- refused 42
PREPARE p AS SELECT count(*) FROM pg_class
-- then
EXPLAIN ANALYZE EXECUTE p

-- refused 42
EXPLAIN (BUFFERS) SELECT * FROM codes

-- refused 42
EXPLAIN (ANALYZE, TIMING) SELECT * FROM codes

-- refused 42
EXPLAIN (SUMMARY) SELECT * FROM codes

-- refused 42
EXPLAIN ANALYZE SELECT count(*) FROM pg_class

-- refused 42
EXPLAIN (ANALYZE, COSTS off) SELECT 'codes'::regclass

-- refused 42
EXPLAIN (ANALYZE, BUFFERS off, WAL false, TIMING 0, FORMAT json) SELECT * FROM codes

-- allowed
EXPLAIN (ANALYZE, BUFFERS off, WAL false, TIMING 0, FORMAT json) SELECT * FROM people
