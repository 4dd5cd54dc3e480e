SELECT k.place,
       CASE WHEN k.slot <> $3 THEN 'has replication slot ' || k.slot || ', not ' || $3
            WHEN k.publication <> $4 THEN 'has publication ' || pg_catalog.quote_ident(k.publication) || ', not ' || pg_catalog.quote_ident($4)
            WHEN NOT k.tables && $5::text[] THEN 'has no table of this one' END AS differs,
       (SELECT pg_catalog.string_agg(l.what, ', ') FROM (
          SELECT 'table ' || t.name AS what FROM pg_catalog.unnest(k.tables) AS t(name) WHERE t.name <> ALL ($5::text[])
          UNION ALL
          SELECT 'reader role ' || pg_catalog.quote_ident(r.name) FROM pg_catalog.unnest(k.readers) AS r(name) WHERE r.name <> ALL ($6::text[])) AS l) AS lacking
FROM kept k
WHERE k.place <> $1
  AND NOT COALESCE((SELECT p.place = $1 OR p.fingerprint = $2 FROM kproxy_store.policy p ORDER BY p.number DESC LIMIT 1), false)
