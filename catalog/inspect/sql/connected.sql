-- The foreign keys between two of the tables $1, each once, with their columns in order.
-- Those of partitions are their parent's.
SELECT DISTINCT c.conrelid AS child, c.confrelid AS parent,
       (SELECT array_agg(a.attname::text ORDER BY k.position) FROM unnest(c.conkey) WITH ORDINALITY AS k(attnum, position)
        JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.attnum) AS columns,
       (SELECT array_agg(a.attname::text ORDER BY k.position) FROM unnest(c.confkey) WITH ORDINALITY AS k(attnum, position)
        JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.attnum) AS referenced
FROM pg_constraint c
WHERE c.contype = 'f' AND c.conparentid = 0 AND c.conrelid <> c.confrelid
  AND c.conrelid = ANY ($1::oid[]) AND c.confrelid = ANY ($1::oid[])
ORDER BY 1, 2, 3
