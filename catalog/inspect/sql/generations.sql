-- The generations that may be shown for each table: its own and, until that has
-- caught up, the one before, of which a store that an earlier version made knows
-- nothing.
SELECT g.table_schema, g.table_name, n.generation
FROM kproxy_store.generation g
CROSS JOIN LATERAL (VALUES (g.generation), ((to_jsonb(g) ->> 'previous')::bigint)) AS n(generation)
WHERE n.generation IS NOT NULL
