-- The views and materialized views that show rows of the protected tables $1, $2, with
-- the tables whose rows they are. Those among $3, $4 are listed by the policy.
WITH RECURSIVE protected AS (
  SELECT c.oid
  FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
  JOIN pg_namespace n ON n.nspname = p.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
), below(oid, root) AS (
  SELECT oid, oid FROM protected
  UNION
  SELECT i.inhrelid, b.root FROM pg_inherits i JOIN below b ON b.oid = i.inhparent
), above(oid, root) AS (
  -- Parents show the rows of what inherits from them.
  SELECT oid, oid FROM protected
  UNION
  SELECT i.inhparent, a.root FROM pg_inherits i JOIN above a ON a.oid = i.inhrelid
), reads AS (
  SELECT DISTINCT d.refobjid AS source, r.ev_class AS target
  FROM pg_rewrite r
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  WHERE r.ev_type = '1'
), shows(oid, root) AS (
  SELECT oid, root FROM (SELECT * FROM below UNION SELECT * FROM above) t
  UNION
  SELECT reads.target, s.root FROM shows s JOIN reads ON reads.source = s.oid
), named AS (
  SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
), sources AS MATERIALIZED (
  -- Grouped once for all views: there may be thousands, and this runs every few seconds.
  -- Materialized, as roots is: the planner cannot know how many rows a recursion finds
  -- and sets its cost far too high. As a part of the query below, that cost would hide
  -- what the joins there cost, and PostgreSQL 13 compares every view with every other.
  SELECT reads.target AS oid, array_agg(n.schema ORDER BY n.schema, n.relation) AS schemas,
         array_agg(n.relation ORDER BY n.schema, n.relation) AS relations
  FROM reads JOIN named n ON n.oid = reads.source GROUP BY reads.target
), roots AS MATERIALIZED (
  SELECT shows.oid, array_agg(n.schema ORDER BY n.schema, n.relation) AS schemas,
         array_agg(n.relation ORDER BY n.schema, n.relation) AS relations
  FROM shows JOIN named n ON n.oid = shows.root GROUP BY shows.oid
)
SELECT c.oid, v.schema, v.relation, c.relkind::text AS kind, l.relation IS NOT NULL AS listed,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns,
       coalesce(r.schemas, '{}') AS read_schemas, coalesce(r.relations, '{}') AS read_relations,
       t.schemas AS table_schemas, t.relations AS table_relations,
       EXISTS (SELECT FROM unnest(c.reloptions) AS option WHERE option ~ '^security_barrier=(t|on|y|1)') AS barrier
FROM roots t
JOIN pg_class c ON c.oid = t.oid AND c.relkind IN ('v', 'm')
JOIN named v ON v.oid = c.oid
LEFT JOIN sources r ON r.oid = c.oid
LEFT JOIN unnest($3::text[], $4::text[]) AS l(schema, relation) ON l.schema = v.schema AND l.relation = v.relation
WHERE v.schema NOT IN ('kproxy_store', 'kproxy_catalog') AND NOT starts_with(v.schema, $5)
ORDER BY v.schema, v.relation
