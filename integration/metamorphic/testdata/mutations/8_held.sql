-- held: a transaction that has written a record
BEGIN; INSERT INTO patients (name, born, postcode, diagnosis, ward) VALUES ('held', '1950-01-01', '10011', 'D12', 4);

-- held: locks of rows of a protected table
BEGIN; SELECT id FROM people FOR UPDATE;

-- held: a lock of a hidden table
BEGIN; LOCK TABLE hidden_table, hidden_schema.hidden_inside IN ACCESS EXCLUSIVE MODE;

-- held: advisory locks
SELECT pg_advisory_lock(42), pg_advisory_lock(1, 2), pg_advisory_lock_shared(4711);

-- held: a temporary table
CREATE TEMPORARY TABLE hidden_temporary AS SELECT name FROM patients;

-- held: an index that is being made
BEGIN; CREATE INDEX hidden_unfinished ON hidden_child (code);

-- held: a listener
LISTEN hidden_channel;

-- held: a cursor
BEGIN; DECLARE hidden_cursor CURSOR FOR SELECT name FROM patients; FETCH 1 FROM hidden_cursor;

-- held: a prepared transaction
BEGIN; INSERT INTO donors (name, age, organ) VALUES ('prepared', 50, 'D10'); PREPARE TRANSACTION 'hidden transaction';
