-- Reading the write-ahead log needs the attribute REPLICATION, which only a
-- superuser may give (from PostgreSQL 16 on, also a role that has it itself).
-- Amazon RDS has the role rds_replication in its place; one of that name says nothing elsewhere.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}} AND rolreplication) THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'rds_replication')
       AND pg_catalog.current_setting('rds.logical_replication', true) IS NOT NULL THEN
      GRANT rds_replication TO {{identifier .Owner}};
    ELSE
      ALTER ROLE {{identifier .Owner}} REPLICATION;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'role % may not replicate yet', {{literal .Owner}}
    USING HINT = 'A superuser runs: ALTER ROLE ' || pg_catalog.quote_ident({{literal .Owner}}) || ' REPLICATION';
END
$kproxy$;
{{- if .Standby}}

-- A slot is made on the standby once it has replayed a record of the transactions that run. kproxy has the
-- primary write one; without the right it waits for the next, up to 15 seconds. The standby needs PostgreSQL 16 or
-- later, wal_level = logical on both servers, hot_standby_feedback = on, and a physical slot (primary_slot_name).
DO $kproxy$
BEGIN
  IF pg_catalog.to_regprocedure('pg_catalog.pg_log_standby_snapshot()') IS NOT NULL THEN
    GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO {{identifier .Owner}};
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'role % may not have the primary log what a slot on the standby waits for', {{literal .Owner}}
    USING HINT = 'A superuser runs: GRANT EXECUTE ON FUNCTION pg_catalog.pg_log_standby_snapshot() TO ' || pg_catalog.quote_ident({{literal .Owner}});
END
$kproxy$;
{{- end}}
