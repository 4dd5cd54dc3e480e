-- Schemas: the private store, the stand-ins for the system catalogs, the helpers for
-- analysts, and one for the published relations of each schema with protected tables. The
-- helpers' is called {{.HelperSchema}}, as somebody else's may be: that one is left alone.
DO $kproxy$
DECLARE
  schema_name text;
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
             JOIN (SELECT oid AS namespace, nspowner AS owner FROM pg_catalog.pg_namespace
                   UNION ALL SELECT relnamespace, relowner FROM pg_catalog.pg_class
                   UNION ALL SELECT pronamespace, proowner FROM pg_catalog.pg_proc
                   UNION ALL SELECT typnamespace, typowner FROM pg_catalog.pg_type) o ON o.namespace = n.oid
             LEFT JOIN pg_catalog.pg_roles r ON r.oid = o.owner
             WHERE n.nspname = {{literal .HelperSchema}} AND r.rolname IS DISTINCT FROM {{literal .Owner}}) THEN
    RAISE EXCEPTION 'the schema {{.HelperSchema}}, or something in it, does not belong to %, and kproxy has its helpers for analysts there', pg_catalog.quote_ident({{literal .Owner}})
      USING HINT = 'Make room for them: ALTER SCHEMA {{.HelperSchema}} RENAME TO ...';
  END IF;
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
