-- Prepares a database for kproxy, on PostgreSQL 13 and later. It can be run again
-- at any time.
--
--   psql -X -1 -v ON_ERROR_STOP=1 -f setup.sql DATABASE
--
-- Run it as a superuser, or as a role with CREATEROLE that owns the tables below
-- and may create schemas and publications in this database. Nothing of kproxy is
-- a superuser: its owner role gets LOGIN, the right to replicate, SELECT on the
-- protected tables and schemas of its own.
--
-- Passwords are not part of it. Afterwards, in psql, once:
--
--   \password "kproxy_owner"
--   \password "kproxy_reader"
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

-- Roles: the owner replicates and maintains the release; clients' sessions run as
-- the reader. Attributes are changed only where they differ, since before
-- PostgreSQL 16 only a superuser may alter a role that has REPLICATION.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner') THEN
    CREATE ROLE "kproxy_owner" LOGIN;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner' AND NOT rolcanlogin) THEN
    ALTER ROLE "kproxy_owner" LOGIN;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader') THEN
    CREATE ROLE "kproxy_reader" LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader' AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE "kproxy_reader" LOGIN NOINHERIT;
  END IF;
END
$kproxy$;

-- Reading the write-ahead log needs the attribute REPLICATION, which only a
-- superuser may give (from PostgreSQL 16 on, also a role that has it itself).
-- Amazon RDS has the role rds_replication in its place.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_owner' AND rolreplication) THEN
    IF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'rds_replication') THEN
      GRANT rds_replication TO "kproxy_owner";
    ELSE
      ALTER ROLE "kproxy_owner" REPLICATION;
    END IF;
  END IF;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE WARNING 'the owner role may not replicate yet'
    USING HINT = 'A superuser runs: ALTER ROLE ' || pg_catalog.quote_ident('kproxy_owner') || ' REPLICATION';
END
$kproxy$;

-- Sessions of clients never write.
ALTER ROLE "kproxy_reader" SET default_transaction_read_only = on;

DO $kproxy$
BEGIN
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO %I, %I',
    pg_catalog.current_database(), 'kproxy_owner', 'kproxy_reader');
END
$kproxy$;

-- An administrator who is not a superuser can create objects for the owner only
-- as its member. The membership ends with this script.
DO $kproxy$
DECLARE
  privilege text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000 THEN 'SET' ELSE 'MEMBER' END;
BEGIN
  IF NOT pg_catalog.pg_has_role(current_user, 'kproxy_owner', privilege) THEN
    GRANT "kproxy_owner" TO CURRENT_USER;
    PERFORM pg_catalog.set_config('kproxy.joined', 'yes', false);
  END IF;
END
$kproxy$;

-- Schemas: the private store, the stand-ins for the system catalogs, and one for
-- the published relations of each schema with protected tables.
DO $kproxy$
DECLARE
  schema_name text;
BEGIN
  FOREACH schema_name IN ARRAY ARRAY['kproxy_store', 'kproxy_catalog', 'kproxy_release_Ward "B"', 'kproxy_release_public'] LOOP
    IF pg_catalog.to_regnamespace(pg_catalog.quote_ident(schema_name)) IS NULL THEN
      EXECUTE pg_catalog.format('CREATE SCHEMA %I AUTHORIZATION %I', schema_name, 'kproxy_owner');
    ELSIF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
                      WHERE n.nspname = schema_name AND r.rolname = 'kproxy_owner') THEN
      EXECUTE pg_catalog.format('ALTER SCHEMA %I OWNER TO %I', schema_name, 'kproxy_owner');
    END IF;
  END LOOP;
END
$kproxy$;

-- The owner reads protected tables; the reader has no privilege on them.
GRANT USAGE ON SCHEMA "Ward ""B""" TO "kproxy_owner";
GRANT USAGE ON SCHEMA "public" TO "kproxy_owner";
GRANT SELECT ON TABLE "public"."patients" TO "kproxy_owner";
REVOKE ALL PRIVILEGES ON TABLE "public"."patients" FROM "kproxy_reader";
GRANT SELECT ON TABLE "Ward ""B"""."Patients" TO "kproxy_owner";
REVOKE ALL PRIVILEGES ON TABLE "Ward ""B"""."Patients" FROM "kproxy_reader";

