-- The types of users that values of the types $1 are of, or consist of, for each of those.
WITH RECURSIVE types(root, oid) AS (
  SELECT t, t FROM unnest($1::oid[]) AS t WHERE t >= 16384
  UNION
  SELECT y.root, u.oid FROM types y JOIN pg_type t ON t.oid = y.oid CROSS JOIN LATERAL (
    SELECT t.typbasetype UNION ALL SELECT t.typelem
    UNION ALL SELECT r.rngsubtype FROM pg_range r WHERE t.typtype IN ('r', 'm') -- PostgreSQL 13 has no multiranges
      AND t.oid IN (r.rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid)
    UNION ALL SELECT f.atttypid FROM pg_attribute f
      WHERE t.typtype = 'c' AND f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped
  ) AS u(oid) WHERE u.oid >= 16384
)
SELECT y.root AS oid, jsonb_agg(jsonb_build_object('oid', t.oid::bigint, 'name', format_type(t.oid, NULL),
         'labels', (SELECT jsonb_agg(jsonb_build_object('oid', e.oid::bigint, 'label', e.enumlabel) ORDER BY e.enumsortorder)
                    FROM pg_enum e WHERE e.enumtypid = t.oid),
         'fields', CASE WHEN t.typtype = 'c' THEN (SELECT coalesce(jsonb_agg(jsonb_build_object('number', f.attnum, 'name', f.attname, 'type', format_type(f.atttypid, f.atttypmod),
                      'type_oid', f.atttypid::bigint, 'modifier', f.atttypmod, 'collation', f.attcollation::bigint, 'generated', f.attgenerated <> '') ORDER BY f.attnum), '[]')
                    FROM pg_attribute f WHERE f.attrelid = t.typrelid AND f.attnum > 0 AND NOT f.attisdropped) END
       ) ORDER BY t.oid)::text AS types
FROM types y JOIN pg_type t ON t.oid = y.oid
GROUP BY y.root
