-- The stand-ins $1, $2 whose columns are not those of their catalogs $3, $4, or
-- that the reader role $5 may not read; and the functions that sessions call.
SELECT s.schema || '.' || s.relation AS name
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[]) AS s(schema, relation, of_schema, of_relation)
JOIN pg_namespace own ON own.nspname = s.of_schema
JOIN pg_class of ON of.relnamespace = own.oid AND of.relname = s.of_relation
LEFT JOIN pg_namespace n ON n.nspname = s.schema
LEFT JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = s.relation
WHERE c.oid IS NULL OR NOT has_table_privilege($5::oid, c.oid, 'SELECT')
   OR ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)
   <> ARRAY(SELECT attname FROM pg_attribute WHERE attrelid = of.oid AND attnum > 0 AND NOT attisdropped ORDER BY attnum)
UNION ALL
SELECT f.name
FROM (VALUES ('kproxy_catalog.table_is_visible(oid,name[])'), ('kproxy_catalog.to_class(text,name[])'),
  ('kproxy_catalog.type_names(oid[],name[])'), ('kproxy_catalog.is_shown_composite(oid)'), ('kproxy_catalog.key_definition(oid,name[])')) AS f(name)
WHERE NOT coalesce(has_function_privilege($5::oid, to_regprocedure(f.name), 'EXECUTE'), false)
ORDER BY 1
