-- The foreign keys, with the tables that they refer to and their columns in order. Those of
-- partitions repeat their parent's.
SELECT n.nspname::text, c.relname::text, fn.nspname::text, f.relname::text, columns.names, columns.referenced
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
CROSS JOIN LATERAL (
  SELECT pg_catalog.array_agg(a.attname::text ORDER BY u.ord) AS names, pg_catalog.array_agg(fa.attname::text ORDER BY u.ord) AS referenced
  FROM ROWS FROM (pg_catalog.unnest(k.conkey), pg_catalog.unnest(k.confkey)) WITH ORDINALITY AS u (own, theirs, ord)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = u.own
  JOIN pg_catalog.pg_attribute fa ON fa.attrelid = f.oid AND fa.attnum = u.theirs) AS columns
WHERE k.contype = 'f' AND k.conparentid = 0
-- Where a column is part of several, that of the fewest columns counts.
ORDER BY pg_catalog.cardinality(k.conkey) DESC, k.oid
