-- Privileges on the relations $1 that PUBLIC (0) or one of the roles $2 has, with
-- the columns where a grant names them. The owner's own are left out.
SELECT g.relation, g.grantee, array_agg(DISTINCT g.privilege ORDER BY g.privilege) AS privileges
FROM (
  SELECT c.oid AS relation, c.relowner, a.grantee, a.privilege_type AS privilege
  FROM pg_class c
  CROSS JOIN LATERAL aclexplode(coalesce(c.relacl, acldefault((CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", c.relowner))) a
  WHERE c.oid = ANY ($1::oid[])
  UNION ALL
  SELECT c.oid, c.relowner, a.grantee, a.privilege_type || ' (' || quote_ident(t.attname) || ')'
  FROM pg_class c
  JOIN pg_attribute t ON t.attrelid = c.oid AND t.attacl IS NOT NULL
  CROSS JOIN LATERAL aclexplode(t.attacl) a
  WHERE c.oid = ANY ($1::oid[])
) g
WHERE (g.grantee = 0 OR g.grantee = ANY ($2::oid[])) AND g.grantee <> g.relowner
GROUP BY g.relation, g.grantee
ORDER BY g.relation, g.grantee
