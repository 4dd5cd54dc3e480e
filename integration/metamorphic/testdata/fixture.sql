-- What happens once everything is published: records wait, others leave or change and
-- stay published as they were.
INSERT INTO patients (name, born, postcode, diagnosis, ward)
SELECT 'arrival ' || i, date '1960-01-01' + i * 31, (10000 + i)::text, 'D' || 10 + i, 1 + i % 8 FROM generate_series(1, 5) i;

DELETE FROM patients WHERE id = 7;

UPDATE patients SET diagnosis = 'D3' WHERE id = 12;

INSERT INTO trials SELECT 1000 + i, i, 1 + i, i, 'outcome 1' FROM generate_series(1, 3) i;

INSERT INTO barrier (n, kind) VALUES (1, 'kind 1');
