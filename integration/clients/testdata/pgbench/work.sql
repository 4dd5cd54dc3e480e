-- Values are checked in the script: pgbench itself reports counts alone.
\set visit random(1, 500)
SELECT visit AS found, coalesce(small, visit - 250) AS small FROM patients WHERE visit = :visit \gset
\if :found <> :visit or :small <> :visit - 250
  SELECT 'another row than asked for'::int;
\endif
BEGIN;
SELECT count(*) AS n FROM patients WHERE visit <= :visit \gset one_
SELECT sum(beds) FROM wards;
END;
\if :one_n <> :visit
  SELECT 'another number than asked for'::int;
\endif
