-- Functions that do for a caller what the caller may not, and that PUBLIC (0) or
-- one of the roles $1 may execute. $2 are the relations with raw rows.
WITH powerful AS (
  SELECT r.oid FROM pg_roles r
  WHERE r.oid IN (SELECT proowner FROM pg_proc WHERE prosecdef)
    AND (r.rolsuper
      OR pg_has_role(r.oid, 'pg_read_server_files', 'USAGE')
      OR pg_has_role(r.oid, 'pg_execute_server_program', 'USAGE')
      OR EXISTS (SELECT FROM unnest($2::oid[]) AS raw(oid) WHERE has_any_column_privilege(r.oid, raw.oid, 'SELECT')))
), suspect AS (
  SELECT f.*,
    CASE
      WHEN f.prosecdef AND f.pronamespace <> 'pg_catalog'::regnamespace AND f.proowner <> ALL ($1::oid[])
        AND f.proowner IN (SELECT oid FROM powerful) THEN 'definer'
      WHEN f.pronamespace = 'pg_catalog'::regnamespace AND (f.proname IN
        ('pg_read_file', 'pg_read_binary_file', 'pg_stat_file', 'pg_ls_dir', 'lo_import', 'lo_export'))
        THEN 'file'
      WHEN f.oid IN (SELECT d.objid FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
        WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass AND e.extname = 'dblink') THEN 'dblink'
    END AS how
  FROM pg_proc f
)
SELECT s.oid::regprocedure::text AS routine, s.how, a.grantee,
       s.prorettype IN ('trigger'::regtype, 'event_trigger'::regtype) AS trigger,
       pg_get_userbyid(s.proowner)::text AS owner
FROM suspect s
CROSS JOIN LATERAL aclexplode(coalesce(s.proacl, acldefault('f', s.proowner))) a
WHERE s.how IS NOT NULL AND (a.grantee = 0 OR a.grantee = ANY ($1::oid[])) AND a.grantee <> s.proowner
ORDER BY 1, 3
