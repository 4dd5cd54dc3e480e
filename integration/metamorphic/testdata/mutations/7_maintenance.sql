-- ANALYZE of a protected table
ANALYZE patients;

-- ANALYZE of a hidden table
ANALYZE journal;

-- ANALYZE of a table under a listed view
ANALYZE notes;

-- VACUUM of a protected table
VACUUM patients;

-- VACUUM of a hidden table
VACUUM (FREEZE) journal;

-- VACUUM FULL of a protected table
VACUUM FULL donors;

-- CLUSTER a protected table
CLUSTER patients USING patients_pkey;

-- REINDEX a protected table
REINDEX TABLE patients;

-- ANALYZE of the catalogs
ANALYZE pg_class;

-- VACUUM of the catalogs
VACUUM pg_attribute;

-- VACUUM FULL of a catalog
VACUUM FULL pg_statistic;

-- a checkpoint
CHECKPOINT;

-- another segment of the log
SELECT pg_switch_wal();

-- many transactions
DO $$ BEGIN FOR i IN 1..200 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END $$;

-- a multixact
BEGIN; SELECT FROM icd10 WHERE code = 'D9' FOR KEY SHARE; SAVEPOINT s; SELECT FROM icd10 WHERE code = 'D9' FOR SHARE; COMMIT;

-- statistics are reset
SELECT pg_stat_reset();

-- reads of protected tables
SELECT count(*) FROM patients p JOIN people q ON true;

-- refresh of a hidden materialized view
REFRESH MATERIALIZED VIEW patient_copy;

-- rows of a large table are gone
DELETE FROM qvzrel_vault WHERE id % 2 = 0;

-- a replication slot
SELECT pg_create_physical_replication_slot('hidden_slot');

-- a logical message
SELECT pg_logical_emit_message(true, 'hidden', repeat('x', 100000));

-- a setting of the server
ALTER SYSTEM SET log_min_duration_statement = 4711;

-- a named restore point
SELECT pg_create_restore_point('hidden_point');

-- a notification
NOTIFY hidden_channel, 'hidden payload';
