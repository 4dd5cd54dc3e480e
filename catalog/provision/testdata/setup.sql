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

-- Roles, slots and publications have names that others of the server, or of the database, may have
-- taken: another kproxy above all, which would stop if they were changed. Nothing is taken over.
DO $kproxy$
DECLARE
  taken record;
BEGIN
  -- A role that has rights in another database, itself or as a member, and none here.
  WITH RECURSIVE configured(name) AS (VALUES
    ('kproxy_owner'),
    ('kproxy_reader')
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
      AND NOT (EXISTS (SELECT FROM used here WHERE here.name = u.name AND here.database = pg_catalog.current_database())
        AND pg_catalog.to_regnamespace('kproxy_store') IS NOT NULL)
    GROUP BY u.name ORDER BY u.name LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % has rights in database % of this server, and this configuration would change what it may do there', pg_catalog.quote_ident(taken.name), taken.databases
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is, and give this configuration roles of its own (upstream.owner, upstream.reader, upstream.readers, source): setup creates them.';
  END IF;

  -- The store of another owner.
  SELECT r.rolname::text AS owner INTO taken FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = 'kproxy_store' AND r.rolname <> 'kproxy_owner';
  IF FOUND THEN
    RAISE EXCEPTION 'database % has the store of another configuration, whose owner is role %', pg_catalog.current_database(), pg_catalog.quote_ident(taken.owner)
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is: give this configuration a database of its own for its release (source, see docs/apart.md), with roles, publication and slot of its own; or add its tables to the other configuration, with audiences for other readers.';
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

-- The owner maintains the release, and replicates. Attributes of roles are changed only where they
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

-- Clients' sessions run as the reader.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader') THEN
    CREATE ROLE "kproxy_reader" LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader' AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE "kproxy_reader" LOGIN NOINHERIT;
  END IF;
END
$kproxy$;

-- Sessions of clients never write.
ALTER ROLE "kproxy_reader" SET default_transaction_read_only = on;

-- Tools read the catalogs through many small views, which take milliseconds to run and
-- seconds to compile. Who has set it otherwise keeps that.
DO $kproxy$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'kproxy_reader' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "kproxy_reader" SET jit = off;
  END IF;
END
$kproxy$;

DO $kproxy$
BEGIN
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO ', pg_catalog.current_database()) || '"kproxy_reader"';
  EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM ', pg_catalog.current_database()) || '"kproxy_reader"';
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

-- The store is that of one configuration, which may change: where it was set up from, or where its
-- policy was accepted from, or as far as it takes nothing away. Another one would take its roles,
-- publication and slot away from it.
DO $kproxy$
DECLARE
  kept text;
  found record;
BEGIN
  SET ROLE "kproxy_owner";
  IF pg_catalog.to_regclass('kproxy_store.policy') IS NOT NULL THEN
    kept := 'SELECT i.place, i.slot, i.publication, i.tables, i.readers FROM kproxy_store.installation i';
    IF pg_catalog.to_regclass('kproxy_store.installation') IS NULL THEN
      -- An earlier version made it.
      kept := 'SELECT pg_catalog.max(p.place) AS place, (SELECT pg_catalog.max(s.slot) FROM kproxy_store.position s) AS slot, NULL::text AS publication,
  (SELECT pg_catalog.array_agg(pg_catalog.format(''%I.%I'', t.of -> ''Table'' ->> ''Schema'', t.of -> ''Table'' ->> ''Relation''))
   FROM kproxy_store.policy l CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(l.policy -> ''Tables'') AS t(of)
   WHERE l.number = (SELECT pg_catalog.max(o.number) FROM kproxy_store.policy o)) AS tables,
  (SELECT pg_catalog.array_agg(r.name) FROM kproxy_store.reader r) AS readers
FROM kproxy_store.policy p WHERE p.number = (SELECT pg_catalog.max(l.number) FROM kproxy_store.policy l)';
    END IF;
    EXECUTE 'WITH kept AS (' || kept || ') ' || $elsewhere$
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
$elsewhere$
      INTO found USING '', '', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader']::text[];
  ELSE
    SELECT NULL::text AS place, NULL::text AS differs, NULL::text AS lacking INTO found;
  END IF;
  RESET ROLE;
  IF found.differs IS NOT NULL THEN
    RAISE EXCEPTION 'database % has the store of another configuration, which was set up from %: that one %', pg_catalog.current_database(), found.place, found.differs
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is: give this configuration a database of its own for its release (source, see docs/apart.md), with roles, publication and slot of its own; or add its tables to the other configuration, with audiences for other readers.';
  ELSIF found.lacking IS NOT NULL THEN
    RAISE EXCEPTION 'database % was set up from %: this configuration, from %, lacks its %', pg_catalog.current_database(), found.place, '', found.lacking
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is: give this configuration a database of its own for its release (source, see docs/apart.md), with roles, publication and slot of its own; or add its tables to the other configuration, with audiences for other readers.' || ' ' || 'If this is the same configuration, without these, run ''kproxy reload'' or ''kproxy accept'' first, which put it in force.';
  ELSIF found.place IS NOT NULL THEN
    RAISE WARNING 'database % was set up from % before, and is the one of % from now on', pg_catalog.current_database(), found.place, ''
      USING HINT = 'If both files are in use, keep one: what one of them takes away later, the other has to accept first.';
  END IF;
END
$kproxy$;

-- Schemas: the private store, the stand-ins for the system catalogs, the helpers for
-- analysts, and one for the published relations of each schema with protected tables. The
-- helpers' is called kproxy, as somebody else's may be: that one is left alone.
DO $kproxy$
DECLARE
  schema_name text;
BEGIN
  IF EXISTS (SELECT FROM pg_catalog.pg_namespace n
             JOIN (SELECT oid AS namespace, nspowner AS owner FROM pg_catalog.pg_namespace
                   UNION ALL SELECT relnamespace, relowner FROM pg_catalog.pg_class
                   UNION ALL SELECT pronamespace, proowner FROM pg_catalog.pg_proc
                   UNION ALL SELECT typnamespace, typowner FROM pg_catalog.pg_type) o ON o.namespace = n.oid
             LEFT JOIN pg_catalog.pg_roles r ON r.oid = o.owner
             WHERE n.nspname = 'kproxy' AND r.rolname IS DISTINCT FROM 'kproxy_owner') THEN
    RAISE EXCEPTION 'the schema kproxy, or something in it, does not belong to %, and kproxy has its helpers for analysts there', pg_catalog.quote_ident('kproxy_owner')
      USING HINT = 'Make room for them: ALTER SCHEMA kproxy RENAME TO ...';
  END IF;
  FOREACH schema_name IN ARRAY ARRAY['kproxy_store', 'kproxy_catalog', 'kproxy', 'kproxy_release_Ward "B"', 'kproxy_release_public'] LOOP
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

-- What was readable before, and is not listed any more, is marked no more.
DO $kproxy$
DECLARE
  former pg_catalog.regclass;
  reader text;
BEGIN
  FOR former, reader IN
    SELECT DISTINCT c.oid::pg_catalog.regclass, r.rolname::text FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
    WHERE r.rolname::text = ANY (ARRAY['kproxy_reader']) AND a.privilege_type = 'REFERENCES'
      AND n.nspname NOT IN ('kproxy_store', 'kproxy_catalog') AND n.nspname::text !~ '^kproxy_(release|audience_[a-z][a-z0-9]*)_'
      AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
      AND (n.nspname::text, c.relname::text) NOT IN (VALUES
        ('public', 'wards')
      )
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE REFERENCES ON TABLE %s FROM %I', former, reader);
  END LOOP;
END
$kproxy$;

-- Relations that analysts may read beside the protected tables. kproxy shows them by views
-- of its own, in release schemas, with their ordinary columns alone: the system columns of
-- a row tell of the writes of others. The owner reads them, and what views among them read,
-- for that. Of the relations themselves clients' sessions have REFERENCES alone, with which
-- nothing can be read; by it the stand-ins for the system catalogs know them. A view over
-- protected tables is published from what the tables publish. Whatever else shows rows of protected tables is never granted: materialized views over
-- them, their partitions, what they inherit from and what inherits from them.
DO $kproxy$
DECLARE
  listed record;
  inner_relation record;
  reader text;
  audience record;
