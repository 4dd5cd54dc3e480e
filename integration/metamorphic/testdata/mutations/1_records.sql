-- insert a record that waits
INSERT INTO patients (name, born, postcode, diagnosis, ward) VALUES ('hidden arrival', '1955-05-05', '10022', 'D17', 5);

-- insert a record that is withheld
INSERT INTO donors (name, age, organ) VALUES ('hidden donor', 33, 'D16');

-- insert a record that waits, into a partition
INSERT INTO trials VALUES (2000, 60, 3, 3, 'outcome 2');

-- insert a record whose key is far away
INSERT INTO donors (id, name, age, organ) VALUES (1000000, 'far donor', 90, 'D15');

-- update a record that waits
UPDATE patients SET diagnosis = 'D18', ward = 6, postcode = '10023' WHERE name = 'arrival 2';

-- delete a record that waits
DELETE FROM patients WHERE name = 'arrival 3';

-- update a record that is withheld
UPDATE donors SET organ = 'D19', age = 40 WHERE id = 3;

-- delete a record that is withheld
DELETE FROM donors WHERE id = 4;

-- delete a published record of a guarded table, whose row stays
DELETE FROM patients WHERE id = 110;

-- change a published record of a guarded table, whose row stays as it was
UPDATE patients SET diagnosis = 'D4', ward = 7 WHERE id = 50;

-- move a waiting record to another partition
UPDATE trials SET day = 70 WHERE id = 1001;

-- change a record that is withheld in a table of many
UPDATE rare SET amount = amount + 1 WHERE id = 5;

-- change a protected row such that its generalization stays
UPDATE episodes SET age = age + 1 WHERE id IN (10, 20, 30);

-- insert and delete within one transaction
BEGIN; INSERT INTO episodes (patient, age, diagnosis) VALUES (5, 30, 'D11'); DELETE FROM episodes WHERE diagnosis = 'D11'; COMMIT;

-- an aborted insert
BEGIN; INSERT INTO patients (name, born, postcode, diagnosis, ward) VALUES ('nobody', '1999-01-01', '10030', 'D14', 2); ROLLBACK;

-- an aborted savepoint
BEGIN; SAVEPOINT s; INSERT INTO donors (name, age, organ) VALUES ('nobody', 20, 'D13'); ROLLBACK TO s; INSERT INTO donors (name, age, organ) VALUES ('somebody', 21, 'D12'); COMMIT;

-- rows of a table that nobody lists
INSERT INTO journal (what, code) SELECT 'hidden', 'D' || i % 20 FROM generate_series(1, 300) i;

-- insert rows that a listed view leaves out
INSERT INTO notes SELECT i, 'true', 'closed' FROM generate_series(100, 400) i;

-- change rows that a listed view leaves out
UPDATE notes SET what = 'note 10' WHERE flag = 'closed' AND id % 2 = 0;

-- delete rows that a listed view leaves out
DELETE FROM notes WHERE flag = 'closed' AND id % 3 = 0;

-- truncate a table that nobody lists
TRUNCATE qvzrel_queries;

-- lock rows of a protected table
BEGIN; SELECT count(*) FROM (SELECT FROM patients WHERE id < 20 FOR UPDATE) s; COMMIT;

-- a large object
SELECT lo_from_bytea(0, 'hidden large object');
