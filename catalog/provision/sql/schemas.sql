-- Schemas: the private store, the stand-ins for the system catalogs, and one for
-- the published relations of each schema with protected tables.
DO $kproxy$
DECLARE
  schema_name text;
BEGIN
  FOREACH schema_name IN ARRAY ARRAY[{{range $i, $s := .OwnSchemas}}{{if $i}}, {{end}}{{literal $s}}{{end}}] LOOP
    IF pg_catalog.to_regnamespace(pg_catalog.quote_ident(schema_name)) IS NULL THEN
      EXECUTE pg_catalog.format('CREATE SCHEMA %I AUTHORIZATION %I', schema_name, {{literal .Owner}});
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                      WHERE n.nspname = schema_name AND r.rolname = {{literal .Owner}}) THEN
      EXECUTE pg_catalog.format('ALTER SCHEMA %I OWNER TO %I', schema_name, {{literal .Owner}});
    END IF;
  END LOOP;
END
$kproxy$;
