-- advance the sequence of a protected table
SELECT nextval('patients_id_seq') FROM generate_series(1, 50);

-- set the sequence of an identity column
SELECT setval(pg_get_serial_sequence('episodes', 'id'), 5000);

-- advance a sequence that belongs to nothing
SELECT nextval('qvzrel_counter') FROM generate_series(1, 40);

-- change a sequence
ALTER SEQUENCE donors_id_seq INCREMENT BY 7 CACHE 5 MAXVALUE 100000;

-- make a sequence
CREATE SEQUENCE hidden_sequence OWNED BY journal.id;

-- make a cycle of one
ALTER SEQUENCE people_seq RESTART CYCLE;
