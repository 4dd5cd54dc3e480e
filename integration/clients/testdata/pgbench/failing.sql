SELECT count(*) FROM patients;
BEGIN;
SELECT 1 / (count(*) - 500) FROM patients;
END;
