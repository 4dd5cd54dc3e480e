-- The replication slot $1. Failover slots came with PostgreSQL 17, hence the way
-- through jsonb.
SELECT coalesce(s.plugin, '')::text AS plugin, coalesce(s.database, '')::text AS database, s.temporary,
       coalesce((to_jsonb(s) ->> 'failover')::boolean, false) AS failover,
       -- On a standby there is no present position to compare with.
       CASE WHEN NOT pg_is_in_recovery() THEN pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), s.restart_lsn)) END AS kept
FROM pg_replication_slots s WHERE s.slot_name = $1
