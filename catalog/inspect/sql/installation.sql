-- The configuration that the store is of, by what set-up notes. $1 is the place of this one, $2 the fingerprint
-- of its policy, and $3 and $4 are the schemas and names of its tables.
SELECT i.place, i.slot, i.publication,
       NOT EXISTS (SELECT FROM unnest(i.tables) AS t(name) JOIN unnest($3::text[], $4::text[]) AS own(schema, name) ON t.name = format('%I.%I', own.schema, own.name)) AS apart,
       i.place = $1 OR coalesce((SELECT p.place = $1 OR p.fingerprint = $2 FROM kproxy_store.policy p ORDER BY p.number DESC LIMIT 1), false) AS own
FROM kproxy_store.installation i
