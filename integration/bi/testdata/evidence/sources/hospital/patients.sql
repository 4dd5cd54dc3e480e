-- Birth dates as text: Evidence stores dates before 1970 as days 2^32 milliseconds later.
SELECT birth_date::text, sex, postcode, ward, admission_date, diagnosis, cost
FROM patients
ORDER BY birth_date, sex, postcode, ward, admission_date, diagnosis, cost
