-- What the stand-ins ask. The two that they call for every row hold no sub-query,
-- so that the planner puts them in line; the look-ups behind them run for few
-- rows. All run with the rights of the session and name relations, types and
-- functions in full: each session reads the bodies anew, and its temporary tables are
-- types that come first. Operators are never looked for among temporary objects.
-- 16384 is the first identifier of an object that initdb did not make. Some read
-- stand-ins, which come later.
SET check_function_bodies = off;

-- The audience that the session's role belongs to: '' where it sees what the policy's own
-- readers see.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.audience() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT {{if .Audiences}}CASE{{range .Audiences}} WHEN current_user IN ({{range $i, $r := .Roles}}{{if $i}}, {{end}}{{literal $r}}{{end}}) THEN {{literal .Name}}{{end}} ELSE '' END{{else}}''{{end}}::pg_catalog.text
$kproxy$;

-- How the names of the schemas begin whose relations the session reads.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.release_prefix() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT {{if .Audiences}}CASE{{range .Audiences}} WHEN current_user IN ({{range $i, $r := .Roles}}{{if $i}}, {{end}}{{literal $r}}{{end}}) THEN {{literal .Prefix}}{{end}} ELSE {{literal .ReleasePrefix}} END{{else}}{{literal .ReleasePrefix}}{{end}}::pg_catalog.text
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_stand_in(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND (n.nspname = '{{.CatalogSchema}}'
      -- Of the relations in release schemas, those for readable relations carry REFERENCES.
      OR pg_catalog.starts_with(n.nspname::pg_catalog.text, {{.CatalogSchema}}.release_prefix())
        AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')
      -- All sessions are the reader's: its temporary tables are not all one's own.
      -- Parallel workers know which are.
      OR pg_catalog.pg_is_other_temp_schema(n.oid)))
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_index_of_readable(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = $1 AND pg_catalog.has_table_privilege(i.indrelid, 'SELECT, REFERENCES')
      AND NOT {{.CatalogSchema}}.is_stand_in(i.indrelid)
      AND NOT {{.CatalogSchema}}.names_hidden('pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, $1))
$kproxy$;

-- Whether the session may read the relation, or the relation of the index.
-- pg_index_has_property gives NULL for what is no index. Of all views only the
-- stand-ins carry REFERENCES, which does nothing there; of what lies behind one for a
-- readable relation, the session has that alone.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.has_table_privilege($1, 'SELECT')
      THEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid OR NOT pg_catalog.has_table_privilege($1, 'REFERENCES')
        OR NOT {{.CatalogSchema}}.is_stand_in($1)
    WHEN pg_catalog.has_table_privilege($1, 'REFERENCES') THEN true
    WHEN pg_catalog.pg_index_has_property($1::pg_catalog.regclass, 'clusterable') IS NULL THEN false
    ELSE {{.CatalogSchema}}.is_index_of_readable($1)
  END
$kproxy$;

-- The stand-in by which the session reads a readable relation; itself for all others.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.stand_in_oid(relation oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_namespace r ON r.nspname = ({{.CatalogSchema}}.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
    JOIN pg_catalog.pg_class s ON s.relnamespace = r.oid AND s.relname = c.relname
    WHERE c.oid = $1 AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')), $1)
$kproxy$;

-- The readable relation that the session reads by a stand-in; itself for all others.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.stood_in_oid(relation oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT c.oid FROM pg_catalog.pg_class s
    JOIN pg_catalog.pg_namespace r ON r.oid = s.relnamespace
    JOIN pg_catalog.pg_namespace n ON r.nspname = ({{.CatalogSchema}}.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.relname
    WHERE s.oid = $1 AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')), $1)
$kproxy$;

-- Whether a relation is the stand-in for a readable one.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.stands_in(schema text, relation text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.starts_with($1, {{.CatalogSchema}}.release_prefix()) THEN EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1::pg_catalog.name AND c.relname = $2::pg_catalog.name
      AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')) ELSE false END
$kproxy$;

-- The name by which clients know the database.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.database_name() RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT {{if .Database}}{{literal .Database}}::pg_catalog.name{{else}}pg_catalog.current_database(){{end}}
$kproxy$;

-- The database that a client names, or gives the number of.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.database_oid(text) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.oid FROM pg_catalog.pg_database d
  WHERE d.datname = pg_catalog.current_database() AND $1 IN ({{.CatalogSchema}}.database_name()::pg_catalog.text, d.oid::pg_catalog.text)
$kproxy$;

-- The schema that privileges on a schema are asked of: that of its published
-- relations; itself if none.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.release_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT r.oid FROM pg_catalog.pg_namespace s
    JOIN pg_catalog.pg_namespace r ON r.nspname = ({{.CatalogSchema}}.release_prefix() || s.nspname::pg_catalog.text)::pg_catalog.name
    WHERE s.oid = $1), $1)
$kproxy$;

-- The schema to ask a client's privileges of, whichever it names or gives the number
-- of; NULL if it may not know of it.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.schema_oid(text) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT {{.CatalogSchema}}.release_namespace(n.oid) FROM {{.CatalogSchema}}.pg_namespace n
  WHERE n.nspname = $1::pg_catalog.name OR n.oid = CASE WHEN $1 ~ '^[0-9]{1,9}$' THEN $1::pg_catalog.oid END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.released_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_namespace r
    JOIN pg_catalog.pg_namespace s
      ON s.nspname = pg_catalog.substr(r.nspname::pg_catalog.text, pg_catalog.length({{.CatalogSchema}}.release_prefix()) + 1)::pg_catalog.name
    WHERE r.oid = $1 AND pg_catalog.starts_with(r.nspname::pg_catalog.text, {{.CatalogSchema}}.release_prefix())), $1)
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
    WHERE a.atttypid >= 16384 AND {{.CatalogSchema}}.is_served(a.attrelid, a.attnum)
    UNION
    -- A domain depends on its base, an array on its element, a multirange on its
    -- range, a range on its elements; a row on its columns' types by its relation.
    SELECT d.refobjid FROM used u
    JOIN pg_catalog.pg_type t ON t.oid = u.oid
    CROSS JOIN LATERAL (VALUES ('pg_catalog.pg_type'::pg_catalog.regclass, t.oid),
                               ('pg_catalog.pg_class'::pg_catalog.regclass, t.typrelid)) AS k(classid, objid)
    CROSS JOIN LATERAL (
      -- OFFSET keeps the planner to one look-up by index for each type.
      SELECT d.classid, d.objid, d.objsubid, d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
      WHERE d.classid = k.classid AND d.objid = k.objid OFFSET 0) AS d
    WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid >= 16384
      AND (d.classid <> 'pg_catalog.pg_class'::pg_catalog.regclass OR {{.CatalogSchema}}.is_served(d.objid, d.objsubid))
  )
  SELECT u.oid FROM used u
  UNION
  SELECT t.typarray FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.oid WHERE t.typarray <> 0
  UNION
  -- Rows of a readable relation are those of its stand-in.
  SELECT s.reltype FROM visible v
  JOIN pg_catalog.pg_class s ON s.oid = CASE WHEN pg_catalog.has_table_privilege(v.oid, 'REFERENCES')
    THEN {{.CatalogSchema}}.stand_in_oid(v.oid) ELSE v.oid END
$kproxy$;

-- Whether the relation is what one of these is in pg_class, if it is composite.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_shown_composite(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c
    WHERE c.oid = $1
      AND CASE c.relkind WHEN 'c' THEN c.reltype IN (SELECT {{.CatalogSchema}}.shown_types()) ELSE false END)
$kproxy$;

-- The schemas that a client's schema stands for: the one with its published relations
-- (first) and itself. kproxy's own are none of a client's.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.client_schema(name name) RETURNS TABLE (namespace oid, rank integer)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 2 AS $kproxy$
  SELECT n.oid, CASE WHEN n.nspname OPERATOR(pg_catalog.=) $1 THEN 2 ELSE 1 END
  FROM pg_catalog.pg_namespace n
  WHERE n.nspname IN ($1, ({{.CatalogSchema}}.release_prefix() OPERATOR(pg_catalog.||) $1::pg_catalog.text)::pg_catalog.name)
    AND $1::pg_catalog.text OPERATOR(pg_catalog.!~) '^{{.ReleasePattern}}'
    AND $1 NOT IN ('{{.CatalogSchema}}', '{{.StoreSchema}}')
  UNION ALL
  SELECT pg_catalog.pg_my_temp_schema(), 1 WHERE $1 OPERATOR(pg_catalog.=) 'pg_temp'
$kproxy$;

-- Whether a relation is the first of its name on a client's search path.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_first_of_name(relation oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
      WHEN own.place IS NULL THEN false
      WHEN own.place = 1 THEN true
      ELSE NOT EXISTS (
        SELECT FROM pg_catalog.unnest($2) WITH ORDINALITY AS p(schema, place)
        CROSS JOIN LATERAL {{.CatalogSchema}}.client_schema(p.schema) AS s
        JOIN pg_catalog.pg_class o ON o.relnamespace = s.namespace AND o.relname = c.relname
        WHERE p.place < own.place)
    END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = {{.CatalogSchema}}.source_namespace(c.relnamespace)
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_position($2, CASE WHEN n.oid = pg_catalog.pg_my_temp_schema()
                                              THEN 'pg_temp'::pg_catalog.name ELSE n.nspname END) AS place) AS own
  WHERE c.oid = $1 AND ({{.CatalogSchema}}.visible(c.oid) OR {{.CatalogSchema}}.is_shown_composite(c.oid))
$kproxy$;

-- What pg_table_is_visible means to a client with the given search path, which holds
-- what PostgreSQL searches implicitly, too: whether the relation is found by its bare
-- name. NULL, as there, where there is no relation that the session may know of. The
-- planner puts it in line: most of what is asked for are PostgreSQL's own relations.
DROP FUNCTION IF EXISTS {{.CatalogSchema}}.table_is_visible(oid);
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.table_is_visible(relation oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid OR $2[1] IS DISTINCT FROM 'pg_catalog'
      THEN {{.CatalogSchema}}.is_first_of_name($1, $2)
    WHEN {{.CatalogSchema}}.visible($1) THEN pg_catalog.pg_table_is_visible($1)
  END
$kproxy$;

-- The name by which a client with the given search path finds the relation.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.class_name(relation oid, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN {{.CatalogSchema}}.table_is_visible(c.oid, $2) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END
    || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = {{.CatalogSchema}}.source_namespace(c.relnamespace)
  WHERE c.oid = $1 AND ({{.CatalogSchema}}.visible(c.oid) OR {{.CatalogSchema}}.is_shown_composite(c.oid))
  UNION ALL
  SELECT pg_catalog.quote_ident(k.table_schema) || '.' || pg_catalog.quote_ident(k.name)
  FROM {{.CatalogSchema}}.shown_keys() k WHERE k.oid = $1 AND k.is_primary
$kproxy$;

-- The same for pg_type_is_visible. Whether the session may know of the type does not
-- matter: there is nothing but the schema and the name in it.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.type_is_visible(type oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
      WHEN own.place IS NULL THEN false
      WHEN own.place = 1 THEN true
      ELSE NOT EXISTS (
        SELECT FROM pg_catalog.unnest($2) WITH ORDINALITY AS p(schema, place)
        CROSS JOIN LATERAL {{.CatalogSchema}}.client_schema(p.schema) AS s
        JOIN pg_catalog.pg_type o ON o.typnamespace = s.namespace AND o.typname = t.typname
        WHERE p.place < own.place)
    END
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace n ON n.oid = {{.CatalogSchema}}.source_namespace(t.typnamespace)
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_position($2, CASE WHEN n.oid = pg_catalog.pg_my_temp_schema()
                                              THEN 'pg_temp'::pg_catalog.name ELSE n.nspname END) AS place) AS own
  WHERE t.oid = $1
$kproxy$;

-- What format_type says of a user's type to a client with the given search path.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.type_name(type oid, modifier integer, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN {{.CatalogSchema}}.type_is_visible(t.oid, $3) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END
    || CASE WHEN pg_catalog.starts_with(f.name, pg_catalog.quote_ident(own.nspname) || '.')
            THEN pg_catalog.substr(f.name, pg_catalog.length(pg_catalog.quote_ident(own.nspname)) + 2) ELSE f.name END
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace own ON own.oid = t.typnamespace
  JOIN pg_catalog.pg_namespace n ON n.oid = {{.CatalogSchema}}.source_namespace(t.typnamespace)
  CROSS JOIN LATERAL (SELECT pg_catalog.format_type(t.oid, $2)) AS f(name)
  WHERE t.oid = $1
$kproxy$;

-- The names of types in an array of the same bounds: oidvector counts from 0. NULL stands
-- for those that the session may not know of. Arrays of several dimensions are an error.
-- PostgreSQL's own need no look-up: there are thousands of arrays in pg_proc.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.type_names(types oid[], path name[]) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT (CASE WHEN pg_catalog.cardinality($1) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.array_dims($1) || '=' ELSE '' END || ARRAY(
    SELECT CASE WHEN u.type OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN u.type::pg_catalog.regtype::pg_catalog.text
                ELSE (SELECT {{.CatalogSchema}}.type_name(t.oid, NULL, $2) FROM {{.CatalogSchema}}.pg_type t WHERE t.oid = u.type) END
    FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(type, place)
    ORDER BY u.place)::pg_catalog.text)::pg_catalog.text[]
$kproxy$;

-- A name as to_regtype and its like read names; NULL where a schema in it is none that the
-- session may use: they would refuse the schema, and so tell that there is one.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.usable_name(name text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.strpos($1, '.') OPERATOR(pg_catalog.=) 0 THEN $1
    WHEN NOT EXISTS (
      SELECT FROM pg_catalog.regexp_matches($1, '("(?:[^"]|"")*"|[^".,()\[\]\s]+)(\s*\.)?', 'g') AS q(quoted)
      CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.starts_with(q.quoted[1], '"')
        THEN pg_catalog.replace(pg_catalog.substr(q.quoted[1], 2, pg_catalog.length(q.quoted[1]) - 2), '""', '"')
        ELSE pg_catalog.lower(q.quoted[1]) END) AS u(schema)
      WHERE q.quoted[2] IS NOT NULL AND u.schema !~ '^[0-9]*$' AND u.schema <> pg_catalog.current_database()::pg_catalog.text AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_namespace n
        WHERE n.nspname = u.schema::pg_catalog.name AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')))
    THEN $1 END
$kproxy$;

-- The type that a name made at run time means to a client with the given search path,
-- as regtype reads names. NULL where there is none; whoever asks looks it up in the
-- stand-in for pg_type next.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.to_type(name text, path name[]) RETURNS oid
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.~) '^[0-9]+$' THEN $1::pg_catalog.oid
    -- A name with a schema is that of a published relation's row first.
    ELSE coalesce(CASE WHEN pg_catalog.strpos($1, '.') OPERATOR(pg_catalog.=) 0 THEN pg_catalog.to_regtype($1)::pg_catalog.oid END, (
      SELECT CASE WHEN $1 OPERATOR(pg_catalog.~) '\]\s*$' THEN nullif(t.typarray, 0) ELSE t.oid END
      FROM pg_catalog.parse_ident($1, false) AS n(parts)
      CROSS JOIN LATERAL pg_catalog.unnest(
        CASE pg_catalog.cardinality(n.parts)
          WHEN 1 THEN $2
          WHEN 2 THEN ARRAY[n.parts[1]::pg_catalog.name] END) WITH ORDINALITY AS p(schema, place)
      CROSS JOIN LATERAL {{.CatalogSchema}}.client_schema(p.schema) AS s
      JOIN pg_catalog.pg_type t ON t.typnamespace = s.namespace
        AND t.typname = n.parts[pg_catalog.cardinality(n.parts)]::pg_catalog.name
      ORDER BY p.place, s.rank
      LIMIT 1), pg_catalog.to_regtype({{.CatalogSchema}}.usable_name($1))::pg_catalog.oid)
  END
$kproxy$;

DROP FUNCTION IF EXISTS {{.CatalogSchema}}.setting(text);

-- A setting that clients may see, whose name is not known before the query runs. The
-- search path is the client's own.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.setting(name text, search_path text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN pg_catalog.lower($1) = 'search_path' THEN $2 ELSE (
    SELECT pg_catalog.current_setting(s.name) FROM {{.CatalogSchema}}.pg_settings s WHERE s.name = pg_catalog.lower($1) OR s.name = $1) END
