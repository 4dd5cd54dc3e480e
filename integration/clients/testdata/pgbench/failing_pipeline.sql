\startpipeline
SELECT count(*) FROM patients;
SELECT 1 / (count(*) - 500) FROM patients;
SELECT count(*) FROM patients;
\endpipeline
