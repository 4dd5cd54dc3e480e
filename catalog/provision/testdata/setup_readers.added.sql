--   \password "kproxy_bi"
--   \password "odd ""name"""
    ('kproxy_reader'),
    ('kproxy_bi'),
    ('odd "name"')
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_bi') THEN
    CREATE ROLE "kproxy_bi" LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'kproxy_bi' AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE "kproxy_bi" LOGIN INHERIT;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'odd "name"') THEN
    CREATE ROLE "odd ""name""" LOGIN INHERIT;
  ELSIF EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'odd "name"' AND NOT (rolinherit AND rolcanlogin)) THEN
    ALTER ROLE "odd ""name""" LOGIN INHERIT;
-- Further reader roles have the rights of the first one as its members, and none of their own. From PostgreSQL 16 on they do not even become it.
  further record;
  manner text := CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 160000
    THEN 'WITH INHERIT TRUE, SET FALSE' ELSE '' END;
  FOR further IN SELECT m.reader, m.role FROM (VALUES
    ('kproxy_reader', 'kproxy_bi'),
    ('kproxy_reader', 'odd "name"')) AS m(reader, role) LOOP
    EXECUTE pg_catalog.format('GRANT %I TO %I %s', further.reader, further.role, manner);
ALTER ROLE "kproxy_bi" SET default_transaction_read_only = on;
ALTER ROLE "odd ""name""" SET default_transaction_read_only = on;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'kproxy_bi' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "kproxy_bi" SET jit = off;
  IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles r CROSS JOIN LATERAL pg_catalog.unnest(r.rolconfig) AS s(setting)
                 WHERE r.rolname = 'odd "name"' AND pg_catalog.starts_with(s.setting, 'jit=')) THEN
    ALTER ROLE "odd ""name""" SET jit = off;
      INTO found USING '', '', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader', 'kproxy_bi', 'odd "name"']::text[];
REVOKE ALL PRIVILEGES ON TABLE "public"."patients" FROM "kproxy_reader", "kproxy_bi", "odd ""name""";
REVOKE ALL PRIVILEGES ON TABLE "Ward ""B"""."Patients" FROM "kproxy_reader", "kproxy_bi", "odd ""name""";
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I, %I, %I', listed.name, 'kproxy_reader', 'kproxy_bi', 'odd "name"');
  VALUES ('', 'kproxy', 'kproxy', ARRAY[pg_catalog.format('%I.%I', 'public', 'patients'), pg_catalog.format('%I.%I', 'Ward "B"', 'Patients')]::text[], ARRAY['kproxy_reader', 'kproxy_bi', 'odd "name"']::text[])
  configured text[] := ARRAY['kproxy_bi', 'odd "name"']::text[];
    FROM kproxy_store.reader r WHERE (r.audience <> '' OR r.is_first) AND r.name = ANY (ARRAY['kproxy_bi', 'odd "name"']::text[]);
      AND (g.rolname, m.rolname) <> ('kproxy_reader', 'kproxy_bi')
      AND (g.rolname, m.rolname) <> ('kproxy_reader', 'odd "name"')
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

