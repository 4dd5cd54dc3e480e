-- Roles: the owner replicates and maintains the release; clients' sessions run as
-- the reader. Attributes are changed only where they differ, since before
-- PostgreSQL 16 only a superuser may alter a role that has REPLICATION.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}}) THEN
    CREATE ROLE {{identifier .Owner}} LOGIN;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}} AND NOT rolcanlogin) THEN
    ALTER ROLE {{identifier .Owner}} LOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Reader}}) THEN
    CREATE ROLE {{identifier .Reader}} LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Reader}} AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE {{identifier .Reader}} LOGIN NOINHERIT;
  END IF;
END
$kproxy$;

-- Reading the write-ahead log needs the attribute REPLICATION, which only a
-- superuser may give (from PostgreSQL 16 on, also a role that has it itself).
-- Amazon RDS has the role rds_replication in its place.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}} AND rolreplication) THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'rds_replication') THEN
      GRANT rds_replication TO {{identifier .Owner}};
    ELSE
      ALTER ROLE {{identifier .Owner}} REPLICATION;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the owner role may not replicate yet'
    USING HINT = 'A superuser runs: ALTER ROLE ' || pg_catalog.quote_ident({{literal .Owner}}) || ' REPLICATION';
END
$kproxy$;

-- Sessions of clients never write.
ALTER ROLE {{identifier .Reader}} SET default_transaction_read_only = on;

DO $kproxy$
BEGIN
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I, %I',
    pg_catalog.current_database(), {{literal .Owner}}, {{literal .Reader}});
END
$kproxy$;
