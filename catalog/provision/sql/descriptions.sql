-- What the published tables are, which the owner writes: it is in the policy, and where a
-- table shows changes in batches, no time is finer than a day.
CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.described (
  table_schema text,
  table_name   text,
  k            integer NOT NULL,
  constraints  text NOT NULL,
  updates      text NOT NULL,
  published_at timestamptz NOT NULL,
  newest       date,             -- of the newest batch; NULL where every commit is shown
  PRIMARY KEY (table_schema, table_name)
);

-- By how many rows the sum of a table's weights can be off; NULL where nothing bounds it.
ALTER TABLE {{.CatalogSchema}}.described ADD COLUMN IF NOT EXISTS off_by bigint;

CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.described_column (
  table_schema text,
  table_name   text,
  position     integer,
  column_name  text NOT NULL,
  type         text NOT NULL,
  role         text,             -- NULL for kproxy's own columns
  form         text NOT NULL,
  hierarchy    text,             -- NULL where values are as in the source
  k            integer,
  constraints  text,
  PRIMARY KEY (table_schema, table_name, position)
);

-- What audiences see of a table has descriptions of its own.
ALTER TABLE {{.CatalogSchema}}.described ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';
ALTER TABLE {{.CatalogSchema}}.described_column ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';

-- The keys of tables that are released together. The release has an index on each.
CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.described_key (
  table_schema    text,
  table_name      text,
  constraint_name text,
  columns         text[] NOT NULL,
  foreign_schema  text,            -- NULL for a primary key
  foreign_table   text,
  release_index   text NOT NULL,
  PRIMARY KEY (table_schema, table_name, constraint_name)
);

-- What has been written of which generation, for the owner alone.
CREATE TABLE IF NOT EXISTS {{.StoreSchema}}.description (
  table_schema text,
  table_name   text,
  generation   bigint NOT NULL,
  next_class   bigint NOT NULL,
  PRIMARY KEY (table_schema, table_name)
);
REVOKE ALL PRIVILEGES ON TABLE {{.StoreSchema}}.description FROM PUBLIC, {{.Heads}};

-- The schema and the name of a published table as a client writes them, or as the client's own release
-- has them, which is what a regclass is as text. Without a schema,
-- it is the first one by name that has such a table.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.described_table(name text) RETURNS TABLE (table_schema text, table_name text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT d.table_schema, d.table_name
  FROM pg_catalog.parse_ident($1) AS n(parts)
  JOIN {{.CatalogSchema}}.described d ON d.table_name = n.parts[pg_catalog.cardinality(n.parts)]
  WHERE pg_catalog.cardinality(n.parts) = 1 OR pg_catalog.cardinality(n.parts) = 2 AND n.parts[1] IN (d.table_schema, {{.CatalogSchema}}.release_prefix() || d.table_schema)
  ORDER BY d.table_schema LIMIT 1
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.tables()
  RETURNS TABLE ("schema" text, "table" text, "columns" integer, k integer, "constraints" text, updates text, published_at timestamptz, freshness text)
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.table_schema, d.table_name,
    (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM {{.CatalogSchema}}.described_column c
     WHERE c.table_schema = d.table_schema AND c.table_name = d.table_name),
    d.k, d.constraints, d.updates, d.published_at,
    coalesce('batches, the newest of ' || pg_catalog.to_char(d.newest, 'YYYY-MM-DD'), 'every commit, within moments: comparing versions tells what came, left or changed')
  FROM {{.CatalogSchema}}.described d
  ORDER BY d.table_schema, d.table_name
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.describe("table" text)
  RETURNS TABLE ("column" text, "type" text, role text, form text, hierarchy text, k integer, "constraints" text,
    updates text, published_at timestamptz, freshness text)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN QUERY SELECT c.column_name, c.type, c.role, c.form, c.hierarchy, c.k, c.constraints, t.updates, t.published_at, t.freshness
    FROM {{.CatalogSchema}}.described_table($1) d
    JOIN {{.HelperSchema}}.tables() t ON t."schema" = d.table_schema AND t."table" = d.table_name
    JOIN {{.CatalogSchema}}.described_column c ON c.table_schema = d.table_schema AND c.table_name = d.table_name
    ORDER BY c.position;
  IF NOT FOUND THEN
    RAISE NOTICE 'no table "%" is published', $1 USING HINT = 'kproxy.tables() lists those that are.';
  END IF;
END
$kproxy$;

-- The same for 'patients'::regclass, which is the number of the published relation.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.describe("table" oid)
  RETURNS TABLE ("column" text, "type" text, role text, form text, hierarchy text, k integer, "constraints" text,
    updates text, published_at timestamptz, freshness text)
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.* FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND pg_catalog.starts_with(n.nspname::pg_catalog.text, {{.CatalogSchema}}.release_prefix())
  CROSS JOIN LATERAL {{.HelperSchema}}.describe(pg_catalog.quote_ident(pg_catalog.substr(n.nspname::pg_catalog.text, pg_catalog.length({{.CatalogSchema}}.release_prefix()) + 1))
    || '.' || pg_catalog.quote_ident(c.relname)) d
  WHERE c.oid = $1
$kproxy$;

-- Weights are of type real, whose sum is off by one in a hundred thousand at most.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.counts("table" text) RETURNS TABLE ("rows" bigint, counted bigint, off_by bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
DECLARE
  asked record;
  weight text := '1';
BEGIN
  SELECT d.* INTO asked FROM {{.CatalogSchema}}.described_table($1) n
    JOIN {{.CatalogSchema}}.described d ON d.table_schema = n.table_schema AND d.table_name = n.table_name;
  IF NOT FOUND THEN
    RAISE NOTICE 'no table "%" is published', $1 USING HINT = 'kproxy.tables() lists those that are.';
    RETURN;
  END IF;
  IF asked.updates = 'guarded' THEN
    weight := '{{.WeightColumn}}';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format('SELECT n, counted, $1 + CASE WHEN counted < n THEN n / 100000 ELSE 0 END'
    ' FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.round(pg_catalog.sum(%s::pg_catalog.float8))::pg_catalog.int8, 0) AS counted FROM %I.%I) s',
    weight, {{.CatalogSchema}}.release_prefix() || asked.table_schema, asked.table_name) USING asked.off_by;
END
$kproxy$;

-- The same for 'patients'::regclass.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.counts("table" oid) RETURNS TABLE ("rows" bigint, counted bigint, off_by bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT d.* FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND pg_catalog.starts_with(n.nspname::pg_catalog.text, {{.CatalogSchema}}.release_prefix())
  CROSS JOIN LATERAL {{.HelperSchema}}.counts(pg_catalog.quote_ident(pg_catalog.substr(n.nspname::pg_catalog.text, pg_catalog.length({{.CatalogSchema}}.release_prefix()) + 1))
    || '.' || pg_catalog.quote_ident(c.relname)) d
  WHERE c.oid = $1
$kproxy$;

COMMENT ON FUNCTION {{.HelperSchema}}.counts(oid) IS 'How many rows of a published table stand for somebody, given as regclass.';
COMMENT ON FUNCTION {{.HelperSchema}}.counts(text) IS 'How many rows a published table has, how many of them stand for somebody, and by how many that number is off at most.';
COMMENT ON FUNCTION {{.HelperSchema}}.describe(oid) IS 'The columns of a published table, given as regclass.';
COMMENT ON FUNCTION {{.HelperSchema}}.tables() IS 'The published tables, each with its k, its constraints, and how fresh it is.';
COMMENT ON FUNCTION {{.HelperSchema}}.describe(text) IS 'The columns of a published table: what each shows, how it is generalized, and under which constraints.';
