-- Privileges on release schemas, whose names match $2, that PUBLIC (0) or one of the roles $1 has,
-- but for those whose names begin with $3.
SELECT 'schema' AS kind, n.nspname::text AS name, a.grantee, a.privilege_type AS privilege
FROM pg_namespace n
CROSS JOIN LATERAL aclexplode(n.nspacl) AS a
WHERE n.nspname ~ $2 AND NOT starts_with(n.nspname::text, $3) AND a.grantee <> n.nspowner
  AND (a.grantee = 0 OR a.grantee = ANY ($1::oid[])) AND a.privilege_type = 'USAGE'
ORDER BY 2, 3
