-- The same over labels. What a label ends in asterisks for is a beginning: 101** stands for
-- all codes of five characters that begin with 101, 101* for all codes that do, and * for
-- anything. One asterisk in a release can also stand for one character, and counts as any
-- number, which is never too narrow.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.certain(label text, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NOT NULL AND ($1 = $2
    OR pg_catalog.right($2, 1) = '*'
      AND pg_catalog.starts_with(pg_catalog.rtrim($1, '*'), pg_catalog.rtrim($2, '*'))
      AND (pg_catalog.right($2, 2) <> '**'
        OR pg_catalog.length($1) = pg_catalog.length($2)
          AND (pg_catalog.right($1, 1) <> '*' OR pg_catalog.right($1, 2) = '**')))
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.possible(label text, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NULL
    OR (pg_catalog.starts_with(pg_catalog.rtrim($1, '*'), pg_catalog.rtrim($2, '*'))
        OR pg_catalog.starts_with(pg_catalog.rtrim($2, '*'), pg_catalog.rtrim($1, '*')))
      AND CASE
        WHEN pg_catalog.right($1, 1) = '*' AND pg_catalog.right($1, 2) <> '**' THEN
          pg_catalog.right($2, 1) = '*' AND pg_catalog.right($2, 2) <> '**'
          OR pg_catalog.length($2) >= pg_catalog.length(pg_catalog.rtrim($1, '*'))
        WHEN pg_catalog.right($2, 1) = '*' AND pg_catalog.right($2, 2) <> '**' THEN
          pg_catalog.length($1) >= pg_catalog.length(pg_catalog.rtrim($2, '*'))
        ELSE pg_catalog.length($1) = pg_catalog.length($2)
      END
$kproxy$;

-- Every character that is not published is one of ten digits. What * alone stands for is
-- not known here.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.overlap(label text, wanted text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN {{.HelperSchema}}.certain($1, $2) THEN 1
    WHEN NOT {{.HelperSchema}}.possible($1, $2) THEN 0
    WHEN $1 <> '*' THEN pg_catalog.power(10::pg_catalog.float8, -least(300, greatest(0,
      pg_catalog.length(pg_catalog.rtrim($2, '*')) - pg_catalog.length(pg_catalog.rtrim($1, '*')))))
  END::pg_catalog.float8
$kproxy$;

-- The taxonomies and orders of what is published, which the owner writes: the labels of
-- each column with how many values are below, and the part of the taxonomy that begins
-- with the label, in preorder. The root, *, has all of it.
CREATE TABLE IF NOT EXISTS {{.CatalogSchema}}.label (
  table_schema text,
  table_name   text,
  column_name  text,
  label        text,
  parent       text,              -- NULL for the root
  leaves       integer NOT NULL,  -- of one value, 1
  span         int4range NOT NULL,
  ordered      boolean NOT NULL,  -- whether they are an order, of which low..high is a label, too
  PRIMARY KEY (table_name, column_name, label, table_schema)
);
-- Labels that an audience sees only by those above: what they mean is known, and they are not listed.
ALTER TABLE {{.CatalogSchema}}.label ADD COLUMN IF NOT EXISTS hidden boolean NOT NULL DEFAULT false;

-- The ranks that a label of an order, a value or low..high, stands for.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.rank_span(label text, rank jsonb) RETURNS int4range
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN ($2 ->> pg_catalog.split_part($1, '..', 1))::pg_catalog.int4
                <= ($2 ->> coalesce(nullif(pg_catalog.split_part($1, '..', 2), ''), $1))::pg_catalog.int4
    THEN pg_catalog.int4range(($2 ->> pg_catalog.split_part($1, '..', 1))::pg_catalog.int4,
                              ($2 ->> coalesce(nullif(pg_catalog.split_part($1, '..', 2), ''), $1))::pg_catalog.int4, '[]')
  END
$kproxy$;

-- What a label wanted means for the labels of a column: which of them lie in it, and which
-- share of the values of each one that is related to it is meant, NULL where that is not
-- known. For an order, the rank of each value, and those from which and up to which. NULL
-- where the column has neither taxonomy nor order.
--
-- It is called immutable so that the planner looks a constant up once and not for each row.
-- What it answers changes when the owner writes other labels, who alters the functions that
-- call it in the same transaction: that ends all plans that were made with them.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.meaning("table" text, "column" text, wanted text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  WITH known AS (
    SELECT l.* FROM {{.CatalogSchema}}.described_table($1) t
    JOIN {{.CatalogSchema}}.label l ON l.table_schema = t.table_schema AND l.table_name = t.table_name AND l.column_name = $2
  ), ranks AS (
    SELECT pg_catalog.jsonb_object_agg(k.label, pg_catalog.lower(k.span)) AS rank FROM known k WHERE k.parent IS NOT NULL
  )
  SELECT CASE WHEN root.ordered AND r.span IS NOT NULL THEN pg_catalog.jsonb_build_object(
      'rank', ranks.rank, 'from', pg_catalog.lower(r.span), 'to', pg_catalog.upper(r.span))
    ELSE pg_catalog.jsonb_build_object(
      'in', (SELECT coalesce(pg_catalog.jsonb_agg(k.label), '[]') FROM known k WHERE k.span <@ w.span),
      'of', (SELECT coalesce(pg_catalog.jsonb_object_agg(k.label,
               CASE WHEN k.span <@ w.span THEN 1 ELSE w.leaves::pg_catalog.float8 / k.leaves END), '{}')
             FROM known k WHERE k.span && w.span OR w.span IS NULL AND k.parent IS NULL))
    END
  FROM known root CROSS JOIN ranks
  CROSS JOIN LATERAL {{.CatalogSchema}}.rank_span($3, ranks.rank) AS r(span)
  LEFT JOIN known w ON w.label = $3
  WHERE root.parent IS NULL
$kproxy$;

-- A value that a taxonomy does not have is one of its own below the root.
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.certain(label text, wanted text, "table" text, "column" text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NOT NULL AND ($1 = $2 OR $2 = '*' OR CASE
    WHEN {{template "meaning" .}} ? 'rank' THEN {{.HelperSchema}}.certain({{template "rank" .}})
    ELSE ({{template "meaning" .}} -> 'in') ? $1
  END)
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.possible(label text, wanted text, "table" text, "column" text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NULL OR $1 = $2 OR $2 = '*' OR CASE
    WHEN {{template "meaning" .}} ? 'rank' THEN {{.HelperSchema}}.possible({{template "rank" .}})
    ELSE ({{template "meaning" .}} -> 'of') ? $1
  END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.overlap(label text, wanted text, "table" text, "column" text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN $1 IS NULL THEN NULL
    WHEN $1 = $2 OR $2 = '*' THEN 1
    WHEN {{template "meaning" .}} ? 'rank' THEN {{.HelperSchema}}.overlap({{template "rank" .}})
    WHEN ({{template "meaning" .}} -> 'of') ? $1 THEN ({{template "meaning" .}} -> 'of' ->> $1)::pg_catalog.float8
    WHEN {{template "meaning" .}} IS NOT NULL THEN 0
  END::pg_catalog.float8
$kproxy$;
{{- define "meaning"}}{{.CatalogSchema}}.meaning($3, $4, $2){{end}}
{{- define "rank"}}{{.CatalogSchema}}.rank_span($1, {{template "meaning" .}} -> 'rank'),
      pg_catalog.int4range(({{template "meaning" .}} ->> 'from')::pg_catalog.int4, ({{template "meaning" .}} ->> 'to')::pg_catalog.int4){{end}}
{{range .Comparisons}}
COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}(text, text) IS {{literal .OfBeginning}};
COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}(text, text, text, text) IS {{literal .OfLabel}};
{{end}}
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.labels("table" text, "column" text)
  RETURNS TABLE (label text, parent text, leaves integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
BEGIN
  RETURN QUERY SELECT l.label, l.parent, l.leaves FROM {{.CatalogSchema}}.described_table($1) t
    JOIN {{.CatalogSchema}}.label l ON l.table_schema = t.table_schema AND l.table_name = t.table_name AND l.column_name = $2
    WHERE NOT l.hidden
    ORDER BY pg_catalog.lower(l.span);
  IF NOT FOUND THEN
    RAISE NOTICE 'no column "%" with a taxonomy or an order is published in a table "%"', $2, $1
      USING HINT = 'kproxy.describe(table) tells how each column is generalized.';
  END IF;
END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.labels("table" text, "column" text, wanted text)
  RETURNS TABLE (label text, certain boolean, possible boolean, overlap double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  SELECT l.label, {{.HelperSchema}}.certain(l.label, $3, $1, $2), {{.HelperSchema}}.possible(l.label, $3, $1, $2),
    {{.HelperSchema}}.overlap(l.label, $3, $1, $2)
  FROM {{.HelperSchema}}.labels($1, $2) l
$kproxy$;

COMMENT ON FUNCTION {{.HelperSchema}}.labels(text, text) IS 'The labels of a column''s taxonomy or order, each with the one above it and how many values are below.';
COMMENT ON FUNCTION {{.HelperSchema}}.labels(text, text, text) IS 'How each label of a column''s taxonomy or order relates to the one wanted: certain, possible, and the share of its values that are meant.';

-- Each audience reads what is described of its own releases. Keys are those of tables that are
-- released together, which no audience sees.
ALTER TABLE {{.CatalogSchema}}.label ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';
DO $kproxy$
DECLARE
  described record;
BEGIN
  FOR described IN
    SELECT d.name, d.columns, d.condition FROM (VALUES
      ('described', 'table_schema, table_name, audience', 'audience = {{.CatalogSchema}}.audience()'),
      ('described_column', 'table_schema, table_name, position, audience', 'audience = {{.CatalogSchema}}.audience()'),
      ('label', 'table_name, column_name, label, table_schema, audience', 'audience = {{.CatalogSchema}}.audience()'),
      ('described_key', NULL, '{{.CatalogSchema}}.audience() = ''''')) AS d(name, columns, condition)
  LOOP
    IF described.columns IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
      WHERE c.conrelid = pg_catalog.format('{{.CatalogSchema}}.%I', described.name)::pg_catalog.regclass AND c.contype = 'p' AND a.attname = 'audience') THEN
      EXECUTE pg_catalog.format('ALTER TABLE {{.CatalogSchema}}.%1$I DROP CONSTRAINT %2$I, ADD PRIMARY KEY (%3$s)',
        described.name, described.name || '_pkey', described.columns);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_policy p
      WHERE p.polrelid = pg_catalog.format('{{.CatalogSchema}}.%I', described.name)::pg_catalog.regclass AND p.polname = 'own') THEN
      EXECUTE pg_catalog.format('CREATE POLICY own ON {{.CatalogSchema}}.%I FOR SELECT USING (%s)', described.name, described.condition);
    END IF;
    EXECUTE pg_catalog.format('ALTER TABLE {{.CatalogSchema}}.%I ENABLE ROW LEVEL SECURITY', described.name);
  END LOOP;
END
$kproxy$;

-- REFERENCES, which reaches nothing here, keeps these tables out of listings: see visible().
GRANT SELECT, REFERENCES ON TABLE {{.CatalogSchema}}.described, {{.CatalogSchema}}.described_column, {{.CatalogSchema}}.described_key, {{.CatalogSchema}}.label TO {{.Heads}};
REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}}, {{.HelperSchema}} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}}, {{.HelperSchema}} TO {{.Heads}};
