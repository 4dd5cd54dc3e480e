-- The published relations $1, $2 that the reader role $3 may not read. They may be being
-- replaced or halted: what is published is known of the snapshot, and so are the grants
-- that belong to it. Privileges that come in other ways are asked for as they are now,
-- which is NULL of a relation that has gone since.
SELECT n.nspname::text AS schema, c.relname::text AS relation
FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
JOIN pg_namespace n ON n.nspname = p.schema
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
WHERE NOT has_table_privilege($3::oid, c.oid, 'SELECT')
  AND NOT EXISTS (SELECT FROM aclexplode(c.relacl) AS g
                  WHERE g.privilege_type = 'SELECT' AND (g.grantee = 0 OR pg_has_role($3::oid, g.grantee, 'USAGE')))
ORDER BY 1, 2
