-- Prepares a database for kproxy, on PostgreSQL 13 and later. It can be run again
-- at any time.
--
--   psql -X -1 -v ON_ERROR_STOP=1 -f setup.sql DATABASE
--
-- Run it as a superuser, or as a role with CREATEROLE that owns the tables below
-- and may create schemas and publications in this database. Nothing of kproxy is
-- a superuser: its role here gets LOGIN, the right to replicate, and SELECT on the
-- protected tables. Another script makes kproxy's schemas in the database of the
-- release, whose owner role may have another name.
--
-- Passwords are not part of it. Afterwards, in psql, once:
--
--   \password "kproxy_owner"
--
-- The server needs wal_level = logical. On PostgreSQL 13 and 14, and in databases
-- that come from them, everybody may create objects in schema public, which
-- 'kproxy check' refuses: REVOKE CREATE ON SCHEMA public FROM PUBLIC.
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

SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;

-- Roles, slots and publications have names that others of the server, or of the database, may have
-- taken: another kproxy above all, which would stop if they were changed. Nothing is taken over.
DO $kproxy$
DECLARE
  taken record;
BEGIN
  -- A role that has rights in another database, itself or as a member, and none here.
  WITH RECURSIVE configured(name) AS (VALUES
    ('kproxy_owner')
  ), reached(name, oid) AS (
    SELECT c.name, r.oid FROM configured c JOIN pg_catalog.pg_roles r ON r.rolname = c.name::pg_catalog.name
    UNION
    SELECT reached.name, m.roleid FROM reached JOIN pg_catalog.pg_auth_members m ON m.member = reached.oid
    WHERE m.roleid >= 16384
  ), used(name, database) AS (
    SELECT reached.name, d.datname::text FROM reached
    JOIN pg_catalog.pg_shdepend s ON s.refclassid = 'pg_catalog.pg_authid'::pg_catalog.regclass AND s.refobjid = reached.oid
    JOIN pg_catalog.pg_database d ON d.oid = s.dbid
  )
  SELECT u.name, pg_catalog.string_agg(DISTINCT u.database, ', ') AS databases INTO taken
    FROM used u
    WHERE u.database NOT IN (pg_catalog.current_database())
      AND NOT EXISTS (SELECT FROM used here WHERE here.name = u.name AND here.database = pg_catalog.current_database())
    GROUP BY u.name ORDER BY u.name LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % has rights in database % of this server, and this configuration would change what it may do there', pg_catalog.quote_ident(taken.name), taken.databases
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is, and give this configuration roles of its own (upstream.owner, upstream.reader, upstream.readers, source): setup creates them.';
  END IF;

  -- The store of another owner.
  SELECT r.rolname::text AS owner INTO taken FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'kproxy_store' AND r.rolname = 'kproxy_owner';
  IF FOUND THEN
    RAISE EXCEPTION 'database % has the store of another configuration, whose owner is role %', pg_catalog.current_database(), pg_catalog.quote_ident(taken.owner)
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is, and give source another user: setup creates it.';
  END IF;

  -- A slot of another database, or of something else.
  SELECT s.slot_name::text AS name, s.plugin::text AS plugin, coalesce(s.database::text, 'none') AS database INTO taken FROM pg_catalog.pg_replication_slots s
    WHERE s.slot_name = 'kproxy'::pg_catalog.name AND (s.database IS DISTINCT FROM pg_catalog.current_database() OR s.plugin IS DISTINCT FROM 'pgoutput');
  IF FOUND THEN
    RAISE EXCEPTION 'replication slot % belongs to something else (plugin %, database %)', taken.name, coalesce(taken.plugin, 'none'), taken.database
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is, and name another one in this configuration (slot).';
  END IF;

  -- A publication, or the slot, of another configuration: by the comment of its publication, or by the
  -- store that it has here.
  WITH marked(publication, slot, release, place) AS (
    SELECT p.pubname::text, m.mark ->> 'slot', m.mark ->> 'release', m.mark ->> 'place'
    FROM pg_catalog.pg_publication p
    CROSS JOIN LATERAL (SELECT pg_catalog.obj_description(p.oid, 'pg_publication')) AS d(text)
    CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.starts_with(d.text, 'kproxy: {') THEN pg_catalog.substr(d.text, 8 + 1)::pg_catalog.jsonb END) AS m(mark)
    WHERE m.mark IS NOT NULL
    UNION ALL
    SELECT p.pubname::text, 'kproxy', '', 'this database' FROM pg_catalog.pg_publication p
    WHERE p.pubname = 'kproxy'::pg_catalog.name AND pg_catalog.obj_description(p.oid, 'pg_publication') IS NULL AND pg_catalog.to_regnamespace('kproxy_store') IS NOT NULL
  )
  SELECT m.publication, m.slot, m.place INTO taken FROM marked m
    WHERE (m.publication = 'kproxy' OR m.slot = 'kproxy') AND m.place <> ''
      AND (m.publication, m.slot, m.release) <> ('kproxy', 'kproxy', '')
    ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'publication % and replication slot % are of another configuration, which was set up from %', pg_catalog.quote_ident(taken.publication), taken.slot, taken.place
      USING ERRCODE = 'object_in_use', HINT = 'Leave them as they are, and name others in this configuration (publication, slot).';
  END IF;
