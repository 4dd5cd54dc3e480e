-- Every relation that holds or shows raw rows, each with one reason.
--
-- $1 roles of the reader; $2, $3 protected tables; $4, $5, $6 the store's
-- generations; $7 the store's schema; $8 the prefix of the reader's release schemas; $9 relations
-- that count as protected, too; $10 the reader's audience, '' for none; $11 which of the generations
-- are of mirrored tables, that are not protected. What is published for others counts as raw.
WITH RECURSIVE protected AS (
  SELECT c.oid
  FROM unnest($2::text[], $3::text[]) AS p(schema, relation)
  JOIN pg_namespace n ON n.nspname = p.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
  UNION
  SELECT c.oid FROM pg_class c WHERE c.oid = ANY ($9::oid[])
), below(oid, via) AS (
  SELECT oid, 0::oid FROM protected
  UNION
  SELECT i.inhrelid, i.inhparent FROM pg_inherits i JOIN below b ON b.oid = i.inhparent
), secret AS (
  SELECT c.oid FROM pg_class c
  WHERE c.relnamespace = 'pg_catalog'::regnamespace AND c.relname IN
    ('pg_statistic', 'pg_statistic_ext_data', 'pg_largeobject', 'pg_authid', 'pg_user_mapping')
), called AS (
  -- What a view's definition calls, with the functions of its operators and
  -- aggregates. Built-in functions are not recorded.
  SELECT u.target, x.function
  FROM (
    SELECT r.ev_class AS target, coalesce(o.oprcode::oid, d.refobjid) AS function
    FROM pg_rewrite r
    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
    LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
    WHERE r.ev_type = '1'
  ) u
  LEFT JOIN pg_aggregate g ON g.aggfnoid = u.function
  CROSS JOIN LATERAL (VALUES (u.function), (g.aggtransfn), (g.aggfinalfn), (g.aggcombinefn), (g.aggserialfn),
    (g.aggdeserialfn), (g.aggmtransfn), (g.aggminvtransfn), (g.aggmfinalfn)) AS x(function)
  WHERE x.function <> 0
), computed AS (
  -- Views with functions that run with other rights than the session's. The
  -- functions of a materialized view ran with its owner's rights: those that may
  -- read tables, as only IMMUTABLE ones may not, filled it with what is not known.
  SELECT c.target AS oid, min(f.oid) AS via
  FROM called c
  JOIN pg_proc f ON f.oid = c.function
  JOIN pg_language l ON l.oid = f.prolang
  JOIN pg_class v ON v.oid = c.target
  WHERE f.prosecdef OR (f.oid >= 16384 AND f.prokind <> 'a'
    AND (NOT l.lanpltrusted OR (v.relkind = 'm' AND f.provolatile <> 'i'))
    AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = f.oid
      AND d.refclassid = 'pg_extension'::regclass))
  GROUP BY c.target
), seed(oid, via, how) AS (
  SELECT oid, via, CASE WHEN via = 0 THEN 'protected' ELSE 'child' END FROM below
  UNION ALL
  SELECT c.oid, 0::oid, 'store' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = $7 AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  UNION ALL
  SELECT oid, 0::oid, 'system' FROM secret
  UNION ALL
  SELECT oid, via, 'function' FROM computed
), named AS MATERIALIZED (
  -- Megabytes, for the stand-ins alone: each is taken apart once, at what precedes the number of a relation. To search
  -- it for each of the secret ones takes twice as long.
  SELECT DISTINCT t.ev_class, t.on_select, split_part(t.part, ' ', 1) AS relation
  FROM (
    SELECT r.ev_class, r.ev_type = '1' AS on_select, unnest(string_to_array(r.ev_action::text, ':relid ')) AS part
    FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
    WHERE c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
  ) t
), reads AS (
  -- What the rules of a relation read: for ON SELECT ('1') a view's definition.
  SELECT DISTINCT d.refobjid AS source, r.ev_class AS target, r.ev_type = '1' AS on_select
  FROM pg_rewrite r
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  UNION
  -- Dependencies on pinned system catalogs are not recorded; the rule's tree
  -- names them.
  SELECT s.oid, n.ev_class, n.on_select
  FROM named n JOIN secret s ON n.relation = s.oid::text
), unpacking AS (
  -- Packed releases: views that read the rows and the type of their members which bear
  -- their number; the type is one for all audiences, and nothing else.
  SELECT v.oid
  FROM pg_class v JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname = $7
  WHERE v.relkind = 'v'
    AND NOT EXISTS (
      SELECT FROM reads JOIN pg_class s ON s.oid = reads.source
      WHERE reads.target = v.oid AND NOT (s.relnamespace = v.relnamespace AND s.relkind = 'r'
        AND s.relname = ANY (ARRAY[replace(v.relname, 'release_', 'packed_'), replace(v.relname, 'release_', 'copied_'),
          regexp_replace(v.relname, '^release_([a-z][a-z0-9]*_)?', 'copied_')])))
    AND NOT EXISTS (
      SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      WHERE r.ev_class = v.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass))
), mirroring AS (
  -- Releases of mirrored tables: views that read the records which bear their number, and
  -- nothing else.
  SELECT v.oid
  FROM pg_class v JOIN pg_namespace n ON n.oid = v.relnamespace AND n.nspname = $7
  WHERE v.relkind = 'v'
    AND NOT EXISTS (
      SELECT FROM reads JOIN pg_class s ON s.oid = reads.source
      WHERE reads.target = v.oid AND NOT (s.relnamespace = v.relnamespace AND s.relkind = 'r' AND s.relname = replace(v.relname, 'release_', 'records_')))
    AND NOT EXISTS (
      SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      WHERE r.ev_class = v.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass))
), published AS (
  -- Published relations that read their own release, and its weights where these lie apart,
  -- and nothing else.
  SELECT v.oid
  FROM unnest($4::text[], $5::text[], $6::bigint[], $11::boolean[]) AS g(table_schema, table_name, generation, mirrored)
  JOIN pg_namespace vn ON vn.nspname = $8 || g.table_schema
  JOIN pg_class v ON v.relnamespace = vn.oid AND v.relname = g.table_name AND v.relkind = 'v'
  JOIN pg_namespace sn ON sn.nspname = $7
  JOIN pg_class release ON release.relnamespace = sn.oid AND release.relname = 'release_' || CASE WHEN $10 <> '' AND NOT g.mirrored THEN $10 || '_' ELSE '' END || g.generation
    -- What is mirrored is one for all audiences.
    AND (release.relkind = 'r' AND NOT g.mirrored OR release.oid IN (SELECT oid FROM unpacking) AND NOT g.mirrored OR g.mirrored AND release.oid IN (SELECT oid FROM mirroring))
  LEFT JOIN pg_class weights ON weights.relnamespace = sn.oid AND weights.relname = 'cellweight_' || CASE WHEN $10 <> '' THEN $10 || '_' ELSE '' END || g.generation AND weights.relkind = 'r'
  WHERE EXISTS (SELECT FROM reads WHERE reads.target = v.oid AND reads.source = release.oid)
    AND NOT EXISTS (
      SELECT FROM reads WHERE reads.target = v.oid AND reads.source <> release.oid AND reads.source IS DISTINCT FROM weights.oid)
    AND NOT EXISTS (
      SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      WHERE r.ev_class = v.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass))
), summing AS (
  -- Views of kproxy's catalog that count the members of the packed rows of a release, or show the rows of its stored summary: they show none of its
  -- columns that readers do not see, and nothing else. They are of the release that the reader's audience reads,
  -- and have a name for it.
  SELECT v.oid
  FROM unnest($6::bigint[]) AS g(generation)
  JOIN pg_namespace sn ON sn.nspname = $7
  JOIN pg_class packed ON packed.relnamespace = sn.oid AND (packed.relname = 'packed_' || CASE WHEN $10 <> '' THEN $10 || '_' ELSE '' END || g.generation OR $10 = '' AND packed.relname = 'summary_' || g.generation) AND packed.relkind = 'r'
  JOIN reads ON reads.source = packed.oid AND reads.on_select
  JOIN pg_class v ON v.oid = reads.target AND v.relkind = 'v' AND v.relnamespace = to_regnamespace('kproxy_catalog')
    AND v.relname ~ ('^classes_' || CASE WHEN $10 <> '' THEN $10 || '_' ELSE '' END || '[0-9a-f]+$')
  WHERE NOT EXISTS (SELECT FROM reads WHERE reads.target = v.oid AND reads.source <> packed.oid)
    AND NOT EXISTS (
      SELECT FROM pg_attribute own JOIN pg_attribute stored ON stored.attrelid = packed.oid AND stored.attnum > 0
        AND (stored.attname ~ '^kproxy_' AND stored.attname !~ '^kproxy_(count$|(known|sum|least|greatest)_)' AND stored.attname = own.attname OR stored.attname = 'kproxy_members' AND stored.atttypid = own.atttypid)
      WHERE own.attrelid = v.oid AND own.attnum > 0)
    AND NOT EXISTS (
      SELECT FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
      LEFT JOIN pg_attribute a ON d.refclassid = 'pg_class'::regclass AND a.attrelid = d.refobjid AND a.attnum = d.refobjsubid AND d.refobjid <> v.oid
      WHERE r.ev_class = v.oid AND (d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass) OR a.attname ~ '^kproxy_' AND a.attname !~ '^kproxy_((members|count)$|(known|sum|least|greatest)_)'))
), edge(source, target, how) AS (
  SELECT inhrelid, inhparent, 'parent' FROM pg_inherits
  UNION ALL
  SELECT source, target, CASE WHEN on_select THEN 'view' ELSE 'rule' END FROM reads
  UNION ALL
  SELECT d.refobjid, d.objid, 'sequence' FROM pg_depend d JOIN pg_class s ON s.oid = d.objid AND s.relkind = 'S'
  WHERE d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i')
  UNION ALL
  SELECT oid, reltoastrelid, 'toast' FROM pg_class WHERE reltoastrelid <> 0
), raw(oid, via, how) AS (
  SELECT oid, via, how FROM seed
  UNION
  SELECT e.target, e.source, e.how
  FROM raw JOIN edge e ON e.source = raw.oid
  JOIN pg_class c ON c.oid = e.target
  JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE raw.how <> 'rule'
    AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND e.target NOT IN (SELECT oid FROM published UNION ALL SELECT oid FROM summing)
), once AS (
  -- The store's own reason goes first, a rule's last: it matters to writers only.
  SELECT DISTINCT ON (oid) oid, via, how FROM raw ORDER BY oid, how = 'rule', via <> 0, via
)
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation, c.relkind::text AS kind,
       c.relowner AS owner, o.how,
       CASE WHEN o.how = 'function' THEN o.via::regprocedure::text
            ELSE coalesce(vn.nspname || '.' || v.relname, '') END AS via,
       c.relkind = 'v' AND EXISTS (SELECT FROM unnest(c.reloptions) AS option
         WHERE option ~ '^security_invoker=(t|on|y|1)') AS invoker,
       EXISTS (SELECT FROM unnest($1::oid[]) AS role(oid) WHERE has_any_column_privilege(role.oid, c.oid, 'SELECT')) AS readable
FROM once o
JOIN pg_class c ON c.oid = o.oid
JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_class v ON v.oid = o.via AND o.how <> 'function'
LEFT JOIN pg_namespace vn ON vn.oid = v.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S', 't')
ORDER BY n.nspname, c.relname
