-- The columns of readable relations that are served: those that their stand-ins show. What
-- was added since a relation was accepted is none of them. A stand-in is bound to the
-- columns of a table by number, and has the names that they had; of a view it holds the
-- definition. It is put in line wherever it is read, for one column or for all.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.served_columns() RETURNS TABLE (relation oid, number smallint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000 AS $kproxy$
  SELECT c.oid, a.attnum FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_namespace r ON r.nspname = ({{.CatalogSchema}}.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
  JOIN pg_catalog.pg_class s ON s.relnamespace = r.oid AND s.relname = c.relname
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_attribute shown ON shown.attrelid = s.oid AND shown.attname = a.attname AND NOT shown.attisdropped
  WHERE pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')
    AND (c.relkind = 'v' OR EXISTS (
      SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid
      WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND w.ev_class = s.oid))
$kproxy$;

-- The columns of readable relations that are not served, with all that names them. No
-- relation has a stand-in in kproxy's own schemas, and a session's temporary tables need none.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.unserved_columns()
  RETURNS TABLE (namespace oid, relation oid, number smallint, table_schema text, table_name text, column_name text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
  SELECT n.oid, c.oid, a.attnum, n.nspname::pg_catalog.text, c.relname::pg_catalog.text, a.attname::pg_catalog.text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')
    AND n.nspname <> '{{.CatalogSchema}}' AND n.nspname::pg_catalog.text !~ '^{{.ReleasePattern}}'
    AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp_')
    AND (c.oid, a.attnum) NOT IN (SELECT s.relation, s.number FROM {{.CatalogSchema}}.served_columns() s)
$kproxy$;

-- Whether a column is served, which is asked of readable relations only: of all others the
-- session knows all columns or none. This function and the next ones are in PL/pgSQL, which
-- plans them once a session: they are called for every object, within other functions, and SQL
-- functions would be planned each time.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.is_served(relation oid, number integer) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN CASE WHEN $2 OPERATOR(pg_catalog.<=) 0 OR $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid
      OR NOT pg_catalog.has_table_privilege($1, 'REFERENCES') THEN true
    ELSE EXISTS (SELECT FROM {{.CatalogSchema}}.served_columns() s WHERE s.relation = $1 AND s.number = $2)
      OR EXISTS (
        SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = $1 AND pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp_')
          AND NOT pg_catalog.pg_is_other_temp_schema(n.oid)) END;
END
$kproxy$;

CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.has_unserved(relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN EXISTS (
    SELECT FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND NOT {{.CatalogSchema}}.is_served(a.attrelid, a.attnum));
END
$kproxy$;

-- Whether all columns that a stored expression refers to are served, if it is one about the
-- relation. A whole row (0) is all of them: what it is compared with may tell of any.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.refers_to_served(expression text, relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM pg_catalog.regexp_matches($1, ':varattno (-?[0-9]+)', 'g') AS v(number)
    WHERE CASE v.number[1] WHEN '0' THEN {{.CatalogSchema}}.has_unserved($2)
                           ELSE NOT {{.CatalogSchema}}.is_served($2, v.number[1]::pg_catalog.int4) END);
END
$kproxy$;

-- The same for pg_get_expr, which gives a column's name for its number: of whatever relation
-- the client names. The planner puts it in line, since most expressions name no column.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.may_show(expression text, relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.strpos($1, ':varattno ') OPERATOR(pg_catalog.>) 0 THEN {{.CatalogSchema}}.refers_to_served($1, $2)
    ELSE true END
$kproxy$;

-- Whether an object refers to a column that is not served: by its dependencies, by those of
-- the constraint that an index or a trigger belongs to, or of the trigger that a constraint
-- stands for, and by whole rows, which statistics cannot have. The arguments of a trigger are
-- texts that may name columns. Its cost has the planner ask first whether an object's relation
-- is visible.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.names_unserved(catalog oid, object oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 200 AS $kproxy$
BEGIN
  RETURN EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = $1 AND d.objid = $2 AND d.refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid AND d.objsubid = 0
      AND CASE
        WHEN d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
          THEN d.refobjsubid > 0 AND NOT {{.CatalogSchema}}.is_served(d.refobjid, d.refobjsubid)
        WHEN d.refclassid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
          THEN $1 <> d.refclassid AND {{.CatalogSchema}}.names_unserved(d.refclassid, d.refobjid)
        WHEN d.refclassid = 'pg_catalog.pg_trigger'::pg_catalog.regclass
          THEN $1 = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND {{.CatalogSchema}}.names_unserved(d.refclassid, d.refobjid)
        ELSE false
      END)
  OR CASE $1
    WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_index i WHERE i.indexrelid = $2
        AND NOT {{.CatalogSchema}}.may_show(pg_catalog.concat(i.indexprs, i.indpred), i.indrelid))
    WHEN 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = $2 AND NOT {{.CatalogSchema}}.may_show(k.conbin::pg_catalog.text, k.conrelid))
    WHEN 'pg_catalog.pg_trigger'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = $2
        AND (t.tgnargs > 0 AND {{.CatalogSchema}}.has_unserved(t.tgrelid) OR NOT {{.CatalogSchema}}.may_show(t.tgqual::pg_catalog.text, t.tgrelid)))
    ELSE false
  END;
END
$kproxy$;

-- Whether a partition's bound may be known: whether its parents, and what they are parted by, may.
CREATE OR REPLACE FUNCTION {{.CatalogSchema}}.shows_bound(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT NOT EXISTS (
    SELECT FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.regclass) AS p(oid)
    WHERE p.oid::pg_catalog.oid <> $1 AND (NOT {{.CatalogSchema}}.visible(p.oid::pg_catalog.oid)
      OR {{.CatalogSchema}}.names_unserved('pg_catalog.pg_class'::pg_catalog.regclass, p.oid::pg_catalog.oid)))
$kproxy$;
