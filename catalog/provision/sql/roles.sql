-- Clients' sessions run as the reader{{if .Audiences}}, or as the first role of an audience{{end}}.
DO $kproxy$
BEGIN
{{- range .HeadNames}}
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .}}) THEN
    CREATE ROLE {{identifier .}} LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .}} AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE {{identifier .}} LOGIN NOINHERIT;
  END IF;
{{- end}}
{{- range .Members}}
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Role}}) THEN
    CREATE ROLE {{identifier .Role}} LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = {{literal .Role}} AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE {{identifier .Role}} LOGIN INHERIT;
  END IF;
{{- end}}
END
$kproxy$;

{{if .Members -}}
-- Further reader roles have the rights of the first one{{if .Audiences}}, and those of an audience the rights of
-- its first one,{{end}} as its members, and none of their own. From PostgreSQL 16 on they do not even become it.
DO $kproxy$
DECLARE
  further record;
  manner text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000
    THEN 'WITH INHERIT TRUE, SET FALSE' ELSE '' END;
BEGIN
  FOR further IN SELECT m.reader, m.role FROM (VALUES
{{- range $i, $m := .Members}}{{if $i}},{{end}}
    ({{literal $m.Head}}, {{literal $m.Role}})
{{- end}}) AS m(reader, role) LOOP
    EXECUTE pg_catalog.format('GRANT %I TO %I %s', further.reader, further.role, manner);
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
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO ', pg_catalog.current_database()) || {{literal .Heads}};
{{- if .TemporaryTables}}
  EXECUTE pg_catalog.format('GRANT TEMPORARY ON DATABASE %I TO ', pg_catalog.current_database()) || {{literal .Heads}};
{{- else}}
  EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM ', pg_catalog.current_database()) || {{literal .Heads}};
{{- end}}
END
$kproxy$;
