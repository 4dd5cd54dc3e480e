-- The publication $1: its flags and what it holds. Row filters and column lists
-- came with PostgreSQL 15, hence the way through jsonb.
SELECT p.puballtables AS all_tables,
       p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AS all_operations,
       p.pubviaroot AS via_root,
       ARRAY(SELECT r.prrelid::oid FROM pg_publication_rel r WHERE r.prpubid = p.oid) AS relations,
       ARRAY(SELECT r.prrelid::oid FROM pg_publication_rel r WHERE r.prpubid = p.oid
             AND (to_jsonb(r) ->> 'prqual' IS NOT NULL OR to_jsonb(r) ->> 'prattrs' IS NOT NULL)) AS filtered,
       ARRAY(SELECT DISTINCT quote_ident(t.schemaname) || '.' || quote_ident(t.tablename) FROM pg_publication_tables t
             JOIN pg_namespace n ON n.nspname = t.schemaname JOIN pg_class c ON c.relnamespace = n.oid AND c.relname = t.tablename
             WHERE t.pubname = p.pubname AND NOT EXISTS (
               SELECT FROM pg_publication_rel r
               WHERE r.prpubid = p.oid AND (r.prrelid = c.oid OR r.prrelid IN (SELECT relid FROM pg_partition_ancestors(c.oid))))
             ORDER BY 1) AS by_schema
FROM pg_publication p WHERE p.pubname = $1
