-- straight: COPY (SELECT * FROM patients) TO STDOUT
COPY patients TO STDOUT

-- straight: COPY (SELECT ward, cost, remarks FROM patients) TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'n/a', QUOTE '''', ESCAPE '\', FORCE_QUOTE (ward))
COPY public.patients (ward, cost, remarks) TO STDOUT WITH (FORMAT csv, HEADER, DELIMITER ';', NULL 'n/a', QUOTE '''', ESCAPE '\', FORCE_QUOTE (ward))

COPY (SELECT ward, count(*) FROM patients GROUP BY ward ORDER BY ward) TO STDOUT (FORMAT text, DELIMITER '|', NULL '')

-- straight: COPY (TABLE hospital.visits) TO STDOUT (FORMAT binary)
COPY hospital.visits TO STDOUT (FORMAT binary)

COPY (SELECT cost, birth_date_range FROM patients ORDER BY cost, admitted) TO STDOUT WITH CSV HEADER FORCE QUOTE *

-- straight: COPY (SELECT "Größe", "select" FROM "Lab Results") TO STDOUT (FORMAT csv, ENCODING 'LATIN1', HEADER true)
COPY "Lab Results" ("Größe", "select") TO STDOUT (FORMAT csv, ENCODING 'LATIN1', HEADER true)

-- straight: COPY public.wards TO STDOUT CSV DELIMITER AS E'\t' NULL AS 'null'
COPY wards TO STDOUT CSV DELIMITER AS E'\t' NULL AS 'null'

COPY (VALUES (1, 'a'), (2, NULL)) TO STDOUT

COPY (TABLE claims) TO STDOUT (FORMAT csv, HEADER false)

COPY (WITH w AS (SELECT ward FROM patients) SELECT * FROM w ORDER BY 1) TO STDOUT

PREPARE p (text, numeric) AS SELECT ward, cost FROM patients WHERE ward = $1 AND cost > $2;
EXECUTE p ('surgery', 1000);
EXECUTE p ('uro' || 'logy', (10 + 20) * 3);
DEALLOCATE p

PREPARE q AS SELECT count(*) FROM patients WHERE cost > $1 AND mood = $2;
EXECUTE q (100, 'good');
DEALLOCATE PREPARE q;
PREPARE q AS VALUES (1);
EXECUTE q;
DEALLOCATE ALL

PREPARE e (mood, public.percentage, int[]) AS SELECT count(*) FROM patients WHERE mood = $1 AND share > $2 AND share <> ALL ($3);
EXECUTE e ('low', 20, '{21,22}')

BEGIN;
DECLARE c CURSOR FOR SELECT ward, cost FROM patients ORDER BY cost, admitted;
FETCH 3 FROM c;
FETCH NEXT c;
MOVE 5 IN c;
FETCH FORWARD 2 FROM c;
CLOSE c;
COMMIT

BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;
DECLARE s SCROLL CURSOR WITH HOLD FOR SELECT cost FROM patients ORDER BY cost, admitted;
FETCH LAST FROM s;
FETCH PRIOR FROM s;
FETCH ABSOLUTE 10 FROM s;
FETCH RELATIVE -2 FROM s;
FETCH BACKWARD 2 FROM s;
MOVE FIRST IN s;
COMMIT;
FETCH ALL FROM s;
CLOSE ALL

BEGIN;
DECLARE b BINARY INSENSITIVE NO SCROLL CURSOR WITHOUT HOLD FOR TABLE wards;
FETCH ALL IN b;
END

START TRANSACTION READ ONLY, ISOLATION LEVEL SERIALIZABLE, DEFERRABLE;
SELECT count(*) FROM patients;
SAVEPOINT a;
SELECT 1;
ROLLBACK TO SAVEPOINT a;
RELEASE SAVEPOINT a;
COMMIT AND CHAIN;
ROLLBACK

BEGIN WORK;
SAVEPOINT "Ä";
SET LOCAL statement_timeout = '5s';
SHOW statement_timeout;
ROLLBACK TO "Ä";
SHOW statement_timeout;
ABORT

SET DateStyle = 'German';
SELECT min(birth_date), max(admitted::date) FROM patients;
SET intervalstyle TO iso_8601;
SELECT max(los) FROM patients;
RESET DateStyle;
SHOW datestyle;
RESET ALL

SET TIME ZONE 'Asia/Tokyo';
SELECT min(admitted), timestamptz '2024-01-01 00:00+00' FROM patients;
SHOW TimeZone;
SET TIME ZONE INTERVAL '+02:00' HOUR TO MINUTE;
SELECT max(admitted) FROM patients;
SET TIME ZONE LOCAL;
SHOW TIME ZONE

