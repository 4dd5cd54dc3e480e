-- Texts of the source must all be possible here.
DO $kproxy$
BEGIN
  IF pg_catalog.current_setting('server_encoding') <> 'UTF8' THEN
    RAISE EXCEPTION 'the encoding of database "%" is %, which may lack characters of the source', pg_catalog.current_database(), pg_catalog.current_setting('server_encoding')
      USING HINT = 'Make the database of the release with ENCODING ''UTF8''.';
  END IF;
END
$kproxy$;

-- The protected tables are in another database. Clients see them in schemas of the same names.
{{- range .ProtectedSchemas}}
CREATE SCHEMA IF NOT EXISTS {{identifier .}};
{{- end}}
