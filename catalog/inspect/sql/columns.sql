-- The columns of what statements read: releases, stand-ins, and system catalogs.
SELECT n.nspname::text AS schema, c.relname::text AS relation,
       array_agg(a.attname::text ORDER BY a.attnum) AS columns,
       array_agg(t.typtype NOT IN ('b', 'e', 'm', 'r') OR t.typcategory = 'A' ORDER BY a.attnum) AS composites,
       array_agg(format_type(a.atttypid, NULL) ORDER BY a.attnum) AS types
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid
JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attnum > 0 AND NOT a.attisdropped AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND (n.nspname IN ('pg_catalog', 'information_schema') OR starts_with(n.nspname, 'kproxy_') AND n.nspname <> 'kproxy_store')
GROUP BY n.nspname, c.relname
