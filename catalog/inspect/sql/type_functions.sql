-- The functions that statements can call without naming them, by what belongs to the types $1
-- of columns that readers see, and to types that these are made of: casts whose other type can
-- be named or need not be, checks of domains, default operator classes, canonical forms of
-- ranges. Each with the column's type, the schema and name that a policy can list, and what
-- calls it. Left out are functions in C and PostgreSQL's own, those that belong to an
-- extension, and those that the reader role $2 may not execute where PostgreSQL asks for that:
-- it does not for operator classes and ranges.
WITH RECURSIVE made(type, part) AS (
  SELECT t, t FROM unnest($1::oid[]) AS t
  UNION
  SELECT m.type, p.part FROM made m CROSS JOIN LATERAL (
    SELECT t.typbasetype FROM pg_type t WHERE t.oid = m.part AND t.typtype = 'd'
    UNION ALL
    SELECT unnest(ARRAY[t.typelem, t.typarray]) FROM pg_type t WHERE t.oid = m.part
    UNION ALL
    SELECT a.atttypid FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid
    WHERE t.oid = m.part AND a.attnum > 0 AND NOT a.attisdropped
    UNION ALL
    -- Of ranges, and of multiranges (PostgreSQL 14).
    SELECT r.rngsubtype FROM pg_range r WHERE m.part IN (r.rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid)
    UNION ALL
    SELECT r.rngtypid FROM pg_range r WHERE m.part = (to_jsonb(r) ->> 'rngmultitypid')::oid
  ) AS p(part)
  WHERE p.part <> 0
), own AS (
  SELECT type, part FROM made WHERE part >= 16384
), called AS MATERIALIZED ( -- not once for each function of users
  SELECT o.type, c.castfunc AS function, true AS asked, 'cast (' || format_type(c.castsource, NULL) || ' AS ' || format_type(c.casttarget, NULL) || ')' AS by
  FROM own o JOIN pg_cast c ON o.part IN (c.castsource, c.casttarget)
  WHERE (c.castsource < 16384 OR c.castsource IN (SELECT part FROM own))
    AND (c.casttarget < 16384 OR c.casttarget IN (SELECT part FROM own) OR c.castcontext = 'i')
  UNION ALL
  SELECT o.type, coalesce(p.oprcode::oid, d.refobjid), true, 'check ' || quote_ident(k.conname) || ' of domain ' || format_type(o.part, NULL)
  FROM own o JOIN pg_constraint k ON k.contypid = o.part
  JOIN pg_depend d ON d.classid = 'pg_constraint'::regclass AND d.objid = k.oid AND d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
  LEFT JOIN pg_operator p ON d.refclassid = 'pg_operator'::regclass AND p.oid = d.refobjid
  UNION ALL
  SELECT s.type, f.function, false, 'operator class ' || quote_ident(n.nspname) || '.' || quote_ident(c.opcname) || ' USING ' || a.amname
  FROM (SELECT o.type, c.oid FROM own o JOIN pg_opclass c ON c.opcintype = o.part WHERE c.opcdefault
        UNION SELECT o.type, r.rngsubopc FROM own o JOIN pg_range r ON r.rngtypid = o.part) AS s(type, class)
  JOIN pg_opclass c ON c.oid = s.class JOIN pg_namespace n ON n.oid = c.opcnamespace
  JOIN pg_am a ON a.oid = c.opcmethod AND a.amname IN ('btree', 'hash')
  CROSS JOIN LATERAL (
    SELECT p.amproc::oid FROM pg_amproc p
    WHERE p.amprocfamily = c.opcfamily AND p.amproclefttype = c.opcintype AND p.amprocrighttype = c.opcintype
    UNION ALL
    SELECT p.oprcode::oid FROM pg_amop m JOIN pg_operator p ON p.oid = m.amopopr
    WHERE m.amopfamily = c.opcfamily AND m.amoplefttype = c.opcintype AND m.amoprighttype = c.opcintype
  ) AS f(function)
  UNION ALL
  SELECT o.type, r.rngcanonical::oid, false, 'range type ' || format_type(o.part, NULL)
  FROM own o JOIN pg_range r ON r.rngtypid = o.part
)
SELECT DISTINCT c.type, p.oid::regprocedure::text AS routine, n.nspname::text AS schema, p.proname::text AS name, c.by, c.asked
FROM called c
JOIN pg_proc p ON p.oid = c.function JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_language l ON l.oid = p.prolang
WHERE p.oid >= 16384 AND l.lanname NOT IN ('c', 'internal')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.refclassid = 'pg_extension'::regclass AND d.deptype = 'e')
  AND NOT (c.asked AND NOT has_function_privilege($2::oid, p.oid, 'EXECUTE'))
ORDER BY 1, 2, 5
