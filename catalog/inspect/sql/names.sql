-- What can be listed: the relations and the functions of users, each name once. Parts are
-- partitions.
SELECT n.nspname::text AS schema, c.relname::text AS name, false AS routine, c.relispartition AS part
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
UNION
SELECT n.nspname::text, p.proname::text, true, false
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY 1, 2, 3
