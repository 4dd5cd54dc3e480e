\set VERBOSITY verbose
\set SHOW_CONTEXT always
\pset null NULL
\warn '== everything'
SELECT * FROM patients ORDER BY visit LIMIT 30;
\warn '== expanded'
\x on
SELECT * FROM patients WHERE visit IN (20, 21) ORDER BY visit;
\x off
\warn '== columns'
SELECT * FROM patients LIMIT 0 \gdesc
\warn '== aggregates'
SELECT diagnosis, count(*), avg(cost), min(admitted), bool_or(alive) FROM patients GROUP BY 1 ORDER BY 1;
\warn '== join'
SELECT p.visit, w.* FROM patients p JOIN wards w ON w.beds = p.visit * 10 ORDER BY 1;
\warn '== gset'
SELECT count(*) AS n, max(title) AS last FROM patients \gset
\warn :n :last
\warn '== gexec'
SELECT format('SELECT %s AS x, count(*) FROM patients WHERE visit <= %s', i, i) FROM generate_series(1, 3) i \gexec
\warn '== crosstab'
SELECT diagnosis, mood, count(*) FROM patients GROUP BY 1, 2 ORDER BY 1, 2 \crosstabview
\warn '== format'
\pset format csv
SELECT visit, remarks, tags, home FROM patients WHERE visit < 10 ORDER BY 1;
\pset format unaligned
SELECT visit, remarks, raw, details FROM patients WHERE visit < 10 ORDER BY 1;
\pset format aligned
\warn '== syntax error'
SELECT visit FORM patients;
\warn '== unknown column'
SELECT visit, nothing FROM patients;
\warn '== unknown table'
SELECT * FROM nobody;
\warn '== unknown function'
SELECT nothing(visit) FROM patients;
\warn '== division by zero'
SELECT visit / (visit - visit) FROM patients;
\errverbose
\warn '== bad value'
SELECT 'x'::int;
\warn '== failed transaction'
BEGIN;
SELECT count(*) FROM patients;
SELECT 1 / 0;
SELECT count(*) FROM patients;
COMMIT;
\warn '== savepoints'
BEGIN ISOLATION LEVEL REPEATABLE READ;
SAVEPOINT a;
SELECT nothing FROM patients;
ROLLBACK TO a;
RELEASE a;
SELECT count(*) FROM patients;
\warn :ERROR :SQLSTATE :ROW_COUNT
END;
\warn '== on error rollback'
\set ON_ERROR_ROLLBACK on
BEGIN;
SELECT 1 / 0;
SELECT count(*) FROM patients;
COMMIT;
\set ON_ERROR_ROLLBACK off
\warn '== notices'
COMMIT;
ROLLBACK;
BEGIN;
BEGIN;
COMMIT;
\warn '== empty'
;
\warn '== several statements'
SELECT 1 AS a\; SELECT count(*) FROM patients\; SELECT 'ß' AS c;
SELECT 1 AS a\; SELECT 1 / 0\; SELECT 2 AS b;
\warn '== copy text'
-- tac shows nothing before it has all, and so before psql tells how many there were: with cat, either came first.
\copy (SELECT visit, remarks, raw, tags FROM patients WHERE visit < 30 ORDER BY visit) TO PROGRAM 'tac >&2'
COPY (SELECT * FROM patients WHERE visit < 30 ORDER BY visit) TO STDOUT;
\warn '== copy csv'
COPY (SELECT * FROM patients WHERE visit < 30 ORDER BY visit) TO STDOUT WITH (FORMAT csv, HEADER, FORCE_QUOTE *);
\warn '== copy large'
\copy (SELECT n, visit, cost, admitted, remarks, tags FROM patients p, generate_series(1, 110) n ORDER BY n, visit) TO PROGRAM 'md5sum >&2' WITH (FORMAT csv)
\copy (SELECT visit, cost, admitted, raw, home, tags FROM patients ORDER BY visit) TO PROGRAM 'md5sum >&2' WITH (FORMAT binary)
\warn '== copy error'
COPY (SELECT 1 / (visit - 300) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p) TO STDOUT;
SELECT 'goes on' AS now;
\warn '== copy of an unknown table'
COPY nobody TO STDOUT;
\warn '== large result'
\o | md5sum >&2
SELECT n, visit, cost, admitted, remarks, tags FROM patients p, generate_series(1, 110) n ORDER BY n, visit;
\o /dev/stderr
\warn '== fetch count'
\set FETCH_COUNT 1000
\o | md5sum >&2
SELECT n, visit, cost, remarks FROM patients p, generate_series(1, 110) n ORDER BY n, visit;
\o /dev/stderr
SELECT visit / (visit - 200) FROM (SELECT visit FROM patients ORDER BY visit OFFSET 0) p;
\unset FETCH_COUNT
\warn '== formats'
SET TimeZone = 'America/New_York';
SET DateStyle = 'German';
SET IntervalStyle = 'iso_8601';
SET extra_float_digits = 0;
SET bytea_output = 'escape';
SELECT visit, admitted, left_at, day, span, ratio, raw FROM patients WHERE visit < 22 ORDER BY 1;
SHOW TimeZone;
SHOW DateStyle;
SET TimeZone = 'nowhere';
RESET ALL;
SELECT admitted FROM patients WHERE visit = 1;
\warn '== prepared'
PREPARE by_diagnosis(text, int) AS SELECT count(*), sum(cost) FROM patients WHERE diagnosis = $1 AND visit > $2;
EXECUTE by_diagnosis('I10', 100);
EXECUTE by_diagnosis('I10', NULL);
DEALLOCATE by_diagnosis;
EXECUTE by_diagnosis('I10', 1);
\warn '== too few parameters'
PREPARE one(int) AS SELECT $1;
EXECUTE one;
\warn '== cursor'
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT visit, title FROM patients ORDER BY visit;
FETCH 2 FROM c;
FETCH LAST FROM c;
MOVE BACKWARD 3 FROM c;
FETCH BACKWARD 2 FROM c;
CLOSE c;
FETCH 1 FROM c;
ROLLBACK;
\warn '== time limit'
SET statement_timeout = '100ms';
SELECT count(*) FROM generate_series(1, 100000000000);
RESET statement_timeout;
SELECT 'goes on' AS now;
\warn '== write'
INSERT INTO wards VALUES ('x', 1, 1);
\warn '== reconnect'
\c
\pset format unaligned
SELECT count(*), current_user, current_database(), current_setting('application_name') FROM patients;
