--   \password "kproxy_reader_bi"
--   \password "kproxy_research"
--   \password "odd ""name"""
--   \password "kproxy_press"
    ('kproxy_reader'),
    ('kproxy_reader_bi'),
    ('kproxy_research'),
    ('odd "name"'),
    ('kproxy_press')
-- Clients' sessions run as the reader, or as the first role of an audience.
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_research') THEN
    CREATE ROLE "kproxy_research" LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_research' AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE "kproxy_research" LOGIN NOINHERIT;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_press') THEN
    CREATE ROLE "kproxy_press" LOGIN NOINHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_press' AND (rolinherit OR NOT rolcanlogin)) THEN
    ALTER ROLE "kproxy_press" LOGIN NOINHERIT;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader_bi') THEN
    CREATE ROLE "kproxy_reader_bi" LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_reader_bi' AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE "kproxy_reader_bi" LOGIN INHERIT;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'odd "name"') THEN
    CREATE ROLE "odd ""name""" LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'odd "name"' AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE "odd ""name""" LOGIN INHERIT;
-- Further reader roles have the rights of the first one, and those of an audience the rights of
-- its first one, as its members, and none of their own. From PostgreSQL 16 on they do not even become it.
  further record;
  manner text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000
    THEN 'WITH INHERIT TRUE, SET FALSE' ELSE '' END;
  FOR further IN SELECT m.reader, m.role FROM (VALUES
    ('kproxy_reader', 'kproxy_reader_bi'),
    ('kproxy_research', 'odd "name"')) AS m(reader, role) LOOP
    EXECUTE pg_catalog.format('GRANT %I TO %I %s', further.reader, further.role, manner);
ALTER ROLE "kproxy_reader_bi" SET default_transaction_read_only = on;
ALTER ROLE "kproxy_research" SET default_transaction_read_only = on;
ALTER ROLE "odd ""name""" SET default_transaction_read_only = on;
ALTER ROLE "kproxy_press" SET default_transaction_read_only = on;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'kproxy_reader_bi' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "kproxy_reader_bi" SET jit = off;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'kproxy_research' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "kproxy_research" SET jit = off;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'odd "name"' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "odd ""name""" SET jit = off;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'kproxy_press' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "kproxy_press" SET jit = off;
  EXECUTE pg_catalog.format('GRANT CONNECT ON DATABASE %I TO ', pg_catalog.current_database()) || '"kproxy_reader", "kproxy_research", "kproxy_press"';
  EXECUTE pg_catalog.format('REVOKE TEMPORARY ON DATABASE %I FROM ', pg_catalog.current_database()) || '"kproxy_reader", "kproxy_research", "kproxy_press"';
      INTO found USING '', '', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader', 'kproxy_reader_bi', 'kproxy_research', 'odd "name"', 'kproxy_press']::text[];
  FOREACH schema_name IN ARRAY ARRAY['kproxy_store', 'kproxy_catalog', 'kproxy', 'kproxy_release_Ward "B"', 'kproxy_release_public', 'kproxy_audience_research_public', 'kproxy_audience_press_public'] LOOP
