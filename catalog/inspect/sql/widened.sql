-- Published views, in schemas that begin with $1, through which the reader role $2 could
-- read what it may not read itself: a relation, or rows that row security hides from it.
-- The published relations of tables, which read the private store, are $3, $4. A view
-- that reads with the session's rights (PostgreSQL 15) cannot widen them. The stand-ins of
-- readable relations, which read with their owner's, are told by the privilege REFERENCES.
-- Only the view $5 is looked at, if one is given.
SELECT DISTINCT n.nspname::text AS schema, v.relname::text AS relation, s.oid::regclass::text AS source
FROM pg_class v
JOIN pg_namespace n ON n.oid = v.relnamespace AND starts_with(n.nspname::text, $1)
JOIN pg_rewrite r ON r.ev_class = v.oid AND r.ev_type = '1'
JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
  AND d.refclassid = 'pg_class'::regclass AND d.refobjid <> v.oid
JOIN pg_class s ON s.oid = d.refobjid
WHERE v.relkind IN ('v', 'm') AND ($5 = '' OR v.oid = to_regclass($5))
  AND (s.relrowsecurity OR NOT has_table_privilege($2::oid, s.oid, 'SELECT'))
  AND has_any_column_privilege($2::oid, v.oid, 'SELECT') AND NOT has_table_privilege($2::oid, v.oid, 'REFERENCES')
  AND NOT EXISTS (SELECT FROM unnest(v.reloptions) AS option WHERE option ~ '^security_invoker=(t|on|y|1)')
  AND (n.nspname, v.relname) NOT IN (SELECT $1 || g.schema, g.relation FROM unnest($3::text[], $4::text[]) AS g(schema, relation))
ORDER BY 1, 2, 3
