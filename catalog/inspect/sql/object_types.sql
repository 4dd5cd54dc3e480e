-- The types whose texts are names of objects or roles: those of PostgreSQL, and all that are
-- made of one, at any depth. A number or a text beside such a value is read as one: shown is
-- the type in which a reader gets the value instead.
WITH RECURSIVE made(part, oid, kind) AS MATERIALIZED (
  SELECT typelem, oid, CASE WHEN typlen = -1 THEN 'array' ELSE 'other' END FROM pg_type WHERE typelem <> 0
  UNION ALL
  SELECT typbasetype, oid, 'domain' FROM pg_type WHERE typtype = 'd'
  UNION ALL
  SELECT a.atttypid, c.reltype, 'other' FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
  WHERE a.attnum > 0 AND NOT a.attisdropped AND c.reltype <> 0
  UNION ALL
  SELECT rngsubtype, rngtypid, 'other' FROM pg_range
  UNION ALL
  SELECT rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid, 'other' FROM pg_range r WHERE to_jsonb(r) ? 'rngmultitypid' -- PostgreSQL 14
), naming(oid, shown) AS (
  SELECT oid, CASE typname WHEN 'aclitem' THEN 'text' ELSE 'oid' END
  FROM pg_type WHERE typnamespace = 'pg_catalog'::regnamespace AND typtype = 'b' AND (typname ~ '^reg' OR typname = 'aclitem')
  UNION
  SELECT m.oid, CASE WHEN m.kind = 'domain' THEN n.shown WHEN m.kind = 'array' AND n.shown = 'oid' THEN 'oid[]' ELSE 'text' END
  FROM naming n JOIN made m ON m.part = n.oid
)
SELECT oid, shown FROM naming
