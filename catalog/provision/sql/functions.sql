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

-- The types of users that the session may know of: those of visible columns, what
-- these are made of, and the row types of visible relations, each with its array
-- where it is not a row's.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.shown_types() RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  WITH RECURSIVE visible AS MATERIALIZED (
    SELECT c.oid, c.reltype FROM pg_catalog.pg_class c
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {{.CatalogSchema}}.visible(c.oid)
  ), used(oid) AS (
    SELECT a.atttypid FROM visible v
    JOIN pg_catalog.pg_attribute a ON a.attrelid = v.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE a.atttypid >= 16384
    UNION
    -- A domain depends on its base, an array on its element, a multirange on its
    -- range, a range on its elements; a row on its columns' types by its relation.
    SELECT d.refobjid FROM used u
    JOIN pg_catalog.pg_type t ON t.oid = u.oid
    CROSS JOIN LATERAL (VALUES ('pg_catalog.pg_type'::pg_catalog.regclass, t.oid),
                               ('pg_catalog.pg_class'::pg_catalog.regclass, t.typrelid)) AS k(classid, objid)
    CROSS JOIN LATERAL (
      -- OFFSET keeps the planner to one look-up by index for each type.
      SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
      WHERE d.classid = k.classid AND d.objid = k.objid OFFSET 0) AS d
    WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid >= 16384
  )
  SELECT u.oid FROM used u
  UNION
  SELECT t.typarray FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.oid WHERE t.typarray <> 0
  UNION
  SELECT v.reltype FROM visible v
$kproxy$;

-- What pg_table_is_visible means to clients, whose search path is pg_catalog and
-- public as the stand-ins show them: whether the relation is found by its bare
-- name. NULL, as there, where there is no relation that the session may know of.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.table_is_visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
      WHEN n.nspname = 'pg_catalog' THEN true
      WHEN n.nspname = 'public' THEN NOT EXISTS (
        SELECT FROM pg_catalog.pg_class s
        WHERE s.relnamespace = 'pg_catalog'::pg_catalog.regnamespace AND s.relname = c.relname)
      ELSE false
    END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = {{.CatalogSchema}}.source_namespace(c.relnamespace)
  WHERE c.oid = $1 AND {{.CatalogSchema}}.visible(c.oid)
$kproxy$;

REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} TO {{identifier .Reader}};
