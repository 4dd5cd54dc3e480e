-- The definitions of the views $1, materialized ones too, with every name outside of pg_catalog
-- qualified, since the search path is pg_catalog; written_from stands for all that each is
-- written from. To write one takes ACCESS SHARE locks on the view, what it reads, and composite
-- types. Where another session holds, or waits for, a lock that excludes these, blocker says so
-- in the place of the definition: the lock may be held for hours.
WITH asked AS (
  SELECT DISTINCT v.oid, r.oid AS rule, r.xmin AS made, r.ev_action
  FROM unnest($1::oid[]) AS v(oid)
  JOIN pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
), uses AS MATERIALIZED (
  SELECT oid, oid AS used FROM asked
  UNION
  SELECT a.oid, d.refobjid
  FROM asked a
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = a.rule AND d.refclassid = 'pg_class'::regclass
  UNION
  SELECT a.oid, t.typrelid
  FROM asked a
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = a.rule
  LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
  JOIN pg_type t ON t.oid = CASE d.refclassid WHEN 'pg_type'::regclass THEN d.refobjid ELSE p.prorettype END AND t.typrelid <> 0
), named AS MATERIALIZED (
  -- Once for each relation: thousands of views may read the same ones.
  SELECT c.oid, n.nspname, c.relname, format('%s %I.%I %s', c.oid, n.nspname, c.relname,
           (SELECT string_agg(format('%s %I', a.attnum, a.attname), ',' ORDER BY a.attnum) FROM pg_attribute a
            WHERE a.attrelid = c.oid AND a.attnum > 0)) AS text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.oid IN (SELECT used FROM uses)
), names AS (
  SELECT u.oid, string_agg(n.text, ';' ORDER BY n.oid) AS list FROM uses u JOIN named n ON n.oid = u.used GROUP BY u.oid
), blockers AS MATERIALIZED (
  SELECT DISTINCT ON (u.oid) u.oid,
         format('%s %s an ACCESS EXCLUSIVE lock on %I.%I', coalesce('process ' || l.pid, 'a prepared transaction'),
                CASE WHEN l.granted THEN 'holds' ELSE 'waits for' END, n.nspname, n.relname) AS what
  FROM pg_locks l
  JOIN pg_database d ON d.datname = current_database() AND l.database = d.oid
  JOIN uses u ON u.used = l.relation
  JOIN named n ON n.oid = l.relation
  WHERE l.locktype = 'relation' AND l.mode = 'AccessExclusiveLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
  ORDER BY u.oid, l.granted DESC, l.relation, l.pid
)
SELECT a.oid, md5(a.ev_action::text) AS rule, a.made::text AS made, md5(a.ev_action::text || a.made::text || n.list) AS written_from, coalesce(b.what, '') AS blocker,
       CASE WHEN b.oid IS NULL THEN pg_get_viewdef(a.oid) ELSE '' END AS definition
FROM asked a
JOIN names n ON n.oid = a.oid
LEFT JOIN blockers b ON b.oid = a.oid
