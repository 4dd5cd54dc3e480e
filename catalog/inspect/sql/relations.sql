-- All relations of user schemas that can stand in a FROM clause. The stand-ins for the system catalogs,
-- which would be most of them and have most columns, are left out.
WITH RECURSIVE shown AS MATERIALIZED (
  -- PostgreSQL's own relations have most columns and indexes of a database that is small: they are left out first.
  SELECT c.oid, n.nspname::text AS schema, c.relname, c.relkind, c.relreplident
  FROM pg_namespace n JOIN pg_class c ON c.relnamespace = n.oid
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    AND NOT (c.relkind = 'v' AND n.nspname = 'kproxy_catalog')
), attributes AS MATERIALIZED (
  SELECT a.attrelid, a.attnum, a.attname, a.atttypid, a.atttypmod, a.attcollation, a.attnotnull, a.attgenerated
  FROM shown c JOIN pg_attribute a ON a.attrelid = c.oid
  WHERE a.attnum > 0 AND NOT a.attisdropped
), base(oid, base, modifier) AS (
  -- A domain's modifier is that of the innermost domain; -1 for what is none.
  SELECT t.oid, t.oid, -1 FROM pg_type t WHERE t.typtype <> 'd'
  UNION ALL
  SELECT t.oid, b.base, CASE WHEN b.oid = b.base THEN t.typtypmod ELSE b.modifier END
  FROM pg_type t JOIN base b ON t.typtype = 'd' AND t.typbasetype = b.oid
), user_types AS (
  -- The types of users: a composite one is made of PostgreSQL's own alone.
  SELECT t.oid, n.nspname::text AS schema, t.typname::text AS name
  FROM pg_type t
  JOIN pg_namespace n ON n.oid = t.typnamespace
  JOIN base b ON b.oid = t.oid
  JOIN pg_type s ON s.oid = b.base
  WHERE n.nspname <> 'information_schema' AND n.nspname !~ '^pg_' AND t.typtype IN ('b', 'c', 'd', 'e', 'm', 'r')
    -- The row of a table, which may be hidden, has the table's own name.
    AND NOT EXISTS (SELECT FROM pg_class r WHERE r.oid = s.typrelid AND r.relkind <> 'c')
    AND NOT EXISTS (
      SELECT FROM pg_attribute f JOIN pg_type v ON v.oid = f.atttypid
      WHERE f.attrelid = s.typrelid AND f.attnum > 0 AND NOT f.attisdropped
        AND v.typnamespace <> 'pg_catalog'::regnamespace)
), columns AS (
  SELECT a.attrelid,
         array_agg(a.attname::text ORDER BY a.attnum) AS names,
         array_agg(a.attnum ORDER BY a.attnum) AS numbers,
         array_agg(a.atttypid ORDER BY a.attnum) AS type_oids,
         array_agg(a.atttypmod ORDER BY a.attnum) AS modifiers,
         array_agg(format_type(a.atttypid, a.atttypmod) ORDER BY a.attnum) AS types,
         array_agg(format_type(b.base, CASE WHEN b.oid = b.base THEN a.atttypmod ELSE b.modifier END) ORDER BY a.attnum) AS base_formats,
         array_agg(CASE t.typnamespace WHEN 'pg_catalog'::regnamespace THEN t.typname::text
                   ELSE format_type(t.oid, NULL) END ORDER BY a.attnum) AS base_types,
         array_agg(b.oid <> b.base ORDER BY a.attnum) AS domains,
         array_agg(t.typtype = 'e' ORDER BY a.attnum) AS enums,
         -- Or a domain of an array's elements, or a range, which may be over such a one.
         array_agg(coalesce(t.typtype IN ('c', 'r', 'm') AND t.oid >= 16384 OR e.typtype IN ('c', 'd', 'r', 'm') AND e.oid >= 16384, false) ORDER BY a.attnum) AS composites,
         array_agg(coalesce(u.schema, '') ORDER BY a.attnum) AS user_schemas,
         array_agg(coalesce(u.name, '') ORDER BY a.attnum) AS user_types,
         array_agg(coalesce(l.collisdeterministic, true) ORDER BY a.attnum) AS deterministic,
         array_agg(a.attnotnull ORDER BY a.attnum) AS not_nulls,
         array_agg(a.attgenerated <> '' ORDER BY a.attnum) AS generated
  FROM attributes a
  JOIN base b ON b.oid = a.atttypid
  JOIN pg_type t ON t.oid = b.base
  LEFT JOIN pg_type e ON e.oid = t.typelem
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  LEFT JOIN pg_type d ON d.oid = a.atttypid
  LEFT JOIN user_types u ON u.oid = CASE WHEN d.typelem <> 0 AND d.typlen = -1 THEN d.typelem ELSE d.oid END
  GROUP BY a.attrelid
), indexes AS (
  -- The indexes by which a changed row can be found. PostgreSQL takes no deferrable
  -- one for it.
  SELECT i.indrelid, i.indisprimary, i.indisreplident,
         array_agg(a.attname::text ORDER BY k.position) AS names,
         bool_or(a.attgenerated <> '') AS generated
  FROM shown c
  JOIN pg_index i ON i.indrelid = c.oid
  CROSS JOIN LATERAL unnest(i.indkey::smallint[]) WITH ORDINALITY AS k(attnum, position)
  JOIN attributes a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
  WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
    AND k.position <= i.indnkeyatts
  GROUP BY i.indexrelid, i.indrelid, i.indisprimary, i.indisreplident
), partitions AS (
  -- What is being detached is not read through its table any more (PostgreSQL 14).
  SELECT i.inhrelid, i.inhparent
  FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
  WHERE c.relispartition AND NOT coalesce((to_jsonb(i) ->> 'inhdetachpending')::boolean, false)
)
SELECT c.oid AS oid, c.schema AS schema, c.relname::text AS relation, c.relkind::text AS kind,
       coalesce(col.names, '{}') AS names, coalesce(col.numbers, '{}') AS numbers,
       coalesce(col.type_oids, '{}') AS type_oids, coalesce(col.modifiers, '{}') AS modifiers,
       coalesce(col.types, '{}') AS types, coalesce(col.base_formats, '{}') AS base_formats,
       coalesce(col.base_types, '{}') AS base_types, coalesce(col.domains, '{}') AS domains,
       coalesce(col.enums, '{}') AS enums, coalesce(col.composites, '{}') AS composites, coalesce(col.user_schemas, '{}') AS user_schemas, coalesce(col.user_types, '{}') AS user_types, coalesce(col.deterministic, '{}') AS deterministic,
       coalesce(col.not_nulls, '{}') AS not_nulls, coalesce(col.generated, '{}') AS generated,
       EXISTS (SELECT FROM pg_inherits i WHERE i.inhrelid = c.oid) AS has_parents,
       EXISTS (SELECT FROM pg_inherits i WHERE i.inhparent = c.oid) AS has_children,
       coalesce(p.inhparent, 0::oid) AS parent,
       -- With full, a generated column of the primary key is not sent: the whole row
       -- identifies itself.
       coalesce(CASE WHEN c.relreplident = 'i' THEN ri.names
                     WHEN c.relreplident = 'd' OR c.relreplident = 'f' AND NOT pk.generated THEN pk.names END, '{}') AS key,
       coalesce(pk.names, '{}') AS primary_key,
       CASE c.relkind WHEN 'p' THEN (SELECT jsonb_agg(u.names) FROM indexes u WHERE u.indrelid = c.oid) END AS uniques, c.relreplident::text AS replica_identity,
       -- NULL of a relation that has gone since the snapshot, against which nothing is held.
       has_any_column_privilege($1::oid, c.oid, 'SELECT') IS NOT FALSE AS readable,
       has_table_privilege($1::oid, c.oid, 'REFERENCES') IS NOT FALSE AS marked
FROM shown c
LEFT JOIN columns col ON col.attrelid = c.oid
LEFT JOIN indexes pk ON pk.indrelid = c.oid AND pk.indisprimary
LEFT JOIN indexes ri ON ri.indrelid = c.oid AND ri.indisreplident
LEFT JOIN partitions p ON p.inhrelid = c.oid
ORDER BY c.schema, c.relname
