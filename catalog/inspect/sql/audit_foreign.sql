-- Foreign tables that PUBLIC or one of the roles $1 may read, or owns: their rows
-- come with the rights of a login that this database cannot see.
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation, c.relowner AS owner
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'f'
  AND EXISTS (SELECT FROM unnest($1::oid[]) AS role(oid) WHERE has_any_column_privilege(role.oid, c.oid, 'SELECT'))
ORDER BY 2, 3
