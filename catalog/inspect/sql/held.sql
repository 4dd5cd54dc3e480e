-- What has rows of the protected tables $1, $2 by what was accepted of these, whatever it is called
-- now: the tables themselves, those that were accepted under their names before, and the partitions
-- that they have, or had and that were noted. They are there or not.
SELECT DISTINCT held.oid
FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
JOIN kproxy_store.accepted a ON a.kind = 'table' AND a.accepted_schema = p.schema AND a.accepted_name = p.relation
CROSS JOIN LATERAL (
  SELECT (a.identity->>'oid')::oid
  UNION ALL
  SELECT (leaf->>'oid')::oid FROM jsonb_path_query(a.identity, '$.leaves[*]') AS leaf
  UNION ALL
  SELECT former::text::oid FROM jsonb_path_query(a.identity, '$.former[*]') AS former
) AS held(oid)
WHERE held.oid <> 0
