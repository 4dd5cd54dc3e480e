-- A slot is made on the standby once it has replayed a record of the transactions that run. kproxy has the
-- primary write one; without the right it waits for the next, up to 15 seconds. The standby needs PostgreSQL 16 or
-- later, wal_level = logical on both servers, hot_standby_feedback = on, and a physical slot (primary_slot_name).
  IF pg_catalog.to_regprocedure('pg_catalog.pg_log_standby_snapshot()') IS NOT NULL THEN
    GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO "kproxy_owner";
  RAISE WARNING 'role % may not have the primary log what a slot on the standby waits for', 'kproxy_owner'
    USING HINT = 'A superuser runs: GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO ' || pg_catalog.quote_ident('kproxy_owner');
-- The replication slot is made by kproxy where it is missing, on the standby. To make it yourself,
-- run this on the standby after the script, outside of a transaction, and start kproxy
