-- The replication slot is made by kproxy where it is missing{{if .Standby}}, on the standby{{end}}. To make it yourself,
-- run {{if .Standby}}this on the standby{{else}}one of these{{end}} after the script, outside of a transaction, and start kproxy
-- soon: from then on the server keeps its write-ahead log for the slot, up to
-- max_slot_wal_keep_size.
--
--   SELECT pg_catalog.pg_create_logical_replication_slot({{literal .Slot}}, 'pgoutput');
{{- if not .Standby}}
--
-- On PostgreSQL 17 and later with standbys that have sync_replication_slots = on,
-- so that the slot outlives a failover:
--
--   SELECT pg_catalog.pg_create_logical_replication_slot({{literal .Slot}}, 'pgoutput', failover => true);
{{- end}}
--
-- Besides it, kproxy needs one free replication slot while tables are published,
-- and two WAL senders.
