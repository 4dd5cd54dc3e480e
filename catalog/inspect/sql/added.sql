-- What initdb did not make and clients' statements may find without its schema: functions,
-- operators and types of pg_catalog (and functions of information_schema), and, of any
-- schema, casts between PostgreSQL's own types and default operator classes of these.
-- initdb makes all of them before FirstUnpinnedObjectId (12000), but for a few that are
-- known by name; until the first start of the server, a superuser in single-user mode
-- makes objects with numbers below FirstNormalObjectId (16384), too. A function that is
-- not in language internal and was written after initdb's last ones was replaced.
-- Of functions that sessions of clients may not execute, and of what calls them, nothing is
-- told: PostgreSQL asks for the privilege wherever a statement calls one. The role of these
-- sessions is granted kproxy's catalog; where there is none yet, all may.
WITH reader AS (
  SELECT a.grantee AS oid FROM pg_namespace n CROSS JOIN LATERAL aclexplode(n.nspacl) a
  WHERE n.nspname = 'kproxy_catalog' AND a.grantee NOT IN (0, n.nspowner)
), initial AS (
  SELECT max(p.xmin::text::int8) AS last FROM pg_proc p
  WHERE p.pronamespace = 'information_schema'::regnamespace AND p.oid < 16384
), suspect AS (
  SELECT p.oid, p.proname, p.pronamespace FROM pg_proc p
  WHERE p.pronamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
    AND CASE WHEN p.oid < 12000 THEN p.prolang <> 12 AND p.xmin::text::int8 > (SELECT last FROM initial)
             WHEN p.oid < 16384 THEN NOT CASE p.pronamespace WHEN 'information_schema'::regnamespace THEN p.proname ~ '^_pg_'
               ELSE p.proname IN ('ts_debug', 'dsnowball_init', 'dsnowball_lexize', 'plpgsql_call_handler', 'plpgsql_inline_handler', 'plpgsql_validator') END
             ELSE true END
), called AS (
  SELECT p.oid, quote_ident(n.nspname) || '.' || quote_ident(p.proname) || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS signature,
    NOT EXISTS (SELECT FROM reader) OR EXISTS (SELECT FROM reader r WHERE has_function_privilege(r.oid, p.oid, 'EXECUTE')) AS executable
  FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
  WHERE p.oid IN (SELECT oid FROM suspect UNION ALL
                  SELECT oprcode FROM pg_operator WHERE oid >= 12000 UNION ALL
                  SELECT castfunc FROM pg_cast WHERE oid >= 12000)
), added AS (
  SELECT 'function' AS kind, s.proname::text AS name, c.signature AS what, 'pg_proc'::regclass AS class, s.oid, c.signature AS function
  FROM suspect s JOIN called c ON c.oid = s.oid WHERE c.executable
  UNION ALL
  SELECT 'operator', o.oprname::text, 'pg_catalog.' || o.oprname || ' (' || coalesce(format_type(nullif(o.oprleft, 0), NULL), 'NONE')
      || ', ' || coalesce(format_type(nullif(o.oprright, 0), NULL), 'NONE') || ')',
    'pg_operator'::regclass, o.oid, CASE WHEN c.oid < 12000 THEN '' ELSE c.signature END
  FROM pg_operator o JOIN called c ON c.oid = o.oprcode
  WHERE o.oid >= 12000 AND o.oprnamespace = 'pg_catalog'::regnamespace AND c.executable
  UNION ALL
  SELECT 'type', t.typname::text, 'pg_catalog.' || quote_ident(t.typname), 'pg_type'::regclass, t.oid, ''
  FROM pg_type t
  WHERE t.typnamespace = 'pg_catalog'::regnamespace AND t.typcategory <> 'A' AND t.typtype <> 'm'
    AND (t.oid >= 16384 OR t.oid >= 12000 AND t.typrelid = 0)
  UNION ALL
  SELECT 'cast', '', '(' || format_type(t.castsource, NULL) || ' AS ' || format_type(t.casttarget, NULL) || ')',
    'pg_cast'::regclass, t.oid, CASE WHEN c.oid < 12000 THEN '' ELSE c.signature END
  FROM pg_cast t JOIN called c ON c.oid = t.castfunc
  WHERE t.oid >= 12000 AND t.castsource < 16384 AND t.casttarget < 16384 AND c.executable
  UNION ALL
  SELECT 'operator class', '', quote_ident(n.nspname) || '.' || quote_ident(o.opcname) || ' USING ' || a.amname, 'pg_opclass'::regclass, o.oid, ''
  FROM pg_opclass o JOIN pg_am a ON a.oid = o.opcmethod JOIN pg_namespace n ON n.oid = o.opcnamespace
  WHERE o.oid >= 12000 AND o.opcdefault AND o.opcintype < 16384 AND a.amname IN ('btree', 'hash')
)
SELECT a.kind, a.name, a.what, a.function, coalesce(e.extname::text, '') AS extension, coalesce(e.extrelocatable, false) AS relocatable
FROM added a
LEFT JOIN pg_depend d ON d.classid = a.class AND d.objid = a.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e'
LEFT JOIN pg_extension e ON e.oid = d.refobjid
ORDER BY 1, 3
