-- The relations $1, $2, as far as they exist: their columns, whether the reader role $3
-- may read them as a whole, and whether row security decides what of them.
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation,
       ARRAY(SELECT a.attname::text FROM pg_attribute a
             WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum) AS columns,
       coalesce(has_table_privilege($3::oid, c.oid, 'SELECT'), false) AS readable,
       c.relrowsecurity AS row_security
FROM unnest($1::text[], $2::text[]) AS s(schema, relation)
JOIN pg_namespace n ON n.nspname = s.schema
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.relation
