-- What the server is and what it has left for replication.
SELECT current_setting('server_version_num')::int AS version_num,
       current_setting('server_version') AS version,
       current_setting('wal_level') AS wal_level,
       current_setting('server_encoding') AS server_encoding,
       current_setting('max_replication_slots')::int AS max_replication_slots,
       (SELECT count(*) FROM pg_replication_slots)::int AS slots_in_use,
       current_setting('max_wal_senders')::int AS max_wal_senders,
       (SELECT count(*) FROM pg_stat_replication)::int AS senders_in_use,
       (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier,
       current_database()::text AS database
