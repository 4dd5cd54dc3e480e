-- What is wrong with the schema of the helpers, $1, which belongs to role $4: objects in it
-- that are another role's, and functions $2 of which the reader role $5 may not call as many
-- as there are to be, $3.
SELECT o.object AS name, true AS stranger FROM (
  SELECT c.relnamespace AS namespace, c.relowner AS owner, (pg_identify_object('pg_class'::regclass, c.oid, 0)).type || ' ' || c.oid::regclass AS object FROM pg_class c
  UNION ALL
  SELECT p.pronamespace, p.proowner, (pg_identify_object('pg_proc'::regclass, p.oid, 0)).type || ' ' || p.oid::regprocedure FROM pg_proc p
  UNION ALL
  SELECT t.typnamespace, t.typowner, 'type ' || t.oid::regtype FROM pg_type t WHERE t.typtype <> 'c' AND t.typcategory <> 'A'
) o JOIN pg_namespace n ON n.oid = o.namespace
WHERE n.nspname = $1 AND o.owner <> $4::oid
UNION ALL
SELECT h.name, false FROM unnest($2::text[], $3::int[]) AS h(name, overloads)
WHERE h.overloads > (
  SELECT count(*) FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE n.nspname = $1 AND p.proname = h.name AND p.proowner = $4::oid AND p.prokind = 'f' AND NOT p.prosecdef
    AND has_function_privilege($5::oid, p.oid, 'EXECUTE') IS NOT FALSE)
ORDER BY 2 DESC, 1
