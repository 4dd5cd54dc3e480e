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
