\set VERBOSITY verbose
\pset null NULL
\warn '== bound'
SELECT visit, title, mood FROM patients WHERE diagnosis = $1 AND visit < $2 ORDER BY visit \bind I10 60 \g
SELECT $1::text, $2::int, $3::numeric + 1 \bind 'ß日本' 7 12.50 \g
SELECT nothing FROM patients WHERE visit = $1 \bind 1 \g
\warn '== bound to a bad value'
SELECT $1::int \bind x \g
\warn '== bound rows'
\set FETCH_COUNT 100
SELECT count(*), sum(visit) FROM patients WHERE visit > $1 \bind 7 \g
\o | md5sum >&2
SELECT n, p.visit, p.remarks FROM patients p, generate_series(1, $1) n ORDER BY n, visit \bind 110 \g
\o /dev/stderr
SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p;
\unset FETCH_COUNT
\warn '== bound in a transaction'
BEGIN;
SELECT count(*) FROM patients WHERE alive = $1 \bind true \g
SELECT 1 / $1::int \bind 0 \g
SELECT 1;
ROLLBACK;
SELECT count(*) FROM patients;
