-- The relations $3, $4 that the policy lists, and those that the views among them read, at
-- any depth. Raw are those that show rows of the protected tables $1, $2, or lie in schemas
-- of kproxy's own: $5, $6, or one that begins with $7. The relations $8 count as protected,
-- too: protected tables under other names, and their partitions, also where they are detached.
WITH RECURSIVE protected AS (
  SELECT c.oid
  FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
  JOIN pg_namespace n ON n.nspname = p.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
  UNION
  SELECT c.oid FROM pg_class c WHERE c.oid = ANY ($8::oid[])
), below(oid) AS (
  SELECT oid FROM protected
  UNION
  SELECT i.inhrelid FROM pg_inherits i JOIN below b ON b.oid = i.inhparent
), above(oid) AS (
  SELECT oid FROM protected
  UNION
  SELECT i.inhparent FROM pg_inherits i JOIN above a ON a.oid = i.inhrelid
), reads AS MATERIALIZED (
  SELECT DISTINCT d.refobjid AS source, r.ev_class AS target
  FROM pg_rewrite r
  JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
    AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> r.ev_class
  WHERE r.ev_type = '1'
), shows(oid) AS (
  SELECT oid FROM (SELECT * FROM below UNION SELECT * FROM above) t
  UNION
  SELECT reads.target FROM shows s JOIN reads ON reads.source = s.oid
), listed AS (
  SELECT c.oid
  FROM unnest($3::text[], $4::text[]) AS l(schema, relation)
  JOIN pg_namespace n ON n.nspname = l.schema
  JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = l.relation
), under(oid) AS (
  SELECT oid FROM listed
  UNION
  -- What a view over protected tables reads is no matter of this: it is published.
  SELECT reads.source FROM under u JOIN reads ON reads.target = u.oid WHERE u.oid NOT IN (SELECT oid FROM shows)
), parts(root, oid) AS (
  SELECT i.inhparent, i.inhrelid FROM pg_inherits i JOIN under u ON u.oid = i.inhparent
  UNION
  SELECT p.root, i.inhrelid FROM parts p JOIN pg_inherits i ON i.inhparent = p.oid
), tree(root, oid) AS (
  SELECT oid, oid FROM under
  UNION ALL
  SELECT root, oid FROM parts
), upward(root, oid) AS (
  SELECT root, oid FROM tree
  UNION
  SELECT u.root, i.inhparent FROM upward u JOIN pg_inherits i ON i.inhrelid = u.oid
)
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation, c.relkind::text AS kind,
       c.oid IN (SELECT oid FROM listed) AS listed,
       ARRAY(SELECT a.attnum FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS numbers,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS names,
       ARRAY(SELECT format_type(a.atttypid, a.atttypmod) FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS types,
       ARRAY(SELECT a.atttypid FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS type_oids,
       ARRAY(SELECT DISTINCT coalesce(p.prorettype, d.refobjid) FROM pg_rewrite r JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
             AND d.refclassid IN ('pg_type'::regclass, 'pg_proc'::regclass) LEFT JOIN pg_proc p ON d.refclassid = 'pg_proc'::regclass AND p.oid = d.refobjid
             WHERE r.ev_class = c.oid AND c.relkind IN ('v', 'm')) AS named_types,
       ARRAY(SELECT a.attname::text FROM pg_index i
             CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, position)
             JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
             WHERE i.indrelid = c.oid AND i.indisprimary AND i.indimmediate AND k.position <= i.indnkeyatts ORDER BY k.position) AS key,
       ARRAY(SELECT sn.nspname::text FROM reads JOIN pg_class s ON s.oid = reads.source JOIN pg_namespace sn ON sn.oid = s.relnamespace
             WHERE reads.target = c.oid AND c.relkind IN ('v', 'm') ORDER BY sn.nspname, s.relname) AS read_schemas,
       ARRAY(SELECT s.relname::text FROM reads JOIN pg_class s ON s.oid = reads.source JOIN pg_namespace sn ON sn.oid = s.relnamespace
             WHERE reads.target = c.oid AND c.relkind IN ('v', 'm') ORDER BY sn.nspname, s.relname) AS read_relations,
       EXISTS (SELECT FROM unnest(c.reloptions) AS option WHERE option ~ '^security_barrier=(t|on|y|1)') AS barrier,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('oid', p.oid::bigint, 'numbers',
                 (SELECT coalesce(jsonb_agg(coalesce(own.attnum, 0) ORDER BY a.attnum), '[]') FROM pg_attribute a
                  LEFT JOIN pg_attribute own ON own.attrelid = p.oid AND own.attname = a.attname AND NOT own.attisdropped AND NOT a.attisdropped
                  WHERE a.attrelid = c.oid AND a.attnum > 0)) ORDER BY p.oid), '[]')::text
        FROM parts p JOIN pg_class pc ON pc.oid = p.oid AND pc.relkind IN ('r', 'f') WHERE p.root = c.oid) AS parts,
       ARRAY(SELECT u.oid FROM upward u WHERE u.root = c.oid ORDER BY u.oid) AS tree,
       c.relkind = 'f' OR EXISTS (SELECT FROM parts p JOIN pg_class pc ON pc.oid = p.oid AND pc.relkind = 'f' WHERE p.root = c.oid) AS is_foreign,
       c.relrowsecurity AS row_security,
       coalesce((SELECT called.oid::regprocedure::text
         FROM pg_rewrite r
         JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
         LEFT JOIN pg_operator o ON d.refclassid = 'pg_operator'::regclass AND o.oid = d.refobjid
         LEFT JOIN pg_aggregate g ON d.refclassid = 'pg_proc'::regclass AND g.aggfnoid = d.refobjid
         CROSS JOIN LATERAL unnest(ARRAY[coalesce(o.oprcode, d.refobjid), g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn,
           g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn]::oid[]) AS f(oid)
         JOIN pg_proc called ON called.oid = f.oid
         JOIN pg_language l ON l.oid = called.prolang
         WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind IN ('v', 'm') AND called.oid >= 16384
           -- Functions of extensions are written in C, which is no trusted language.
           AND (called.prosecdef OR called.prokind <> 'a' AND (called.provolatile <> 'i' OR NOT l.lanpltrusted
             AND NOT EXISTS (SELECT FROM pg_depend e WHERE e.classid = 'pg_proc'::regclass AND e.objid = called.oid AND e.refclassid = 'pg_extension'::regclass)))
         ORDER BY called.oid LIMIT 1), '') AS function,
       -- Dependencies on what initdb made are not recorded; the rule's tree names it.
       ARRAY(SELECT DISTINCT sn.nspname || '.' || s.relname
             FROM pg_rewrite r CROSS JOIN LATERAL regexp_matches(r.ev_action::text, ':relid (\d+)', 'g') AS named
             JOIN pg_class s ON s.oid = named[1]::oid JOIN pg_namespace sn ON sn.oid = s.relnamespace
             WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind IN ('v', 'm') AND (s.oid < 16384 OR s.relkind NOT IN ('r', 'p', 'v', 'm', 'f')) ORDER BY 1) AS system_reads,
       ARRAY(SELECT DISTINCT called.proname::text
             FROM pg_rewrite r CROSS JOIN LATERAL regexp_matches(r.ev_action::text, ':(?:funcid|aggfnoid|winfnoid) (\d+)', 'g') AS named
             JOIN pg_proc called ON called.oid = named[1]::oid
             WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind IN ('v', 'm') AND called.oid < 16384 AND called.provolatile <> 'i'
             UNION
             -- JSON_OBJECT and its like (PostgreSQL 16) do the same, and name no function.
             SELECT 'json_build_object' FROM pg_rewrite r
             WHERE r.ev_class = c.oid AND r.ev_type = '1' AND c.relkind IN ('v', 'm') AND r.ev_action::text ~ '\{JSONCONSTRUCTOREXPR'
             ORDER BY 1) AS system_calls,
       c.oid IN (SELECT oid FROM shows) OR n.nspname IN ($5, $6) OR starts_with(n.nspname, $7)
         OR EXISTS (SELECT FROM parts p WHERE p.root = c.oid AND p.oid IN (SELECT oid FROM shows)) AS raw,
       has_table_privilege(c.oid, 'SELECT') AND has_schema_privilege(n.oid, 'USAGE') AS granted
FROM under u
JOIN pg_class c ON c.oid = u.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
JOIN pg_namespace n ON n.oid = c.relnamespace
ORDER BY n.nspname, c.relname