SET extra_float_digits = 0;
SELECT ratio, single FROM samples;
SET bytea_output = 'escape';
SELECT raw FROM samples;
SET extra_float_digits TO DEFAULT

SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
SET application_name = 'BI tool';
SHOW application_name;
SET client_encoding TO 'UTF8';
SHOW client_encoding;
SET NAMES 'UTF8';
SHOW server_version_num;
SHOW standard_conforming_strings;
SHOW transaction_isolation;
SHOW TRANSACTION ISOLATION LEVEL

SET search_path TO hospital, public;
SELECT count(*), min(age) FROM visits;
SELECT v.ward, count(p.cost) FROM visits v JOIN patients p USING (ward) GROUP BY 1;
SET search_path = public

BEGIN;
SET LOCAL search_path = hospital;
SELECT count(*) FROM visits;
ROLLBACK;
SELECT count(*) FROM patients

SELECT set_config('TimeZone', 'UTC', false);
SELECT current_setting('TimeZone'), min(admitted) FROM patients;
SELECT current_setting('server_version_num')

DISCARD PLANS;
SELECT count(*) FROM patients;
DISCARD SEQUENCES;
DISCARD TEMP

-- one text
SELECT count(*) FROM patients; SELECT ward FROM wards ORDER BY ward;
SELECT 1;

-- one text
BEGIN; SELECT count(*) FROM patients; COMMIT; SELECT 2

-- one text
SET TIME ZONE 'UTC'; SELECT min(admitted) FROM patients; SHOW timezone

-- one text
;;SELECT 1;;/* nothing */;

-- one text
PREPARE x AS SELECT ward FROM wards WHERE beds > $1; EXECUTE x(20); DEALLOCATE x

-- one text
-- only a comment

-- parameters: 100|F
-- types: numeric|text
SELECT ward, count(*) FROM patients WHERE cost > $1 AND sex = $2 GROUP BY ward

-- parameters: 5
-- types: int4
SELECT cost FROM patients ORDER BY cost LIMIT $1

-- parameters: \N|x
SELECT count(*) FROM patients WHERE $1::text IS NULL OR ward = $2

-- parameters: 1950-01-01|1970-01-01
-- types: date|date
SELECT count(*) FROM patients WHERE birth_date_range && daterange($1, $2)

-- parameters: {"score": 3}|$.pets[*]
-- types: jsonb|jsonpath
SELECT count(*) FROM patients WHERE details @> $1 AND jsonb_path_exists(details, $2)

-- parameters: {1,2,3,4}
-- types: _int4
SELECT share, count(*) FROM patients WHERE share = ANY($1) GROUP BY share

-- parameters: 3 days|2024-01-05 00:00:00+00
-- types: interval|timestamptz
SELECT count(*) FROM patients WHERE admitted BETWEEN $2 AND $2 + $1

-- parameters: 50
-- straight: SELECT count(*) BETWEEN 100 AND 300 FROM wards w, patients p WHERE p.ward = w.ward AND random() * 100 < $1
SELECT count(*) BETWEEN 100 AND 300 FROM wards w, patients p TABLESAMPLE BERNOULLI ($1) WHERE p.ward = w.ward

-- parameters: surgery
SELECT $1, $1 || 'x', (SELECT count(*) FROM patients WHERE ward = $1)

-- parameters: %ö%
SELECT remarks FROM patients WHERE remarks ILIKE $1

-- columns
SELECT version(), current_user, session_user, user, current_role, pg_backend_pid() > 0, current_catalog

-- shown as: clinic|public|{pg_catalog,public}|
SELECT current_database(), current_schema(), current_schemas(true)

-- shown as: clinic|public|
SELECT current_catalog, current_schema

-- shown as: "$user", public|
SHOW search_path

-- fails
SELECT nothing FROM patients

-- fails
SELECT patients.national_id FROM patients

-- fails
SELECT ward FROM patients GROUP BY sex

-- fails
SELECT 1 / (cost - cost) FROM patients

-- fails
SELECT ward::int FROM patients

-- fails
SELECT * FROM patients p JOIN wards w USING (building)

-- fails
SELECT p.nothing FROM patients p, wards w

-- fails
SELECT ward FROM patients, wards

-- fails
SELECT length(5)

-- fails
SELECT lower(1, 2) FROM patients

-- fails
SELECT 'x'::mood FROM patients

-- fails
SELECT sum(ward) FROM patients

-- fails
SELECT FROM WHERE

-- fails
SELECT * FROM nowhere

-- fails
SELECT 1::nothing

-- fails
SELECT cost + ward FROM patients

-- fails
FETCH ALL FROM nothing
