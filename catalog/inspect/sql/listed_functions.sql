-- What decides what the functions $1, $2 (schemas, names) do, each overload as a digest: their
-- entries in pg_proc but for privileges, costs and the object identifier, and of aggregates the
-- entries of the functions that these are made of. A dropped function that is made again just as
-- it was does the same. What the functions call by name is not among it.
SELECT n.nspname::text AS schema, p.proname::text AS name, pg_get_function_identity_arguments(p.oid) AS arguments,
       md5(concat(jsonb_strip_nulls(to_jsonb(p) - '{oid,proacl,procost,prorows}'::text[]),
         (SELECT string_agg(jsonb_strip_nulls(to_jsonb(g) - 'aggfnoid')::text || part.oid || jsonb_strip_nulls(to_jsonb(part) - '{oid,proacl,procost,prorows}'::text[]), ' ' ORDER BY part.oid)
          FROM pg_aggregate g
          JOIN pg_proc part ON part.oid IN (g.aggtransfn, g.aggfinalfn, g.aggcombinefn, g.aggserialfn, g.aggdeserialfn, g.aggmtransfn, g.aggminvtransfn, g.aggmfinalfn)
          WHERE g.aggfnoid = p.oid))) AS digest
FROM unnest($1::text[], $2::text[]) AS f(schema, name)
JOIN pg_namespace n ON n.nspname = f.schema
JOIN pg_proc p ON p.pronamespace = n.oid AND p.proname = f.name
ORDER BY 1, 2, 3