END
$kproxy$;

-- The source's role reads the protected tables and replicates. Attributes of roles are changed only where they
-- differ, since before PostgreSQL 16 only a superuser may alter a role that has REPLICATION.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner') THEN
    CREATE ROLE "kproxy_owner" LOGIN;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner' AND NOT rolcanlogin) THEN
    ALTER ROLE "kproxy_owner" LOGIN;
  END IF;
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I', pg_catalog.current_database(), 'kproxy_owner');
END
$kproxy$;

-- Reading the write-ahead log needs the attribute REPLICATION, which only a
-- superuser may give (from PostgreSQL 16 on, also a role that has it itself).
-- Amazon RDS has the role rds_replication in its place; one of that name says nothing elsewhere.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner' AND rolreplication) THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'rds_replication')
       AND pg_catalog.current_setting('rds.logical_replication', true) IS NOT NULL THEN
      GRANT rds_replication TO "kproxy_owner";
    ELSE
      ALTER ROLE "kproxy_owner" REPLICATION;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'role % may not replicate yet', 'kproxy_owner'
    USING HINT = 'A superuser runs: ALTER ROLE ' || pg_catalog.quote_ident('kproxy_owner') || ' REPLICATION';
END
$kproxy$;

-- The source's role reads protected tables.
GRANT USAGE ON SCHEMA "Ward ""B""" TO "kproxy_owner";
GRANT USAGE ON SCHEMA "public" TO "kproxy_owner";
GRANT SELECT ON TABLE "public"."patients" TO "kproxy_owner";
GRANT SELECT ON TABLE "Ward ""B"""."Patients" TO "kproxy_owner";

-- Once a table is published, PostgreSQL refuses to UPDATE and DELETE its rows where
-- it could not say which row changed. So such tables are not published.
DO $kproxy$
DECLARE
  refused text;
BEGIN
  SELECT pg_catalog.string_agg(pg_catalog.format('ALTER TABLE %I.%I REPLICA IDENTITY ...', n.nspname, c.relname), '; ' ORDER BY n.nspname, c.relname)
    INTO refused
    FROM (VALUES
      ('"public"."patients"'::pg_catalog.regclass),
      ('"Ward ""B"""."Patients"'::pg_catalog.regclass)
    ) AS p(protected)
    CROSS JOIN LATERAL (
      SELECT p.protected::pg_catalog.oid UNION
      SELECT t.relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(p.protected) t) AS l(oid)
    JOIN pg_catalog.pg_class c ON c.oid = l.oid AND c.relkind = 'r'
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    -- The index that identifies rows; PostgreSQL takes no deferrable one for it.
    LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
      AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident ELSE false END
    WHERE c.relreplident <> 'f' AND i.indexrelid IS NULL
       -- From PostgreSQL 18 on, neither by a generated column that is not published.
       OR pg_catalog.current_setting('server_version_num')::integer >= 180000 AND EXISTS (
            SELECT FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = c.oid AND a.attgenerated <> '' AND NOT a.attisdropped
              AND (c.relreplident = 'f' OR a.attnum = ANY (i.indkey::smallint[]))
              AND NOT (a.attgenerated = 's' AND EXISTS (SELECT FROM pg_catalog.pg_publication b
                WHERE b.pubname = 'kproxy' AND pg_catalog.to_jsonb(b) ->> 'pubgencols' = 's')));
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'publishing these tables would make UPDATE and DELETE of their rows fail: they have no usable replica identity'
      USING HINT = 'Give each a primary key and REPLICA IDENTITY DEFAULT, or REPLICA IDENTITY USING INDEX or FULL: ' || refused;
  END IF;