$kproxy$;

-- The relation that a name made at run time means to a client with the given search
-- path, as regclass reads names: an OID in digits, or identifiers with dots. NULL
-- where there is none. What is found may be hidden from the session; whoever asks
-- looks it up in the stand-in for pg_class next.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.to_class(name text, path name[]) RETURNS oid
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.~) '^[0-9]+$' THEN $1::pg_catalog.oid
    ELSE (
      SELECT c.oid
      FROM (SELECT CASE WHEN p.parts[1] = {{.CatalogSchema}}.database_name()::pg_catalog.text AND pg_catalog.cardinality(p.parts) = 3
                        THEN p.parts[2:] ELSE p.parts END AS parts
            FROM pg_catalog.parse_ident($1) AS p(parts)) AS n
      CROSS JOIN LATERAL pg_catalog.unnest(
        CASE pg_catalog.cardinality(n.parts)
          WHEN 1 THEN $2
          WHEN 2 THEN ARRAY[n.parts[1]::pg_catalog.name] END) WITH ORDINALITY AS p(schema, place)
      CROSS JOIN LATERAL {{.CatalogSchema}}.client_schema(p.schema) AS s
      JOIN pg_catalog.pg_class c ON c.relnamespace = s.namespace
        AND c.relname = n.parts[pg_catalog.cardinality(n.parts)]::pg_catalog.name
        -- A readable relation itself, not its stand-in.
        AND (s.rank OPERATOR(pg_catalog.=) 2 OR s.namespace OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()
          OR NOT pg_catalog.has_table_privilege(c.oid, 'REFERENCES'))
      ORDER BY p.place, s.rank
      LIMIT 1)
  END