REVOKE ALL PRIVILEGES ON TABLE "public"."patients" FROM "kproxy_reader", "kproxy_reader_bi", "kproxy_research", "odd ""name""", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE "Ward ""B"""."Patients" FROM "kproxy_reader", "kproxy_reader_bi", "kproxy_research", "odd ""name""", "kproxy_press";
    WHERE r.rolname::text = ANY (ARRAY['kproxy_reader', 'kproxy_research', 'kproxy_press']) AND a.privilege_type = 'REFERENCES'
      FOREACH reader IN ARRAY ARRAY['kproxy_reader', 'kproxy_research', 'kproxy_press'] LOOP
        ('kproxy_reader', 'kproxy_release_'),
        ('kproxy_research', 'kproxy_audience_research_'),
        ('kproxy_press', 'kproxy_audience_press_')
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I, %I, %I, %I, %I', listed.name, 'kproxy_reader', 'kproxy_reader_bi', 'kproxy_research', 'odd "name"', 'kproxy_press');
    EXECUTE pg_catalog.format('GRANT REFERENCES ON TABLE %s TO ', listed.name) || '"kproxy_reader", "kproxy_research", "kproxy_press"';
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_store" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_catalog" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_Ward ""B""" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_release_public" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_audience_research_public" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON SCHEMA "kproxy_audience_press_public" FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT USAGE ON SCHEMA "kproxy_catalog" TO "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT USAGE ON SCHEMA "kproxy" TO "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT USAGE ON SCHEMA "kproxy_audience_research_public" TO "kproxy_research";
GRANT USAGE ON SCHEMA "kproxy_audience_press_public" TO "kproxy_press";
  VALUES ('', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader', 'kproxy_reader_bi', 'kproxy_research', 'odd "name"', 'kproxy_press']::text[])
REVOKE ALL PRIVILEGES ON ALL TABLES IN SCHEMA kproxy_store FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.view FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.audience_view FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.source_view FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
  SELECT CASE WHEN current_user IN ('kproxy_research', 'odd "name"') THEN 'research' WHEN current_user IN ('kproxy_press') THEN 'press' ELSE '' END::pg_catalog.text
  SELECT CASE WHEN current_user IN ('kproxy_research', 'odd "name"') THEN 'kproxy_audience_research_' WHEN current_user IN ('kproxy_press') THEN 'kproxy_audience_press_' ELSE 'kproxy_release_' END::pg_catalog.text
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kproxy_catalog TO "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.description FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
  END IF;
  END IF;
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.described, kproxy_catalog.described_column, kproxy_catalog.described_key, kproxy_catalog.label TO "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA kproxy_catalog, kproxy TO "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.heartbeat TO "kproxy_reader", "kproxy_research", "kproxy_press";
REVOKE ALL PRIVILEGES ON TABLE kproxy_store.applied FROM PUBLIC, "kproxy_reader", "kproxy_research", "kproxy_press";
GRANT SELECT, REFERENCES ON TABLE kproxy_catalog.mark TO "kproxy_reader", "kproxy_research", "kproxy_press";
  END IF;
    EXECUTE pg_catalog.format('GRANT SELECT, REFERENCES ON TABLE %s TO ', s.stand_in) || '"kproxy_reader", "kproxy_research", "kproxy_press"';
  configured text[] := ARRAY['kproxy_reader_bi', 'kproxy_research', 'odd "name"', 'kproxy_press']::text[];
  firsts text[] := ARRAY['kproxy_reader', 'kproxy_research', 'kproxy_press']::text[];
    FROM kproxy_store.reader r WHERE (r.audience <> '' OR r.is_first) AND r.name = ANY (ARRAY['kproxy_reader_bi']::text[]);
  END IF;
      SELECT NULL AS name, NULL AS role
      UNION ALL SELECT 'research', 'kproxy_research'
      UNION ALL SELECT 'research', 'odd "name"'
      UNION ALL SELECT 'press', 'kproxy_press') AS a ON a.role = c.name
      SELECT NULL AS role, NULL AS prefix, NULL AS summaries
      UNION ALL SELECT 'kproxy_research', 'kproxy_audience_research_', 'classes_research_'
      UNION ALL SELECT 'kproxy_press', 'kproxy_audience_press_', 'classes_press_') AS h ON h.role <> r.rolname::text AND (pg_catalog.starts_with(n.nspname::text, h.prefix)
      UNION ALL SELECT 'kproxy_research', 'kproxy_audience_research_'
      UNION ALL SELECT 'kproxy_press', 'kproxy_audience_press_'
      UNION ALL SELECT 'kproxy_research', '^classes_research_'
      UNION ALL SELECT 'kproxy_press', '^classes_press_'
      AND NOT pg_catalog.starts_with(n.nspname::text, 'kproxy_audience_research_')
      AND NOT pg_catalog.starts_with(n.nspname::text, 'kproxy_audience_press_')
      AND (g.rolname, m.rolname) <> ('kproxy_reader', 'kproxy_reader_bi')
      AND (g.rolname, m.rolname) <> ('kproxy_research', 'odd "name"')
  END LOOP;
  END IF;
DECLARE
  END IF;
  END IF;
DO $kproxy$
BEGIN
  END IF;
END
$kproxy$;

