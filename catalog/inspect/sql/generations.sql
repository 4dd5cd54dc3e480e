-- The generations that may be shown for each table: its own and, until that has
-- caught up, the one before, of which a store that an earlier version made knows
-- nothing. A halted table's is not for readers.
SELECT g.table_schema, g.table_name, n.generation, (to_jsonb(g) ->> 'halted') IS NOT NULL AS halted,
       coalesce(to_jsonb(g) ->> 'updates', '') = 'mirrored' AS mirrored
FROM kproxy_store.generation g
CROSS JOIN LATERAL (VALUES (g.generation), ((to_jsonb(g) ->> 'previous')::bigint)) AS n(generation)
WHERE n.generation IS NOT NULL
