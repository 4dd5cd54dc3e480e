-- What has rows of the protected tables $1, $2 by what was accepted of these, whatever it is called
-- now: the tables themselves, those that were accepted under their names before, and the partitions
-- that they have, or had and that were noted, under this or an earlier name of the table, which need
-- not be accepted under this one yet. They are there or not.
WITH RECURSIVE noted AS (
  SELECT a.accepted_schema, a.accepted_name, a.identity
  FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
  LEFT JOIN (pg_class c JOIN pg_namespace s ON s.oid = c.relnamespace) ON s.nspname = p.schema AND c.relname = p.relation
  JOIN kproxy_store.accepted a ON a.kind = 'table' AND ((a.accepted_schema, a.accepted_name) = (p.schema, p.relation) OR a.identity->>'oid' = c.oid::text)
  UNION
  SELECT a.accepted_schema, a.accepted_name, a.identity
  FROM noted n JOIN kproxy_store.accepted a ON a.kind = 'table' AND a.identity->>'oid' = n.identity->>'oid'
)
SELECT DISTINCT held.oid
FROM noted
CROSS JOIN LATERAL (
  SELECT (noted.identity->>'oid')::oid
  UNION ALL
  SELECT (leaf->>'oid')::oid FROM jsonb_path_query(noted.identity, '$.leaves[*]') AS leaf
  UNION ALL
  SELECT former::text::oid FROM jsonb_path_query(noted.identity, '$.former[*]') AS former
) AS held(oid)
WHERE held.oid <> 0
