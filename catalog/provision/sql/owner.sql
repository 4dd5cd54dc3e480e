-- {{if .Release}}The owner maintains the release{{if .Source}}, and replicates{{end}}{{else}}The source's role reads the protected tables and replicates{{end}}. Attributes of roles are changed only where they
-- differ, since before PostgreSQL 16 only a superuser may alter a role that has REPLICATION.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}}) THEN
    CREATE ROLE {{identifier .Owner}} LOGIN;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Owner}} AND NOT rolcanlogin) THEN
    ALTER ROLE {{identifier .Owner}} LOGIN;
  END IF;
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I', pg_catalog.current_database(), {{literal .Owner}});
END
$kproxy$;
