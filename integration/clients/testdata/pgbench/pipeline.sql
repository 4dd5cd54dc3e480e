\set visit random(1, 500)
\startpipeline
BEGIN;
SELECT title FROM patients WHERE visit = :visit;
SELECT count(*) FROM patients WHERE visit < :visit;
SELECT * FROM wards;
END;
\endpipeline
SELECT max(visit) AS last FROM patients \gset
\if :last <> 500
  SELECT 'another number than asked for'::int;
\endif
