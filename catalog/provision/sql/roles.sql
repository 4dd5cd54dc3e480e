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
{{- range .Further}}
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .}}) THEN
    CREATE ROLE {{identifier .}} LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .}} AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE {{identifier .}} LOGIN INHERIT;
  END IF;
{{- end}}
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

{{if .Further -}}
-- Further reader roles have the rights of the first one as its members, and none of their
-- own. From PostgreSQL 16 on they do not even become it.
DO $kproxy$
DECLARE
  further text;
  manner text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000
    THEN 'WITH INHERIT TRUE, SET FALSE' ELSE '' END;
BEGIN
  FOREACH further IN ARRAY ARRAY[{{range $i, $r := .Further}}{{if $i}}, {{end}}{{literal $r}}{{end}}] LOOP
    EXECUTE pg_catalog.format('GRANT %I TO %I %s', {{literal .Reader}}, further, manner);
  END LOOP;
END
$kproxy$;

{{end -}}
{{if .TemporaryTables -}}
-- Sessions of clients write temporary tables, and have no right to write anything else.
{{- range .Readers}}
ALTER ROLE {{identifier .}} RESET default_transaction_read_only;
{{- end}}
{{- else -}}
-- Sessions of clients never write.
{{- range .Readers}}
ALTER ROLE {{identifier .}} SET default_transaction_read_only = on;
{{- end}}
{{- end}}

-- Tools read the catalogs through many small views, which take milliseconds to run and
-- seconds to compile. Who has set it otherwise keeps that.
DO $kproxy$
BEGIN
{{- range .Readers}}
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = {{literal .}} AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE {{identifier .}} SET jit = off;
  END IF;
{{- end}}
END
$kproxy$;

DO $kproxy$
BEGIN
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I, %I',
    pg_catalog.current_database(), {{literal .Owner}}, {{literal .Reader}});
{{- if .TemporaryTables}}
  EXECUTE pg_catalog.format('GRANT TEMPORARY ON DATABASE %I TO %I', pg_catalog.current_database(), {{literal .Reader}});
{{- else}}
  EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM %I', pg_catalog.current_database(), {{literal .Reader}});
{{- end}}
END
$kproxy$;
