-- What publishing needs of each of the tables $1, $2 beyond its columns. $3 is
-- the owner role; row security is asked for the session's role, which it is. Privileges
-- are asked for as they are now: nothing is held against what has gone since the snapshot.
SELECT p.schema, p.relation,
       has_schema_privilege($3::oid, n.oid, 'USAGE') IS NOT FALSE AS usable,
       has_table_privilege($3::oid, c.oid, 'SELECT') IS NOT FALSE AS selectable,
       ARRAY(SELECT u.oid::regclass::text
             FROM (SELECT c.oid UNION SELECT relid::oid FROM pg_partition_tree(c.oid)) AS t(oid)
             JOIN pg_class u ON u.oid = t.oid AND u.relpersistence <> 'p'
             ORDER BY 1) AS unlogged,
       row_security_active(c.oid) AS row_security
FROM unnest($1::text[], $2::text[]) AS p(schema, relation)
JOIN pg_namespace n ON n.nspname = p.schema
JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = p.relation
