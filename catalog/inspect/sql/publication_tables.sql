-- The tables that the publication $1 names. Row filters and column lists came with
-- PostgreSQL 15, hence the way through jsonb.
SELECT c.oid, n.nspname::text AS schema, c.relname::text AS relation,
       to_jsonb(r) ->> 'prqual' IS NOT NULL AS filtered,
       to_jsonb(r) ->> 'prattrs' IS NOT NULL AS listed,
       ARRAY(SELECT a.attname::text FROM pg_attribute a WHERE a.attrelid = c.oid
         AND a.attnum::text = ANY (string_to_array(translate(to_jsonb(r) ->> 'prattrs', '[],', ''), ' '))) AS columns
FROM pg_publication p
JOIN pg_publication_rel r ON r.prpubid = p.oid
JOIN pg_class c ON c.oid = r.prrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE p.pubname = $1
ORDER BY 2, 3
