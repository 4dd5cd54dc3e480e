-- Those of the roles $1 that exist, in that order, and what each has of the role $2.
SELECT r.oid, r.rolname::text AS name, r.rolcanlogin AS login, pg_has_role(r.oid, $2::oid, 'USAGE') AS inherits
FROM unnest($1::text[]) WITH ORDINALITY AS i(name, n) JOIN pg_roles r ON r.rolname = i.name
ORDER BY i.n
