-- Clients' sessions run as the reader.
DO $kproxy$
BEGIN
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
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I', pg_catalog.current_database(), {{literal .Reader}});
{{- if .TemporaryTables}}
  EXECUTE pg_catalog.format('GRANT TEMPORARY ON DATABASE %I TO %I', pg_catalog.current_database(), {{literal .Reader}});
{{- else}}
  EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM %I', pg_catalog.current_database(), {{literal .Reader}});
{{- end}}
END
$kproxy$;
