-- The publication $1. Whether generated columns are sent came with PostgreSQL 18,
-- hence the way through jsonb: n(one) or s(tored).
SELECT p.puballtables AS all_tables,
       p.pubinsert AND p.pubupdate AND p.pubdelete AND p.pubtruncate AS all_operations,
       p.pubviaroot AS via_root,
       coalesce(to_jsonb(p) ->> 'pubgencols', 'n') = 's' AS generated
FROM pg_publication p WHERE p.pubname = $1