-- Unprotected relations that analysts may read as they are.
GRANT USAGE ON SCHEMA "public" TO "kproxy_reader";
GRANT SELECT ON TABLE "public"."wards" TO "kproxy_reader";

-- What follows belongs to the owner.
SET ROLE "kproxy_owner";

REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_store" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_catalog" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_Ward ""B""" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_public" FROM PUBLIC, "kproxy_reader";
GRANT USAGE ON SCHEMA "kproxy_catalog" TO "kproxy_reader";
GRANT USAGE ON SCHEMA "kproxy_release_Ward ""B""" TO "kproxy_reader";
GRANT USAGE ON SCHEMA "kproxy_release_public" TO "kproxy_reader";

-- The replication position that the published state stands for.
CREATE TABLE IF NOT EXISTS kproxy_store.position (
  slot              text PRIMARY KEY,
  epoch             bigint NOT NULL,
  lsn               pg_lsn NOT NULL,
  system_identifier text NOT NULL,
  updated_at        timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE kproxy_store.position ADD COLUMN IF NOT EXISTS timeline bigint NOT NULL DEFAULT 0;

-- Which tables records_<generation> and release_<generation> a protected table has.
CREATE TABLE IF NOT EXISTS kproxy_store.generation (
  table_schema  text,
  table_name    text,
  generation    bigint NOT NULL,
  policy_digest text NOT NULL,
  next_class    bigint NOT NULL,
  next_record   bigint NOT NULL,
  withheld      bigint NOT NULL DEFAULT 0,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (table_schema, table_name)
);

-- How fresh a release is: the records that wait to be published, those published as
-- they were, the rows that stand for nobody, and the records that are withheld for good.
-- A store that an earlier version made gets the columns, too.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS updates        text,
  ADD COLUMN IF NOT EXISTS waiting        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS stale          bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS ghosts         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS expired        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS oldest_waiting timestamptz,
  ADD COLUMN IF NOT EXISTS oldest_stale   timestamptz;

-- Where each table stands: changes whose commit lies before lsn are in its store. A
-- generation that still has to catch up is shown from the position shows on; readers see
-- the generation previous until then. A halted table waits for the operator, and for an
-- explicit wish where needs_consent. asked is such a wish: rebuild or resync; noted is
-- kproxy's own.
-- definition is a digest of what the table was when it was compared with its source.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS lsn           pg_lsn,
  ADD COLUMN IF NOT EXISTS shows         pg_lsn,
  ADD COLUMN IF NOT EXISTS previous      bigint,
  ADD COLUMN IF NOT EXISTS halted        text,
  ADD COLUMN IF NOT EXISTS halted_fix    text,
  ADD COLUMN IF NOT EXISTS needs_consent boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS asked         text,
  ADD COLUMN IF NOT EXISTS noted         text,
  ADD COLUMN IF NOT EXISTS definition    text NOT NULL DEFAULT '';

-- Requests to make the classes of a table anew, and what became of them.
CREATE TABLE IF NOT EXISTS kproxy_store.renewal (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  table_schema text NOT NULL,
  table_name   text NOT NULL,
  asked_at     timestamptz NOT NULL DEFAULT now(),
  done         bigint,           -- records that have found their class; NULL before it begins
  ended_at     timestamptz,      -- NULL until then
  loss_before  double precision, -- of the maintained release
  loss_afresh  double precision, -- of the one made afresh
  adopted      boolean,          -- false where no part of that loses less
  problem      text              -- why nothing was made anew; NULL for success
);

REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA kproxy_store FROM PUBLIC, "kproxy_reader";

-- What the stand-ins ask. The two that they call for every row hold no sub-query,
-- so that the planner puts them in line; the look-ups behind them run for few
-- rows. All run with the rights of the session and name everything in full.
-- 16384 is the first identifier of an object that initdb did not make.
CREATE OR REPLACE FUNCTION kproxy_catalog.is_stand_in(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND n.nspname = 'kproxy_catalog')
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.is_index_of_readable(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = $1 AND pg_catalog.has_table_privilege(i.indrelid, 'SELECT'))
$kproxy$;

-- Whether the session may read the relation, or the relation of the index.
-- pg_index_has_property gives NULL for what is no index.
CREATE OR REPLACE FUNCTION kproxy_catalog.visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.has_table_privilege($1, 'SELECT')
      THEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid OR NOT kproxy_catalog.is_stand_in($1)
    WHEN pg_catalog.pg_index_has_property($1::pg_catalog.regclass, 'clusterable') IS NULL THEN false
    ELSE kproxy_catalog.is_index_of_readable($1)
  END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.released_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_namespace r
    JOIN pg_catalog.pg_namespace s
      ON s.nspname = pg_catalog.substr(r.nspname::text, 15 + 1)::pg_catalog.name
    WHERE r.oid = $1 AND pg_catalog.starts_with(r.nspname::text, 'kproxy_release_')), $1)
