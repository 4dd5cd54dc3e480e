-- A further reader role of an earlier set-up that is no more configured neither logs in
-- nor reads. It is not dropped: it may have got other parts since.
DO $kproxy$
DECLARE
  configured text[] := ARRAY[{{range $i, $r := .Further}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[];
  former text[];
  name text;
BEGIN
  SET ROLE {{identifier .Owner}};
  SELECT pg_catalog.array_agg(r.name) INTO former FROM {{.StoreSchema}}.reader r
    WHERE r.name <> ALL (configured || ARRAY[{{literal .Owner}}, {{literal .Reader}}]);
  DELETE FROM {{.StoreSchema}}.reader r WHERE r.name <> ALL (configured);
  INSERT INTO {{.StoreSchema}}.reader SELECT pg_catalog.unnest(configured) ON CONFLICT DO NOTHING;
  RESET ROLE;
  FOR name IN SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.rolname = ANY (former) ORDER BY r.rolname LOOP
    EXECUTE pg_catalog.format('ALTER ROLE %I NOLOGIN', name);
    EXECUTE pg_catalog.format('REVOKE %I FROM %I', {{literal .Reader}}, name);
  END LOOP;
END
$kproxy$;
