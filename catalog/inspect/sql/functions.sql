-- The functions $1, $2 (schemas, names) that the operator lists, each overload with what
-- speaks against it; NULL for a name that there is none of. $3 is the reader role,
-- whose privileges are asked for as they are now; nothing is held against what has gone since.
SELECT f.schema, f.name, p.oid::regprocedure::text AS routine,
       coalesce(p.prokind NOT IN ('f', 'a', 'w'), false) AS procedure,
       coalesce(p.prosecdef, false) AS definer,
       coalesce(p.provolatile = 'v', false) AS volatile,
       coalesce(l.lanname, '')::text AS language,
       EXISTS (
         SELECT FROM unnest(p.proargtypes::oid[] || p.prorettype || coalesce(p.proallargtypes, '{}')) AS a(oid)
         JOIN pg_type t ON t.oid = a.oid
         WHERE t.typnamespace = 'pg_catalog'::regnamespace
           AND (t.typname IN ('internal', 'cstring', 'trigger', 'event_trigger') OR t.typname ~ '^_?reg' OR t.typname LIKE '%\_handler')) AS internal,
       coalesce(e.extname, '')::text AS extension,
       (has_schema_privilege($3::oid, n.oid, 'USAGE') AND has_function_privilege($3::oid, p.oid, 'EXECUTE')) IS NOT FALSE AS granted
FROM unnest($1::text[], $2::text[]) AS f(schema, name)
LEFT JOIN pg_namespace n ON n.nspname = f.schema
LEFT JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = f.name
LEFT JOIN pg_language l ON l.oid = p.prolang
LEFT JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
ORDER BY 1, 2, 3