$kproxy$;

-- The schema whose published relations the given schema holds; itself if none.
CREATE OR REPLACE FUNCTION kproxy_catalog.source_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN $1
              ELSE kproxy_catalog.released_namespace($1) END
$kproxy$;

-- The types of users that the session may know of: those of visible columns, what
-- these are made of, and the row types of visible relations, each with its array
-- where it is not a row's.
CREATE OR REPLACE FUNCTION kproxy_catalog.shown_types() RETURNS SETOF oid
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  WITH RECURSIVE visible AS MATERIALIZED (
    SELECT c.oid, c.reltype FROM pg_catalog.pg_class c
    WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND kproxy_catalog.visible(c.oid)
  ), used(oid) AS (
    SELECT a.atttypid FROM visible v
    JOIN pg_catalog.pg_attribute a ON a.attrelid = v.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE a.atttypid >= 16384
    UNION
    -- A domain depends on its base, an array on its element, a multirange on its
    -- range, a range on its elements; a row on its columns' types by its relation.
    SELECT d.refobjid FROM used u
    JOIN pg_catalog.pg_type t ON t.oid = u.oid
    CROSS JOIN LATERAL (VALUES ('pg_catalog.pg_type'::pg_catalog.regclass, t.oid),
                               ('pg_catalog.pg_class'::pg_catalog.regclass, t.typrelid)) AS k(classid, objid)
    CROSS JOIN LATERAL (
      -- OFFSET keeps the planner to one look-up by index for each type.
      SELECT d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
      WHERE d.classid = k.classid AND d.objid = k.objid OFFSET 0) AS d
    WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid >= 16384
  )
  SELECT u.oid FROM used u
  UNION
  SELECT t.typarray FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.oid WHERE t.typarray <> 0
  UNION
  SELECT v.reltype FROM visible v
$kproxy$;

-- What pg_table_is_visible means to clients, whose search path is pg_catalog and
-- public as the stand-ins show them: whether the relation is found by its bare
-- name. NULL, as there, where there is no relation that the session may know of.
CREATE OR REPLACE FUNCTION kproxy_catalog.table_is_visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
      WHEN n.nspname = 'pg_catalog' THEN true
      WHEN n.nspname = 'public' THEN NOT EXISTS (
        SELECT FROM pg_catalog.pg_class s
        WHERE s.relnamespace = 'pg_catalog'::pg_catalog.regnamespace AND s.relname = c.relname)
      ELSE false
    END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = kproxy_catalog.source_namespace(c.relnamespace)
  WHERE c.oid = $1 AND kproxy_catalog.visible(c.oid)
$kproxy$;

REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA kproxy_catalog FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kproxy_catalog TO "kproxy_reader";

-- Stand-ins for the system catalogs: the columns that the running server's
-- version has, in their order, behind a filter that a client's own conditions
-- cannot look past (security_barrier). A column of a pseudo-type, which a view
-- cannot have, is NULL: it is pg_attribute.attmissingval, a value of the table.
DO $kproxy$
DECLARE
  s record;
  columns text;
