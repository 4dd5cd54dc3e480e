-- What the stand-ins ask. The two that they call for every row hold no sub-query,
-- so that the planner puts them in line; the look-ups behind them run for few
-- rows. All run with the rights of the session and name everything in full.
-- 16384 is the first identifier of an object that initdb did not make.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_stand_in(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND n.nspname = '{{.CatalogSchema}}')
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_index_of_readable(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = $1 AND pg_catalog.has_table_privilege(i.indrelid, 'SELECT'))
$kproxy$;

-- Whether the session may read the relation, or the relation of the index.
-- pg_index_has_property gives NULL for what is no index.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.has_table_privilege($1, 'SELECT')
      THEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid OR NOT {{.CatalogSchema}}.is_stand_in($1)
    WHEN pg_catalog.pg_index_has_property($1::pg_catalog.regclass, 'clusterable') IS NULL THEN false
    ELSE {{.CatalogSchema}}.is_index_of_readable($1)
  END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.released_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_namespace r
    JOIN pg_catalog.pg_namespace s
      ON s.nspname = pg_catalog.substr(r.nspname::text, {{len .ReleasePrefix}} + 1)::pg_catalog.name
    WHERE r.oid = $1 AND pg_catalog.starts_with(r.nspname::text, '{{.ReleasePrefix}}')), $1)
$kproxy$;

-- The schema whose published relations the given schema holds; itself if none.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.source_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN $1
              ELSE {{.CatalogSchema}}.released_namespace($1) END
$kproxy$;

REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} TO {{identifier .Reader}};
