-- Privileges on, and ownership of, what is not a relation: grants to PUBLIC (0)
-- or to one of the roles $1. $2 is the store's schema, $3 the owner role.
SELECT kind, name, grantee, privilege FROM (
  SELECT 'schema' AS kind, n.nspname::text AS name, a.grantee, a.privilege_type AS privilege
  FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
  WHERE a.grantee <> n.nspowner AND (a.privilege_type = 'CREATE' OR n.nspname = $2)
    AND n.nspname !~ '^pg_(toast|temp)'
  UNION ALL
  SELECT 'schema', n.nspname, n.nspowner, 'OWNER' FROM pg_namespace n WHERE n.nspname !~ '^pg_(toast|temp)'
  UNION ALL
  SELECT 'database', d.datname, a.grantee, a.privilege_type
  FROM pg_database d CROSS JOIN LATERAL aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a
  WHERE d.datname = current_database() AND a.grantee <> d.datdba AND a.privilege_type IN ('CREATE', 'TEMPORARY')
  UNION ALL
  SELECT 'database', d.datname, d.datdba, 'OWNER' FROM pg_database d WHERE d.datname = current_database()
  UNION ALL
  -- A mapping for PUBLIC helps only who may use the server.
  SELECT 'server', s.srvname, a.grantee, a.privilege_type
  FROM pg_foreign_server s CROSS JOIN LATERAL aclexplode(s.srvacl) a
  WHERE a.grantee <> s.srvowner AND EXISTS (SELECT FROM pg_user_mappings m WHERE m.srvid = s.oid AND m.umuser = 0)
  UNION ALL
  SELECT 'mapping', m.srvname, m.umuser, 'USE' FROM pg_user_mappings m WHERE m.umuser <> 0
  UNION ALL
  -- Privileges that relations made by the owner will be born with.
  SELECT 'default', coalesce(n.nspname, ''), a.grantee, a.privilege_type
  FROM pg_default_acl d JOIN pg_roles r ON r.oid = d.defaclrole AND r.rolname = $3
  LEFT JOIN pg_namespace n ON n.oid = d.defaclnamespace
  CROSS JOIN LATERAL aclexplode(d.defaclacl) a
  WHERE d.defaclobjtype IN ('r', 'S') AND a.grantee <> d.defaclrole
) p
WHERE grantee = ANY ($1::oid[]) OR grantee = 0
GROUP BY kind, name, grantee, privilege
ORDER BY kind, name, grantee, privilege