BEGIN
  FOR listed IN
    WITH RECURSIVE calls(oid, definer, reading) AS (
      -- Views that call what runs with other rights than the session's, or may read tables.
      SELECT r.ev_class, pg_catalog.bool_or(f.prosecdef), pg_catalog.bool_or(f.oid >= 16384 AND f.provolatile <> 'i' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend e WHERE e.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND e.objid = f.oid
          AND e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass))
      FROM pg_catalog.pg_rewrite r
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
      LEFT JOIN pg_catalog.pg_operator o ON d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND o.oid = d.refobjid
      JOIN pg_catalog.pg_proc f ON f.oid = o.oprcode OR d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND f.oid = d.refobjid
      WHERE r.ev_type = '1'
      GROUP BY r.ev_class
    ), reading(oid) AS (
      SELECT calls.oid FROM calls WHERE calls.reading
      UNION
      SELECT r.ev_class FROM reading
      JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = reading.oid
        AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1'
    ), computed(oid) AS (
      -- What fills a materialized view, also in views under it, ran with its owner's rights.
      SELECT calls.oid FROM calls WHERE calls.definer
      UNION
      SELECT v.oid FROM reading JOIN pg_catalog.pg_class v ON v.oid = reading.oid AND v.relkind = 'm'
    ), shows(oid, how) AS (
      SELECT p.protected::pg_catalog.oid, 'protected' FROM (VALUES
        ('"public"."patients"'::pg_catalog.regclass),
        ('"Ward ""B"""."Patients"'::pg_catalog.regclass)
      ) AS p(protected)
      UNION
      SELECT computed.oid, 'computed' FROM computed
      UNION
      -- Partitions of a protected table, its parents, and what views read.
      SELECT e.target, CASE s.how WHEN 'computed' THEN s.how ELSE e.how END FROM shows s JOIN (
        SELECT i.inhparent, i.inhrelid, 'child' FROM pg_catalog.pg_inherits i
        UNION ALL
        SELECT i.inhrelid, i.inhparent, 'parent' FROM pg_catalog.pg_inherits i
        UNION ALL
        SELECT d.refobjid, r.ev_class, 'view' FROM pg_catalog.pg_rewrite r
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
          AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        WHERE r.ev_type = '1'
      ) AS e(source, target, how) ON e.source = s.oid AND (e.how = 'view' OR s.how IN ('protected', e.how))
    )
    SELECT l.written, c.oid, c.oid::pg_catalog.regclass AS name, c.relkind AS kind,
           n.nspname AS schema,
           c.oid IS NOT NULL AND c.oid IN (SELECT shows.oid FROM shows) AS shows,
           c.oid IS NOT NULL AND c.relkind = 'v' AND c.oid IN (SELECT shows.oid FROM shows WHERE shows.how <> 'computed') AS derived
    FROM (VALUES
      ('public.wards', pg_catalog.to_regclass('"public"."wards"'))
    ) AS l(written, readable)
    LEFT JOIN pg_catalog.pg_class c ON c.oid = l.readable AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    ORDER BY derived DESC, c.oid, l.written
  LOOP
    IF listed.oid IS NULL THEN
      RAISE WARNING 'readable %: there is no such relation, and nothing is granted', listed.written
        USING HINT = 'Correct its name, or take it off readable, and run this again.';
      CONTINUE;
    END IF;
    IF listed.shows AND NOT listed.derived THEN
      FOREACH reader IN ARRAY ARRAY['kproxy_reader'] LOOP
        IF pg_catalog.has_any_column_privilege(reader, listed.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
           OR pg_catalog.has_table_privilege(reader, listed.oid, 'DELETE, TRUNCATE, TRIGGER') THEN
          EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I', listed.name, reader);
        END IF;
      END LOOP;
      RAISE WARNING 'readable %: it shows rows of protected tables as they are, and is not granted', listed.written
        USING HINT = CASE listed.kind
          WHEN 'm' THEN 'Write it as a view, which is published from what the tables publish, or take it off readable.'
          WHEN 'v' THEN 'It calls a function that runs with other rights than the session''s: write it without, or take it off readable.'
          ELSE 'Take it off readable: analysts read the protected table.' END;
      CONTINUE;
    END IF;
    -- Each audience has stand-ins, and forms of views over protected tables, of its own.
    FOR audience IN
      SELECT a.reader, a.prefix || listed.schema AS release FROM (VALUES
        ('kproxy_reader', 'kproxy_release_')
      ) AS a(reader, prefix)
    LOOP
      IF NOT pg_catalog.has_schema_privilege(audience.reader, listed.schema, 'USAGE') THEN
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', listed.schema, audience.reader);
      END IF;
      IF pg_catalog.octet_length(audience.release) > 63 THEN
        RAISE EXCEPTION 'the schema of %: the name of its release schema is longer than 63 bytes', listed.name;
      END IF;
      IF pg_catalog.to_regnamespace(pg_catalog.quote_ident(audience.release)) IS NULL THEN
        EXECUTE pg_catalog.format('CREATE SCHEMA %I AUTHORIZATION %I', audience.release, 'kproxy_owner');
      END IF;
      EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', audience.release, audience.reader);
    END LOOP;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I', listed.name, 'kproxy_reader');
    IF listed.derived THEN
      CONTINUE;
    END IF;
    EXECUTE pg_catalog.format('GRANT REFERENCES ON TABLE %s TO ', listed.name) || '"kproxy_reader"';
    FOR inner_relation IN
      WITH RECURSIVE under(oid) AS (
        SELECT listed.oid
        UNION
        SELECT d.refobjid FROM under u
        JOIN pg_catalog.pg_rewrite r ON r.ev_class = u.oid AND r.ev_type = '1'
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
          AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid <> r.ev_class
      )
      SELECT c.oid::pg_catalog.regclass AS name, n.nspname AS schema FROM under u
      JOIN pg_catalog.pg_class c ON c.oid = u.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE NOT pg_catalog.has_schema_privilege('kproxy_owner', n.oid, 'USAGE') OR NOT pg_catalog.has_table_privilege('kproxy_owner', c.oid, 'SELECT')
      ORDER BY c.oid
    LOOP
      EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', inner_relation.schema, 'kproxy_owner');
      EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', inner_relation.name, 'kproxy_owner');
    END LOOP;
  END LOOP;
END
$kproxy$;



-- What follows belongs to the owner.
SET ROLE "kproxy_owner";

REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_store" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_catalog" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_Ward ""B""" FROM PUBLIC, "kproxy_reader";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_public" FROM PUBLIC, "kproxy_reader";
GRANT USAGE ON SCHEMA "kproxy_catalog" TO "kproxy_reader";
GRANT USAGE ON SCHEMA "kproxy" TO "kproxy_reader";
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
-- The server that the store itself is on, where that is not the source's: its system identifier and
-- its timeline.
ALTER TABLE kproxy_store.position
  ADD COLUMN IF NOT EXISTS store_system   text,
  ADD COLUMN IF NOT EXISTS store_timeline bigint;

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
-- they were, the rows that stand for nobody, how many of these weights still count, and the records that are withheld for good.
-- A store that an earlier version made gets the columns, too.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS updates        text,
  ADD COLUMN IF NOT EXISTS waiting        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS stale          bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS ghosts         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS untold         bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS expired        bigint NOT NULL DEFAULT 0,
  ADD COLUMN IF NOT EXISTS oldest_waiting timestamptz,
  ADD COLUMN IF NOT EXISTS oldest_stale   timestamptz;

-- Where each table stands: changes whose commit lies before lsn are in its store. A
-- generation that still has to catch up is shown from the position shows on; readers see
-- the generation previous until then. A halted table waits for the operator, and for an
-- explicit wish where needs_consent. asked is such a wish: rebuild or resync; noted is
-- kproxy's own.
-- definition is a digest of what the table was when it was compared with its source.
-- A table that heals was halted for what it is, and goes on by itself when it is again what
-- was accepted. promise is what the release that readers see keeps: under another policy it
-- stands until that one's is ready, if it promises as much.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS lsn           pg_lsn,
  ADD COLUMN IF NOT EXISTS shows         pg_lsn,
  ADD COLUMN IF NOT EXISTS previous      bigint,
  ADD COLUMN IF NOT EXISTS halted        text,
  ADD COLUMN IF NOT EXISTS halted_fix    text,
  ADD COLUMN IF NOT EXISTS needs_consent boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS asked         text,
  ADD COLUMN IF NOT EXISTS noted         text,
  ADD COLUMN IF NOT EXISTS definition    text NOT NULL DEFAULT '',
  ADD COLUMN IF NOT EXISTS promise       text,
  ADD COLUMN IF NOT EXISTS audiences     text, -- what is published for audiences, as JSON
  ADD COLUMN IF NOT EXISTS lineage       text, -- by which policy the classes of a guarded table are made, as JSON
  ADD COLUMN IF NOT EXISTS heals         boolean NOT NULL DEFAULT false,
  ADD COLUMN IF NOT EXISTS returned      bigint NOT NULL DEFAULT 0, -- records that came back to their rows
  ADD COLUMN IF NOT EXISTS hash_key      bytea;                     -- of the hashes below

-- What a table's release is made of, as JSON, and the fingerprint of the whole policy that this follows
-- from: by these a process serves the release while the source, in a database of its own, is away.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS publication text,
  ADD COLUMN IF NOT EXISTS followed    text;

-- The published rows whose records have left a guarded table, by a hash of the record's key,
-- by the hash_key of its generation. Who comes back gets the row back; with the row the hash goes.
CREATE TABLE IF NOT EXISTS kproxy_store.departed (
  generation bigint NOT NULL,
  hash       bytea NOT NULL,
  class      bigint NOT NULL,
  row        bigint NOT NULL,
  changed    text NOT NULL, -- what the row did not show of the record
  PRIMARY KEY (generation, hash)
);

-- A row of tables that are released together is found by its number as well.
CREATE INDEX IF NOT EXISTS departed_row ON kproxy_store.departed (generation, row);

-- Rows of guarded tables that are released together which are not published any more, and whose
-- sensitive values count until the class of their persons goes.
CREATE TABLE IF NOT EXISTS kproxy_store.vanished (
  generation bigint NOT NULL,
  row        bigint NOT NULL,
  cell       bigint NOT NULL,
  persons    bigint NOT NULL,
  person     integer NOT NULL,
  win        integer NOT NULL,
  parent     bigint NOT NULL,
  sensitive  text[] NOT NULL,
  PRIMARY KEY (generation, row)
);
CREATE INDEX IF NOT EXISTS vanished_persons ON kproxy_store.vanished (generation, persons);

-- What the names of the configuration were the names of when the operator accepted them:
-- for each name its identity, such as the numbers, names and types of a table's columns.
-- What differs from it is not published until it is accepted or taken back.
CREATE TABLE IF NOT EXISTS kproxy_store.accepted (
  kind            text NOT NULL, -- table
  accepted_schema text NOT NULL,
  accepted_name   text NOT NULL,
  identity        jsonb NOT NULL,
  accepted_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (kind, accepted_schema, accepted_name)
);

-- The policies that the operator has accepted; the one with the greatest number is in
-- force. A process that has another one does not apply.
CREATE TABLE IF NOT EXISTS kproxy_store.policy (
  number      bigint PRIMARY KEY,
  fingerprint text NOT NULL,
  policy      jsonb NOT NULL,
  place       text NOT NULL, -- the machine and the file that it was accepted from
  accepted_at timestamptz NOT NULL DEFAULT now()
);

-- Why nothing of a table can be published, for the operator; NULL where something is, or
-- where an immediate table has no records.
ALTER TABLE kproxy_store.generation
  ADD COLUMN IF NOT EXISTS withheld_why text;

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

-- What salts of users who do not exist are made of, the same at every start and for every
-- process, so that nobody can tell them from those of users who do.
CREATE TABLE IF NOT EXISTS kproxy_store.login (salt bytea NOT NULL);
INSERT INTO kproxy_store.login
  SELECT pg_catalog.uuid_send(pg_catalog.gen_random_uuid()) || pg_catalog.uuid_send(pg_catalog.gen_random_uuid())
  WHERE NOT EXISTS (SELECT FROM kproxy_store.login);

-- The configuration that was set up last, and the machine and the file that it was set up from.
CREATE TABLE IF NOT EXISTS kproxy_store.installation (
  one         boolean PRIMARY KEY DEFAULT true CHECK (one),
  place       text NOT NULL,
  slot        text NOT NULL,
  publication text NOT NULL,
  tables      text[] NOT NULL,
  readers     text[] NOT NULL
);
INSERT INTO kproxy_store.installation (place, slot, publication, tables, readers)
  VALUES ('', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader']::text[])
  ON CONFLICT ON CONSTRAINT installation_pkey DO UPDATE
  SET place = excluded.place, slot = excluded.slot, publication = excluded.publication, tables = excluded.tables, readers = excluded.readers;

-- The further reader roles, and those of audiences, so that one that is no more configured, or
-- has another part now, is known.
CREATE TABLE IF NOT EXISTS kproxy_store.reader (name text PRIMARY KEY);
-- Whether it is the first one of an audience, which has rights of its own.
ALTER TABLE kproxy_store.reader ADD COLUMN IF NOT EXISTS is_first boolean NOT NULL DEFAULT false;
-- The audience that it belongs to; empty where it reads what tables says.
ALTER TABLE kproxy_store.reader ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';

REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA kproxy_store FROM PUBLIC, "kproxy_reader";

-- The readable relations and the views over protected tables that kproxy has published, or
-- could not: made is the view that clients read, digest stands for what it was made of, and
-- problem says to the operator why there is none. omitted is how many columns it lacks.
-- accepted is what the relation was when it was published first: whatever else bears its
-- name later is not served. An earlier version published views over protected tables only.
CREATE TABLE IF NOT EXISTS kproxy_store.view (
  view_schema text,
  view_name   text,
  made        oid,
  digest      text NOT NULL,
  problem     text,
  omitted     integer NOT NULL DEFAULT 0,
  PRIMARY KEY (view_schema, view_name)
);
ALTER TABLE kproxy_store.view ADD COLUMN IF NOT EXISTS accepted text DEFAULT '{"over_protected":true}';
ALTER TABLE kproxy_store.view ALTER COLUMN accepted DROP DEFAULT;
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.view FROM PUBLIC, "kproxy_reader";

-- What was made of views over protected tables for audiences, likewise: each is over what the
-- audience sees of the tables. What was accepted is in the table above.
CREATE TABLE IF NOT EXISTS kproxy_store.audience_view (
  audience    text,
  view_schema text,
  view_name   text,
  made        oid,
  digest      text NOT NULL,
  problem     text,
  omitted     integer NOT NULL DEFAULT 0,
  PRIMARY KEY (audience, view_schema, view_name)
);
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.audience_view FROM PUBLIC, "kproxy_reader";

-- What the listed views are that are at a source in a database of its own: their columns, and what they
-- read. Processes that do not ask the source go by that, and all while it is away.
CREATE TABLE IF NOT EXISTS kproxy_store.source_view (
  view_schema text,
  view_name   text,
  described   text NOT NULL,
  PRIMARY KEY (view_schema, view_name)
);
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.source_view FROM PUBLIC, "kproxy_reader";

-- What the stand-ins ask. The two that they call for every row hold no sub-query,
-- so that the planner puts them in line; the look-ups behind them run for few
-- rows. All run with the rights of the session and name relations, types and
-- functions in full: each session reads the bodies anew, and its temporary tables are
-- types that come first. Operators are never looked for among temporary objects.
-- 16384 is the first identifier of an object that initdb did not make. Some read
-- stand-ins, which come later.
SET check_function_bodies = off;

-- The audience that the session's role belongs to: '' where it sees what the policy's own
-- readers see.
CREATE OR REPLACE FUNCTION kproxy_catalog.audience() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT ''::pg_catalog.text
$kproxy$;

-- How the names of the schemas begin whose relations the session reads.
CREATE OR REPLACE FUNCTION kproxy_catalog.release_prefix() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT 'kproxy_release_'::pg_catalog.text
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.is_stand_in(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.oid = $1 AND (n.nspname = 'kproxy_catalog'
      -- Of the relations in release schemas, those for readable relations carry REFERENCES.
      OR pg_catalog.starts_with(n.nspname::pg_catalog.text, kproxy_catalog.release_prefix())
        AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')
      -- All sessions are the reader's: its temporary tables are not all one's own.
      -- Parallel workers know which are.
      OR pg_catalog.pg_is_other_temp_schema(n.oid)))
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.is_index_of_readable(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_index i
    WHERE i.indexrelid = $1 AND pg_catalog.has_table_privilege(i.indrelid, 'SELECT, REFERENCES')
      AND NOT kproxy_catalog.is_stand_in(i.indrelid)
      AND NOT kproxy_catalog.names_hidden('pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, $1))
$kproxy$;

-- Whether the session may read the relation, or the relation of the index.
-- pg_index_has_property gives NULL for what is no index. Of all views only the
-- stand-ins carry REFERENCES, which does nothing there; of what lies behind one for a
-- readable relation, the session has that alone.
CREATE OR REPLACE FUNCTION kproxy_catalog.visible(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.has_table_privilege($1, 'SELECT')
      THEN $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid OR NOT pg_catalog.has_table_privilege($1, 'REFERENCES')
        OR NOT kproxy_catalog.is_stand_in($1)
    WHEN pg_catalog.has_table_privilege($1, 'REFERENCES') THEN true
    WHEN pg_catalog.pg_index_has_property($1::pg_catalog.regclass, 'clusterable') IS NULL THEN false
    ELSE kproxy_catalog.is_index_of_readable($1)
  END
$kproxy$;

-- The stand-in by which the session reads a readable relation; itself for all others.
CREATE OR REPLACE FUNCTION kproxy_catalog.stand_in_oid(relation oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_namespace r ON r.nspname = (kproxy_catalog.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
    JOIN pg_catalog.pg_class s ON s.relnamespace = r.oid AND s.relname = c.relname
    WHERE c.oid = $1 AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')), $1)
$kproxy$;

-- The readable relation that the session reads by a stand-in; itself for all others.
CREATE OR REPLACE FUNCTION kproxy_catalog.stood_in_oid(relation oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT c.oid FROM pg_catalog.pg_class s
    JOIN pg_catalog.pg_namespace r ON r.oid = s.relnamespace
    JOIN pg_catalog.pg_namespace n ON r.nspname = (kproxy_catalog.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
    JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = s.relname
    WHERE s.oid = $1 AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')), $1)
$kproxy$;

-- Whether a relation is the stand-in for a readable one.
CREATE OR REPLACE FUNCTION kproxy_catalog.stands_in(schema text, relation text) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.starts_with($1, kproxy_catalog.release_prefix()) THEN EXISTS (
    SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1::pg_catalog.name AND c.relname = $2::pg_catalog.name
      AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')) ELSE false END
$kproxy$;

-- The name by which clients know the database.
CREATE OR REPLACE FUNCTION kproxy_catalog.database_name() RETURNS name
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT pg_catalog.current_database()
$kproxy$;

-- The database that a client names, or gives the number of.
CREATE OR REPLACE FUNCTION kproxy_catalog.database_oid(text) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.oid FROM pg_catalog.pg_database d
  WHERE d.datname = pg_catalog.current_database() AND $1 IN (kproxy_catalog.database_name()::pg_catalog.text, d.oid::pg_catalog.text)
$kproxy$;

-- The schema that privileges on a schema are asked of: that of its published
-- relations; itself if none.
CREATE OR REPLACE FUNCTION kproxy_catalog.release_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT r.oid FROM pg_catalog.pg_namespace s
    JOIN pg_catalog.pg_namespace r ON r.nspname = (kproxy_catalog.release_prefix() || s.nspname::pg_catalog.text)::pg_catalog.name
    WHERE s.oid = $1), $1)
$kproxy$;

-- The schema to ask a client's privileges of, whichever it names or gives the number
-- of; NULL if it may not know of it.
CREATE OR REPLACE FUNCTION kproxy_catalog.schema_oid(text) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy_catalog.release_namespace(n.oid) FROM kproxy_catalog.pg_namespace n
  WHERE n.nspname = $1::pg_catalog.name OR n.oid = CASE WHEN $1 ~ '^[0-9]{1,9}$' THEN $1::pg_catalog.oid END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.released_namespace(namespace oid) RETURNS oid
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT coalesce((
    SELECT s.oid FROM pg_catalog.pg_namespace r
    JOIN pg_catalog.pg_namespace s
      ON s.nspname = pg_catalog.substr(r.nspname::pg_catalog.text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name
    WHERE r.oid = $1 AND pg_catalog.starts_with(r.nspname::pg_catalog.text, kproxy_catalog.release_prefix())), $1)
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
    WHERE a.atttypid >= 16384 AND kproxy_catalog.is_served(a.attrelid, a.attnum)
    UNION
    -- A domain depends on its base, an array on its element, a multirange on its
    -- range, a range on its elements; a row on its columns' types by its relation.
    SELECT d.refobjid FROM used u
    JOIN pg_catalog.pg_type t ON t.oid = u.oid
    CROSS JOIN LATERAL (VALUES ('pg_catalog.pg_type'::pg_catalog.regclass, t.oid),
                               ('pg_catalog.pg_class'::pg_catalog.regclass, t.typrelid)) AS k(classid, objid)
    CROSS JOIN LATERAL (
      -- OFFSET keeps the planner to one look-up by index for each type.
      SELECT d.classid, d.objid, d.objsubid, d.refclassid, d.refobjid FROM pg_catalog.pg_depend d
      WHERE d.classid = k.classid AND d.objid = k.objid OFFSET 0) AS d
    WHERE d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass AND d.refobjid >= 16384
      AND (d.classid <> 'pg_catalog.pg_class'::pg_catalog.regclass OR kproxy_catalog.is_served(d.objid, d.objsubid))
  )
  SELECT u.oid FROM used u
  UNION
  SELECT t.typarray FROM used u JOIN pg_catalog.pg_type t ON t.oid = u.oid WHERE t.typarray <> 0
  UNION
  -- Rows of a readable relation are those of its stand-in.
  SELECT s.reltype FROM visible v
  JOIN pg_catalog.pg_class s ON s.oid = CASE WHEN pg_catalog.has_table_privilege(v.oid, 'REFERENCES')
    THEN kproxy_catalog.stand_in_oid(v.oid) ELSE v.oid END
$kproxy$;

-- Whether the relation is what one of these is in pg_class, if it is composite.
CREATE OR REPLACE FUNCTION kproxy_catalog.is_shown_composite(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT EXISTS (
    SELECT FROM pg_catalog.pg_class c
    WHERE c.oid = $1
      AND CASE c.relkind WHEN 'c' THEN c.reltype IN (SELECT kproxy_catalog.shown_types()) ELSE false END)
$kproxy$;

-- The schemas that a client's schema stands for: the one with its published relations
-- (first) and itself. kproxy's own are none of a client's.
CREATE OR REPLACE FUNCTION kproxy_catalog.client_schema(name name) RETURNS TABLE (namespace oid, rank integer)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 2 AS $kproxy$
  SELECT n.oid, CASE WHEN n.nspname OPERATOR(pg_catalog.=) $1 THEN 2 ELSE 1 END
  FROM pg_catalog.pg_namespace n
  WHERE n.nspname IN ($1, (kproxy_catalog.release_prefix() OPERATOR(pg_catalog.||) $1::pg_catalog.text)::pg_catalog.name)
    AND $1::pg_catalog.text OPERATOR(pg_catalog.!~) '^kproxy_(release|audience_[a-z][a-z0-9]*)_'
    AND $1 NOT IN ('kproxy_catalog', 'kproxy_store')
  UNION ALL
  SELECT pg_catalog.pg_my_temp_schema(), 1 WHERE $1 OPERATOR(pg_catalog.=) 'pg_temp'
$kproxy$;

-- Whether a relation is the first of its name on a client's search path.
CREATE OR REPLACE FUNCTION kproxy_catalog.is_first_of_name(relation oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
      WHEN own.place IS NULL THEN false
      WHEN own.place = 1 THEN true
      ELSE NOT EXISTS (
        SELECT FROM pg_catalog.unnest($2) WITH ORDINALITY AS p(schema, place)
        CROSS JOIN LATERAL kproxy_catalog.client_schema(p.schema) AS s
        JOIN pg_catalog.pg_class o ON o.relnamespace = s.namespace AND o.relname = c.relname
        WHERE p.place < own.place)
    END
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = kproxy_catalog.source_namespace(c.relnamespace)
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_position($2, CASE WHEN n.oid = pg_catalog.pg_my_temp_schema()
                                              THEN 'pg_temp'::pg_catalog.name ELSE n.nspname END) AS place) AS own
  WHERE c.oid = $1 AND (kproxy_catalog.visible(c.oid) OR kproxy_catalog.is_shown_composite(c.oid))
$kproxy$;

-- What pg_table_is_visible means to a client with the given search path, which holds
-- what PostgreSQL searches implicitly, too: whether the relation is found by its bare
-- name. NULL, as there, where there is no relation that the session may know of. The
-- planner puts it in line: most of what is asked for are PostgreSQL's own relations.
DROP FUNCTION IF EXISTS kproxy_catalog.table_is_visible(oid);
CREATE OR REPLACE FUNCTION kproxy_catalog.table_is_visible(relation oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid OR $2[1] IS DISTINCT FROM 'pg_catalog'
      THEN kproxy_catalog.is_first_of_name($1, $2)
    WHEN kproxy_catalog.visible($1) THEN pg_catalog.pg_table_is_visible($1)
  END
$kproxy$;

-- The name by which a client with the given search path finds the relation.
CREATE OR REPLACE FUNCTION kproxy_catalog.class_name(relation oid, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN kproxy_catalog.table_is_visible(c.oid, $2) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END
    || pg_catalog.quote_ident(c.relname)
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = kproxy_catalog.source_namespace(c.relnamespace)
  WHERE c.oid = $1 AND (kproxy_catalog.visible(c.oid) OR kproxy_catalog.is_shown_composite(c.oid))
  UNION ALL
  SELECT pg_catalog.quote_ident(k.table_schema) || '.' || pg_catalog.quote_ident(k.name)
  FROM kproxy_catalog.shown_keys() k WHERE k.oid = $1 AND k.is_primary
$kproxy$;

-- The same for pg_type_is_visible. Whether the session may know of the type does not
-- matter: there is nothing but the schema and the name in it.
CREATE OR REPLACE FUNCTION kproxy_catalog.type_is_visible(type oid, path name[]) RETURNS boolean
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
      WHEN own.place IS NULL THEN false
      WHEN own.place = 1 THEN true
      ELSE NOT EXISTS (
        SELECT FROM pg_catalog.unnest($2) WITH ORDINALITY AS p(schema, place)
        CROSS JOIN LATERAL kproxy_catalog.client_schema(p.schema) AS s
        JOIN pg_catalog.pg_type o ON o.typnamespace = s.namespace AND o.typname = t.typname
        WHERE p.place < own.place)
    END
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace n ON n.oid = kproxy_catalog.source_namespace(t.typnamespace)
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_position($2, CASE WHEN n.oid = pg_catalog.pg_my_temp_schema()
                                              THEN 'pg_temp'::pg_catalog.name ELSE n.nspname END) AS place) AS own
  WHERE t.oid = $1
$kproxy$;

-- What format_type says of a user's type to a client with the given search path.
CREATE OR REPLACE FUNCTION kproxy_catalog.type_name(type oid, modifier integer, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN kproxy_catalog.type_is_visible(t.oid, $3) THEN '' ELSE pg_catalog.quote_ident(n.nspname) || '.' END
    || CASE WHEN pg_catalog.starts_with(f.name, pg_catalog.quote_ident(own.nspname) || '.')
            THEN pg_catalog.substr(f.name, pg_catalog.length(pg_catalog.quote_ident(own.nspname)) + 2) ELSE f.name END
  FROM pg_catalog.pg_type t
  JOIN pg_catalog.pg_namespace own ON own.oid = t.typnamespace
  JOIN pg_catalog.pg_namespace n ON n.oid = kproxy_catalog.source_namespace(t.typnamespace)
  CROSS JOIN LATERAL (SELECT pg_catalog.format_type(t.oid, $2)) AS f(name)
  WHERE t.oid = $1
$kproxy$;

-- The names of types in an array of the same bounds: oidvector counts from 0. NULL stands
-- for those that the session may not know of. Arrays of several dimensions are an error.
-- PostgreSQL's own need no look-up: there are thousands of arrays in pg_proc.
CREATE OR REPLACE FUNCTION kproxy_catalog.type_names(types oid[], path name[]) RETURNS text[]
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT (CASE WHEN pg_catalog.cardinality($1) OPERATOR(pg_catalog.>) 0 THEN pg_catalog.array_dims($1) || '=' ELSE '' END || ARRAY(
    SELECT CASE WHEN u.type OPERATOR(pg_catalog.<) 16384::pg_catalog.oid THEN u.type::pg_catalog.regtype::pg_catalog.text
                ELSE (SELECT kproxy_catalog.type_name(t.oid, NULL, $2) FROM kproxy_catalog.pg_type t WHERE t.oid = u.type) END
    FROM pg_catalog.unnest($1) WITH ORDINALITY AS u(type, place)
    ORDER BY u.place)::pg_catalog.text)::pg_catalog.text[]
$kproxy$;

-- A name as to_regtype and its like read names; NULL where a schema in it is none that the
-- session may use: they would refuse the schema, and so tell that there is one.
CREATE OR REPLACE FUNCTION kproxy_catalog.usable_name(name text) RETURNS text
LANGUAGE sql STABLE STRICT PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.strpos($1, '.') OPERATOR(pg_catalog.=) 0 THEN $1
    WHEN NOT EXISTS (
      SELECT FROM pg_catalog.regexp_matches($1, '("(?:[^"]|"")*"|[^".,()\[\]\s]+)(\s*\.)?', 'g') AS q(quoted)
      CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.starts_with(q.quoted[1], '"')
        THEN pg_catalog.replace(pg_catalog.substr(q.quoted[1], 2, pg_catalog.length(q.quoted[1]) - 2), '""', '"')
        ELSE pg_catalog.lower(q.quoted[1]) END) AS u(schema)
      WHERE q.quoted[2] IS NOT NULL AND u.schema !~ '^[0-9]*$' AND u.schema <> pg_catalog.current_database()::pg_catalog.text AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_namespace n
        WHERE n.nspname = u.schema::pg_catalog.name AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')))
    THEN $1 END
$kproxy$;

-- The type that a name made at run time means to a client with the given search path,
-- as regtype reads names. NULL where there is none; whoever asks looks it up in the
-- stand-in for pg_type next.
CREATE OR REPLACE FUNCTION kproxy_catalog.to_type(name text, path name[]) RETURNS oid
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.~) '^[0-9]+$' THEN $1::pg_catalog.oid
    -- A name with a schema is that of a published relation's row first.
    ELSE coalesce(CASE WHEN pg_catalog.strpos($1, '.') OPERATOR(pg_catalog.=) 0 THEN pg_catalog.to_regtype($1)::pg_catalog.oid END, (
      SELECT CASE WHEN $1 OPERATOR(pg_catalog.~) '\]\s*$' THEN nullif(t.typarray, 0) ELSE t.oid END
      FROM pg_catalog.parse_ident($1, false) AS n(parts)
      CROSS JOIN LATERAL pg_catalog.unnest(
        CASE pg_catalog.cardinality(n.parts)
          WHEN 1 THEN $2
          WHEN 2 THEN ARRAY[n.parts[1]::pg_catalog.name] END) WITH ORDINALITY AS p(schema, place)
      CROSS JOIN LATERAL kproxy_catalog.client_schema(p.schema) AS s
      JOIN pg_catalog.pg_type t ON t.typnamespace = s.namespace
        AND t.typname = n.parts[pg_catalog.cardinality(n.parts)]::pg_catalog.name
      ORDER BY p.place, s.rank
      LIMIT 1), pg_catalog.to_regtype(kproxy_catalog.usable_name($1))::pg_catalog.oid)
  END
$kproxy$;

DROP FUNCTION IF EXISTS kproxy_catalog.setting(text);

-- A setting that clients may see, whose name is not known before the query runs. The
-- search path is the client's own.
CREATE OR REPLACE FUNCTION kproxy_catalog.setting(name text, search_path text) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN pg_catalog.lower($1) = 'search_path' THEN $2 ELSE (
    SELECT pg_catalog.current_setting(s.name) FROM kproxy_catalog.pg_settings s WHERE s.name = pg_catalog.lower($1) OR s.name = $1) END
$kproxy$;

-- The relation that a name made at run time means to a client with the given search
-- path, as regclass reads names: an OID in digits, or identifiers with dots. NULL
-- where there is none. What is found may be hidden from the session; whoever asks
-- looks it up in the stand-in for pg_class next.
CREATE OR REPLACE FUNCTION kproxy_catalog.to_class(name text, path name[]) RETURNS oid
LANGUAGE sql STABLE STRICT PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE
    WHEN $1 OPERATOR(pg_catalog.~) '^[0-9]+$' THEN $1::pg_catalog.oid
    ELSE (
      SELECT c.oid
      FROM (SELECT CASE WHEN p.parts[1] = kproxy_catalog.database_name()::pg_catalog.text AND pg_catalog.cardinality(p.parts) = 3
                        THEN p.parts[2:] ELSE p.parts END AS parts
            FROM pg_catalog.parse_ident($1) AS p(parts)) AS n
      CROSS JOIN LATERAL pg_catalog.unnest(
        CASE pg_catalog.cardinality(n.parts)
          WHEN 1 THEN $2
          WHEN 2 THEN ARRAY[n.parts[1]::pg_catalog.name] END) WITH ORDINALITY AS p(schema, place)
      CROSS JOIN LATERAL kproxy_catalog.client_schema(p.schema) AS s
      JOIN pg_catalog.pg_class c ON c.relnamespace = s.namespace
        AND c.relname = n.parts[pg_catalog.cardinality(n.parts)]::pg_catalog.name
        -- A readable relation itself, not its stand-in.
        AND (s.rank OPERATOR(pg_catalog.=) 2 OR s.namespace OPERATOR(pg_catalog.=) pg_catalog.pg_my_temp_schema()
          OR NOT pg_catalog.has_table_privilege(c.oid, 'REFERENCES'))
      ORDER BY p.place, s.rank
      LIMIT 1)
  END
$kproxy$;

-- Whether the definition of an object names what the session must not know of: functions,
-- operators and the like that initdb did not make, relations that are not visible, and
-- types and collations that no visible column has, and columns that are not served. The
-- default operator class of a type needs no name, nor does the sequence of a column. What a
-- table's own columns depend on is told with them.
CREATE OR REPLACE FUNCTION kproxy_catalog.names_hidden(catalog oid, object oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE COST 300 AS $kproxy$
  SELECT kproxy_catalog.names_unserved($1, $2) OR EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = $1 AND d.objid = $2 AND d.objsubid = 0 AND d.refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
      AND CASE
        WHEN d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass THEN NOT kproxy_catalog.visible(d.refobjid) AND NOT EXISTS (
          SELECT FROM pg_catalog.pg_depend own
          WHERE own.classid = d.refclassid AND own.objid = d.refobjid AND own.deptype IN ('a', 'i')
            AND own.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND own.refobjsubid <> 0 AND kproxy_catalog.visible(own.refobjid))
        WHEN d.refclassid = 'pg_catalog.pg_type'::pg_catalog.regclass THEN d.refobjid NOT IN (SELECT kproxy_catalog.shown_types())
        WHEN d.refclassid = 'pg_catalog.pg_collation'::pg_catalog.regclass THEN NOT EXISTS (
          SELECT FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
          WHERE a.attcollation = d.refobjid AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND kproxy_catalog.visible(c.oid)
            AND kproxy_catalog.is_served(a.attrelid, a.attnum))
        WHEN d.refclassid = 'pg_catalog.pg_opclass'::pg_catalog.regclass THEN NOT EXISTS (
          SELECT FROM pg_catalog.pg_opclass o
          WHERE o.oid = d.refobjid AND o.opcdefault AND o.opcintype OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid
            AND o.opcintype IN (SELECT kproxy_catalog.shown_types()))
        -- What it belongs to, and what belongs to it.
        ELSE d.refclassid NOT IN ('pg_catalog.pg_namespace'::pg_catalog.regclass, 'pg_catalog.pg_extension'::pg_catalog.regclass,
          'pg_catalog.pg_constraint'::pg_catalog.regclass, 'pg_catalog.pg_trigger'::pg_catalog.regclass)
      END)
$kproxy$;

RESET check_function_bodies;
REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA kproxy_catalog FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kproxy_catalog TO "kproxy_reader";

-- The columns of readable relations that are served: those that their stand-ins show. What
-- was added since a relation was accepted is none of them. A stand-in is bound to the
-- columns of a table by number, and has the names that they had; of a view it holds the
-- definition. It is put in line wherever it is read, for one column or for all.
CREATE OR REPLACE FUNCTION kproxy_catalog.served_columns() RETURNS TABLE (relation oid, number smallint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1000 AS $kproxy$
  SELECT c.oid, a.attnum FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_namespace r ON r.nspname = (kproxy_catalog.release_prefix() || n.nspname::pg_catalog.text)::pg_catalog.name
  JOIN pg_catalog.pg_class s ON s.relnamespace = r.oid AND s.relname = c.relname
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  JOIN pg_catalog.pg_attribute shown ON shown.attrelid = s.oid AND shown.attname = a.attname AND NOT shown.attisdropped
  WHERE pg_catalog.has_table_privilege(c.oid, 'REFERENCES') AND pg_catalog.has_table_privilege(s.oid, 'REFERENCES')
    AND (c.relkind = 'v' OR EXISTS (
      SELECT FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid
      WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        AND d.refobjid = a.attrelid AND d.refobjsubid = a.attnum AND w.ev_class = s.oid))
$kproxy$;

-- The columns of readable relations that are not served, with all that names them. No
-- relation has a stand-in in kproxy's own schemas, and a session's temporary tables need none.
CREATE OR REPLACE FUNCTION kproxy_catalog.unserved_columns()
  RETURNS TABLE (namespace oid, relation oid, number smallint, table_schema text, table_name text, column_name text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
  SELECT n.oid, c.oid, a.attnum, n.nspname::pg_catalog.text, c.relname::pg_catalog.text, a.attname::pg_catalog.text
  FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
  WHERE c.oid >= 16384 AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND pg_catalog.has_table_privilege(c.oid, 'REFERENCES')
    AND n.nspname <> 'kproxy_catalog' AND n.nspname::pg_catalog.text !~ '^kproxy_(release|audience_[a-z][a-z0-9]*)_'
    AND NOT pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp_')
    AND (c.oid, a.attnum) NOT IN (SELECT s.relation, s.number FROM kproxy_catalog.served_columns() s)
$kproxy$;

-- Whether a column is served, which is asked of readable relations only: of all others the
-- session knows all columns or none. This function and the next ones are in PL/pgSQL, which
-- plans them once a session: they are called for every object, within other functions, and SQL
-- functions would be planned each time.
CREATE OR REPLACE FUNCTION kproxy_catalog.is_served(relation oid, number integer) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN CASE WHEN $2 OPERATOR(pg_catalog.<=) 0 OR $1 OPERATOR(pg_catalog.<) 16384::pg_catalog.oid
      OR NOT pg_catalog.has_table_privilege($1, 'REFERENCES') THEN true
    ELSE EXISTS (SELECT FROM kproxy_catalog.served_columns() s WHERE s.relation = $1 AND s.number = $2)
      OR EXISTS (
        SELECT FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        WHERE c.oid = $1 AND pg_catalog.starts_with(n.nspname::pg_catalog.text, 'pg_temp_')
          AND NOT pg_catalog.pg_is_other_temp_schema(n.oid)) END;
END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.has_unserved(relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN EXISTS (
    SELECT FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = $1 AND a.attnum > 0 AND NOT a.attisdropped AND NOT kproxy_catalog.is_served(a.attrelid, a.attnum));
END
$kproxy$;

-- Whether all columns that a stored expression refers to are served, if it is one about the
-- relation. A whole row (0) is all of them: what it is compared with may tell of any.
CREATE OR REPLACE FUNCTION kproxy_catalog.refers_to_served(expression text, relation oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN NOT EXISTS (
    SELECT FROM pg_catalog.regexp_matches($1, ':varattno (-?[0-9]+)', 'g') AS v(number)
    WHERE CASE v.number[1] WHEN '0' THEN kproxy_catalog.has_unserved($2)
                           ELSE NOT kproxy_catalog.is_served($2, v.number[1]::pg_catalog.int4) END);
END
$kproxy$;

-- The same for pg_get_expr, which gives a column's name for its number: of whatever relation
-- the client names. The planner puts it in line, since most expressions name no column.
CREATE OR REPLACE FUNCTION kproxy_catalog.may_show(expression text, relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN pg_catalog.strpos($1, ':varattno ') OPERATOR(pg_catalog.>) 0 THEN kproxy_catalog.refers_to_served($1, $2)
    ELSE true END
$kproxy$;

-- Whether an object refers to a column that is not served: by its dependencies, by those of
-- the constraint that an index or a trigger belongs to, or of the trigger that a constraint
-- stands for, and by whole rows, which statistics cannot have. The arguments of a trigger are
-- texts that may name columns. Its cost has the planner ask first whether an object's relation
-- is visible.
CREATE OR REPLACE FUNCTION kproxy_catalog.names_unserved(catalog oid, object oid) RETURNS boolean
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 200 AS $kproxy$
BEGIN
  RETURN EXISTS (
    SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = $1 AND d.objid = $2 AND d.refobjid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid AND d.objsubid = 0
      AND CASE
        WHEN d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
          THEN d.refobjsubid > 0 AND NOT kproxy_catalog.is_served(d.refobjid, d.refobjsubid)
        WHEN d.refclassid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
          THEN $1 <> d.refclassid AND kproxy_catalog.names_unserved(d.refclassid, d.refobjid)
        WHEN d.refclassid = 'pg_catalog.pg_trigger'::pg_catalog.regclass
          THEN $1 = 'pg_catalog.pg_constraint'::pg_catalog.regclass AND kproxy_catalog.names_unserved(d.refclassid, d.refobjid)
        ELSE false
      END)
  OR CASE $1
    WHEN 'pg_catalog.pg_class'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_index i WHERE i.indexrelid = $2
        AND NOT kproxy_catalog.may_show(pg_catalog.concat(i.indexprs, i.indpred), i.indrelid))
    WHEN 'pg_catalog.pg_constraint'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_constraint k WHERE k.oid = $2 AND NOT kproxy_catalog.may_show(k.conbin::pg_catalog.text, k.conrelid))
    WHEN 'pg_catalog.pg_trigger'::pg_catalog.regclass THEN EXISTS (
      SELECT FROM pg_catalog.pg_trigger t WHERE t.oid = $2
        AND (t.tgnargs > 0 AND kproxy_catalog.has_unserved(t.tgrelid) OR NOT kproxy_catalog.may_show(t.tgqual::pg_catalog.text, t.tgrelid)))
    ELSE false
  END;
END
$kproxy$;

-- Whether a partition's bound may be known: whether its parents, and what they are parted by, may.
CREATE OR REPLACE FUNCTION kproxy_catalog.shows_bound(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT NOT EXISTS (
    SELECT FROM pg_catalog.pg_partition_ancestors($1::pg_catalog.regclass) AS p(oid)
    WHERE p.oid::pg_catalog.oid <> $1 AND (NOT kproxy_catalog.visible(p.oid::pg_catalog.oid)
      OR kproxy_catalog.names_unserved('pg_catalog.pg_class'::pg_catalog.regclass, p.oid::pg_catalog.oid)))
$kproxy$;

-- SQL helpers for analysts, in a schema of their own. All run with the rights of the
-- session, and name relations, types and functions in full: each session reads the bodies
-- anew. Those over ranges have bodies that the planner puts in line.
--
-- Most values of a class lie only within its range. certain() holds where all values that
-- the range has lie in the interval, possible() where some do or nothing is known, and
-- overlap() is the share of the range's values that do, if all are alike likely.

CREATE OR REPLACE FUNCTION kproxy.certain("range" int4range, wanted int4range) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" int4range, wanted int4range) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" int4range, wanted int4range) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.lower($1) IS NOT NULL AND pg_catalog.upper($1) IS NOT NULL THEN
      (pg_catalog.upper($1 * $2)::pg_catalog.float8 - pg_catalog.lower($1 * $2)) / (pg_catalog.upper($1)::pg_catalog.float8 - pg_catalog.lower($1))
    ELSE (((pg_catalog.lower($1) IS NOT NULL) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.upper($1) IS NOT NULL) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.lower($1) IS NOT NULL) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.upper($1) IS NOT NULL) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" int4range, low integer, high integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.int4range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(int4range, int4range) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(int4range, integer, integer) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" int4range, low integer, high integer) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.int4range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(int4range, int4range) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(int4range, integer, integer) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" int4range, low integer, high integer) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.int4range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(int4range, int4range) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(int4range, integer, integer) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.certain("range" int8range, wanted int8range) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" int8range, wanted int8range) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" int8range, wanted int8range) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.lower($1) IS NOT NULL AND pg_catalog.upper($1) IS NOT NULL THEN
      (pg_catalog.upper($1 * $2)::pg_catalog.numeric - pg_catalog.lower($1 * $2))::pg_catalog.float8 / (pg_catalog.upper($1)::pg_catalog.numeric - pg_catalog.lower($1))::pg_catalog.float8
    ELSE (((pg_catalog.lower($1) IS NOT NULL) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.upper($1) IS NOT NULL) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.lower($1) IS NOT NULL) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.upper($1) IS NOT NULL) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" int8range, low bigint, high bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.int8range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(int8range, int8range) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(int8range, bigint, bigint) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" int8range, low bigint, high bigint) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.int8range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(int8range, int8range) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(int8range, bigint, bigint) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" int8range, low bigint, high bigint) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.int8range($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(int8range, int8range) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(int8range, bigint, bigint) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.certain("range" numrange, wanted numrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" numrange, wanted numrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" numrange, wanted numrange) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.lower($1) * 0 = 0 AND pg_catalog.upper($1) * 0 = 0 THEN
      pg_catalog.round((pg_catalog.upper($1 * $2) - pg_catalog.lower($1 * $2)) / (pg_catalog.upper($1) - pg_catalog.lower($1)), 40)::pg_catalog.float8
    ELSE (((pg_catalog.lower($1) * 0 = 0) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.upper($1) * 0 = 0) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.lower($1) * 0 = 0) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.upper($1) * 0 = 0) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" numrange, low numeric, high numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.numrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(numrange, numrange) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(numrange, numeric, numeric) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" numrange, low numeric, high numeric) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.numrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(numrange, numrange) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(numrange, numeric, numeric) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" numrange, low numeric, high numeric) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.numrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(numrange, numrange) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(numrange, numeric, numeric) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.certain("range" daterange, wanted daterange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" daterange, wanted daterange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" daterange, wanted daterange) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.isfinite(pg_catalog.lower($1)) AND pg_catalog.isfinite(pg_catalog.upper($1)) THEN
      (pg_catalog.upper($1 * $2) - pg_catalog.lower($1 * $2))::pg_catalog.float8 / (pg_catalog.upper($1) - pg_catalog.lower($1))::pg_catalog.float8
    ELSE (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" daterange, low date, high date) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.daterange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(daterange, daterange) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(daterange, date, date) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" daterange, low date, high date) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.daterange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(daterange, daterange) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(daterange, date, date) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" daterange, low date, high date) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.daterange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(daterange, daterange) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(daterange, date, date) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.certain("range" tsrange, wanted tsrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" tsrange, wanted tsrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" tsrange, wanted tsrange) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.isfinite(pg_catalog.lower($1)) AND pg_catalog.isfinite(pg_catalog.upper($1)) THEN
      (pg_catalog.date_part('epoch', pg_catalog.upper($1 * $2)) - pg_catalog.date_part('epoch', pg_catalog.lower($1 * $2))) / nullif((pg_catalog.date_part('epoch', pg_catalog.upper($1)) - pg_catalog.date_part('epoch', pg_catalog.lower($1))), 0)
    ELSE (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" tsrange, low timestamp, high timestamp) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.tsrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(tsrange, tsrange) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(tsrange, timestamp, timestamp) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" tsrange, low timestamp, high timestamp) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.tsrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(tsrange, tsrange) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(tsrange, timestamp, timestamp) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" tsrange, low timestamp, high timestamp) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.tsrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(tsrange, tsrange) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(tsrange, timestamp, timestamp) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.certain("range" tstzrange, wanted tstzrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 <@ $2 AND NOT pg_catalog.isempty($1) AND $1 IS NOT NULL
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible("range" tstzrange, wanted tstzrange) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 && $2 OR $1 IS NULL
$kproxy$;

-- Of a range without an end, what matters is whether the interval has that end, too: so it
-- is for longer and longer ranges.
CREATE OR REPLACE FUNCTION kproxy.overlap("range" tstzrange, wanted tstzrange) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN pg_catalog.isempty($1) THEN 0
    WHEN $1 <@ $2 THEN 1
    WHEN NOT $1 && $2 THEN 0
    WHEN pg_catalog.isfinite(pg_catalog.lower($1)) AND pg_catalog.isfinite(pg_catalog.upper($1)) THEN
      (pg_catalog.date_part('epoch', (pg_catalog.upper($1 * $2) AT TIME ZONE 'UTC')) - pg_catalog.date_part('epoch', (pg_catalog.lower($1 * $2) AT TIME ZONE 'UTC'))) / nullif((pg_catalog.date_part('epoch', (pg_catalog.upper($1) AT TIME ZONE 'UTC')) - pg_catalog.date_part('epoch', (pg_catalog.lower($1) AT TIME ZONE 'UTC'))), 0)
    ELSE (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE AND $1 &> $2)::pg_catalog.int4
        + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE AND $1 &< $2)::pg_catalog.int4)::pg_catalog.float8
       / (((pg_catalog.isfinite(pg_catalog.lower($1))) IS NOT TRUE)::pg_catalog.int4 + ((pg_catalog.isfinite(pg_catalog.upper($1))) IS NOT TRUE)::pg_catalog.int4)
  END::pg_catalog.float8
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.certain("range" tstzrange, low timestamptz, high timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.certain($1, pg_catalog.tstzrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(tstzrange, tstzrange) IS 'Whether what the range stands for certainly lies in the interval.';
COMMENT ON FUNCTION kproxy.certain(tstzrange, timestamptz, timestamptz) IS 'Whether what the range stands for certainly lies in the interval from low up to, but not including, high.';

CREATE OR REPLACE FUNCTION kproxy.possible("range" tstzrange, low timestamptz, high timestamptz) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.possible($1, pg_catalog.tstzrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.possible(tstzrange, tstzrange) IS 'Whether what the range stands for lies in the interval, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(tstzrange, timestamptz, timestamptz) IS 'Whether what the range stands for lies in the interval from low up to, but not including, high, as far as is known.';

CREATE OR REPLACE FUNCTION kproxy.overlap("range" tstzrange, low timestamptz, high timestamptz) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT kproxy.overlap($1, pg_catalog.tstzrange($2, $3))
$kproxy$;

COMMENT ON FUNCTION kproxy.overlap(tstzrange, tstzrange) IS 'The share of what the range stands for that lies in the interval, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(tstzrange, timestamptz, timestamptz) IS 'The share of what the range stands for that lies in the interval from low up to, but not including, high, from 0 to 1, all its values being alike likely.';


-- What the published tables are, which the owner writes: it is in the policy, and where a
-- table shows changes in batches, no time is finer than a day.
CREATE TABLE IF NOT EXISTS kproxy_catalog.described (
  table_schema text,
  table_name   text,
  k            integer NOT NULL,
  constraints  text NOT NULL,
  updates      text NOT NULL,
  published_at timestamptz NOT NULL,
  newest       date,             -- of the newest batch; NULL where every commit is shown
  PRIMARY KEY (table_schema, table_name)
);

-- By how many rows the sum of a table's weights can be off; NULL where nothing bounds it.
ALTER TABLE kproxy_catalog.described ADD COLUMN IF NOT EXISTS off_by bigint;

CREATE TABLE IF NOT EXISTS kproxy_catalog.described_column (
  table_schema text,
  table_name   text,
  position     integer,
  column_name  text NOT NULL,
  type         text NOT NULL,
  role         text,             -- NULL for kproxy's own columns
  form         text NOT NULL,
  hierarchy    text,             -- NULL where values are as in the source
  k            integer,
  constraints  text,
  PRIMARY KEY (table_schema, table_name, position)
);

-- What audiences see of a table has descriptions of its own.
ALTER TABLE kproxy_catalog.described ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';
ALTER TABLE kproxy_catalog.described_column ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';

-- The keys of tables that are released together. The release has an index on each.
CREATE TABLE IF NOT EXISTS kproxy_catalog.described_key (
  table_schema    text,
  table_name      text,
  constraint_name text,
  columns         text[] NOT NULL,
  foreign_schema  text,            -- NULL for a primary key
  foreign_table   text,
  release_index   text NOT NULL,
  PRIMARY KEY (table_schema, table_name, constraint_name)
);

-- What has been written of which generation, for the owner alone.
CREATE TABLE IF NOT EXISTS kproxy_store.description (
  table_schema text,
  table_name   text,
  generation   bigint NOT NULL,
  next_class   bigint NOT NULL,
  PRIMARY KEY (table_schema, table_name)
);
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.description FROM PUBLIC, "kproxy_reader";

-- The schema and the name of a published table as a client writes them, or as the client's own release
-- has them, which is what a regclass is as text. Without a schema,
-- it is the first one by name that has such a table.
CREATE OR REPLACE FUNCTION kproxy_catalog.described_table(name text) RETURNS TABLE (table_schema text, table_name text)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT d.table_schema, d.table_name
  FROM pg_catalog.parse_ident($1) AS n(parts)
  JOIN kproxy_catalog.described d ON d.table_name = n.parts[pg_catalog.cardinality(n.parts)]
  WHERE pg_catalog.cardinality(n.parts) = 1 OR pg_catalog.cardinality(n.parts) = 2 AND n.parts[1] IN (d.table_schema, kproxy_catalog.release_prefix() || d.table_schema)
  ORDER BY d.table_schema LIMIT 1
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.tables()
  RETURNS TABLE ("schema" text, "table" text, "columns" integer, k integer, "constraints" text, updates text, published_at timestamptz, freshness text)
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.table_schema, d.table_name,
    (SELECT pg_catalog.count(*)::pg_catalog.int4 FROM kproxy_catalog.described_column c
     WHERE c.table_schema = d.table_schema AND c.table_name = d.table_name),
    d.k, d.constraints, d.updates, d.published_at,
    coalesce('batches, the newest of ' || pg_catalog.to_char(d.newest, 'YYYY-MM-DD'), 'every commit, within moments: comparing versions tells what came, left or changed')
  FROM kproxy_catalog.described d
  ORDER BY d.table_schema, d.table_name
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.describe("table" text)
  RETURNS TABLE ("column" text, "type" text, role text, form text, hierarchy text, k integer, "constraints" text,
    updates text, published_at timestamptz, freshness text)
LANGUAGE plpgsql STABLE PARALLEL SAFE AS $kproxy$
BEGIN
  RETURN QUERY SELECT c.column_name, c.type, c.role, c.form, c.hierarchy, c.k, c.constraints, t.updates, t.published_at, t.freshness
    FROM kproxy_catalog.described_table($1) d
    JOIN kproxy.tables() t ON t."schema" = d.table_schema AND t."table" = d.table_name
    JOIN kproxy_catalog.described_column c ON c.table_schema = d.table_schema AND c.table_name = d.table_name
    ORDER BY c.position;
  IF NOT FOUND THEN
    RAISE NOTICE 'no table "%" is published', $1 USING HINT = 'kproxy.tables() lists those that are.';
  END IF;
END
$kproxy$;

-- The same for 'patients'::regclass, which is the number of the published relation.
CREATE OR REPLACE FUNCTION kproxy.describe("table" oid)
  RETURNS TABLE ("column" text, "type" text, role text, form text, hierarchy text, k integer, "constraints" text,
    updates text, published_at timestamptz, freshness text)
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT d.* FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND pg_catalog.starts_with(n.nspname::pg_catalog.text, kproxy_catalog.release_prefix())
  CROSS JOIN LATERAL kproxy.describe(pg_catalog.quote_ident(pg_catalog.substr(n.nspname::pg_catalog.text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1))
    || '.' || pg_catalog.quote_ident(c.relname)) d
  WHERE c.oid = $1
$kproxy$;

-- Weights are of type real, whose sum is off by one in a hundred thousand at most.
CREATE OR REPLACE FUNCTION kproxy.counts("table" text) RETURNS TABLE ("rows" bigint, counted bigint, off_by bigint)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
DECLARE
  asked record;
  weight text := '1';
BEGIN
  SELECT d.* INTO asked FROM kproxy_catalog.described_table($1) n
    JOIN kproxy_catalog.described d ON d.table_schema = n.table_schema AND d.table_name = n.table_name;
  IF NOT FOUND THEN
    RAISE NOTICE 'no table "%" is published', $1 USING HINT = 'kproxy.tables() lists those that are.';
    RETURN;
  END IF;
  IF asked.updates = 'guarded' THEN
    weight := 'kproxy_weight';
  END IF;
  RETURN QUERY EXECUTE pg_catalog.format('SELECT n, counted, $1 + CASE WHEN counted < n THEN n / 100000 ELSE 0 END'
    ' FROM (SELECT pg_catalog.count(*) AS n, coalesce(pg_catalog.round(pg_catalog.sum(%s::pg_catalog.float8))::pg_catalog.int8, 0) AS counted FROM %I.%I) s',
    weight, kproxy_catalog.release_prefix() || asked.table_schema, asked.table_name) USING asked.off_by;
END
$kproxy$;

-- The same for 'patients'::regclass.
CREATE OR REPLACE FUNCTION kproxy.counts("table" oid) RETURNS TABLE ("rows" bigint, counted bigint, off_by bigint)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 1 AS $kproxy$
  SELECT d.* FROM pg_catalog.pg_class c
  JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace AND pg_catalog.starts_with(n.nspname::pg_catalog.text, kproxy_catalog.release_prefix())
  CROSS JOIN LATERAL kproxy.counts(pg_catalog.quote_ident(pg_catalog.substr(n.nspname::pg_catalog.text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1))
    || '.' || pg_catalog.quote_ident(c.relname)) d
  WHERE c.oid = $1
$kproxy$;

COMMENT ON FUNCTION kproxy.counts(oid) IS 'How many rows of a published table stand for somebody, given as regclass.';
COMMENT ON FUNCTION kproxy.counts(text) IS 'How many rows a published table has, how many of them stand for somebody, and by how many that number is off at most.';
COMMENT ON FUNCTION kproxy.describe(oid) IS 'The columns of a published table, given as regclass.';
COMMENT ON FUNCTION kproxy.tables() IS 'The published tables, each with its k, its constraints, and how fresh it is.';
COMMENT ON FUNCTION kproxy.describe(text) IS 'The columns of a published table: what each shows, how it is generalized, and under which constraints.';

-- The keys of published tables that are released together, as the stand-ins show them. The
-- release has an index on each, which stands for the key: its number is no other
-- relation's. A key without one is not shown.
CREATE OR REPLACE FUNCTION kproxy_catalog.described_keys()
  RETURNS TABLE (name name, table_schema text, table_name text, column_names text[], foreign_schema text, foreign_table text,
    relation oid, namespace oid, numbers smallint[], index oid)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
  SELECT k.constraint_name::pg_catalog.name, k.table_schema, k.table_name, k.columns, k.foreign_schema, k.foreign_table, v.oid, n.oid,
    ARRAY(SELECT a.attnum FROM pg_catalog.unnest(k.columns) WITH ORDINALITY AS c(name, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = v.oid AND a.attname = c.name::pg_catalog.name ORDER BY c.place), i.oid
  FROM kproxy_catalog.described_key k
  JOIN pg_catalog.pg_namespace n ON n.nspname = k.table_schema::pg_catalog.name
  JOIN pg_catalog.pg_namespace r ON r.nspname = (kproxy_catalog.release_prefix() || k.table_schema)::pg_catalog.name
  JOIN pg_catalog.pg_class v ON v.relnamespace = r.oid AND v.relname = k.table_name::pg_catalog.name
  JOIN pg_catalog.pg_namespace s ON s.nspname = 'kproxy_store'
  JOIN pg_catalog.pg_class i ON i.relnamespace = s.oid AND i.relname = k.release_index::pg_catalog.name AND i.relkind = 'i'
  WHERE pg_catalog.has_table_privilege(v.oid, 'SELECT')
$kproxy$;

-- The same, each foreign key with the primary key that it leads to, and the source's foreign
-- keys from columns that are published as they are to readable relations. It is in PL/pgSQL, which
-- plans it once a session: put in line, it took each look into a catalog thirty times as long.
CREATE OR REPLACE FUNCTION kproxy_catalog.shown_keys()
  RETURNS TABLE (oid oid, name name, is_primary boolean, table_schema text, table_name text, column_names text[],
    relation oid, namespace oid, numbers smallint[], foreign_name name, foreign_schema text, foreign_table text, foreign_column_names text[],
    foreign_relation oid, foreign_numbers smallint[], foreign_index oid)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 10 AS $kproxy$
#variable_conflict use_column
BEGIN
  RETURN QUERY
  SELECT k.index, k.name, k.foreign_table IS NULL, k.table_schema, k.table_name, k.column_names, k.relation, k.namespace, k.numbers,
    f.name, f.table_schema, f.table_name, f.column_names, f.relation, f.numbers, f.index
  FROM kproxy_catalog.described_keys() k
  LEFT JOIN kproxy_catalog.described_keys() f
    ON f.foreign_table IS NULL AND f.table_schema = k.foreign_schema AND f.table_name = k.foreign_table
  WHERE k.foreign_table IS NULL OR f.index IS NOT NULL
  UNION ALL
  SELECT c.oid, c.conname, false, d.table_schema, d.table_name, own.names, v.oid, n.oid, own.numbers,
    (SELECT u.conname FROM pg_catalog.pg_constraint u WHERE u.conindid = c.conindid AND u.conrelid = c.confrelid AND u.contype IN ('p', 'u')),
    fn.nspname::pg_catalog.text, f.relname::pg_catalog.text,
    ARRAY(SELECT a.attname::pg_catalog.text FROM pg_catalog.unnest(c.confkey) WITH ORDINALITY AS key(number, place)
      JOIN pg_catalog.pg_attribute a ON a.attrelid = f.oid AND a.attnum = key.number ORDER BY key.place),
    f.oid, c.confkey, c.conindid
  FROM kproxy_catalog.described d
  JOIN pg_catalog.pg_namespace n ON n.nspname = d.table_schema::pg_catalog.name
  JOIN pg_catalog.pg_class t ON t.relnamespace = n.oid AND t.relname = d.table_name::pg_catalog.name
  JOIN pg_catalog.pg_namespace r ON r.nspname = (kproxy_catalog.release_prefix() || d.table_schema)::pg_catalog.name
  JOIN pg_catalog.pg_class v ON v.relnamespace = r.oid AND v.relname = t.relname
  JOIN pg_catalog.pg_constraint c ON c.conrelid = t.oid AND c.contype = 'f' AND c.conparentid = 0
  JOIN pg_catalog.pg_class f ON f.oid = c.confrelid
  JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace
  CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(shown.attnum ORDER BY key.place) AS numbers, pg_catalog.array_agg(a.attname::pg_catalog.text ORDER BY key.place) AS names
    FROM pg_catalog.unnest(c.conkey) WITH ORDINALITY AS key(number, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = key.number
    JOIN pg_catalog.pg_attribute shown ON shown.attrelid = v.oid AND shown.attname = a.attname AND shown.atttypid = a.atttypid
    JOIN kproxy_catalog.described_column m ON m.table_schema = d.table_schema AND m.table_name = d.table_name
      AND m.column_name = a.attname::pg_catalog.text AND m.role IS NOT NULL AND m.hierarchy IS NULL) AS own
  WHERE pg_catalog.cardinality(own.numbers) = pg_catalog.cardinality(c.conkey)
    AND pg_catalog.has_table_privilege(v.oid, 'SELECT') AND f.relkind IN ('r', 'p') AND pg_catalog.has_table_privilege(f.oid, 'REFERENCES')
    AND NOT EXISTS (SELECT FROM pg_catalog.unnest(c.confkey) AS key(number) WHERE NOT kproxy_catalog.is_served(f.oid, key.number));
END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy_catalog.column_list(names text[]) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT pg_catalog.string_agg(pg_catalog.quote_ident(c.name), ', ' ORDER BY c.place) FROM pg_catalog.unnest($1) WITH ORDINALITY AS c(name, place)
$kproxy$;

-- What pg_get_constraintdef says of such a key to a client with the given search path; NULL
-- for all other constraints.
CREATE OR REPLACE FUNCTION kproxy_catalog.key_definition(key oid, path name[]) RETURNS text
LANGUAGE sql STABLE PARALLEL RESTRICTED AS $kproxy$
  SELECT CASE WHEN k.is_primary THEN 'PRIMARY KEY (' || kproxy_catalog.column_list(k.column_names) || ')'
    ELSE 'FOREIGN KEY (' || kproxy_catalog.column_list(k.column_names) || ') REFERENCES '
      || kproxy_catalog.class_name(k.foreign_relation, $2) || '(' || kproxy_catalog.column_list(k.foreign_column_names) || ')' END
  FROM kproxy_catalog.shown_keys() k WHERE k.oid = $1
$kproxy$;

-- The same for pg_get_indexdef: of the whole index, not of a column, which has its own name.
CREATE OR REPLACE FUNCTION kproxy_catalog.key_index_definition(index oid, number integer) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $kproxy$
  SELECT 'CREATE UNIQUE INDEX ' || pg_catalog.quote_ident(k.name) || ' ON ' || pg_catalog.quote_ident(k.table_schema) || '.'
    || pg_catalog.quote_ident(k.table_name) || ' USING btree (' || kproxy_catalog.column_list(k.column_names) || ')'
  FROM kproxy_catalog.shown_keys() k WHERE k.oid = $1 AND k.is_primary AND coalesce($2, 0) = 0
$kproxy$;

-- The same over labels. What a label ends in asterisks for is a beginning: 101** stands for
-- all codes of five characters that begin with 101, 101* for all codes that do, and * for
-- anything. One asterisk in a release can also stand for one character, and counts as any
-- number, which is never too narrow.
CREATE OR REPLACE FUNCTION kproxy.certain(label text, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NOT NULL AND ($1 = $2
    OR pg_catalog.right($2, 1) = '*'
      AND pg_catalog.starts_with(pg_catalog.rtrim($1, '*'), pg_catalog.rtrim($2, '*'))
      AND (pg_catalog.right($2, 2) <> '**'
        OR pg_catalog.length($1) = pg_catalog.length($2)
          AND (pg_catalog.right($1, 1) <> '*' OR pg_catalog.right($1, 2) = '**')))
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible(label text, wanted text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NULL
    OR (pg_catalog.starts_with(pg_catalog.rtrim($1, '*'), pg_catalog.rtrim($2, '*'))
        OR pg_catalog.starts_with(pg_catalog.rtrim($2, '*'), pg_catalog.rtrim($1, '*')))
      AND CASE
        WHEN pg_catalog.right($1, 1) = '*' AND pg_catalog.right($1, 2) <> '**' THEN
          pg_catalog.right($2, 1) = '*' AND pg_catalog.right($2, 2) <> '**'
          OR pg_catalog.length($2) >= pg_catalog.length(pg_catalog.rtrim($1, '*'))
        WHEN pg_catalog.right($2, 1) = '*' AND pg_catalog.right($2, 2) <> '**' THEN
          pg_catalog.length($1) >= pg_catalog.length(pg_catalog.rtrim($2, '*'))
        ELSE pg_catalog.length($1) = pg_catalog.length($2)
      END
$kproxy$;

-- Every character that is not published is one of ten digits. What * alone stands for is
-- not known here.
CREATE OR REPLACE FUNCTION kproxy.overlap(label text, wanted text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN kproxy.certain($1, $2) THEN 1
    WHEN NOT kproxy.possible($1, $2) THEN 0
    WHEN $1 <> '*' THEN pg_catalog.power(10::pg_catalog.float8, -least(300, greatest(0,
      pg_catalog.length(pg_catalog.rtrim($2, '*')) - pg_catalog.length(pg_catalog.rtrim($1, '*')))))
  END::pg_catalog.float8
$kproxy$;

-- The taxonomies and orders of what is published, which the owner writes: the labels of
-- each column with how many values are below, and the part of the taxonomy that begins
-- with the label, in preorder. The root, *, has all of it.
CREATE TABLE IF NOT EXISTS kproxy_catalog.label (
  table_schema text,
  table_name   text,
  column_name  text,
  label        text,
  parent       text,              -- NULL for the root
  leaves       integer NOT NULL,  -- of one value, 1
  span         int4range NOT NULL,
  ordered      boolean NOT NULL,  -- whether they are an order, of which low..high is a label, too
  PRIMARY KEY (table_name, column_name, label, table_schema)
);
-- Labels that an audience sees only by those above: what they mean is known, and they are not listed.
ALTER TABLE kproxy_catalog.label ADD COLUMN IF NOT EXISTS hidden boolean NOT NULL DEFAULT false;

-- The ranks that a label of an order, a value or low..high, stands for.
CREATE OR REPLACE FUNCTION kproxy_catalog.rank_span(label text, rank jsonb) RETURNS int4range
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE WHEN ($2 ->> pg_catalog.split_part($1, '..', 1))::pg_catalog.int4
                <= ($2 ->> coalesce(nullif(pg_catalog.split_part($1, '..', 2), ''), $1))::pg_catalog.int4
    THEN pg_catalog.int4range(($2 ->> pg_catalog.split_part($1, '..', 1))::pg_catalog.int4,
                              ($2 ->> coalesce(nullif(pg_catalog.split_part($1, '..', 2), ''), $1))::pg_catalog.int4, '[]')
  END
$kproxy$;

-- What a label wanted means for the labels of a column: which of them lie in it, and which
-- share of the values of each one that is related to it is meant, NULL where that is not
-- known. For an order, the rank of each value, and those from which and up to which. NULL
-- where the column has neither taxonomy nor order.
--
-- It is called immutable so that the planner looks a constant up once and not for each row.
-- What it answers changes when the owner writes other labels, who alters the functions that
-- call it in the same transaction: that ends all plans that were made with them.
CREATE OR REPLACE FUNCTION kproxy_catalog.meaning("table" text, "column" text, wanted text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  WITH known AS (
    SELECT l.* FROM kproxy_catalog.described_table($1) t
    JOIN kproxy_catalog.label l ON l.table_schema = t.table_schema AND l.table_name = t.table_name AND l.column_name = $2
  ), ranks AS (
    SELECT pg_catalog.jsonb_object_agg(k.label, pg_catalog.lower(k.span)) AS rank FROM known k WHERE k.parent IS NOT NULL
  )
  SELECT CASE WHEN root.ordered AND r.span IS NOT NULL THEN pg_catalog.jsonb_build_object(
      'rank', ranks.rank, 'from', pg_catalog.lower(r.span), 'to', pg_catalog.upper(r.span))
    ELSE pg_catalog.jsonb_build_object(
      'in', (SELECT coalesce(pg_catalog.jsonb_agg(k.label), '[]') FROM known k WHERE k.span <@ w.span),
      'of', (SELECT coalesce(pg_catalog.jsonb_object_agg(k.label,
               CASE WHEN k.span <@ w.span THEN 1 ELSE w.leaves::pg_catalog.float8 / k.leaves END), '{}')
             FROM known k WHERE k.span && w.span OR w.span IS NULL AND k.parent IS NULL))
    END
  FROM known root CROSS JOIN ranks
  CROSS JOIN LATERAL kproxy_catalog.rank_span($3, ranks.rank) AS r(span)
  LEFT JOIN known w ON w.label = $3
  WHERE root.parent IS NULL
$kproxy$;

-- A value that a taxonomy does not have is one of its own below the root.
CREATE OR REPLACE FUNCTION kproxy.certain(label text, wanted text, "table" text, "column" text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NOT NULL AND ($1 = $2 OR $2 = '*' OR CASE
    WHEN kproxy_catalog.meaning($3, $4, $2) ? 'rank' THEN kproxy.certain(kproxy_catalog.rank_span($1, kproxy_catalog.meaning($3, $4, $2) -> 'rank'),
      pg_catalog.int4range((kproxy_catalog.meaning($3, $4, $2) ->> 'from')::pg_catalog.int4, (kproxy_catalog.meaning($3, $4, $2) ->> 'to')::pg_catalog.int4))
    ELSE (kproxy_catalog.meaning($3, $4, $2) -> 'in') ? $1
  END)
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.possible(label text, wanted text, "table" text, "column" text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT $1 IS NULL OR $1 = $2 OR $2 = '*' OR CASE
    WHEN kproxy_catalog.meaning($3, $4, $2) ? 'rank' THEN kproxy.possible(kproxy_catalog.rank_span($1, kproxy_catalog.meaning($3, $4, $2) -> 'rank'),
      pg_catalog.int4range((kproxy_catalog.meaning($3, $4, $2) ->> 'from')::pg_catalog.int4, (kproxy_catalog.meaning($3, $4, $2) ->> 'to')::pg_catalog.int4))
    ELSE (kproxy_catalog.meaning($3, $4, $2) -> 'of') ? $1
  END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.overlap(label text, wanted text, "table" text, "column" text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $kproxy$
  SELECT CASE
    WHEN $1 IS NULL THEN NULL
    WHEN $1 = $2 OR $2 = '*' THEN 1
    WHEN kproxy_catalog.meaning($3, $4, $2) ? 'rank' THEN kproxy.overlap(kproxy_catalog.rank_span($1, kproxy_catalog.meaning($3, $4, $2) -> 'rank'),
      pg_catalog.int4range((kproxy_catalog.meaning($3, $4, $2) ->> 'from')::pg_catalog.int4, (kproxy_catalog.meaning($3, $4, $2) ->> 'to')::pg_catalog.int4))
    WHEN (kproxy_catalog.meaning($3, $4, $2) -> 'of') ? $1 THEN (kproxy_catalog.meaning($3, $4, $2) -> 'of' ->> $1)::pg_catalog.float8
    WHEN kproxy_catalog.meaning($3, $4, $2) IS NOT NULL THEN 0
  END::pg_catalog.float8
$kproxy$;

COMMENT ON FUNCTION kproxy.certain(text, text) IS 'Whether what the label stands for certainly lies in wanted: a value, or a beginning such as 101*.';
COMMENT ON FUNCTION kproxy.certain(text, text, text, text) IS 'Whether what the label stands for certainly lies in the value or label wanted, by the taxonomy or order of the column.';

COMMENT ON FUNCTION kproxy.possible(text, text) IS 'Whether what the label stands for lies in wanted: a value, or a beginning such as 101*, as far as is known.';
COMMENT ON FUNCTION kproxy.possible(text, text, text, text) IS 'Whether what the label stands for lies in the value or label wanted, by the taxonomy or order of the column, as far as is known.';

COMMENT ON FUNCTION kproxy.overlap(text, text) IS 'The share of what the label stands for that lies in wanted: a value, or a beginning such as 101*, from 0 to 1, all its values being alike likely.';
COMMENT ON FUNCTION kproxy.overlap(text, text, text, text) IS 'The share of what the label stands for that lies in the value or label wanted, by the taxonomy or order of the column, from 0 to 1, all its values being alike likely.';

CREATE OR REPLACE FUNCTION kproxy.labels("table" text, "column" text)
  RETURNS TABLE (label text, parent text, leaves integer)
LANGUAGE plpgsql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
BEGIN
  RETURN QUERY SELECT l.label, l.parent, l.leaves FROM kproxy_catalog.described_table($1) t
    JOIN kproxy_catalog.label l ON l.table_schema = t.table_schema AND l.table_name = t.table_name AND l.column_name = $2
    WHERE NOT l.hidden
    ORDER BY pg_catalog.lower(l.span);
  IF NOT FOUND THEN
    RAISE NOTICE 'no column "%" with a taxonomy or an order is published in a table "%"', $2, $1
      USING HINT = 'kproxy.describe(table) tells how each column is generalized.';
  END IF;
END
$kproxy$;

CREATE OR REPLACE FUNCTION kproxy.labels("table" text, "column" text, wanted text)
  RETURNS TABLE (label text, certain boolean, possible boolean, overlap double precision)
LANGUAGE sql STABLE PARALLEL SAFE ROWS 100 AS $kproxy$
  SELECT l.label, kproxy.certain(l.label, $3, $1, $2), kproxy.possible(l.label, $3, $1, $2),
    kproxy.overlap(l.label, $3, $1, $2)
  FROM kproxy.labels($1, $2) l
$kproxy$;

COMMENT ON FUNCTION kproxy.labels(text, text) IS 'The labels of a column''s taxonomy or order, each with the one above it and how many values are below.';
COMMENT ON FUNCTION kproxy.labels(text, text, text) IS 'How each label of a column''s taxonomy or order relates to the one wanted: certain, possible, and the share of its values that are meant.';

-- Each audience reads what is described of its own releases. Keys are those of tables that are
-- released together, which no audience sees.
ALTER TABLE kproxy_catalog.label ADD COLUMN IF NOT EXISTS audience text NOT NULL DEFAULT '';
DO $kproxy$
DECLARE
  described record;
BEGIN
  FOR described IN
    SELECT d.name, d.columns, d.condition FROM (VALUES
      ('described', 'table_schema, table_name, audience', 'audience = kproxy_catalog.audience()'),
      ('described_column', 'table_schema, table_name, position, audience', 'audience = kproxy_catalog.audience()'),
      ('label', 'table_name, column_name, label, table_schema, audience', 'audience = kproxy_catalog.audience()'),
      ('described_key', NULL, 'kproxy_catalog.audience() = ''''')) AS d(name, columns, condition)
  LOOP
    IF described.columns IS NOT NULL AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
      WHERE c.conrelid = pg_catalog.format('kproxy_catalog.%I', described.name)::pg_catalog.regclass AND c.contype = 'p' AND a.attname = 'audience') THEN
      EXECUTE pg_catalog.format('ALTER TABLE kproxy_catalog.%1$I DROP CONSTRAINT %2$I, ADD PRIMARY KEY (%3$s)',
        described.name, described.name || '_pkey', described.columns);
    END IF;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_policy p
      WHERE p.polrelid = pg_catalog.format('kproxy_catalog.%I', described.name)::pg_catalog.regclass AND p.polname = 'own') THEN
      EXECUTE pg_catalog.format('CREATE POLICY own ON kproxy_catalog.%I FOR SELECT USING (%s)', described.name, described.condition);
    END IF;
    EXECUTE pg_catalog.format('ALTER TABLE kproxy_catalog.%I ENABLE ROW LEVEL SECURITY', described.name);
  END LOOP;
END
$kproxy$;

-- REFERENCES, which reaches nothing here, keeps these tables out of listings: see visible().
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.described, kproxy_catalog.described_column, kproxy_catalog.described_key, kproxy_catalog.label TO "kproxy_reader";
REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA kproxy_catalog, kproxy FROM PUBLIC;
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kproxy_catalog, kproxy TO "kproxy_reader";

-- By these rows the servers that readers are sent to show whose log they replay, and how far:
-- every kproxy process writes one again and again where such a server is not the one that it
-- publishes on. They say nothing but that a process runs. REFERENCES is as above.
CREATE TABLE IF NOT EXISTS kproxy_catalog.heartbeat (
  process    text PRIMARY KEY,
  number     bigint NOT NULL,
  written_at timestamptz NOT NULL
);
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.heartbeat TO "kproxy_reader";

-- Up to where the releases show the source, of which the process that applies tells the
-- others where upstream.reader.max_staleness is set.
CREATE TABLE IF NOT EXISTS kproxy_store.applied (
  slot  text PRIMARY KEY,
  epoch bigint NOT NULL,
  lsn   pg_lsn NOT NULL
);
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.applied FROM PUBLIC, "kproxy_reader";

-- By these the proxy knows whether what readers see of a table is what it was when it kept an
-- answer: whoever changes it draws a new one in the same transaction. They are random, and tell
-- nothing but that. Each is written again and again, in its place. REFERENCES is as above.
CREATE TABLE IF NOT EXISTS kproxy_catalog.mark (
  table_schema text,
  table_name   text,
  mark         uuid NOT NULL,
  PRIMARY KEY (table_schema, table_name)
) WITH (fillfactor = 10);
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.mark TO "kproxy_reader";

-- Without the stand-ins that are there: they depend on the system catalogs of the server's version.
DO $kproxy$
DECLARE
  old text;
BEGIN
  SELECT pg_catalog.string_agg(c.oid::pg_catalog.regclass::text, ', ') INTO old
    FROM pg_catalog.pg_class c
    WHERE c.relkind = 'v' AND c.relnamespace = 'kproxy_catalog'::pg_catalog.regnamespace
      AND c.relname !~ '^classes_'; -- those of releases, which kproxy makes with them
  IF old IS NOT NULL THEN
    EXECUTE 'DROP VIEW ' || old;
  END IF;
END
$kproxy$;

-- Stand-ins for the system catalogs: the columns that the running server's
-- version has, in their order, behind a filter that a client's own conditions
-- cannot look past (security_barrier). Some columns have another type: a pseudo-type,
-- which a view cannot have (pg_attribute.attmissingval, a value of the table), is text.
-- So is regtype, and regproc is oid: they would print the name of any object whose
-- number a client writes beside them. oid is what joins and comparisons need.
DO $kproxy$
DECLARE
  s record;
  columns text;
  own text;
  body text;
BEGIN
  FOR s IN
    SELECT pg_catalog.to_regclass(v.source) AS source, v.stand_in, v.from_clause, v.filter, v.replacements::pg_catalog.jsonb AS replacements,
      v.is_last, NOT v.has_rows AS is_made,
      v.source ~ '^"?information_schema"?\.' AND v.from_clause = '' AS translated
    FROM (VALUES
      ('"pg_catalog"."pg_namespace"', '"kproxy_catalog"."pg_namespace"', '',
       'c.oid = pg_catalog.pg_my_temp_schema() OR c.nspname::text !~ ''^(kproxy_store$|kproxy_catalog$|kproxy_(release|audience_[a-z][a-z0-9]*)_|pg_(toast_)?temp_)'' AND (c.oid < 16384 OR pg_catalog.has_schema_privilege(c.oid, ''USAGE'') OR EXISTS (SELECT FROM pg_catalog.pg_namespace r WHERE r.nspname = (kproxy_catalog.release_prefix() || c.nspname::text)::pg_catalog.name AND pg_catalog.has_schema_privilege(r.oid, ''USAGE'')))',
       '{"nspacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, CASE WHEN c.oid = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'') THEN 10::pg_catalog.oid ELSE c.nspowner END, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.nspacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","nspowner":"CASE WHEN c.oid = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'') THEN 10::pg_catalog.oid ELSE c.nspowner END"}', true, true),
      ('"pg_catalog"."pg_class"', '"kproxy_catalog"."pg_class"', '',
       'CASE WHEN c.relkind = ''c'' THEN (c.reltype < 16384 OR c.reltype IN (SELECT kproxy_catalog.shown_types())) ELSE CASE WHEN pg_catalog.has_table_privilege(c.oid, ''SELECT, REFERENCES'') THEN CASE WHEN pg_catalog.has_table_privilege(c.oid, ''SELECT'') THEN c.oid < 16384 OR NOT pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.oid) ELSE pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') END ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = c.oid AND CASE WHEN pg_catalog.has_table_privilege(own.indrelid, ''SELECT'') THEN own.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(own.indrelid) ELSE pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') END AND NOT CASE WHEN own.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, own.indexrelid) END) END AND (c.relkind <> ''S'' OR NOT kproxy_catalog.names_unserved(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, c.oid)) END',
       '{"relacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, CASE WHEN c.oid < 16384 THEN c.relowner ELSE coalesce((SELECT source.nspowner FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = c.relnamespace)) END, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.relacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","relallfrozen":"0","relallvisible":"0","relam":"CASE WHEN c.relam < 16384 THEN c.relam WHEN false THEN c.relam ELSE 0::pg_catalog.oid END","relchecks":"CASE WHEN c.relchecks > 0 AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN (SELECT pg_catalog.count(*) FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = ''c'' AND NOT CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END) ELSE c.relchecks END","relfilenode":"0::pg_catalog.oid","relfrozenxid":"''0''::pg_catalog.xid","relhasindex":"CASE WHEN c.relhasindex AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND NOT CASE WHEN x.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, x.indexrelid) END) ELSE c.relhasindex END","relhasrules":"CASE WHEN c.relhasrules AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND (r.ev_type = ''1'' OR NOT kproxy_catalog.names_unserved(''pg_catalog.pg_rewrite''::pg_catalog.regclass::pg_catalog.oid, r.oid))) ELSE c.relhasrules END","relhassubclass":"CASE WHEN c.relhassubclass AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid AND CASE WHEN pg_catalog.has_table_privilege(i.inhrelid, ''SELECT'') THEN i.inhrelid < 16384 OR NOT pg_catalog.has_table_privilege(i.inhrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(i.inhrelid) ELSE pg_catalog.has_table_privilege(i.inhrelid, ''REFERENCES'') END) ELSE c.relhassubclass END","relhastriggers":"CASE WHEN c.relhastriggers AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND t.tgfoid < 16384 AND (t.tgconstrrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(t.tgconstrrelid, ''SELECT'') THEN t.tgconstrrelid < 16384 OR NOT pg_catalog.has_table_privilege(t.tgconstrrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(t.tgconstrrelid) ELSE pg_catalog.has_table_privilege(t.tgconstrrelid, ''REFERENCES'') END) AND NOT CASE WHEN t.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_trigger''::pg_catalog.regclass::pg_catalog.oid, t.oid) END) OR EXISTS (SELECT FROM kproxy_catalog.shown_keys() AS k WHERE k.foreign_relation = c.oid) ELSE c.relhastriggers END","relminmxid":"''0''::pg_catalog.xid","relnamespace":"CASE WHEN c.relnamespace < 16384 THEN c.relnamespace ELSE coalesce((SELECT source.oid FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), c.relnamespace) END","relnatts":"CASE WHEN c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') AND c.relnamespace <> pg_catalog.pg_my_temp_schema() THEN coalesce((SELECT max(served.number) FROM kproxy_catalog.served_columns() served WHERE served.relation = c.oid), 0) ELSE c.relnatts END","reloftype":"CASE WHEN c.reloftype < 16384 THEN c.reloftype WHEN (c.reloftype < 16384 OR c.reloftype IN (SELECT kproxy_catalog.shown_types())) THEN c.reloftype ELSE 0::pg_catalog.oid END","reloptions":"CASE WHEN c.relkind = ''v'' AND (SELECT source.oid FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())) IS NOT NULL THEN NULL::text[] ELSE c.reloptions END","relowner":"CASE WHEN c.oid < 16384 THEN c.relowner ELSE coalesce((SELECT source.nspowner FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = c.relnamespace)) END","relpages":"0","relpartbound":"CASE WHEN c.relpartbound IS NOT NULL AND kproxy_catalog.shows_bound(c.oid) THEN c.relpartbound END","relreplident":"CASE WHEN c.relreplident = ''i'' AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') AND NOT EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND x.indisreplident AND NOT CASE WHEN x.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, x.indexrelid) END) THEN ''d''::\"char\" ELSE c.relreplident END","reltablespace":"0::pg_catalog.oid","reltoastrelid":"0::pg_catalog.oid","reltuples":"(-1)::real","reltype":"CASE WHEN c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN (SELECT s.reltype FROM pg_catalog.pg_class s WHERE s.oid = kproxy_catalog.stand_in_oid(c.oid)) ELSE c.reltype END"}', true, false),
      ('"pg_catalog"."pg_class"', '"kproxy_catalog"."pg_class"', 'pg_catalog.pg_class AS c JOIN kproxy_catalog.shown_keys() AS k ON k.oid = c.oid',
       'k.is_primary',
       '{"relacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, CASE WHEN c.oid < 16384 THEN c.relowner ELSE coalesce((SELECT source.nspowner FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = c.relnamespace)) END, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.relacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","relallfrozen":"0","relallvisible":"0","relam":"CASE WHEN c.relam < 16384 THEN c.relam WHEN false THEN c.relam ELSE 0::pg_catalog.oid END","relchecks":"CASE WHEN c.relchecks > 0 AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN (SELECT pg_catalog.count(*) FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid AND k.contype = ''c'' AND NOT CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END) ELSE c.relchecks END","relfilenode":"0::pg_catalog.oid","relfrozenxid":"''0''::pg_catalog.xid","relhasindex":"CASE WHEN c.relhasindex AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND NOT CASE WHEN x.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, x.indexrelid) END) ELSE c.relhasindex END","relhasrules":"CASE WHEN c.relhasrules AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_rewrite r WHERE r.ev_class = c.oid AND (r.ev_type = ''1'' OR NOT kproxy_catalog.names_unserved(''pg_catalog.pg_rewrite''::pg_catalog.regclass::pg_catalog.oid, r.oid))) ELSE c.relhasrules END","relhassubclass":"CASE WHEN c.relhassubclass AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid AND CASE WHEN pg_catalog.has_table_privilege(i.inhrelid, ''SELECT'') THEN i.inhrelid < 16384 OR NOT pg_catalog.has_table_privilege(i.inhrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(i.inhrelid) ELSE pg_catalog.has_table_privilege(i.inhrelid, ''REFERENCES'') END) ELSE c.relhassubclass END","relhastriggers":"CASE WHEN c.relhastriggers AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN EXISTS (SELECT FROM pg_catalog.pg_trigger t WHERE t.tgrelid = c.oid AND t.tgfoid < 16384 AND (t.tgconstrrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(t.tgconstrrelid, ''SELECT'') THEN t.tgconstrrelid < 16384 OR NOT pg_catalog.has_table_privilege(t.tgconstrrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(t.tgconstrrelid) ELSE pg_catalog.has_table_privilege(t.tgconstrrelid, ''REFERENCES'') END) AND NOT CASE WHEN t.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_trigger''::pg_catalog.regclass::pg_catalog.oid, t.oid) END) OR EXISTS (SELECT FROM kproxy_catalog.shown_keys() AS k WHERE k.foreign_relation = c.oid) ELSE c.relhastriggers END","relminmxid":"''0''::pg_catalog.xid","relname":"k.name","relnamespace":"k.namespace","relnatts":"CASE WHEN c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') AND c.relnamespace <> pg_catalog.pg_my_temp_schema() THEN coalesce((SELECT max(served.number) FROM kproxy_catalog.served_columns() served WHERE served.relation = c.oid), 0) ELSE c.relnatts END","reloftype":"CASE WHEN c.reloftype < 16384 THEN c.reloftype WHEN (c.reloftype < 16384 OR c.reloftype IN (SELECT kproxy_catalog.shown_types())) THEN c.reloftype ELSE 0::pg_catalog.oid END","reloptions":"CASE WHEN c.relkind = ''v'' AND (SELECT source.oid FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.relnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())) IS NOT NULL THEN NULL::text[] ELSE c.reloptions END","relowner":"(SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = k.namespace)","relpages":"0","relpartbound":"CASE WHEN c.relpartbound IS NOT NULL AND kproxy_catalog.shows_bound(c.oid) THEN c.relpartbound END","relreplident":"CASE WHEN c.relreplident = ''i'' AND c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') AND NOT EXISTS (SELECT FROM pg_catalog.pg_index x WHERE x.indrelid = c.oid AND x.indisreplident AND NOT CASE WHEN x.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, x.indexrelid) END) THEN ''d''::\"char\" ELSE c.relreplident END","reltablespace":"0::pg_catalog.oid","reltoastrelid":"0::pg_catalog.oid","reltuples":"(-1)::real","reltype":"CASE WHEN c.oid >= 16384 AND pg_catalog.has_table_privilege(c.oid, ''REFERENCES'') THEN (SELECT s.reltype FROM pg_catalog.pg_class s WHERE s.oid = kproxy_catalog.stand_in_oid(c.oid)) ELSE c.reltype END"}', true, true),
      ('"pg_catalog"."pg_attribute"', '"kproxy_catalog"."pg_attribute"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.attrelid, ''SELECT, REFERENCES'') THEN CASE WHEN pg_catalog.has_table_privilege(c.attrelid, ''SELECT'') THEN c.attrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.attrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.attrelid) ELSE pg_catalog.has_table_privilege(c.attrelid, ''REFERENCES'') END ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = c.attrelid AND CASE WHEN pg_catalog.has_table_privilege(own.indrelid, ''SELECT'') THEN own.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(own.indrelid) ELSE pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') END AND NOT CASE WHEN own.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, own.indexrelid) END) END OR c.attrelid IN (SELECT composite.oid FROM pg_catalog.pg_class composite WHERE CASE composite.relkind WHEN ''c'' THEN (composite.reltype < 16384 OR composite.reltype IN (SELECT kproxy_catalog.shown_types())) ELSE false END)) AND CASE WHEN c.attnum > 0 AND c.attrelid >= 16384 AND pg_catalog.has_table_privilege(c.attrelid, ''REFERENCES'') THEN kproxy_catalog.is_served(c.attrelid, c.attnum) ELSE true END',
       '{"attacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user), CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.attacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","attfdwoptions":"NULL::text[]","attoptions":"NULL::text[]"}', true, false),
      ('"pg_catalog"."pg_attribute"', '"kproxy_catalog"."pg_attribute"', 'pg_catalog.pg_attribute AS c JOIN kproxy_catalog.shown_keys() AS k ON k.oid = c.attrelid',
       'k.is_primary',
       '{"attacl":"NULL::pg_catalog.aclitem[]","attfdwoptions":"NULL::text[]","attoptions":"NULL::text[]"}', true, true),
      ('"pg_catalog"."pg_attrdef"', '"kproxy_catalog"."pg_attrdef"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.adrelid, ''SELECT'') THEN c.adrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.adrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.adrelid) ELSE pg_catalog.has_table_privilege(c.adrelid, ''REFERENCES'') END) AND (NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_attrdef''::pg_catalog.regclass::pg_catalog.oid, c.oid) END)',
       '{}', true, true),
      ('"pg_catalog"."pg_index"', '"kproxy_catalog"."pg_index"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.indrelid, ''SELECT'') THEN c.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.indrelid) ELSE pg_catalog.has_table_privilege(c.indrelid, ''REFERENCES'') END) AND (NOT CASE WHEN c.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, c.indexrelid) END)',
       '{"indclass":"CASE WHEN 16384 > ALL (c.indclass::pg_catalog.oid[]) THEN c.indclass ELSE (SELECT pg_catalog.string_agg(CASE WHEN e.oid < 16384 THEN e.oid::text ELSE ''0'' END, '' '' ORDER BY e.place) FROM pg_catalog.unnest(c.indclass::pg_catalog.oid[]) WITH ORDINALITY AS e(oid, place))::pg_catalog.oidvector END"}', true, false),
      ('"pg_catalog"."pg_index"', '"kproxy_catalog"."pg_index"', 'pg_catalog.pg_index AS c JOIN kproxy_catalog.shown_keys() AS k ON k.oid = c.indexrelid',
       'k.is_primary',
       '{"indclass":"CASE WHEN 16384 > ALL (c.indclass::pg_catalog.oid[]) THEN c.indclass ELSE (SELECT pg_catalog.string_agg(CASE WHEN e.oid < 16384 THEN e.oid::text ELSE ''0'' END, '' '' ORDER BY e.place) FROM pg_catalog.unnest(c.indclass::pg_catalog.oid[]) WITH ORDINALITY AS e(oid, place))::pg_catalog.oidvector END","indisprimary":"true","indisunique":"true","indkey":"pg_catalog.array_to_string(k.numbers, '' '')","indrelid":"k.relation"}', true, true),
      ('"pg_catalog"."pg_inherits"', '"kproxy_catalog"."pg_inherits"', '',
       'CASE WHEN pg_catalog.has_table_privilege(c.inhrelid, ''SELECT'') THEN c.inhrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.inhrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.inhrelid) ELSE pg_catalog.has_table_privilege(c.inhrelid, ''REFERENCES'') END AND CASE WHEN pg_catalog.has_table_privilege(c.inhparent, ''SELECT'') THEN c.inhparent < 16384 OR NOT pg_catalog.has_table_privilege(c.inhparent, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.inhparent) ELSE pg_catalog.has_table_privilege(c.inhparent, ''REFERENCES'') END',
       '{}', true, true),
      ('"pg_catalog"."pg_policy"', '"kproxy_catalog"."pg_policy"', '',
       'CASE WHEN pg_catalog.has_table_privilege(c.polrelid, ''SELECT'') THEN c.polrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.polrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.polrelid) ELSE pg_catalog.has_table_privilege(c.polrelid, ''REFERENCES'') END AND NOT kproxy_catalog.names_unserved(''pg_catalog.pg_policy''::pg_catalog.regclass::pg_catalog.oid, c.oid)',
       '{"polqual":"NULL::pg_catalog.pg_node_tree","polroles":"''{}''::pg_catalog.oid[]","polwithcheck":"NULL::pg_catalog.pg_node_tree"}', true, true),
      ('"pg_catalog"."pg_trigger"', '"kproxy_catalog"."pg_trigger"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.tgrelid, ''SELECT'') THEN c.tgrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.tgrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.tgrelid) ELSE pg_catalog.has_table_privilege(c.tgrelid, ''REFERENCES'') END AND (c.tgconstrrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(c.tgconstrrelid, ''SELECT'') THEN c.tgconstrrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.tgconstrrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.tgconstrrelid) ELSE pg_catalog.has_table_privilege(c.tgconstrrelid, ''REFERENCES'') END)) AND (c.tgfoid < 16384 AND NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_trigger''::pg_catalog.regclass::pg_catalog.oid, c.oid) END)',
       '{"tgparentid":"CASE WHEN c.tgparentid < 16384 THEN c.tgparentid WHEN EXISTS (SELECT FROM pg_catalog.pg_trigger parent WHERE parent.oid = c.tgparentid AND CASE WHEN pg_catalog.has_table_privilege(parent.tgrelid, ''SELECT'') THEN parent.tgrelid < 16384 OR NOT pg_catalog.has_table_privilege(parent.tgrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(parent.tgrelid) ELSE pg_catalog.has_table_privilege(parent.tgrelid, ''REFERENCES'') END) THEN c.tgparentid ELSE 0::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_statistic_ext"', '"kproxy_catalog"."pg_statistic_ext"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.stxrelid, ''SELECT'') THEN c.stxrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.stxrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.stxrelid) ELSE pg_catalog.has_table_privilege(c.stxrelid, ''REFERENCES'') END) AND (c.stxnamespace IN (SELECT shown.oid FROM kproxy_catalog.pg_namespace shown) AND NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_statistic_ext''::pg_catalog.regclass::pg_catalog.oid, c.oid) END)',
       '{"stxowner":"CASE WHEN c.oid < 16384 THEN c.stxowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_rewrite"', '"kproxy_catalog"."pg_rewrite"', '',
       'CASE WHEN pg_catalog.has_table_privilege(c.ev_class, ''SELECT'') THEN c.ev_class < 16384 OR NOT pg_catalog.has_table_privilege(c.ev_class, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.ev_class) ELSE pg_catalog.has_table_privilege(c.ev_class, ''REFERENCES'') END AND (c.ev_type = ''1'' OR NOT kproxy_catalog.names_unserved(''pg_catalog.pg_rewrite''::pg_catalog.regclass::pg_catalog.oid, c.oid))',
       '{"ev_action":"NULL::pg_catalog.pg_node_tree","ev_qual":"NULL::pg_catalog.pg_node_tree"}', true, true),
      ('"pg_catalog"."pg_partitioned_table"', '"kproxy_catalog"."pg_partitioned_table"', '',
       '(CASE WHEN pg_catalog.has_table_privilege(c.partrelid, ''SELECT'') THEN c.partrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.partrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.partrelid) ELSE pg_catalog.has_table_privilege(c.partrelid, ''REFERENCES'') END) AND (NOT CASE WHEN c.partrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, c.partrelid) END)',
       '{"partclass":"CASE WHEN 16384 > ALL (c.partclass::pg_catalog.oid[]) THEN c.partclass ELSE (SELECT pg_catalog.string_agg(CASE WHEN e.oid < 16384 THEN e.oid::text ELSE ''0'' END, '' '' ORDER BY e.place) FROM pg_catalog.unnest(c.partclass::pg_catalog.oid[]) WITH ORDINALITY AS e(oid, place))::pg_catalog.oidvector END"}', true, true),
      ('"pg_catalog"."pg_sequence"', '"kproxy_catalog"."pg_sequence"', '',
       'CASE WHEN pg_catalog.has_table_privilege(c.seqrelid, ''SELECT'') THEN c.seqrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.seqrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.seqrelid) ELSE pg_catalog.has_table_privilege(c.seqrelid, ''REFERENCES'') END AND NOT kproxy_catalog.names_unserved(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, c.seqrelid)',
       '{}', true, true),
      ('"pg_catalog"."pg_constraint"', '"kproxy_catalog"."pg_constraint"', '',
       '(CASE WHEN c.conrelid = 0 THEN (c.contypid < 16384 OR c.contypid IN (SELECT kproxy_catalog.shown_types())) ELSE CASE WHEN pg_catalog.has_table_privilege(c.conrelid, ''SELECT'') THEN c.conrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.conrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.conrelid) ELSE pg_catalog.has_table_privilege(c.conrelid, ''REFERENCES'') END END AND (c.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(c.confrelid, ''SELECT'') THEN c.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.confrelid) ELSE pg_catalog.has_table_privilege(c.confrelid, ''REFERENCES'') END)) AND (NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, c.oid) END AND (c.conindid < 16384 OR NOT CASE WHEN c.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, c.conindid) END))',
       '{"conexclop":"CASE WHEN 16384 > ALL (c.conexclop) THEN c.conexclop END","conffeqop":"CASE WHEN 16384 > ALL (c.conffeqop) THEN c.conffeqop END","conparentid":"CASE WHEN c.conparentid < 16384 THEN c.conparentid WHEN EXISTS (SELECT FROM pg_catalog.pg_constraint parent WHERE parent.oid = c.conparentid AND CASE WHEN pg_catalog.has_table_privilege(parent.conrelid, ''SELECT'') THEN parent.conrelid < 16384 OR NOT pg_catalog.has_table_privilege(parent.conrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(parent.conrelid) ELSE pg_catalog.has_table_privilege(parent.conrelid, ''REFERENCES'') END) THEN c.conparentid ELSE 0::pg_catalog.oid END","conpfeqop":"CASE WHEN 16384 > ALL (c.conpfeqop) THEN c.conpfeqop END","conppeqop":"CASE WHEN 16384 > ALL (c.conppeqop) THEN c.conppeqop END"}', true, false),
      ('"pg_catalog"."pg_constraint"', '"kproxy_catalog"."pg_constraint"', 'kproxy_catalog.shown_keys() AS k',
       '',
       '{"condeferrable":"false","condeferred":"false","conenforced":"true","confdeltype":"CASE WHEN k.is_primary THEN '' '' ELSE ''a'' END","confkey":"k.foreign_numbers","confmatchtype":"CASE WHEN k.is_primary THEN '' '' ELSE ''s'' END","confrelid":"coalesce(k.foreign_relation, 0::pg_catalog.oid)","confupdtype":"CASE WHEN k.is_primary THEN '' '' ELSE ''a'' END","conindid":"coalesce(k.foreign_index, k.oid)","coninhcount":"0","conislocal":"true","conkey":"k.numbers","conname":"k.name","connamespace":"k.namespace","connoinherit":"true","conparentid":"0","conperiod":"false","conrelid":"k.relation","contype":"CASE WHEN k.is_primary THEN ''p'' ELSE ''f'' END","contypid":"0","convalidated":"true","oid":"k.oid"}', false, true),
      ('"pg_catalog"."pg_description"', '"kproxy_catalog"."pg_description"', '',
       '(c.objoid < 16384 OR (c.classoid = ''pg_catalog.pg_class''::pg_catalog.regclass AND CASE WHEN pg_catalog.has_table_privilege(c.objoid, ''SELECT, REFERENCES'') THEN CASE WHEN pg_catalog.has_table_privilege(c.objoid, ''SELECT'') THEN c.objoid < 16384 OR NOT pg_catalog.has_table_privilege(c.objoid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.objoid) ELSE pg_catalog.has_table_privilege(c.objoid, ''REFERENCES'') END ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = c.objoid AND CASE WHEN pg_catalog.has_table_privilege(own.indrelid, ''SELECT'') THEN own.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(own.indrelid) ELSE pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') END AND NOT CASE WHEN own.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, own.indexrelid) END) END AND CASE WHEN c.objsubid > 0 AND c.objoid >= 16384 AND pg_catalog.has_table_privilege(c.objoid, ''REFERENCES'') THEN kproxy_catalog.is_served(c.objoid, c.objsubid) ELSE true END) OR (c.classoid = ''pg_catalog.pg_proc''::pg_catalog.regclass AND c.objoid IN (SELECT f.oid FROM pg_catalog.pg_proc f WHERE f.pronamespace = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'')))) AND (c.classoid <> ''pg_catalog.pg_largeobject''::pg_catalog.regclass)',
       '{}', true, true),
      ('"pg_catalog"."pg_shdescription"', '"kproxy_catalog"."pg_shdescription"', '',
       'c.objoid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_type"', '"kproxy_catalog"."pg_type"', '',
       '(c.oid < 16384 OR c.oid IN (SELECT kproxy_catalog.shown_types()))',
       '{"typacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, CASE WHEN c.oid < 16384 THEN c.typowner ELSE coalesce((SELECT source.nspowner FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.typnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = c.typnamespace)) END, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.typacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","typarray":"CASE WHEN c.typarray < 16384 THEN c.typarray WHEN (c.typarray < 16384 OR c.typarray IN (SELECT kproxy_catalog.shown_types())) THEN c.typarray ELSE 0::pg_catalog.oid END","typcollation":"CASE WHEN c.typcollation < 16384 THEN c.typcollation WHEN c.typcollation IN (SELECT a.attcollation FROM kproxy_catalog.pg_attribute a WHERE a.attcollation >= 16384) THEN c.typcollation ELSE 0::pg_catalog.oid END","typdefault":"CASE WHEN NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_type''::pg_catalog.regclass::pg_catalog.oid, c.oid) END THEN c.typdefault END","typdefaultbin":"CASE WHEN NOT CASE WHEN c.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_type''::pg_catalog.regclass::pg_catalog.oid, c.oid) END THEN c.typdefaultbin END","typnamespace":"CASE WHEN c.typnamespace < 16384 THEN c.typnamespace ELSE coalesce((SELECT source.oid FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.typnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), c.typnamespace) END","typowner":"CASE WHEN c.oid < 16384 THEN c.typowner ELSE coalesce((SELECT source.nspowner FROM pg_catalog.pg_namespace AS released JOIN pg_catalog.pg_namespace AS source ON source.nspname = pg_catalog.substr(released.nspname::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1)::pg_catalog.name WHERE released.oid = c.typnamespace AND pg_catalog.starts_with(released.nspname::text, kproxy_catalog.release_prefix())), (SELECT own.nspowner FROM pg_catalog.pg_namespace AS own WHERE own.oid = c.typnamespace)) END","typrelid":"CASE WHEN c.typtype = ''c'' AND c.typrelid >= 16384 AND pg_catalog.has_table_privilege(c.typrelid, ''REFERENCES'') THEN kproxy_catalog.stood_in_oid(c.typrelid) ELSE c.typrelid END"}', true, true),
      ('"pg_catalog"."pg_enum"', '"kproxy_catalog"."pg_enum"', '',
       '(c.enumtypid < 16384 OR c.enumtypid IN (SELECT kproxy_catalog.shown_types()))',
       '{}', true, true),
      ('"pg_catalog"."pg_range"', '"kproxy_catalog"."pg_range"', '',
       '(c.rngtypid < 16384 OR c.rngtypid IN (SELECT kproxy_catalog.shown_types()))',
       '{"rngcollation":"CASE WHEN c.rngcollation < 16384 THEN c.rngcollation WHEN c.rngcollation IN (SELECT a.attcollation FROM kproxy_catalog.pg_attribute a WHERE a.attcollation >= 16384) THEN c.rngcollation ELSE 0::pg_catalog.oid END","rngmultitypid":"CASE WHEN c.rngmultitypid < 16384 THEN c.rngmultitypid WHEN (c.rngmultitypid < 16384 OR c.rngmultitypid IN (SELECT kproxy_catalog.shown_types())) THEN c.rngmultitypid ELSE 0::pg_catalog.oid END","rngsubopc":"CASE WHEN c.rngsubopc < 16384 THEN c.rngsubopc WHEN EXISTS (SELECT FROM pg_catalog.pg_opclass o WHERE o.oid = c.rngsubopc AND o.opcdefault AND o.opcintype >= 16384 AND (o.opcintype < 16384 OR o.opcintype IN (SELECT kproxy_catalog.shown_types()))) THEN c.rngsubopc ELSE 0::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_proc"', '"kproxy_catalog"."pg_proc"', '',
       '(c.pronamespace = ''pg_catalog''::pg_catalog.regnamespace OR c.pronamespace = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'')) AND (c.oid < 16384 OR c.pronamespace = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy''))',
       '{"proacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, CASE WHEN c.pronamespace = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'') THEN 10::pg_catalog.oid ELSE c.proowner END, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.proacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","probin":"NULL::text","proowner":"CASE WHEN c.pronamespace = (SELECT helper.oid FROM pg_catalog.pg_namespace AS helper WHERE helper.nspname = ''kproxy'') THEN 10::pg_catalog.oid ELSE c.proowner END","prosrc":"''''::text"}', true, true),
      ('"pg_catalog"."pg_aggregate"', '"kproxy_catalog"."pg_aggregate"', '',
       'c.aggfnoid::pg_catalog.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_extension"', '"kproxy_catalog"."pg_extension"', '',
       'c.oid < 16384 OR EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.refclassid = ''pg_catalog.pg_extension''::pg_catalog.regclass AND d.refobjid = c.oid AND d.classid = ''pg_catalog.pg_type''::pg_catalog.regclass AND d.deptype = ''e'' AND d.objid IN (SELECT kproxy_catalog.shown_types()))',
       '{"extcondition":"NULL::text[]","extconfig":"NULL::pg_catalog.oid[]","extnamespace":"CASE WHEN c.extnamespace < 16384 THEN c.extnamespace WHEN c.extnamespace IN (SELECT shown.oid FROM kproxy_catalog.pg_namespace shown) THEN c.extnamespace ELSE 0::pg_catalog.oid END","extowner":"CASE WHEN c.oid < 16384 THEN c.extowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_tablespace"', '"kproxy_catalog"."pg_tablespace"', '',
       'c.oid < 16384',
       '{"spcacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, c.spcowner, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.spcacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","spcoptions":"NULL::text[]"}', true, true),
      ('"pg_catalog"."pg_collation"', '"kproxy_catalog"."pg_collation"', '',
       '(c.collnamespace = ''pg_catalog''::pg_catalog.regnamespace OR c.oid IN (SELECT a.attcollation FROM kproxy_catalog.pg_attribute a WHERE a.attcollation >= 16384)) AND (c.oid < 16384 OR c.oid IN (SELECT a.attcollation FROM kproxy_catalog.pg_attribute a WHERE a.attcollation >= 16384))',
       '{"collnamespace":"CASE WHEN c.collnamespace < 16384 THEN c.collnamespace WHEN c.collnamespace IN (SELECT shown.oid FROM kproxy_catalog.pg_namespace shown) THEN c.collnamespace ELSE 0::pg_catalog.oid END","collowner":"CASE WHEN c.oid < 16384 THEN c.collowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_settings"', '"kproxy_catalog"."pg_settings"', '',
       'c.name <> ''search_path''',
       '{}', true, true),
      ('"pg_catalog"."pg_database"', '"kproxy_catalog"."pg_database"', '',
       'c.datname = pg_catalog.current_database()',
       '{"datacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, c.datdba, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.datacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))","datconnlimit":"-1","datfrozenxid":"''0''::pg_catalog.xid","datminmxid":"''0''::pg_catalog.xid","datname":"kproxy_catalog.database_name()","dattablespace":"CASE WHEN c.dattablespace < 16384 THEN c.dattablespace WHEN false THEN c.dattablespace ELSE 0::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_roles"', '"kproxy_catalog"."pg_roles"', '',
       'c.oid < 16384 OR c.rolname = current_user OR c.oid IN (SELECT n.nspowner FROM kproxy_catalog.pg_namespace n UNION ALL SELECT d.datdba FROM kproxy_catalog.pg_database d)',
       '{"rolconfig":"NULL::text[]","rolconnlimit":"-1","rolvaliduntil":"NULL::pg_catalog.timestamptz"}', true, true),
      ('"pg_catalog"."pg_auth_members"', '"kproxy_catalog"."pg_auth_members"', '',
       'c.roleid IN (SELECT r.oid FROM kproxy_catalog.pg_roles r) AND c.member IN (SELECT r.oid FROM kproxy_catalog.pg_roles r)',
       '{"grantor":"CASE WHEN c.grantor IN (SELECT shown.oid FROM kproxy_catalog.pg_roles shown) THEN c.grantor ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_foreign_table"', '"kproxy_catalog"."pg_foreign_table"', '',
       'CASE WHEN pg_catalog.has_table_privilege(c.ftrelid, ''SELECT'') THEN c.ftrelid < 16384 OR NOT pg_catalog.has_table_privilege(c.ftrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.ftrelid) ELSE pg_catalog.has_table_privilege(c.ftrelid, ''REFERENCES'') END',
       '{"ftoptions":"NULL::text[]"}', true, true),
      ('"pg_catalog"."pg_foreign_server"', '"kproxy_catalog"."pg_foreign_server"', '',
       'c.oid IN (SELECT t.ftserver FROM kproxy_catalog.pg_foreign_table t)',
       '{"srvacl":"NULL::pg_catalog.aclitem[]","srvoptions":"NULL::text[]","srvowner":"CASE WHEN c.oid < 16384 THEN c.srvowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_foreign_data_wrapper"', '"kproxy_catalog"."pg_foreign_data_wrapper"', '',
       'c.oid IN (SELECT s.srvfdw FROM kproxy_catalog.pg_foreign_server s)',
       '{"fdwacl":"NULL::pg_catalog.aclitem[]","fdwhandler":"CASE WHEN c.fdwhandler < 16384 THEN c.fdwhandler WHEN false THEN c.fdwhandler ELSE 0::pg_catalog.oid END","fdwoptions":"NULL::text[]","fdwowner":"CASE WHEN c.oid < 16384 THEN c.fdwowner ELSE 10::pg_catalog.oid END","fdwvalidator":"CASE WHEN c.fdwvalidator < 16384 THEN c.fdwvalidator WHEN false THEN c.fdwvalidator ELSE 0::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"', '',
       '(c.classid = ''pg_catalog.pg_class''::pg_catalog.regclass AND c.refclassid = ''pg_catalog.pg_class''::pg_catalog.regclass AND CASE WHEN pg_catalog.has_table_privilege(c.objid, ''SELECT, REFERENCES'') THEN CASE WHEN pg_catalog.has_table_privilege(c.objid, ''SELECT'') THEN c.objid < 16384 OR NOT pg_catalog.has_table_privilege(c.objid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.objid) ELSE pg_catalog.has_table_privilege(c.objid, ''REFERENCES'') END ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = c.objid AND CASE WHEN pg_catalog.has_table_privilege(own.indrelid, ''SELECT'') THEN own.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(own.indrelid) ELSE pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') END AND NOT CASE WHEN own.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, own.indexrelid) END) END OR c.classid = ''pg_catalog.pg_constraint''::pg_catalog.regclass AND c.refclassid = ''pg_catalog.pg_class''::pg_catalog.regclass AND EXISTS (SELECT FROM kproxy_catalog.pg_constraint s WHERE s.oid = c.objid) OR c.classid = ''pg_catalog.pg_attrdef''::pg_catalog.regclass AND c.refclassid = ''pg_catalog.pg_class''::pg_catalog.regclass AND EXISTS (SELECT FROM kproxy_catalog.pg_attrdef s WHERE s.oid = c.objid)) AND CASE WHEN pg_catalog.has_table_privilege(c.refobjid, ''SELECT, REFERENCES'') THEN CASE WHEN pg_catalog.has_table_privilege(c.refobjid, ''SELECT'') THEN c.refobjid < 16384 OR NOT pg_catalog.has_table_privilege(c.refobjid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(c.refobjid) ELSE pg_catalog.has_table_privilege(c.refobjid, ''REFERENCES'') END ELSE EXISTS (SELECT FROM pg_catalog.pg_index own WHERE own.indexrelid = c.refobjid AND CASE WHEN pg_catalog.has_table_privilege(own.indrelid, ''SELECT'') THEN own.indrelid < 16384 OR NOT pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(own.indrelid) ELSE pg_catalog.has_table_privilege(own.indrelid, ''REFERENCES'') END AND NOT CASE WHEN own.indexrelid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, own.indexrelid) END) END AND CASE WHEN c.refobjsubid > 0 AND c.refobjid >= 16384 AND pg_catalog.has_table_privilege(c.refobjid, ''REFERENCES'') THEN kproxy_catalog.is_served(c.refobjid, c.refobjsubid) ELSE true END AND CASE WHEN c.classid = ''pg_catalog.pg_class''::pg_catalog.regclass THEN CASE WHEN c.objsubid > 0 AND c.objid >= 16384 AND pg_catalog.has_table_privilege(c.objid, ''REFERENCES'') THEN kproxy_catalog.is_served(c.objid, c.objsubid) ELSE true END ELSE true END OR c.classid = ''pg_catalog.pg_trigger''::pg_catalog.regclass AND c.refclassid = ''pg_catalog.pg_trigger''::pg_catalog.regclass AND EXISTS (SELECT FROM kproxy_catalog.pg_trigger s WHERE s.oid = c.objid) AND EXISTS (SELECT FROM kproxy_catalog.pg_trigger s WHERE s.oid = c.refobjid)',
       '{}', true, false),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"', 'kproxy_catalog.shown_keys() AS k',
       'NOT k.is_primary',
       '{"classid":"''pg_catalog.pg_constraint''::pg_catalog.regclass","deptype":"''n''","objid":"k.oid","objsubid":"0","refclassid":"''pg_catalog.pg_class''::pg_catalog.regclass","refobjid":"k.foreign_index","refobjsubid":"0"}', false, false),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"', 'kproxy_catalog.shown_keys() AS k',
       'k.is_primary',
       '{"classid":"''pg_catalog.pg_class''::pg_catalog.regclass","deptype":"''i''","objid":"k.oid","objsubid":"0","refclassid":"''pg_catalog.pg_constraint''::pg_catalog.regclass","refobjid":"k.oid","refobjsubid":"0"}', false, false),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"', 'kproxy_catalog.shown_keys() AS k CROSS JOIN pg_catalog.unnest(k.numbers) AS n(number)',
       'true',
       '{"classid":"''pg_catalog.pg_constraint''::pg_catalog.regclass","deptype":"''a''","objid":"k.oid","objsubid":"0","refclassid":"''pg_catalog.pg_class''::pg_catalog.regclass","refobjid":"k.relation","refobjsubid":"n.number"}', false, false),
      ('"pg_catalog"."pg_depend"', '"kproxy_catalog"."pg_depend"', 'kproxy_catalog.shown_keys() AS k CROSS JOIN pg_catalog.unnest(k.foreign_numbers) AS n(number)',
       'true',
       '{"classid":"''pg_catalog.pg_constraint''::pg_catalog.regclass","deptype":"''n''","objid":"k.oid","objsubid":"0","refclassid":"''pg_catalog.pg_class''::pg_catalog.regclass","refobjid":"k.foreign_relation","refobjsubid":"n.number"}', false, true),
      ('"pg_catalog"."pg_am"', '"kproxy_catalog"."pg_am"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_amop"', '"kproxy_catalog"."pg_amop"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_amproc"', '"kproxy_catalog"."pg_amproc"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_cast"', '"kproxy_catalog"."pg_cast"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_conversion"', '"kproxy_catalog"."pg_conversion"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_transform"', '"kproxy_catalog"."pg_transform"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_ts_config"', '"kproxy_catalog"."pg_ts_config"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_ts_dict"', '"kproxy_catalog"."pg_ts_dict"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_ts_parser"', '"kproxy_catalog"."pg_ts_parser"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_ts_template"', '"kproxy_catalog"."pg_ts_template"', '',
       'c.oid < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_language"', '"kproxy_catalog"."pg_language"', '',
       'c.oid < 16384',
       '{"lanacl":"(SELECT pg_catalog.array_agg(pg_catalog.makeaclitem(item.grantee, c.lanowner, CASE item.privilege_type WHEN ''REFERENCES'' THEN ''SELECT'' ELSE item.privilege_type END, item.is_grantable)) FROM pg_catalog.aclexplode(c.lanacl) AS item WHERE item.grantee IN (0, (SELECT role.oid FROM pg_catalog.pg_roles AS role WHERE role.rolname = current_user)))"}', true, true),
      ('"pg_catalog"."pg_operator"', '"kproxy_catalog"."pg_operator"', '',
       'c.oid < 16384',
       '{"oprcom":"CASE WHEN c.oprcom < 16384 THEN c.oprcom WHEN false THEN c.oprcom ELSE 0::pg_catalog.oid END","oprnegate":"CASE WHEN c.oprnegate < 16384 THEN c.oprnegate WHEN false THEN c.oprnegate ELSE 0::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_ts_config_map"', '"kproxy_catalog"."pg_ts_config_map"', '',
       'c.mapcfg < 16384 AND c.mapdict < 16384',
       '{}', true, true),
      ('"pg_catalog"."pg_opclass"', '"kproxy_catalog"."pg_opclass"', '',
       'c.oid < 16384 OR c.opcdefault AND c.opcintype >= 16384 AND (c.opcintype < 16384 OR c.opcintype IN (SELECT kproxy_catalog.shown_types()))',
       '{"opckeytype":"CASE WHEN c.opckeytype < 16384 THEN c.opckeytype WHEN (c.opckeytype < 16384 OR c.opckeytype IN (SELECT kproxy_catalog.shown_types())) THEN c.opckeytype ELSE 0::pg_catalog.oid END","opcnamespace":"CASE WHEN c.opcnamespace < 16384 THEN c.opcnamespace WHEN c.opcnamespace IN (SELECT shown.oid FROM kproxy_catalog.pg_namespace shown) THEN c.opcnamespace ELSE 0::pg_catalog.oid END","opcowner":"CASE WHEN c.oid < 16384 THEN c.opcowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_opfamily"', '"kproxy_catalog"."pg_opfamily"', '',
       'c.oid < 16384 OR c.oid IN (SELECT o.opcfamily FROM pg_catalog.pg_opclass o WHERE o.opcdefault AND o.opcintype >= 16384 AND (o.opcintype < 16384 OR o.opcintype IN (SELECT kproxy_catalog.shown_types())))',
       '{"opfnamespace":"CASE WHEN c.opfnamespace < 16384 THEN c.opfnamespace WHEN c.opfnamespace IN (SELECT shown.oid FROM kproxy_catalog.pg_namespace shown) THEN c.opfnamespace ELSE 0::pg_catalog.oid END","opfowner":"CASE WHEN c.oid < 16384 THEN c.opfowner ELSE 10::pg_catalog.oid END"}', true, true),
      ('"pg_catalog"."pg_available_extensions"', '"kproxy_catalog"."pg_available_extensions"', '',
       '',
       '{"installed_version":"(SELECT e.extversion FROM kproxy_catalog.pg_extension e WHERE e.extname = c.name)"}', true, true),
      ('"pg_catalog"."pg_available_extension_versions"', '"kproxy_catalog"."pg_available_extension_versions"', '',
       '',
       '{"installed":"EXISTS (SELECT FROM kproxy_catalog.pg_extension e WHERE e.extname = c.name AND e.extversion = c.version)"}', true, true),
      ('"pg_catalog"."pg_tables"', '"kproxy_catalog"."pg_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''p'')',
       '{"hasindexes":"c.relhasindex","hasrules":"c.relhasrules","hastriggers":"c.relhastriggers","rowsecurity":"c.relrowsecurity","schemaname":"n.nspname","tablename":"c.relname","tableowner":"pg_catalog.pg_get_userbyid(c.relowner)"}', false, true),
      ('"pg_catalog"."pg_views"', '"kproxy_catalog"."pg_views"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind = ''v''',
       '{"definition":"''''::text","schemaname":"n.nspname","viewname":"c.relname","viewowner":"pg_catalog.pg_get_userbyid(c.relowner)"}', false, true),
      ('"pg_catalog"."pg_matviews"', '"kproxy_catalog"."pg_matviews"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind = ''m''',
       '{"definition":"''''::text","hasindexes":"c.relhasindex","ispopulated":"c.relispopulated","matviewname":"c.relname","matviewowner":"pg_catalog.pg_get_userbyid(c.relowner)","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_indexes"', '"kproxy_catalog"."pg_indexes"', 'kproxy_catalog.pg_index AS x JOIN pg_catalog.pg_class AS i ON i.oid = x.indexrelid JOIN kproxy_catalog.pg_class AS c ON c.oid = x.indrelid JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'')',
       '{"indexdef":"pg_catalog.pg_get_indexdef(i.oid)","indexname":"i.relname","schemaname":"n.nspname","tablename":"c.relname"}', false, true),
      ('"pg_catalog"."pg_sequences"', '"kproxy_catalog"."pg_sequences"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace JOIN kproxy_catalog.pg_sequence AS s ON s.seqrelid = c.oid',
       '',
       '{"cache_size":"s.seqcache","cycle":"s.seqcycle","data_type":"pg_catalog.format_type(s.seqtypid, NULL)","increment_by":"s.seqincrement","max_value":"s.seqmax","min_value":"s.seqmin","schemaname":"n.nspname","sequencename":"c.relname","sequenceowner":"pg_catalog.pg_get_userbyid(c.relowner)","start_value":"s.seqstart"}', false, true),
      ('"pg_catalog"."pg_policies"', '"kproxy_catalog"."pg_policies"', 'kproxy_catalog.pg_policy AS p JOIN kproxy_catalog.pg_class AS c ON c.oid = p.polrelid JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       '',
       '{"cmd":"CASE p.polcmd WHEN ''r'' THEN ''SELECT'' WHEN ''a'' THEN ''INSERT'' WHEN ''w'' THEN ''UPDATE'' WHEN ''d'' THEN ''DELETE'' ELSE ''ALL'' END","permissive":"CASE WHEN p.polpermissive THEN ''PERMISSIVE'' ELSE ''RESTRICTIVE'' END","policyname":"p.polname","schemaname":"n.nspname","tablename":"c.relname"}', false, true),
      ('"pg_catalog"."pg_user"', '"kproxy_catalog"."pg_user"', 'kproxy_catalog.pg_roles AS c',
       'c.rolcanlogin',
       '{"passwd":"''********''::text","usebypassrls":"c.rolbypassrls","usecreatedb":"c.rolcreatedb","usename":"c.rolname","userepl":"c.rolreplication","usesuper":"c.rolsuper","usesysid":"c.oid"}', false, true),
      ('"pg_catalog"."pg_group"', '"kproxy_catalog"."pg_group"', 'kproxy_catalog.pg_roles AS c',
       'NOT c.rolcanlogin',
       '{"grolist":"ARRAY(SELECT m.member FROM kproxy_catalog.pg_auth_members m WHERE m.roleid = c.oid)","groname":"c.rolname","grosysid":"c.oid"}', false, true),
      ('"pg_catalog"."pg_cursors"', '"kproxy_catalog"."pg_cursors"', '',
       '',
       '{"statement":"''''::text"}', true, true),
      ('"pg_catalog"."pg_prepared_statements"', '"kproxy_catalog"."pg_prepared_statements"', '',
       '',
       '{"statement":"''''::text"}', true, true),
      ('"pg_catalog"."pg_rules"', '"kproxy_catalog"."pg_rules"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_seclabel"', '"kproxy_catalog"."pg_seclabel"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_seclabels"', '"kproxy_catalog"."pg_seclabels"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_shseclabel"', '"kproxy_catalog"."pg_shseclabel"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_shdepend"', '"kproxy_catalog"."pg_shdepend"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_db_role_setting"', '"kproxy_catalog"."pg_db_role_setting"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_default_acl"', '"kproxy_catalog"."pg_default_acl"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_init_privs"', '"kproxy_catalog"."pg_init_privs"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_parameter_acl"', '"kproxy_catalog"."pg_parameter_acl"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_event_trigger"', '"kproxy_catalog"."pg_event_trigger"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_user_mappings"', '"kproxy_catalog"."pg_user_mappings"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_prepared_xacts"', '"kproxy_catalog"."pg_prepared_xacts"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_locks"', '"kproxy_catalog"."pg_locks"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_publication"', '"kproxy_catalog"."pg_publication"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_publication_rel"', '"kproxy_catalog"."pg_publication_rel"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_publication_namespace"', '"kproxy_catalog"."pg_publication_namespace"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_publication_tables"', '"kproxy_catalog"."pg_publication_tables"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_subscription"', '"kproxy_catalog"."pg_subscription"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_subscription_rel"', '"kproxy_catalog"."pg_subscription_rel"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_activity"', '"kproxy_catalog"."pg_stat_activity"', '',
       'c.pid = pg_catalog.pg_backend_pid()',
       '{"backend_xid":"NULL::pg_catalog.xid","backend_xmin":"NULL::pg_catalog.xid","client_addr":"NULL::pg_catalog.inet","client_hostname":"NULL::text","client_port":"NULL::integer","datname":"kproxy_catalog.database_name()","query":"''''::text","query_id":"NULL::bigint"}', true, true),
      ('"pg_catalog"."pg_stat_database"', '"kproxy_catalog"."pg_stat_database"', 'kproxy_catalog.pg_database AS c',
       '',
       '{"datid":"c.oid","datname":"c.datname"}', false, true),
      ('"pg_catalog"."pg_stat_all_tables"', '"kproxy_catalog"."pg_stat_all_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'')',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stat_xact_all_tables"', '"kproxy_catalog"."pg_stat_xact_all_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'')',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_statio_all_tables"', '"kproxy_catalog"."pg_statio_all_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'')',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stat_user_tables"', '"kproxy_catalog"."pg_stat_user_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname !~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stat_xact_user_tables"', '"kproxy_catalog"."pg_stat_xact_user_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname !~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_statio_user_tables"', '"kproxy_catalog"."pg_statio_user_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname !~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stat_sys_tables"', '"kproxy_catalog"."pg_stat_sys_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname ~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stat_xact_sys_tables"', '"kproxy_catalog"."pg_stat_xact_sys_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname ~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_statio_sys_tables"', '"kproxy_catalog"."pg_statio_sys_tables"', 'kproxy_catalog.pg_class AS c JOIN kproxy_catalog.pg_namespace AS n ON n.oid = c.relnamespace',
       'c.relkind IN (''r'', ''m'', ''p'') AND n.nspname ~ ''^(pg_catalog|information_schema|pg_toast)$''',
       '{"relid":"c.oid","relname":"c.relname","schemaname":"n.nspname"}', false, true),
      ('"pg_catalog"."pg_stats"', '"kproxy_catalog"."pg_stats"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stats_ext"', '"kproxy_catalog"."pg_stats_ext"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stats_ext_exprs"', '"kproxy_catalog"."pg_stats_ext_exprs"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_all_indexes"', '"kproxy_catalog"."pg_stat_all_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_user_indexes"', '"kproxy_catalog"."pg_stat_user_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_sys_indexes"', '"kproxy_catalog"."pg_stat_sys_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_all_indexes"', '"kproxy_catalog"."pg_statio_all_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_user_indexes"', '"kproxy_catalog"."pg_statio_user_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_sys_indexes"', '"kproxy_catalog"."pg_statio_sys_indexes"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_all_sequences"', '"kproxy_catalog"."pg_statio_all_sequences"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_user_sequences"', '"kproxy_catalog"."pg_statio_user_sequences"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_statio_sys_sequences"', '"kproxy_catalog"."pg_statio_sys_sequences"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_user_functions"', '"kproxy_catalog"."pg_stat_user_functions"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_xact_user_functions"', '"kproxy_catalog"."pg_stat_xact_user_functions"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_ssl"', '"kproxy_catalog"."pg_stat_ssl"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_gssapi"', '"kproxy_catalog"."pg_stat_gssapi"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_replication"', '"kproxy_catalog"."pg_stat_replication"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_replication_slots"', '"kproxy_catalog"."pg_stat_replication_slots"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_replication_slots"', '"kproxy_catalog"."pg_replication_slots"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_wal_receiver"', '"kproxy_catalog"."pg_stat_wal_receiver"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_subscription"', '"kproxy_catalog"."pg_stat_subscription"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_subscription_stats"', '"kproxy_catalog"."pg_stat_subscription_stats"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_database_conflicts"', '"kproxy_catalog"."pg_stat_database_conflicts"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_archiver"', '"kproxy_catalog"."pg_stat_archiver"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_bgwriter"', '"kproxy_catalog"."pg_stat_bgwriter"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_checkpointer"', '"kproxy_catalog"."pg_stat_checkpointer"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_wal"', '"kproxy_catalog"."pg_stat_wal"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_io"', '"kproxy_catalog"."pg_stat_io"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_slru"', '"kproxy_catalog"."pg_stat_slru"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_recovery_prefetch"', '"kproxy_catalog"."pg_stat_recovery_prefetch"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_analyze"', '"kproxy_catalog"."pg_stat_progress_analyze"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_basebackup"', '"kproxy_catalog"."pg_stat_progress_basebackup"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_cluster"', '"kproxy_catalog"."pg_stat_progress_cluster"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_copy"', '"kproxy_catalog"."pg_stat_progress_copy"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_create_index"', '"kproxy_catalog"."pg_stat_progress_create_index"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"pg_catalog"."pg_stat_progress_vacuum"', '"kproxy_catalog"."pg_stat_progress_vacuum"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."schemata"', '"kproxy_catalog"."information_schema_schemata"', 'kproxy_catalog.pg_namespace AS c',
       'c.nspname <> ''pg_toast''',
       '{"catalog_name":"kproxy_catalog.database_name()","schema_name":"c.nspname","schema_owner":"pg_catalog.pg_get_userbyid(c.nspowner)"}', false, true),
      ('"information_schema"."tables"', '"kproxy_catalog"."information_schema_tables"', '',
       '',
       '{"is_insertable_into":"''NO''::information_schema.yes_or_no"}', true, true),
      ('"information_schema"."columns"', '"kproxy_catalog"."information_schema_columns"', '',
       '(c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)',
       '{"column_default":"CASE WHEN c.column_default IS NOT NULL AND EXISTS (SELECT FROM kproxy_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN pg_catalog.pg_class t ON t.oid = d.adrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname::text = c.table_schema::text AND t.relname::text = c.table_name::text AND a.attname::text = c.column_name::text) THEN c.column_default END","generation_expression":"CASE WHEN c.generation_expression IS NOT NULL AND EXISTS (SELECT FROM kproxy_catalog.pg_attrdef d JOIN pg_catalog.pg_attribute a ON a.attrelid = d.adrelid AND a.attnum = d.adnum JOIN pg_catalog.pg_class t ON t.oid = d.adrelid JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname::text = c.table_schema::text AND t.relname::text = c.table_name::text AND a.attname::text = c.column_name::text) THEN c.generation_expression END","is_updatable":"''NO''::information_schema.yes_or_no"}', true, true),
      ('"information_schema"."views"', '"kproxy_catalog"."information_schema_views"', '',
       '',
       '{"is_insertable_into":"''NO''::information_schema.yes_or_no","is_trigger_deletable":"''NO''::information_schema.yes_or_no","is_trigger_insertable_into":"''NO''::information_schema.yes_or_no","is_trigger_updatable":"''NO''::information_schema.yes_or_no","is_updatable":"''NO''::information_schema.yes_or_no","view_definition":"NULL::information_schema.character_data"}', true, true),
      ('"information_schema"."sequences"', '"kproxy_catalog"."information_schema_sequences"', '',
       '(c.sequence_schema::text, c.sequence_name::text) IN (SELECT n.nspname::text, s.relname::text FROM kproxy_catalog.pg_class s JOIN kproxy_catalog.pg_namespace n ON n.oid = s.relnamespace WHERE s.relkind = ''S'')',
       '{}', true, true),
      ('"information_schema"."table_constraints"', '"kproxy_catalog"."information_schema_table_constraints"', '',
       '(NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND NOT (k.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(k.confrelid, ''SELECT'') THEN k.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(k.confrelid) ELSE pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') END))) AND (NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u))',
       '{}', true, false),
      ('"information_schema"."table_constraints"', '"kproxy_catalog"."information_schema_table_constraints"', 'kproxy_catalog.shown_keys() AS k',
       '',
       '{"constraint_catalog":"kproxy_catalog.database_name()","constraint_name":"k.name","constraint_schema":"k.table_schema","constraint_type":"CASE WHEN k.is_primary THEN ''PRIMARY KEY'' ELSE ''FOREIGN KEY'' END","enforced":"''YES''","initially_deferred":"''NO''","is_deferrable":"''NO''","table_catalog":"kproxy_catalog.database_name()","table_name":"k.table_name","table_schema":"k.table_schema"}', false, true),
      ('"information_schema"."key_column_usage"', '"kproxy_catalog"."information_schema_key_column_usage"', '',
       '(NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND NOT (k.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(k.confrelid, ''SELECT'') THEN k.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(k.confrelid) ELSE pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') END))) AND ((NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u)) AND ((c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)))',
       '{}', true, false),
      ('"information_schema"."key_column_usage"', '"kproxy_catalog"."information_schema_key_column_usage"', 'kproxy_catalog.shown_keys() AS k CROSS JOIN pg_catalog.unnest(k.column_names) WITH ORDINALITY AS n(name, place)',
       '',
       '{"column_name":"n.name","constraint_catalog":"kproxy_catalog.database_name()","constraint_name":"k.name","constraint_schema":"k.table_schema","ordinal_position":"n.place","position_in_unique_constraint":"CASE WHEN NOT k.is_primary THEN n.place END","table_catalog":"kproxy_catalog.database_name()","table_name":"k.table_name","table_schema":"k.table_schema"}', false, true),
      ('"information_schema"."referential_constraints"', '"kproxy_catalog"."information_schema_referential_constraints"', '',
       '(NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND NOT (k.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(k.confrelid, ''SELECT'') THEN k.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(k.confrelid) ELSE pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') END))) AND (NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u))',
       '{}', true, false),
      ('"information_schema"."referential_constraints"', '"kproxy_catalog"."information_schema_referential_constraints"', 'kproxy_catalog.shown_keys() AS k',
       'NOT k.is_primary',
       '{"constraint_catalog":"kproxy_catalog.database_name()","constraint_name":"k.name","constraint_schema":"k.table_schema","delete_rule":"''NO ACTION''","match_option":"''NONE''","unique_constraint_catalog":"kproxy_catalog.database_name()","unique_constraint_name":"k.foreign_name","unique_constraint_schema":"k.foreign_schema","update_rule":"''NO ACTION''"}', false, true),
      ('"information_schema"."constraint_column_usage"', '"kproxy_catalog"."information_schema_constraint_column_usage"', '',
       '(NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND NOT (k.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(k.confrelid, ''SELECT'') THEN k.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(k.confrelid) ELSE pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') END))) AND ((NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u)) AND ((c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)))',
       '{}', true, false),
      ('"information_schema"."constraint_column_usage"', '"kproxy_catalog"."information_schema_constraint_column_usage"', 'kproxy_catalog.shown_keys() AS k CROSS JOIN pg_catalog.unnest(coalesce(k.foreign_column_names, k.column_names)) AS n(name)',
       '',
       '{"column_name":"n.name","constraint_catalog":"kproxy_catalog.database_name()","constraint_name":"k.name","constraint_schema":"k.table_schema","table_catalog":"kproxy_catalog.database_name()","table_name":"coalesce(k.foreign_table, k.table_name)","table_schema":"coalesce(k.foreign_schema, k.table_schema)"}', false, true),
      ('"information_schema"."constraint_table_usage"', '"kproxy_catalog"."information_schema_constraint_table_usage"', '',
       '(NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND NOT (k.confrelid = 0 OR CASE WHEN pg_catalog.has_table_privilege(k.confrelid, ''SELECT'') THEN k.confrelid < 16384 OR NOT pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') OR NOT kproxy_catalog.is_stand_in(k.confrelid) ELSE pg_catalog.has_table_privilege(k.confrelid, ''REFERENCES'') END))) AND (NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u))',
       '{}', true, false),
      ('"information_schema"."constraint_table_usage"', '"kproxy_catalog"."information_schema_constraint_table_usage"', 'kproxy_catalog.shown_keys() AS k',
       '',
       '{"constraint_catalog":"kproxy_catalog.database_name()","constraint_name":"k.name","constraint_schema":"k.table_schema","table_catalog":"kproxy_catalog.database_name()","table_name":"coalesce(k.foreign_table, k.table_name)","table_schema":"coalesce(k.foreign_schema, k.table_schema)"}', false, true),
      ('"information_schema"."check_constraints"', '"kproxy_catalog"."information_schema_check_constraints"', '',
       'NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_namespace n ON n.oid = k.connamespace WHERE k.conname::text = c.constraint_name::text AND n.nspname::text = c.constraint_schema::text AND (CASE WHEN k.oid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_constraint''::pg_catalog.regclass::pg_catalog.oid, k.oid) END OR CASE WHEN k.conindid < 16384 THEN false ELSE kproxy_catalog.names_hidden(''pg_catalog.pg_class''::pg_catalog.regclass::pg_catalog.oid, k.conindid) END)) AND c.constraint_name::text NOT IN (SELECT pg_catalog.concat_ws(''_'', u.namespace, u.relation, u.number, ''not_null'') FROM kproxy_catalog.unserved_columns() u)',
       '{}', true, true),
      ('"information_schema"."triggers"', '"kproxy_catalog"."information_schema_triggers"', '',
       'EXISTS (SELECT FROM kproxy_catalog.pg_trigger t JOIN pg_catalog.pg_class r ON r.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace WHERE t.tgname::text = c.trigger_name::text AND r.relname::text = c.event_object_table::text AND n.nspname::text = c.event_object_schema::text)',
       '{"action_condition":"NULL::information_schema.character_data","action_order":"pg_catalog.rank() OVER (PARTITION BY c.event_object_schema, c.event_object_table, c.event_manipulation, c.action_timing, c.action_orientation ORDER BY c.trigger_name)","action_statement":"NULL::information_schema.character_data"}', true, true),
      ('"information_schema"."triggered_update_columns"', '"kproxy_catalog"."information_schema_triggered_update_columns"', '',
       '(EXISTS (SELECT FROM kproxy_catalog.pg_trigger t JOIN pg_catalog.pg_class r ON r.oid = t.tgrelid JOIN pg_catalog.pg_namespace n ON n.oid = r.relnamespace WHERE t.tgname::text = c.trigger_name::text AND r.relname::text = c.event_object_table::text AND n.nspname::text = c.event_object_schema::text)) AND ((c.event_object_schema::text, c.event_object_table::text, c.event_object_column::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u))',
       '{}', true, true),
      ('"information_schema"."column_column_usage"', '"kproxy_catalog"."information_schema_column_column_usage"', '',
       '((c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)) AND ((c.table_schema::text, c.table_name::text, c.dependent_column::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u))',
       '{}', true, true),
      ('"information_schema"."table_privileges"', '"kproxy_catalog"."information_schema_table_privileges"', '',
       '',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.table_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.table_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.table_schema::text END)::information_schema.sql_identifier","privilege_type":"CASE c.privilege_type::text WHEN ''REFERENCES'' THEN ''SELECT'' ELSE c.privilege_type::text END","with_hierarchy":"CASE WHEN c.privilege_type::text IN (''SELECT'', ''REFERENCES'') THEN ''YES'' ELSE ''NO'' END"}', true, true),
      ('"information_schema"."role_table_grants"', '"kproxy_catalog"."information_schema_role_table_grants"', '',
       '',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.table_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.table_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.table_schema::text END)::information_schema.sql_identifier","privilege_type":"CASE c.privilege_type::text WHEN ''REFERENCES'' THEN ''SELECT'' ELSE c.privilege_type::text END","with_hierarchy":"CASE WHEN c.privilege_type::text IN (''SELECT'', ''REFERENCES'') THEN ''YES'' ELSE ''NO'' END"}', true, true),
      ('"information_schema"."column_privileges"', '"kproxy_catalog"."information_schema_column_privileges"', '',
       '(c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.table_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.table_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.table_schema::text END)::information_schema.sql_identifier","privilege_type":"CASE c.privilege_type::text WHEN ''REFERENCES'' THEN ''SELECT'' ELSE c.privilege_type::text END"}', true, true),
      ('"information_schema"."role_column_grants"', '"kproxy_catalog"."information_schema_role_column_grants"', '',
       '(c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.table_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.table_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.table_schema::text END)::information_schema.sql_identifier","privilege_type":"CASE c.privilege_type::text WHEN ''REFERENCES'' THEN ''SELECT'' ELSE c.privilege_type::text END"}', true, true),
      ('"information_schema"."routines"', '"kproxy_catalog"."information_schema_routines"', '',
       '(c.specific_schema::text IN (''pg_catalog'', ''information_schema'')) AND (pg_catalog.substring(c.specific_name::text, ''[0-9]+$'')::bigint < 16384)',
       '{"routine_definition":"NULL::information_schema.character_data"}', true, true),
      ('"information_schema"."parameters"', '"kproxy_catalog"."information_schema_parameters"', '',
       '(c.specific_schema::text IN (''pg_catalog'', ''information_schema'')) AND (pg_catalog.substring(c.specific_name::text, ''[0-9]+$'')::bigint < 16384)',
       '{}', true, true),
      ('"information_schema"."routine_privileges"', '"kproxy_catalog"."information_schema_routine_privileges"', '',
       '(c.specific_schema::text IN (''pg_catalog'', ''information_schema'')) AND (pg_catalog.substring(c.specific_name::text, ''[0-9]+$'')::bigint < 16384)',
       '{}', true, true),
      ('"information_schema"."role_routine_grants"', '"kproxy_catalog"."information_schema_role_routine_grants"', '',
       '(c.specific_schema::text IN (''pg_catalog'', ''information_schema'')) AND (pg_catalog.substring(c.specific_name::text, ''[0-9]+$'')::bigint < 16384)',
       '{}', true, true),
      ('"information_schema"."domains"', '"kproxy_catalog"."information_schema_domains"', '',
       '((c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{"domain_default":"(SELECT t.typdefault FROM kproxy_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE n.nspname::text = c.domain_schema::text AND t.typname::text = c.domain_name::text)"}', true, true),
      ('"information_schema"."domain_constraints"', '"kproxy_catalog"."information_schema_domain_constraints"', '',
       '((c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."domain_udt_usage"', '"kproxy_catalog"."information_schema_domain_udt_usage"', '',
       '((c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.domain_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.domain_schema::text, c.domain_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."column_domain_usage"', '"kproxy_catalog"."information_schema_column_domain_usage"', '',
       '(c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)',
       '{}', true, true),
      ('"information_schema"."column_udt_usage"', '"kproxy_catalog"."information_schema_column_udt_usage"', '',
       '(c.table_schema::text, c.table_name::text, c.column_name::text) NOT IN (SELECT u.table_schema, u.table_name, u.column_name FROM kproxy_catalog.unserved_columns() u)',
       '{}', true, true),
      ('"information_schema"."user_defined_types"', '"kproxy_catalog"."information_schema_user_defined_types"', '',
       '((c.user_defined_type_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.user_defined_type_schema::text, c.user_defined_type_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.user_defined_type_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.user_defined_type_schema::text, c.user_defined_type_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."attributes"', '"kproxy_catalog"."information_schema_attributes"', '',
       '((c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."udt_privileges"', '"kproxy_catalog"."information_schema_udt_privileges"', '',
       '((c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.udt_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.udt_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.udt_schema::text END)::information_schema.sql_identifier"}', true, true),
      ('"information_schema"."role_udt_grants"', '"kproxy_catalog"."information_schema_role_udt_grants"', '',
       '((c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types())))) AND (NOT c.udt_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.udt_schema::text, c.udt_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{"grantor":"(SELECT pg_catalog.pg_get_userbyid(n.nspowner) FROM pg_catalog.pg_namespace n WHERE n.nspname::text = CASE WHEN pg_catalog.starts_with(c.udt_schema::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(c.udt_schema::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE c.udt_schema::text END)::information_schema.sql_identifier"}', true, true),
      ('"information_schema"."data_type_privileges"', '"kproxy_catalog"."information_schema_data_type_privileges"', '',
       '(CASE c.object_type::text WHEN ''TABLE'' THEN true WHEN ''ROUTINE'' THEN c.object_schema::text IN (''pg_catalog'', ''information_schema'') ELSE (c.object_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types()))) END) AND (CASE c.object_type::text WHEN ''TABLE'' THEN (c.object_schema::text, c.object_name::text, c.dtd_identifier::text) NOT IN (SELECT u.table_schema, u.table_name, u.number::text FROM kproxy_catalog.unserved_columns() u) ELSE NOT c.object_schema::text IN (''pg_catalog'', ''information_schema'') OR CASE c.object_type::text WHEN ''ROUTINE'' THEN pg_catalog.substring(c.object_name::text, ''[0-9]+$'')::bigint < 16384 ELSE (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384) END END)',
       '{}', true, true),
      ('"information_schema"."element_types"', '"kproxy_catalog"."information_schema_element_types"', '',
       '(CASE c.object_type::text WHEN ''TABLE'' THEN true WHEN ''ROUTINE'' THEN c.object_schema::text IN (''pg_catalog'', ''information_schema'') ELSE (c.object_schema::text IN (''pg_catalog'', ''information_schema'') OR (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, t.typname::text FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace WHERE t.oid IN (SELECT kproxy_catalog.shown_types()))) END) AND (CASE c.object_type::text WHEN ''TABLE'' THEN (c.object_schema::text, c.object_name::text, c.collection_type_identifier::text) NOT IN (SELECT u.table_schema, u.table_name, u.number::text FROM kproxy_catalog.unserved_columns() u) ELSE NOT c.object_schema::text IN (''pg_catalog'', ''information_schema'') OR CASE c.object_type::text WHEN ''ROUTINE'' THEN pg_catalog.substring(c.object_name::text, ''[0-9]+$'')::bigint < 16384 ELSE (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384) END END)',
       '{}', true, true),
      ('"information_schema"."usage_privileges"', '"kproxy_catalog"."information_schema_usage_privileges"', '',
       '(c.object_schema::text IN (''pg_catalog'', ''information_schema'')) AND ((c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.collname::text FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace WHERE o.oid < 16384) OR (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."role_usage_grants"', '"kproxy_catalog"."information_schema_role_usage_grants"', '',
       '(c.object_schema::text IN (''pg_catalog'', ''information_schema'')) AND ((c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.collname::text FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace WHERE o.oid < 16384) OR (c.object_schema::text, c.object_name::text) IN (SELECT n.nspname::text, o.typname::text FROM pg_catalog.pg_type o JOIN pg_catalog.pg_namespace n ON n.oid = o.typnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."collations"', '"kproxy_catalog"."information_schema_collations"', '',
       '(c.collation_schema::text IN (''pg_catalog'', ''information_schema'')) AND ((c.collation_schema::text, c.collation_name::text) IN (SELECT n.nspname::text, o.collname::text FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."collation_character_set_applicability"', '"kproxy_catalog"."information_schema_collation_character_set_applicability"', '',
       '(c.collation_schema::text IN (''pg_catalog'', ''information_schema'')) AND ((c.collation_schema::text, c.collation_name::text) IN (SELECT n.nspname::text, o.collname::text FROM pg_catalog.pg_collation o JOIN pg_catalog.pg_namespace n ON n.oid = o.collnamespace WHERE o.oid < 16384))',
       '{}', true, true),
      ('"information_schema"."character_sets"', '"kproxy_catalog"."information_schema_character_sets"', '',
       '',
       '{"default_collate_catalog":"NULL::information_schema.sql_identifier","default_collate_name":"NULL::information_schema.sql_identifier","default_collate_schema":"NULL::information_schema.sql_identifier"}', true, true),
      ('"information_schema"."information_schema_catalog_name"', '"kproxy_catalog"."information_schema_information_schema_catalog_name"', '',
       '',
       '{}', true, true),
      ('"information_schema"."view_table_usage"', '"kproxy_catalog"."information_schema_view_table_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."view_column_usage"', '"kproxy_catalog"."information_schema_view_column_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."view_routine_usage"', '"kproxy_catalog"."information_schema_view_routine_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."check_constraint_routine_usage"', '"kproxy_catalog"."information_schema_check_constraint_routine_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."routine_column_usage"', '"kproxy_catalog"."information_schema_routine_column_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."routine_routine_usage"', '"kproxy_catalog"."information_schema_routine_routine_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."routine_sequence_usage"', '"kproxy_catalog"."information_schema_routine_sequence_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."routine_table_usage"', '"kproxy_catalog"."information_schema_routine_table_usage"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."transforms"', '"kproxy_catalog"."information_schema_transforms"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."column_options"', '"kproxy_catalog"."information_schema_column_options"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_data_wrapper_options"', '"kproxy_catalog"."information_schema_foreign_data_wrapper_options"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_data_wrappers"', '"kproxy_catalog"."information_schema_foreign_data_wrappers"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_server_options"', '"kproxy_catalog"."information_schema_foreign_server_options"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_servers"', '"kproxy_catalog"."information_schema_foreign_servers"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_table_options"', '"kproxy_catalog"."information_schema_foreign_table_options"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."foreign_tables"', '"kproxy_catalog"."information_schema_foreign_tables"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."user_mapping_options"', '"kproxy_catalog"."information_schema_user_mapping_options"', '(SELECT) AS c',
       'false',
       '{}', false, true),
      ('"information_schema"."user_mappings"', '"kproxy_catalog"."information_schema_user_mappings"', '(SELECT) AS c',
       'false',
       '{}', false, true)
    ) AS v(source, stand_in, from_clause, filter, replacements, has_rows, is_last)
    WHERE pg_catalog.to_regclass(v.source) IS NOT NULL
  LOOP
    SELECT pg_catalog.string_agg(CASE
             WHEN s.replacements ? l.name THEN (s.replacements ->> l.name) || '::' || l.type
             WHEN s.is_made OR l.pseudo THEN 'NULL::' || l.type
             WHEN s.translated AND l.name ~ '^(.*_)?catalog(_name)?$' THEN
               pg_catalog.format('CASE WHEN %s IS NOT NULL THEN kproxy_catalog.database_name() END::%s', l.source, l.type)
             WHEN s.translated AND l.name ~ '_schema$' THEN
               pg_catalog.format('CASE WHEN pg_catalog.starts_with(%1$s::text, kproxy_catalog.release_prefix()) THEN pg_catalog.substr(%1$s::text, pg_catalog.length(kproxy_catalog.release_prefix()) + 1) ELSE %1$s::text END::%2$s', l.source, l.type)
             -- Functions of users are not shown.
             WHEN l.own_type = 'regproc' THEN pg_catalog.format('CASE WHEN %1$s::pg_catalog.oid < 16384 THEN %1$s::pg_catalog.oid ELSE 0::pg_catalog.oid END', l.source)
             WHEN l.type <> l.own_type THEN l.source || '::' || l.type
             ELSE l.source END || ' AS ' || pg_catalog.quote_ident(l.name), ', ' ORDER BY l.number),
           pg_catalog.string_agg(pg_catalog.format('(%1$s IS NULL OR %1$s::text NOT IN (''kproxy_store'', ''kproxy_catalog'')'
                 || ' AND (%1$s::text !~ ''^kproxy_(release|audience_[a-z][a-z0-9]*)_'' OR pg_catalog.starts_with(%1$s::text, kproxy_catalog.release_prefix())))', l.source)
               -- In the place of the stand-in for a readable relation, that is shown itself.
               || CASE WHEN l.name IN ('table_schema', 'object_schema')
                       THEN pg_catalog.format(' AND NOT kproxy_catalog.stands_in(%s::text, c.%I::text)', l.source, pg_catalog.replace(l.name, '_schema', '_name'))
                       ELSE '' END, ' AND ' ORDER BY l.number)
             FILTER (WHERE s.translated AND l.name ~ '_schema$')
      INTO columns, own
      FROM (
        SELECT a.attnum AS number, a.attname::text AS name, 'c.' || pg_catalog.quote_ident(a.attname) AS source,
          t.typtype = 'p' AS pseudo, pg_catalog.format_type(a.atttypid, a.atttypmod) AS own_type,
          CASE WHEN t.typtype = 'p' OR t.typname = '_regtype' THEN 'text[]' WHEN t.typname = 'regtype' THEN 'text' WHEN t.typname = 'regproc' THEN 'oid'
               ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END AS type
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = s.source AND a.attnum > 0 AND NOT a.attisdropped) AS l;
    body := pg_catalog.concat_ws(' UNION ALL ', body, pg_catalog.format('SELECT %s FROM %s WHERE %s', columns,
      CASE s.from_clause WHEN '' THEN s.source::text || ' AS c' ELSE s.from_clause END,
      pg_catalog.concat_ws(' AND ', '(' || coalesce(nullif(s.filter, ''), 'true') || ')', own)));
    CONTINUE WHEN NOT s.is_last;
    -- A view that is a union itself would be taken apart, barrier or not, and a client's
    -- conditions tried on rows before the filter.
    EXECUTE pg_catalog.format('CREATE VIEW %s WITH (security_barrier) AS SELECT * FROM (%s) AS c', s.stand_in, body);
    body := NULL;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM PUBLIC', s.stand_in);
    -- REFERENCES marks them: see visible().
    EXECUTE pg_catalog.format('GRANT SELECT, REFERENCES ON TABLE %s TO ', s.stand_in) || '"kproxy_reader"';
  END LOOP;
END
$kproxy$;

RESET ROLE;

-- Reader roles of an earlier set-up that are no more configured neither log in nor read. They
-- are not dropped: they may have got other parts since. One that belongs to another audience now,
-- or is not the first of its audience any more, loses what it had.
DO $kproxy$
DECLARE
  configured text[] := ARRAY[]::text[];
  firsts text[] := ARRAY['kproxy_reader']::text[];
  known text[];
  former_firsts text[];
  name text;
  found record;
BEGIN
  SET ROLE "kproxy_owner";

  -- Who was of an audience does not come to the finest release because the audience is gone.
  SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.name) || coalesce(' of audience ' || nullif(r.audience, ''), ''), ', ' ORDER BY r.name) AS roles INTO found
    FROM kproxy_store.reader r WHERE (r.audience <> '' OR r.is_first) AND r.name = ANY (ARRAY[]::text[]);
  IF found.roles IS NOT NULL THEN
    RAISE EXCEPTION 'reader roles that belonged to an audience are in none now, and would read the finest release: %', found.roles
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = 'name the reader in an audience; or take it out of upstream.readers, and give its users another one; or write reads: tables under it if its users are meant to read the finest release';
  END IF;
  SELECT pg_catalog.array_agg(r.name) INTO known FROM kproxy_store.reader r WHERE r.name NOT IN ('kproxy_owner', 'kproxy_reader');
  SELECT pg_catalog.array_agg(r.name) INTO former_firsts FROM kproxy_store.reader r
    WHERE r.is_first AND r.name <> ALL (firsts || ARRAY['kproxy_owner']);
  DELETE FROM kproxy_store.reader r WHERE r.name <> ALL (configured);
  INSERT INTO kproxy_store.reader AS r (name, is_first, audience)
    SELECT c.name, c.name = ANY (firsts), coalesce(a.name, '') FROM pg_catalog.unnest(configured) AS c(name)
    LEFT JOIN (
      SELECT NULL AS name, NULL AS role) AS a ON a.role = c.name
    ON CONFLICT ON CONSTRAINT reader_pkey DO UPDATE SET is_first = excluded.is_first, audience = excluded.audience
    WHERE (r.is_first, r.audience) <> (excluded.is_first, excluded.audience);

  -- Who is the first role of an audience now reads what the one before did.
  FOR found IN
    SELECT DISTINCT a.privilege_type AS privilege, n.nspname AS schema, c.relname AS relation, h.role
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_roles o ON o.oid = c.relowner AND o.rolname = 'kproxy_owner'
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee AND r.rolname::text = ANY (configured || known)
    JOIN (
      SELECT NULL AS role, NULL AS prefix, NULL AS summaries) AS h ON h.role <> r.rolname::text AND (pg_catalog.starts_with(n.nspname::text, h.prefix)
        OR n.nspname = 'kproxy_catalog' AND pg_catalog.starts_with(c.relname::text, h.summaries))
    WHERE c.relkind = 'v' AND a.privilege_type IN ('SELECT', 'REFERENCES')
    ORDER BY 2, 3, 1
  LOOP
    EXECUTE pg_catalog.format('GRANT %s ON TABLE %I.%I TO %I', found.privilege, found.schema, found.relation, found.role);
  END LOOP;

  -- Of release schemas, the first role of an audience has its own, and one that is none any more has nothing of kproxy's.
  FOR found IN
    SELECT n.nspname AS schema, r.rolname AS role
    FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
    CROSS JOIN (
      SELECT 'kproxy_reader' AS role, 'kproxy_release_' AS prefix
      UNION ALL SELECT f.role, NULL FROM pg_catalog.unnest(former_firsts) AS f(role)) AS h
    JOIN pg_catalog.pg_roles r ON r.rolname = h.role::pg_catalog.name
    WHERE o.rolname = 'kproxy_owner' AND (h.prefix IS NULL
      OR n.nspname::text ~ '^kproxy_(release|audience_[a-z][a-z0-9]*)_' AND NOT pg_catalog.starts_with(n.nspname::text, h.prefix))
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA %I FROM %I', found.schema, found.role);
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON ALL FUNCTIONS IN SCHEMA %I FROM %I', found.schema, found.role);
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON SCHEMA %I FROM %I', found.schema, found.role);
  END LOOP;

  -- Of summaries of releases likewise.
  FOR found IN
    SELECT DISTINCT c.relname AS relation, r.rolname AS role
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles o ON o.oid = c.relowner
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
    JOIN (
      SELECT 'kproxy_reader' AS role, '^classes_[0-9a-f]+$' AS own
      UNION ALL SELECT f.role, NULL FROM pg_catalog.unnest(former_firsts) AS f(role)) AS h ON h.role = r.rolname::text
    WHERE o.rolname = 'kproxy_owner' AND c.relnamespace = 'kproxy_catalog'::pg_catalog.regnamespace AND c.relkind = 'v'
      AND c.relname ~ '^classes_' AND (h.own IS NULL OR c.relname !~ h.own)
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE kproxy_catalog.%I FROM %I', found.relation, found.role);
  END LOOP;
  RESET ROLE;

  -- What is empty and was an audience's that neither this configuration nor the policy in force has. Views
  -- for what is readable are made again for those that need them.
  SET ROLE "kproxy_owner";
  FOR found IN
    SELECT n.oid, n.nspname AS schema FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
    WHERE o.rolname = 'kproxy_owner' AND n.nspname::text ~ '^kproxy_(release|audience_[a-z][a-z0-9]*)_' AND NOT pg_catalog.starts_with(n.nspname::text, 'kproxy_release_')
      AND NOT EXISTS (SELECT FROM kproxy_store.policy p CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(nullif(p.policy -> 'Audiences', 'null')) AS a(of)
        WHERE p.number = (SELECT pg_catalog.max(l.number) FROM kproxy_store.policy l)
          AND pg_catalog.starts_with(n.nspname::text, pg_catalog.format('kproxy_audience_%s_', a.of ->> 'Name')))
    ORDER BY 2
  LOOP
    FOR name IN SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles o ON o.oid = c.relowner
      WHERE c.relnamespace = found.oid AND c.relkind = 'v' AND o.rolname = 'kproxy_owner' ORDER BY 1 LOOP
      BEGIN
        EXECUTE pg_catalog.format('DROP VIEW %I.%I', found.schema, name);
      EXCEPTION WHEN dependent_objects_still_exist THEN
        NULL; -- somebody else has made a view of it
      END;
    END LOOP;
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_depend d WHERE d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass AND d.refobjid = found.oid) THEN
      EXECUTE pg_catalog.format('DROP SCHEMA %I', found.schema);
    END IF;
  END LOOP;
  RESET ROLE;

  -- What else the set-up gave to those.
  FOR found IN
    SELECT a.privilege_type || ' ON ' || a.object AS what, r.rolname AS role FROM (
      SELECT e.grantee, e.privilege_type, 'SCHEMA ' || pg_catalog.quote_ident(n.nspname) AS object, n.nspowner AS owner
        FROM pg_catalog.pg_namespace n CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) AS e WHERE e.privilege_type = 'USAGE'
      UNION ALL
      SELECT e.grantee, e.privilege_type, 'TABLE ' || c.oid::pg_catalog.regclass, c.relowner
        FROM pg_catalog.pg_class c CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS e WHERE e.privilege_type = 'REFERENCES'
      UNION ALL
      SELECT e.grantee, e.privilege_type, 'ROUTINE ' || p.oid::pg_catalog.regprocedure, p.proowner
        FROM pg_catalog.pg_proc p CROSS JOIN LATERAL pg_catalog.aclexplode(p.proacl) AS e
      UNION ALL
      SELECT e.grantee, e.privilege_type, 'DATABASE ' || pg_catalog.quote_ident(d.datname), d.datdba
        FROM pg_catalog.pg_database d CROSS JOIN LATERAL pg_catalog.aclexplode(d.datacl) AS e WHERE d.datname = pg_catalog.current_database()
    ) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee AND r.rolname::text = ANY (former_firsts)
    WHERE pg_catalog.pg_has_role(a.owner, 'USAGE')
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE %s FROM %I', found.what, found.role);
  END LOOP;

  -- A reader role is a member of none but the first of its audience.
  FOR found IN
    SELECT g.rolname AS role, m.rolname AS member FROM pg_catalog.pg_auth_members a
    JOIN pg_catalog.pg_roles g ON g.oid = a.roleid JOIN pg_catalog.pg_roles m ON m.oid = a.member
    WHERE g.rolname::text = ANY (firsts || configured || known || ARRAY['kproxy_reader'])
      AND m.rolname::text = ANY (firsts || configured || known || ARRAY['kproxy_reader'])
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE %I FROM %I', found.role, found.member);
  END LOOP;
  FOR name IN SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.rolname::text = ANY (known) AND r.rolname::text <> ALL (configured) AND r.rolcanlogin ORDER BY 1 LOOP
    EXECUTE pg_catalog.format('ALTER ROLE %I NOLOGIN', name);
  END LOOP;
END
$kproxy$;

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
DECLARE
  tables text;
BEGIN
  tables := pg_catalog.concat_ws(', ',
    'ONLY "public"."patients"',
    'ONLY "Ward ""B"""."Patients"');
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
