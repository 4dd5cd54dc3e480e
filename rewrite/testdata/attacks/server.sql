-- Functions of the server that are no computation: files, the log, the write-ahead
-- log and its slots, other sessions, locks, snapshots, time and memory.

-- refused 42
SELECT pg_read_file('/etc/passwd', 0, 100, true)

-- refused 42
SELECT * FROM pg_ls_logdir()

-- refused 42
SELECT * FROM pg_ls_waldir()

-- refused 42
SELECT * FROM pg_ls_tmpdir()

-- refused 42
SELECT * FROM pg_ls_archive_statusdir()

-- refused 42
SELECT * FROM pg_ls_replslotdir('kproxy')

-- refused 42
SELECT pg_current_logfile()

-- harmless
SELECT pg_relation_filepath('people'), pg_relation_filenode('people')

-- refused 42
SELECT pg_filenode_relation(0, 16400)

-- allowed
SELECT pg_tablespace_location(1663)

-- Logical decoding of any slot would print raw rows as they are written.

-- refused 42
SELECT * FROM pg_logical_slot_get_changes('kproxy', NULL, NULL)

-- refused 42
SELECT * FROM pg_logical_slot_peek_binary_changes('kproxy', NULL, NULL, 'proto_version', '1', 'publication_names', 'kproxy')

-- refused 42
SELECT pg_create_logical_replication_slot('mine', 'test_decoding')

-- refused 42
SELECT pg_copy_logical_replication_slot('kproxy', 'mine', true, 'test_decoding')

-- refused 42
SELECT pg_replication_slot_advance('kproxy', '0/FFFFFFFF')

-- refused 42
SELECT pg_drop_replication_slot('kproxy')

-- harmless
SELECT * FROM pg_replication_slots

-- refused 42
SELECT * FROM pg_get_replication_slots()

-- harmless
SELECT * FROM pg_stat_replication

-- refused 42
SELECT pg_replication_origin_create('mine')

-- refused 42
SELECT pg_logical_emit_message(true, 'kproxy', 'hello')

-- refused 42
SELECT pg_switch_wal()

-- refused 42
SELECT pg_create_restore_point('mine')

-- refused 42
SELECT pg_walfile_name(pg_current_wal_insert_lsn())

-- refused 42
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')

-- refused 42
SELECT pg_last_wal_replay_lsn(), pg_last_xact_replay_timestamp()

-- refused 42
SELECT pg_get_wal_replay_pause_state()

-- refused 42
SELECT pg_start_backup('x')

-- refused 42
SELECT pg_backup_start('x', true)

-- refused 42
SELECT pg_promote()

-- harmless
SELECT * FROM pg_publication_tables

-- refused 42
SELECT pg_get_publication_tables('kproxy')

-- harmless
SELECT * FROM pg_subscription

-- Other sessions.

-- refused 42
SELECT pg_terminate_backend(1)

-- refused 42
SELECT pg_cancel_backend(pg_backend_pid())

-- refused 42
SELECT pg_reload_conf(), pg_rotate_logfile()

-- refused 42
SELECT pg_blocking_pids(pg_backend_pid()), pg_safe_snapshot_blocking_pids(1)

-- refused 42
SELECT pg_stat_get_backend_activity(1), pg_stat_get_backend_idset()

-- refused 42
SELECT pg_log_backend_memory_contexts(pg_backend_pid())

-- refused 42
SELECT pg_lock_status()

-- refused 42
SELECT pg_isolation_test_session_is_blocked(1, ARRAY[2])

-- refused 42
SELECT pg_notification_queue_usage(), pg_listening_channels()

-- refused 42
SELECT pg_notify('kproxy', 'x')

-- allowed
SELECT inet_server_addr(), inet_server_port(), inet_client_addr()

-- Locks that last as long as the session, and that kproxy itself takes.

-- refused 42
SELECT pg_advisory_lock(1)

-- refused 42
SELECT pg_try_advisory_lock_shared(1, 2)

-- refused 42
SELECT pg_advisory_xact_lock(1) FROM people

-- allowed
SELECT pg_advisory_unlock_all()

-- Transactions and snapshots: counters of everybody's writes.

-- refused 42
SELECT pg_export_snapshot()

-- refused 42
SELECT txid_current_snapshot(), txid_snapshot_xmin(txid_current_snapshot())

-- refused 42
SELECT pg_current_xact_id(), pg_current_xact_id_if_assigned()

-- refused 42
SELECT pg_snapshot_xmax(pg_current_snapshot())

-- refused 42
SELECT pg_xact_status('700')

-- refused 42
SELECT pg_xact_commit_timestamp(xmin) FROM codes

-- refused 42
SELECT pg_last_committed_xact()

-- refused 42
SELECT mxid_age('1'), pg_get_multixact_members('1')

-- refused 42
SELECT '700'::xid8

-- refused 42
SELECT age(relfrozenxid) FROM pg_class

-- Time and memory.

-- refused 42
SELECT pg_sleep(10)

-- refused 42
SELECT pg_sleep_for('1 hour'), pg_sleep_until('infinity')

-- refused 42
SELECT (pg_sleep(illness::int)) FROM people

-- refused 57
WITH RECURSIVE forever AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM forever) SELECT sum(n::numeric) FROM forever

-- refused 54
SELECT repeat('x', 2000000000)

-- refused 54 22
SELECT lpad('x', 2147483647, illness) FROM people

-- refused 54 22
SELECT array_fill(1, ARRAY[2147483647])

-- refused 54 22
SELECT 10::numeric ^ 200000

-- refused 42
SELECT pg_get_backend_memory_contexts()

-- refused 42
SELECT pg_get_shmem_allocations()

-- Settings of the server, of its files, and of its other users.

-- refused 42
SELECT * FROM pg_show_all_settings()

-- refused 42
SELECT * FROM pg_show_all_file_settings()

-- refused 42
SELECT pg_hba_file_rules()

-- harmless
SELECT * FROM pg_db_role_setting

-- refused 42
SELECT * FROM pg_config

-- refused 42
SELECT * FROM pg_ident_file_mappings

-- refused 42
SELECT pg_control_system(), pg_control_checkpoint()

-- refused 42
SELECT pg_postmaster_start_time(), pg_conf_load_time()

-- refused 42
SELECT pg_stat_reset()

-- refused 42
SELECT pg_stat_reset_single_table_counters('people'::regclass)

-- refused 42
SELECT pg_jit_available(), pg_trigger_depth()

-- refused 42
SELECT binary_upgrade_set_next_pg_type_oid(1)

-- refused 42
SELECT pg_nextoid('pg_class', 'oid', 'pg_class_oid_index')

-- refused 42
SELECT pg_import_system_collations('pg_catalog')

-- refused 42
SELECT brin_summarize_new_values('people_pkey'), gin_clean_pending_list('people_pkey')

-- harmless
SELECT pg_column_size(p) FROM people p

-- refused 42
SELECT pg_column_compression(illness) FROM people

-- refused 42
SELECT currtid2('people', '(0,1)')

-- refused 42
SELECT getpgusername(), current_query()
