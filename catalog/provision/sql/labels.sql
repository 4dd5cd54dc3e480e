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
  ordered      boolean NOT NULL,  -- whether low..high is a label, too
  PRIMARY KEY (table_name, column_name, label, table_schema)
);

-- What stands for a label of a column: no row where it is none of the taxonomy's.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.label_span(table_schema text, table_name text, column_name text, label text)
  RETURNS TABLE (leaves integer, span int4range)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT l.leaves, l.span FROM {{.CatalogSchema}}.label l
  WHERE l.table_name = $2 AND l.column_name = $3 AND l.label = $4 AND l.table_schema = $1
  UNION ALL
  SELECT pg_catalog.upper(high.span) - pg_catalog.lower(low.span), pg_catalog.int4range(pg_catalog.lower(low.span), pg_catalog.upper(high.span))
  FROM {{.CatalogSchema}}.label low JOIN {{.CatalogSchema}}.label high
    ON high.table_name = low.table_name AND high.column_name = low.column_name AND high.table_schema = low.table_schema
  WHERE low.ordered AND low.table_name = $2 AND low.column_name = $3 AND low.label = pg_catalog.split_part($4, '..', 1) AND low.table_schema = $1
    AND high.ordered AND high.label = pg_catalog.split_part($4, '..', 2) AND low.span << high.span
$kproxy$;

-- How a label relates to the one wanted. A value that the taxonomy does not have is one of
-- its own below the root. NULL where the column has no taxonomy.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.compared(label text, wanted text, "table" text, "column" text)
  RETURNS TABLE (certain boolean, possible boolean, overlap double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT $1 IS NOT NULL AND ($1 = $2 OR $2 = '*' OR coalesce(l.span <@ w.span, false)),
    $1 IS NULL OR $1 = $2 OR $1 = '*' OR $2 = '*' OR coalesce(l.span && w.span, false),
    CASE
      WHEN $1 IS NULL THEN NULL
      WHEN $1 = $2 OR $2 = '*' OR l.span <@ w.span THEN 1
      WHEN w.span <@ l.span THEN w.leaves::pg_catalog.float8 / l.leaves
      WHEN $1 <> '*' THEN coalesce({{.HelperSchema}}.overlap(l.span, w.span), 0)
    END
  FROM {{.CatalogSchema}}.described_table($3) t
  JOIN {{.CatalogSchema}}.label root
    ON root.table_schema = t.table_schema AND root.table_name = t.table_name AND root.column_name = $4 AND root.parent IS NULL AND root.label = '*'
  LEFT JOIN LATERAL {{.CatalogSchema}}.label_span(t.table_schema, t.table_name, $4, $1) l ON true
  LEFT JOIN LATERAL {{.CatalogSchema}}.label_span(t.table_schema, t.table_name, $4, $2) w ON true
$kproxy$;
{{range .Comparisons}}
CREATE OR REPLACE FUNCTION {{$.HelperSchema}}.{{.Name}}(label text, wanted text, "table" text, "column" text) RETURNS {{.Returns}}
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT c.{{.Name}} FROM {{$.CatalogSchema}}.compared($1, $2, $3, $4) c
$kproxy$;

COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}(text, text) IS {{literal .OfBeginning}};
COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}(text, text, text, text) IS {{literal .OfLabel}};
{{end}}
CREATE OR REPLACE FUNCTION {{.HelperSchema}}.labels("table" text, "column" text)
  RETURNS TABLE (label text, parent text, leaves integer)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  SELECT l.label, l.parent, l.leaves FROM {{.CatalogSchema}}.described_table($1) t
  JOIN {{.CatalogSchema}}.label l ON l.table_schema = t.table_schema AND l.table_name = t.table_name AND l.column_name = $2
  ORDER BY pg_catalog.lower(l.span)
$kproxy$;

CREATE OR REPLACE FUNCTION {{.HelperSchema}}.labels("table" text, "column" text, wanted text)
  RETURNS TABLE (label text, certain boolean, possible boolean, overlap double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  SELECT l.label, c.certain, c.possible, c.overlap FROM {{.HelperSchema}}.labels($1, $2) l
  CROSS JOIN LATERAL {{.CatalogSchema}}.compared(l.label, $3, $1, $2) c
$kproxy$;

COMMENT ON FUNCTION {{.HelperSchema}}.labels(text, text) IS 'The labels of a column''s taxonomy or order, each with the one above it and how many values are below.';
COMMENT ON FUNCTION {{.HelperSchema}}.labels(text, text, text) IS 'How each label of a column''s taxonomy or order relates to the one wanted: certain, possible, and the share of its values that are meant.';

-- REFERENCES, which reaches nothing here, keeps these tables out of listings: see visible().
GRANT SELECT, REFERENCES ON TABLE {{.CatalogSchema}}.described, {{.CatalogSchema}}.described_column, {{.CatalogSchema}}.label TO {{identifier .Reader}};
REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}}, {{.HelperSchema}} FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {{.CatalogSchema}}, {{.HelperSchema}} TO {{identifier .Reader}};
