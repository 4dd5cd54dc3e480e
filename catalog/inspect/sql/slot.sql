-- The replication slot $1. Failover slots came with PostgreSQL 17, hence the way
-- through jsonb.
SELECT coalesce(s.plugin, '')::text AS plugin, coalesce(s.database, '')::text AS database, s.temporary,
       coalesce((to_jsonb(s) ->> 'failover')::boolean, false) AS failover
FROM pg_replication_slots s WHERE s.slot_name = $1
