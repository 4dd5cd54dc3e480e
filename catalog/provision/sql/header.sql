-- Prepares a database for kproxy, on PostgreSQL 13 and later. It can be run again
-- at any time.
--
--   psql -X -1 -v ON_ERROR_STOP=1 -f setup.sql DATABASE
--
-- Run it as a superuser, or as a role with CREATEROLE that owns the tables below
-- and may create schemas and publications in this database. Nothing of kproxy is
-- a superuser: {{if not .Release}}its role here gets LOGIN, the right to replicate, and SELECT on the
-- protected tables. Another script makes kproxy's schemas in the database of the
-- release, whose owner role may have another name.
{{- else if not .Source}}its owner role gets LOGIN and schemas of its own. The protected
-- tables are in another database, which another script prepares.
{{- else}}its owner role gets LOGIN, the right to replicate, SELECT on the
-- protected tables and schemas of its own.
{{- end}}
--
-- Passwords are not part of it. Afterwards, in psql, once:
--
--   \password {{identifier .Owner}}
{{- range .Readers}}
--   \password {{identifier .}}
{{- end}}
--
-- {{if .Source}}The server needs wal_level = logical. {{end}}On PostgreSQL 13 and 14, and in databases
-- that come from them, everybody may create objects in schema public, which
-- 'kproxy check' refuses: REVOKE CREATE ON SCHEMA public FROM PUBLIC.
{{- if .Source}}
--
-- On managed services:
--   Amazon RDS, Aurora: set rds.logical_replication = 1 in the parameter group (of
--     the cluster, with Aurora) and restart. The script grants rds_replication.
--   Google Cloud SQL: set the flag cloudsql.logical_decoding = on, which restarts.
--     Run the script as a member of cloudsqlsuperuser, which may make replicating roles.
--   Azure Flexible Server: set the server parameter wal_level = logical and restart.
--     The script's ALTER ROLE ... REPLICATION is for the server's administrator. With
--     high availability, four of max_replication_slots are the service's own.
--   Neon: enable logical replication for the project, and connect directly, not
--     through its pooler. It removes slots that are inactive for about 40 hours, and
--     all slots when a branch is restored; kproxy then resynchronizes the tables.
--   Supabase: run it as postgres, and connect directly, not through the pooler.
--   Crunchy Bridge: logical replication is on. Run it as postgres.
--   Aiven: run it as avnadmin, which may replicate.
{{- end}}

SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
