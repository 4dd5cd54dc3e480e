-- The test writes this script in an encoding, with a word of it in place of each @.
\set VERBOSITY verbose
\warn '== word'
SELECT '@' AS "@", length('@'), upper('@'), E'\\@''' AS "a""@", length('@') AS @;
\warn '== rows'
SELECT ward, beds FROM wards WHERE ward = '@';
\warn '== all rows'
SELECT ward FROM wards ORDER BY beds;
\warn '== columns'
SELECT * FROM wards WHERE ward = 'surgery';
\warn '== protected'
SELECT visit, remarks FROM patients WHERE remarks LIKE '%@%' ORDER BY visit LIMIT 3;
\warn '== grouped'
SELECT '@' || remarks, count(*) FROM patients WHERE remarks = 'stable, "quoted"' OR remarks = '@' GROUP BY 1;
\warn '== unknown column'
SELECT beds, @ FROM wards;
\warn '== unknown table'
SELECT '@', * FROM "@";
\warn '== copy'
COPY (SELECT '@' AS "@", beds FROM wards ORDER BY beds) TO STDOUT (FORMAT csv, HEADER);
\warn '== plan'
EXPLAIN (COSTS OFF) SELECT FROM generate_series(1, 2) AS "@" WHERE "@" > 1 AND random() < length('@');
\warn '== prepared'
PREPARE "@" AS SELECT '@' || $1;
EXECUTE "@"('@');
DEALLOCATE "@";
\warn '== cursor'
BEGIN;
DECLARE "@" CURSOR FOR SELECT '@';
FETCH "@";
COMMIT;
\warn '== no such character'
SELECT chr(9731);
\warn '== rolled back'
BEGIN;
SET LOCAL client_encoding = 'LATIN2';
SHOW client_encoding;
ROLLBACK;
SELECT '@';
\warn '== changed'
\encoding UTF8
SELECT ward, "Gr\u00f6\u00dfe" FROM wards;
SELECT ward FROM wards ORDER BY beds;
\encoding
\warn '== back'
RESET client_encoding;
SHOW client_encoding;
\encoding
