-- What the roles $1 own in this database but temporary relations, and what has been granted
-- to them by name, but for the relations $2, of which is told elsewhere.
SELECT r.rolname::text AS role, d.deptype = 'o' AS owned, i.type, i.identity
FROM pg_shdepend d
JOIN pg_roles r ON r.oid = d.refobjid
LEFT JOIN pg_class c ON d.classid = 'pg_class'::regclass AND c.oid = d.objid
CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) AS i
WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = ANY ($1::oid[]) AND d.deptype IN ('a', 'o')
  AND d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND d.classid <> 'pg_default_acl'::regclass AND c.relpersistence IS DISTINCT FROM 't'
  AND (d.classid <> 'pg_class'::regclass OR d.objid <> ALL ($2::oid[]))
ORDER BY 1, 2, 3, 4
