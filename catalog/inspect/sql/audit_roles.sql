-- The roles that sessions of the roles $1 run as or can become (SET ROLE), with the first
-- of these that can, and those among all that are direct members. Members count whether or
-- not they inherit.
SELECT r.oid, r.rolname::text AS name, u.rolname::text AS reader, r.rolsuper AS superuser, r.rolbypassrls AS bypass_rls,
       r.rolcreaterole AS create_role, r.rolcreatedb AS create_db, r.rolreplication AS replication,
       ARRAY(SELECT DISTINCT m.rolname::text FROM pg_auth_members am JOIN pg_roles m ON m.oid = am.member
             WHERE am.roleid = r.oid AND EXISTS (SELECT FROM unnest($1::oid[]) AS i(oid) WHERE pg_has_role(i.oid, m.oid, 'MEMBER'))) AS members
FROM pg_roles r
CROSS JOIN LATERAL (
  SELECT s.rolname FROM unnest($1::oid[]) WITH ORDINALITY AS i(oid, n) JOIN pg_roles s ON s.oid = i.oid
  WHERE pg_has_role(i.oid, r.oid, 'MEMBER') ORDER BY i.n LIMIT 1) AS u
ORDER BY r.rolname
