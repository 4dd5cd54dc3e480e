-- Tables and views that belong to an extension, or that the role may not read whole.
SELECT n.nspname::text, c.relname::text, e.extension
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT EXISTS (
  SELECT FROM pg_catalog.pg_depend d
  WHERE d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.objid = c.oid AND d.deptype = 'e') AS extension) e
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (e.extension OR NOT pg_catalog.has_schema_privilege(n.oid, 'USAGE') OR NOT pg_catalog.has_table_privilege(c.oid, 'SELECT'))