BEGIN
  FOR s IN
    SELECT c.oid::pg_catalog.regclass AS name FROM pg_catalog.pg_class c
    WHERE c.relkind = 'v' AND c.relnamespace = 'kproxy_catalog'::pg_catalog.regnamespace
  LOOP
    EXECUTE 'DROP VIEW ' || s.name::text;
  END LOOP;

  FOR s IN
    SELECT v.source::pg_catalog.regclass AS source, v.stand_in, v.filter, v.replacements::pg_catalog.jsonb AS replacements
    FROM (VALUES
      ('"pg_catalog"."pg_class"', '"kproxy_catalog"."pg_class"',
       'kproxy_catalog.visible(c.oid)',
       '{"relfrozenxid":"''0''::pg_catalog.xid","relminmxid":"''0''::pg_catalog.xid","relnamespace":"kproxy_catalog.source_namespace(c.relnamespace)","relpages":"0","reltuples":"(-1)::real"}'),
      ('"pg_catalog"."pg_database"', '"kproxy_catalog"."pg_database"',
       'true',
       '{"datfrozenxid":"''0''::pg_catalog.xid","datminmxid":"''0''::pg_catalog.xid"}'),
      ('"pg_catalog"."pg_attribute"', '"kproxy_catalog"."pg_attribute"',
       'kproxy_catalog.visible(c.attrelid)',
       '{}'),
      ('"pg_catalog"."pg_attrdef"', '"kproxy_catalog"."pg_attrdef"',
       'kproxy_catalog.visible(c.adrelid)',
       '{}'),
      ('"pg_catalog"."pg_index"', '"kproxy_catalog"."pg_index"',
       'kproxy_catalog.visible(c.indrelid)',
       '{}'),
      ('"pg_catalog"."pg_inherits"', '"kproxy_catalog"."pg_inherits"',
       'kproxy_catalog.visible(c.inhrelid) AND kproxy_catalog.visible(c.inhparent)',
       '{}'),
      ('"pg_catalog"."pg_policy"', '"kproxy_catalog"."pg_policy"',
       'kproxy_catalog.visible(c.polrelid)',
       '{}'),
      ('"pg_catalog"."pg_publication_rel"', '"kproxy_catalog"."pg_publication_rel"',
       'kproxy_catalog.visible(c.prrelid)',
       '{}'),
      ('"pg_catalog"."pg_trigger"', '"kproxy_catalog"."pg_trigger"',
       'kproxy_catalog.visible(c.tgrelid) AND (c.tgconstrrelid = 0 OR kproxy_catalog.visible(c.tgconstrrelid))',
       '{}'),
      ('"pg_catalog"."pg_statistic_ext"', '"kproxy_catalog"."pg_statistic_ext"',
       'kproxy_catalog.visible(c.stxrelid)',
       '{}'),
      ('"pg_catalog"."pg_rewrite"', '"kproxy_catalog"."pg_rewrite"',
       'kproxy_catalog.visible(c.ev_class)',
       '{"ev_action":"NULL::pg_catalog.pg_node_tree","ev_qual":"NULL::pg_catalog.pg_node_tree"}'),
      ('"pg_catalog"."pg_foreign_table"', '"kproxy_catalog"."pg_foreign_table"',
       'kproxy_catalog.visible(c.ftrelid)',
       '{}'),
      ('"pg_catalog"."pg_partitioned_table"', '"kproxy_catalog"."pg_partitioned_table"',
       'kproxy_catalog.visible(c.partrelid)',
       '{}'),
      ('"pg_catalog"."pg_constraint"', '"kproxy_catalog"."pg_constraint"',
       'CASE WHEN c.conrelid = 0 THEN (c.contypid < 16384 OR c.contypid IN (SELECT kproxy_catalog.shown_types())) ELSE kproxy_catalog.visible(c.conrelid) END AND (c.confrelid = 0 OR kproxy_catalog.visible(c.confrelid))',
       '{}'),
      ('"pg_catalog"."pg_description"', '"kproxy_catalog"."pg_description"',
       'c.objoid < 16384 OR (c.classoid = ''pg_catalog.pg_class''::pg_catalog.regclass AND kproxy_catalog.visible(c.objoid))',
       '{}'),
      ('"pg_catalog"."pg_enum"', '"kproxy_catalog"."pg_enum"',
       '(c.enumtypid < 16384 OR c.enumtypid IN (SELECT kproxy_catalog.shown_types()))',
       '{}'),
      ('"pg_catalog"."pg_type"', '"kproxy_catalog"."pg_type"',
       '(c.oid < 16384 OR c.oid IN (SELECT kproxy_catalog.shown_types()))',
       '{"typnamespace":"kproxy_catalog.source_namespace(c.typnamespace)"}'),
      ('"pg_catalog"."pg_proc"', '"kproxy_catalog"."pg_proc"',
       'c.pronamespace = ''pg_catalog''::pg_catalog.regnamespace',
       '{"probin":"NULL::text","prosrc":"''''::text"}'),
      ('"pg_catalog"."pg_namespace"', '"kproxy_catalog"."pg_namespace"',
       'c.nspname NOT IN (''kproxy_store'', ''kproxy_catalog'') AND c.nspname NOT LIKE ''kproxy\_release\_%''',
       '{}'),
      ('"pg_catalog"."pg_settings"', '"kproxy_catalog"."pg_settings"',
       'c.name <> ''search_path''',
       '{}'),
      ('"information_schema"."tables"', '"kproxy_catalog"."information_schema_tables"',
       'c.table_schema <> ''kproxy_catalog''',
       '{"table_schema":"regexp_replace(c.table_schema::text, ''^kproxy_release_'', '''')::information_schema.sql_identifier"}'),
      ('"information_schema"."columns"', '"kproxy_catalog"."information_schema_columns"',
       'c.table_schema <> ''kproxy_catalog''',
       '{"table_schema":"regexp_replace(c.table_schema::text, ''^kproxy_release_'', '''')::information_schema.sql_identifier","udt_schema":"regexp_replace(c.udt_schema::text, ''^kproxy_release_'', '''')::information_schema.sql_identifier"}'),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"',
       'c.classid = ''pg_catalog.pg_trigger''::pg_catalog.regclass AND c.refclassid = c.classid AND EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = c.objid AND kproxy_catalog.visible(t.tgrelid)) AND EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = c.refobjid AND kproxy_catalog.visible(t.tgrelid))',
       '{}')
    ) AS v(source, stand_in, filter, replacements)
  LOOP
    SELECT pg_catalog.string_agg(
             CASE WHEN s.replacements ? a.attname::text THEN s.replacements ->> a.attname::text
                  WHEN t.typtype = 'p' THEN 'NULL::pg_catalog.text[]'
                  ELSE 'c.' || pg_catalog.quote_ident(a.attname) END ||
             ' AS ' || pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
      INTO columns
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = s.source AND a.attnum > 0 AND NOT a.attisdropped;
    EXECUTE pg_catalog.format('CREATE VIEW %s WITH (security_barrier) AS SELECT %s FROM %s AS c WHERE %s',
      s.stand_in, columns, s.source, s.filter);
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM PUBLIC', s.stand_in);
    EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', s.stand_in, 'kproxy_reader');
  END LOOP;
END
$kproxy$;

RESET ROLE;

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
DO $kproxy$
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = 'kproxy') THEN
    ALTER PUBLICATION "kproxy" SET TABLE
      ONLY "public"."patients",
      ONLY "Ward ""B"""."Patients";
    ALTER PUBLICATION "kproxy" SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = false);
  ELSE
    CREATE PUBLICATION "kproxy" FOR TABLE
      ONLY "public"."patients",
      ONLY "Ward ""B"""."Patients"
      WITH (publish = 'insert, update, delete, truncate', publish_via_partition_root = false);
  END IF;
END
$kproxy$;

-- The end of the administrator's membership.
DO $kproxy$
BEGIN
  IF pg_catalog.current_setting('kproxy.joined', true) = 'yes' THEN
    REVOKE "kproxy_owner" FROM CURRENT_USER;
    PERFORM pg_catalog.set_config('kproxy.joined', '', false);
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
