-- The published relations $1, $2 that the reader role $3 may not read.
SELECT n.nspname::text AS schema, c.relname::text AS relation
FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
JOIN pg_namespace n ON n.nspname = p.schema
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
WHERE NOT has_table_privilege($3::oid, c.oid, 'SELECT')
ORDER BY 1, 2
