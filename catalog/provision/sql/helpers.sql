-- SQL helpers for analysts, in a schema of their own. All run with the rights of the
-- session, and name relations, types and functions in full: each session reads the bodies
-- anew. Those over ranges have bodies that the planner puts in line.
--
-- Most values of a class lie only within its range. certain() holds where all values that
-- the range has lie in the interval, possible() where some do or nothing is known, and
-- overlap() is the share of the range's values that do, if all are alike likely.
{{range .HelperRanges}}
CREATE OR REPLACE FUNCTION {{$.HelperSchema}}.certain("range" {{.Range}}, wanted {{.Range}}) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION {{$.HelperSchema}}.possible("range" {{.Range}}, wanted {{.Range}}) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION {{$.HelperSchema}}.overlap("range" {{.Range}}, wanted {{.Range}}) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN {{.Finite "pg_catalog.lower($1)"}} AND {{.Finite "pg_catalog.upper($1)"}} THEN
      {{.Share "$1 * $2" "$1"}}
    ELSE ((({{.Finite "pg_catalog.lower($1)"}}) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + (({{.Finite "pg_catalog.upper($1)"}}) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / ((({{.Finite "pg_catalog.lower($1)"}}) IS NOT TRUE)::pg_catalog.int4 + (({{.Finite "pg_catalog.upper($1)"}}) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;
{{$r := .}}{{range $.Comparisons}}
CREATE OR REPLACE FUNCTION {{$.HelperSchema}}.{{.Name}}("range" {{$r.Range}}, low {{$r.Element}}, high {{$r.Element}}) RETURNS {{.Returns}}
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT {{$.HelperSchema}}.{{.Name}}($1, pg_catalog.{{$r.Range}}($2, $3))
$kproxy$;

COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}({{$r.Range}}, {{$r.Range}}) IS {{literal .OfInterval}};
COMMENT ON FUNCTION {{$.HelperSchema}}.{{.Name}}({{$r.Range}}, {{$r.Element}}, {{$r.Element}}) IS {{literal .OfBounds}};
{{end}}{{end}}
