-- The replication slot $1.
SELECT coalesce(plugin, '')::text AS plugin, coalesce(database, '')::text AS database, active
FROM pg_replication_slots WHERE slot_name = $1
