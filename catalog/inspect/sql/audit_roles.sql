-- The roles that sessions of role $1 run as or can become (SET ROLE), with those
-- among them that are direct members. Members count whether or not they inherit.
SELECT r.oid, r.rolname::text AS name, r.rolsuper AS superuser, r.rolbypassrls AS bypass_rls,
       r.rolcreaterole AS create_role, r.rolcreatedb AS create_db, r.rolreplication AS replication,
       ARRAY(SELECT DISTINCT m.rolname::text FROM pg_auth_members am JOIN pg_roles m ON m.oid = am.member
             WHERE am.roleid = r.oid AND pg_has_role($1::oid, m.oid, 'MEMBER')) AS members
FROM pg_roles r
WHERE pg_has_role($1::oid, r.oid, 'MEMBER')
ORDER BY r.rolname
