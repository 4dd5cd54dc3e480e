-- Functions that do for a caller what the caller may not, and that PUBLIC (0) or
-- one of the roles $1 may execute, in any schema: attribute notation finds those
-- of pg_catalog, views and casts find the others. Whose rights a function runs
-- with is not asked: what its owner may do can change with any grant, and the
-- owner may call further functions.
WITH member AS (
  SELECT d.objid AS oid, e.extname FROM pg_depend d JOIN pg_extension e ON e.oid = d.refobjid
  WHERE d.classid = 'pg_proc'::regclass AND d.refclassid = 'pg_extension'::regclass
), executable AS (
  SELECT f.oid, a.grantee
  FROM pg_proc f CROSS JOIN LATERAL aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) a
  WHERE a.grantee = 0 OR a.grantee = ANY ($1::oid[])
), single AS (
  SELECT f.oid, f.proowner,
    CASE
      WHEN f.prosecdef AND f.proowner <> ALL ($1::oid[]) THEN 'definer'
      -- An aggregate's own entry names a language, but has no body.
      WHEN f.oid >= 16384 AND f.prokind <> 'a' AND NOT l.lanpltrusted AND f.oid NOT IN (SELECT oid FROM member)
        -- The constructors of a range type belong to it.
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid
          AND d.refclassid = 'pg_type'::regclass AND d.deptype = 'i') THEN 'untrusted'
      WHEN f.oid < 16384 AND f.proname IN
        ('pg_read_file', 'pg_read_binary_file', 'pg_stat_file', 'pg_ls_dir', 'lo_import', 'lo_export')
        THEN 'file'
      WHEN f.oid IN (SELECT oid FROM member WHERE extname = 'dblink') THEN 'dblink'
    END AS how
  FROM pg_proc f JOIN pg_language l ON l.oid = f.prolang
), suspect AS (
  SELECT oid, how, ''::text AS component FROM single WHERE how IS NOT NULL
  UNION ALL
  -- PostgreSQL asks the aggregate's owner, not the caller, for the right to
  -- execute the functions that the aggregate is made of.
  SELECT f.oid, 'aggregate', min(s.oid::regprocedure::text)
  FROM pg_aggregate g
  JOIN pg_proc f ON f.oid = g.aggfnoid AND f.oid >= 16384
  JOIN single s ON s.oid IN (g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn,
    g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn)
  WHERE s.how IS NOT NULL OR (f.oid NOT IN (SELECT oid FROM member) AND s.oid NOT IN (SELECT oid FROM executable))
  GROUP BY f.oid
)
SELECT s.oid::regprocedure::text AS routine, s.how, s.component, x.grantee,
       f.prorettype IN ('trigger'::regtype, 'event_trigger'::regtype) AS trigger,
       o.rolname::text AS owner
FROM suspect s
JOIN pg_proc f ON f.oid = s.oid
JOIN pg_roles o ON o.oid = f.proowner
JOIN executable x ON x.oid = s.oid
-- A role's own functions; that the reader can become a superuser is told apart.
WHERE x.grantee <> f.proowner OR (s.how = 'untrusted' AND NOT o.rolsuper)
ORDER BY 1, 4
