-- The partitions that the protected tables $1, $2 have, or had and that were noted, by what was
-- accepted of these. They are there or not.
SELECT DISTINCT (leaf->>'oid')::oid AS oid
FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
JOIN kproxy_store.accepted a ON a.kind = 'table' AND a.accepted_schema = p.schema AND a.accepted_name = p.relation
CROSS JOIN LATERAL jsonb_path_query(a.identity, '$.leaves[*]') AS leaf
