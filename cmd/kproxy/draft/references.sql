-- The columns of foreign keys, with the tables that they refer to. Those of partitions
-- repeat their parent's.
SELECT n.nspname::text, c.relname::text, a.attname::text, fn.nspname::text, f.relname::text
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = ANY (k.conkey)
WHERE k.contype = 'f' AND k.conparentid = 0
-- Where a column is part of several, that of the fewest columns counts.
ORDER BY pg_catalog.cardinality(k.conkey) DESC, k.oid