$kproxy$;

-- Whether the definition of an object names what the session must not know of: functions,
-- operators and the like that initdb did not make, relations that are not visible, and
-- types and collations that no visible column has, and columns that are not served. The
-- default operator class of a type needs no name, nor does the sequence of a column. What a
-- table's own columns depend on is told with them.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.names_hidden(catalog oid, object oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE COST 300 AS $kproxy$
  SELECT {{.CatalogSchema}}.names_unserved($1, $2) OR EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = $1 AND d.objid = $2 AND d.objsubid = 0 AND d.refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
      AND CASE
        WHEN d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass THEN NOT {{.CatalogSchema}}.visible(d.refobjid) AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend own
          WHERE own.classid = d.refclassid AND own.objid = d.refobjid AND own.deptype IN ('a', 'i')
            AND own.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND own.refobjsubid <> 0 AND {{.CatalogSchema}}.visible(own.refobjid))
        WHEN d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass THEN d.refobjid NOT IN (SELECT {{.CatalogSchema}}.shown_types())
        WHEN d.refclassid = 'pg_catalog.pg_collation'::pg_catalog.regclass THEN NOT EXISTS (
          SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
          WHERE a.attcollation = d.refobjid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND {{.CatalogSchema}}.visible(c.oid)
            AND {{.CatalogSchema}}.is_served(a.attrelid, a.attnum))
        WHEN d.refclassid = 'pg_catalog.pg_opclass'::pg_catalog.regclass THEN NOT EXISTS (
          SELECT FROM pg_catalog.pg_opclass o
          WHERE o.oid = d.refobjid AND o.opcdefault AND o.opcintype OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
            AND o.opcintype IN (SELECT {{.CatalogSchema}}.shown_types()))
        -- What it belongs to, and what belongs to it.
        ELSE d.refclassid NOT IN ('pg_catalog.pg_namespace'::pg_catalog.regclass, 'pg_catalog.pg_extension'::pg_catalog.regclass,
          'pg_catalog.pg_constraint'::pg_catalog.regclass, 'pg_catalog.pg_trigger'::pg_catalog.regclass)
      END)
$kproxy$;

RESET check_function_bodies;
REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}} TO {{.Heads}};