END
$kproxy$;

-- What the owner receives of the write-ahead log. Partitions are published by their
-- own names: else TRUNCATE of one would be left out, and nobody could tell in which
-- of them a row lies, so that DETACH and DROP could not be followed. (ONLY leaves
-- out tables that inherit; partitions come along all the same.)
-- From PostgreSQL 15 on, only the columns that the policy needs leave this database, and those that
-- tell rows apart. PostgreSQL allows no list for partitioned tables, nor where whole rows identify.
DO $kproxy$
DECLARE
  tables text;
BEGIN
  SELECT pg_catalog.string_agg(pg_catalog.format('ONLY %I.%I', n.nspname, c.relname) || coalesce(sent.columns, ''), ', ' ORDER BY n.nspname, c.relname)
    INTO tables
    FROM (VALUES
      ('"public"."patients"'::pg_catalog.regclass, ARRAY[]::text[]),
      ('"Ward ""B"""."Patients"'::pg_catalog.regclass, ARRAY[]::text[])
    ) AS p(protected, needed)
    JOIN pg_catalog.pg_class c ON c.oid = p.protected
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT ' (' || pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' AS columns
      FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND c.relkind = 'r' AND c.relreplident IN ('d', 'i') AND pg_catalog.current_setting('server_version_num')::integer >= 150000
        AND (a.attname::text = ANY (p.needed) OR EXISTS (
          SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey::smallint[])
            AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END))) AS sent;
  IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = 'kproxy') THEN
    EXECUTE pg_catalog.format('ALTER PUBLICATION %I SET TABLE ', 'kproxy') || tables;
    -- A publication that changes has kproxy compare its tables with their sources.
    IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = 'kproxy'
      AND NOT (pubinsert AND pubupdate AND pubdelete AND pubtruncate AND NOT pubviaroot)) THEN
      ALTER PUBLICATION "kproxy" SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = false);
    END IF;
  ELSE
    EXECUTE pg_catalog.format('CREATE PUBLICATION %I FOR TABLE ', 'kproxy') || tables
      || ' WITH (publish = ''insert, update, delete, truncate'', publish_via_partition_root = false)';
  END IF;
  -- Whose it is. A comment of somebody else stays.
  IF (SELECT d.text IS NULL OR pg_catalog.starts_with(d.text, 'kproxy: {')
      FROM pg_catalog.pg_publication p CROSS JOIN LATERAL (SELECT pg_catalog.obj_description(p.oid, 'pg_publication')) AS d(text)
      WHERE p.pubname = 'kproxy') THEN
    COMMENT ON PUBLICATION "kproxy" IS 'kproxy: {"slot":"kproxy","release":"","place":""}';
  END IF;
END
$kproxy$;

-- The replication slot is made by kproxy where it is missing. To make it yourself,
-- run one of these after the script, outside of a transaction, and start kproxy
-- soon: from then on the server keeps its write-ahead log for the slot, up to
-- max_slot_wal_keep_size.
--
--   SELECT pg_catalog.pg_create_logical_replication_slot('kproxy', 'pgoutput');
--
-- On PostgreSQL 17 and later with standbys that have sync_replication_slots = on,
-- so that the slot outlives a failover:
--
--   SELECT pg_catalog.pg_create_logical_replication_slot('kproxy', 'pgoutput', failover => true);
--
-- Besides it, kproxy needs one free replication slot while tables are published,
-- and two WAL senders.
