-- The schemas all of whose tables the publication $1 holds, which PostgreSQL 15
-- brought.
SELECT n.nspname::text AS name
FROM pg_publication p
JOIN pg_publication_namespace s ON s.pnpubid = p.oid
JOIN pg_namespace n ON n.oid = s.pnnspid
WHERE p.pubname = $1
ORDER BY 1
