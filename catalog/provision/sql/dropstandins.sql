-- Without the stand-ins that are there: they depend on the system catalogs of the server's version.
DO $kproxy$
DECLARE
  old text;
BEGIN
  SELECT pg_catalog.string_agg(c.oid::pg_catalog.regclass::text, ', ') INTO old
    FROM pg_catalog.pg_class c
    WHERE c.relkind = 'v' AND c.relnamespace = '{{.CatalogSchema}}'::pg_catalog.regnamespace
      AND c.relname !~ '^{{.ClassesPrefix}}'; -- those of releases, which kproxy makes with them
  IF old IS NOT NULL THEN
    EXECUTE 'DROP VIEW ' || old;
  END IF;
END
$kproxy$;
