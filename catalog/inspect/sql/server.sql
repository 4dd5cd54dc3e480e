-- What the server is and what it has left for replication. The session's role is
-- kproxy's owner: its temporary slots and its WAL senders are kproxy's own.
SELECT current_setting('server_version_num')::int AS version_num,
       current_setting('server_version') AS version,
       current_setting('wal_level') AS wal_level,
       current_setting('server_encoding') AS server_encoding,
       current_setting('max_replication_slots')::int AS max_replication_slots,
       (SELECT count(*) FROM pg_replication_slots s WHERE NOT (s.temporary AND EXISTS (
          SELECT FROM pg_stat_activity a WHERE a.pid = s.active_pid AND a.usename = session_user)))::int AS slots_in_use,
       current_setting('max_wal_senders')::int AS max_wal_senders,
       (SELECT count(*) FROM pg_stat_replication r WHERE r.usename IS DISTINCT FROM session_user)::int AS senders_in_use,
       -- In units of megabytes, as pg_settings has it; current_setting would print '1GB'.
       (SELECT setting::int FROM pg_settings WHERE name = 'max_slot_wal_keep_size') AS max_slot_wal_keep_mb,
       EXISTS (SELECT FROM pg_replication_slots WHERE slot_type = 'physical') AS standbys,
       pg_is_in_recovery() AS standby,
       current_setting('hot_standby_feedback')::bool AS feedback,
       current_setting('primary_slot_name') <> '' AS reserves,
       -- reserved_connections is there from PostgreSQL 16 on.
       (SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)::int FROM pg_settings
         WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')) AS connections,
       (SELECT system_identifier::text FROM pg_control_system()) AS system_identifier,
       current_database()::text AS database
