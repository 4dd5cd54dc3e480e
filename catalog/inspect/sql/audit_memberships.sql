-- Of what the roles $1 are members beside the role $2, and whether they may make others
-- members of that.
SELECT m.rolname::text AS member, g.rolname::text AS role, g.oid <> $2::oid AS other
FROM pg_auth_members am JOIN pg_roles g ON g.oid = am.roleid JOIN pg_roles m ON m.oid = am.member
WHERE am.member = ANY ($1::oid[]) AND (g.oid <> $2::oid OR am.admin_option)
GROUP BY m.rolname, g.rolname, g.oid
ORDER BY 1, 2
