-- What the roles $1 or PUBLIC (0) may write, or own, but temporary tables. Rights on
-- PostgreSQL's own relations (pg_settings) change the session alone.
SELECT n.nspname::text AS schema, c.relname::text AS relation, c.relkind = 'S' AS sequence, g.grantee,
       string_agg(DISTINCT g.privilege, ', ' ORDER BY g.privilege) AS privileges
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
  SELECT a.grantee, a.privilege_type AS privilege
  FROM aclexplode(coalesce(c.relacl, acldefault((CASE c.relkind WHEN 'S' THEN 's' ELSE 'r' END)::"char", c.relowner))) a
  WHERE a.grantee <> c.relowner
  UNION ALL
  SELECT a.grantee, a.privilege_type || ' (' || quote_ident(t.attname) || ')'
  FROM pg_attribute t CROSS JOIN LATERAL aclexplode(t.attacl) a
  WHERE t.attrelid = c.oid AND t.attacl IS NOT NULL AND a.grantee <> c.relowner
  UNION ALL
  SELECT c.relowner, 'OWNER'
) g
WHERE c.oid >= 16384 AND c.relpersistence <> 't' AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  AND n.nspname !~ '^pg_temp'
  AND (g.grantee = 0 OR g.grantee = ANY ($1::oid[]))
  AND (g.privilege ~ '^(INSERT|UPDATE|DELETE|TRUNCATE|MAINTAIN|TRIGGER|OWNER)' OR c.relkind = 'S' AND g.privilege = 'USAGE')
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 4
