-- The types among $1 whose texts are names of objects or roles: those of PostgreSQL, and what
-- is made of one, at any depth. A number or a text beside such a value is read as one: shown is
-- the type in which a reader gets the value instead.
WITH RECURSIVE made(type, part, shape) AS (
  SELECT t, t, 'one' FROM unnest($1::oid[]) AS t
  UNION
  SELECT m.type, p.part, p.shape FROM made m CROSS JOIN LATERAL (
    SELECT t.typbasetype, m.shape FROM pg_type t WHERE t.oid = m.part AND t.typtype = 'd'
    UNION ALL
    SELECT t.typelem, CASE WHEN m.shape = 'one' THEN 'several' ELSE 'other' END
    FROM pg_type t WHERE t.oid = m.part AND t.typelem <> 0
    UNION ALL
    SELECT a.atttypid, 'other' FROM pg_type t JOIN pg_attribute a ON a.attrelid = t.typrelid
    WHERE t.oid = m.part AND a.attnum > 0
    UNION ALL
    -- Of ranges, and of multiranges (PostgreSQL 14).
    SELECT r.rngsubtype, 'other' FROM pg_range r WHERE m.part IN (r.rngtypid, (to_jsonb(r) ->> 'rngmultitypid')::oid)
  ) AS p(part, shape)
)
SELECT DISTINCT m.type AS oid,
       CASE WHEN n.typname = 'aclitem' OR m.shape = 'other' THEN 'text' WHEN m.shape = 'several' THEN 'oid[]' ELSE 'oid' END AS shown
FROM made m JOIN pg_type n ON n.oid = m.part
WHERE n.typnamespace = 'pg_catalog'::regnamespace AND n.typtype = 'b' AND (n.typname ~ '^reg' OR n.typname = 'aclitem')
