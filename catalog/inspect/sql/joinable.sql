-- By what rows of the tables $1 can be told apart, or joined with those of other tables:
-- unique indexes (kind u; one that is partial tells apart the rows it covers), foreign
-- keys to other relations (kind f), and those that others have to them (kind r). Keys of
-- partitions are their parent's. An index over expressions names the columns it has.
WITH RECURSIVE protected AS (
  SELECT unnest($1::oid[]) AS oid
), family AS (
  -- A table and its partitions, each with the table that is protected.
  SELECT p.oid AS protected, p.oid FROM protected p
  UNION
  SELECT f.protected, i.inhrelid FROM family f JOIN pg_inherits i ON i.inhparent = f.oid
), keys AS (
  SELECT 'u' AS kind, f.protected AS relation, 0::oid AS other, i.indexrelid AS id,
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a
          WHERE a.attrelid = i.indrelid AND a.attnum > 0 AND (
            a.attnum IN (SELECT k.attnum FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, position) WHERE k.position <= i.indnkeyatts)
            OR i.indexprs IS NOT NULL AND a.attnum IN (
              SELECT d.refobjsubid FROM pg_depend d
              WHERE d.classid = 'pg_class'::regclass AND d.objid = i.indexrelid AND d.refclassid = 'pg_class'::regclass AND d.refobjid = i.indrelid))) AS columns
  FROM pg_index i JOIN family f ON f.oid = i.indrelid
  WHERE i.indisunique
  UNION ALL
  SELECT 'f', f.protected, coalesce((SELECT t.protected FROM family t WHERE t.oid = c.confrelid LIMIT 1), c.confrelid), c.oid,
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey))
  FROM pg_constraint c JOIN family f ON f.oid = c.conrelid
  WHERE c.contype = 'f'
  UNION ALL
  SELECT 'r', f.protected, coalesce((SELECT t.protected FROM family t WHERE t.oid = c.conrelid LIMIT 1), c.conrelid), c.oid,
         (SELECT array_agg(a.attname::text ORDER BY a.attnum) FROM pg_attribute a WHERE a.attrelid = c.confrelid AND a.attnum = ANY (c.confkey))
  FROM pg_constraint c JOIN family f ON f.oid = c.confrelid
  WHERE c.contype = 'f'
)
SELECT DISTINCT k.kind::text, k.relation, k.other, k.columns, coalesce(n.nspname, '')::text AS schema, coalesce(r.relname, '')::text AS name
FROM keys k
LEFT JOIN pg_class r ON r.oid = k.other
LEFT JOIN pg_namespace n ON n.oid = r.relnamespace
WHERE k.columns IS NOT NULL
ORDER BY 2, 1 DESC, 4, 3
