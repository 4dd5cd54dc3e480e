-- kproxy's own schemas $1, for the owner role $2 and the reader role $3. Nothing is held
-- against one that has gone since the snapshot.
SELECT s.name, n.oid IS NOT NULL AS exists, n.nspowner IS NOT DISTINCT FROM $2::oid AS owned,
       has_schema_privilege($3::oid, n.oid, 'USAGE') IS NOT FALSE AS usable
FROM unnest($1::text[]) AS s(name) LEFT JOIN pg_namespace n ON n.nspname = s.name
