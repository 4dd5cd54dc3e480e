-- create an index
CREATE INDEX hidden_index ON patients (remark);

-- create a partial index on an expression
CREATE INDEX hidden_partial ON people ((account % 7)) WHERE town <> 'x';

-- drop an index
DROP INDEX patients_old;

-- comment on a hidden column
COMMENT ON COLUMN patients.remark IS 'hidden remark';

-- comment on an identifying column
COMMENT ON COLUMN people.name IS 'hidden comment';

-- comment on a hidden table
COMMENT ON TABLE journal IS 'hidden comment';

-- comment on a constraint of a protected table
COMMENT ON CONSTRAINT named ON people IS 'hidden comment';

-- comment on a hidden function
COMMENT ON FUNCTION write_journal() IS 'hidden comment';

-- comment on the database
COMMENT ON ROLE metamorphic_clerk IS 'hidden comment';

-- change a hidden default
ALTER TABLE patients ALTER remark SET DEFAULT 'changed';

-- drop the default of an unpublished column
ALTER TABLE people ALTER remark DROP DEFAULT;

-- add a trigger
CREATE TRIGGER hidden_trigger AFTER UPDATE ON donors FOR EACH ROW EXECUTE FUNCTION write_journal();

-- disable a trigger
ALTER TABLE patients DISABLE TRIGGER journaled;

-- a statistics target
ALTER TABLE patients ALTER name SET STATISTICS 500;

-- extended statistics
CREATE STATISTICS hidden_statistics ON name, remark FROM patients;

-- a check on an unpublished column
ALTER TABLE patients ADD CONSTRAINT hidden_check CHECK (remark <> 'forbidden') NOT VALID;

-- a foreign key from a hidden table to a readable one
CREATE TABLE hidden_child (code text REFERENCES icd10, pc text REFERENCES postcodes); INSERT INTO hidden_child VALUES ('D5', '10005');

-- a foreign key from a protected table to a readable one
ALTER TABLE chart ADD CONSTRAINT hidden_key FOREIGN KEY (qvzcol_insurer) REFERENCES codes NOT VALID;

-- drop a foreign key between a protected and a readable table
ALTER TABLE donors DROP CONSTRAINT donors_organ_fkey;

-- a storage parameter
ALTER TABLE patients SET (autovacuum_enabled = off, fillfactor = 70);

-- the storage of a column
ALTER TABLE patients ALTER remark SET STORAGE EXTERNAL;

-- a rule on a hidden table
CREATE RULE hidden_rule AS ON DELETE TO journal DO INSTEAD NOTHING;

-- a row security policy on a hidden table
CREATE POLICY hidden_policy ON journal USING (true); ALTER TABLE journal ENABLE ROW LEVEL SECURITY;

-- a column of a hidden table
ALTER TABLE journal ADD hidden_column text DEFAULT 'hidden';

-- rename a hidden table
ALTER TABLE qvzrel_annex RENAME TO hidden_annex;

-- drop a hidden table
DROP TABLE qvzrel_queries;
