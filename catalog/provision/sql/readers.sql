-- Reader roles of an earlier set-up that are no more configured neither log in nor read. They
-- are not dropped: they may have got other parts since. One that belongs to another audience now,
-- or is not the first of its audience any more, loses what it had.
DO $kproxy$
DECLARE
  configured text[] := ARRAY[{{range $i, $r := .Further}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[];
  firsts text[] := ARRAY[{{range $i, $r := .HeadNames}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[];
  known text[];
  former_firsts text[];
  name text;
  found record;
BEGIN
  SET ROLE {{identifier .Owner}};

  -- Who was of an audience does not come to the finest release because the audience is gone.
  SELECT pg_catalog.string_agg(pg_catalog.quote_ident(r.name) || coalesce(' of audience ' || nullif(r.audience, ''), ''), ', ' ORDER BY r.name) AS roles INTO found
    FROM {{.StoreSchema}}.reader r WHERE (r.audience <> '' OR r.is_first) AND r.name = ANY (ARRAY[{{range $i, $r := .Undecided}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[]);
  IF found.roles IS NOT NULL THEN
    RAISE EXCEPTION 'reader roles that belonged to an audience are in none now, and would read the finest release: %', found.roles
      USING ERRCODE = 'object_not_in_prerequisite_state', HINT = {{literal .Undecidedly}};
  END IF;
  SELECT pg_catalog.array_agg(r.name) INTO known FROM {{.StoreSchema}}.reader r WHERE r.name NOT IN ({{literal .Owner}}, {{literal .Reader}});
  SELECT pg_catalog.array_agg(r.name) INTO former_firsts FROM {{.StoreSchema}}.reader r
    WHERE r.is_first AND r.name <> ALL (firsts || ARRAY[{{literal .Owner}}]);
  DELETE FROM {{.StoreSchema}}.reader r WHERE r.name <> ALL (configured);
  INSERT INTO {{.StoreSchema}}.reader AS r (name, is_first, audience)
    SELECT c.name, c.name = ANY (firsts), coalesce(a.name, '') FROM pg_catalog.unnest(configured) AS c(name)
    LEFT JOIN (
      SELECT NULL AS name, NULL AS role
{{- range $a := .Audiences}}{{range .Roles}}
      UNION ALL SELECT {{literal $a.Name}}, {{literal .}}
{{- end}}{{end}}) AS a ON a.role = c.name
    ON CONFLICT ON CONSTRAINT reader_pkey DO UPDATE SET is_first = excluded.is_first, audience = excluded.audience
    WHERE (r.is_first, r.audience) <> (excluded.is_first, excluded.audience);

  -- Who is the first role of an audience now reads what the one before did.
  FOR found IN
    SELECT DISTINCT a.privilege_type AS privilege, n.nspname AS schema, c.relname AS relation, h.role
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_roles o ON o.oid = c.relowner AND o.rolname = {{literal .Owner}}
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee AND r.rolname::text = ANY (configured || known)
    JOIN (
      SELECT NULL AS role, NULL AS prefix, NULL AS summaries
{{- range .Audiences}}
      UNION ALL SELECT {{literal .Head}}, {{literal .Prefix}}, {{literal .Summaries}}
{{- end}}) AS h ON h.role <> r.rolname::text AND (pg_catalog.starts_with(n.nspname::text, h.prefix)
        OR n.nspname = '{{.CatalogSchema}}' AND pg_catalog.starts_with(c.relname::text, h.summaries))
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
      SELECT {{literal .Reader}} AS role, {{literal .ReleasePrefix}} AS prefix
{{- range .Audiences}}
      UNION ALL SELECT {{literal .Head}}, {{literal .Prefix}}
{{- end}}
      UNION ALL SELECT f.role, NULL FROM pg_catalog.unnest(former_firsts) AS f(role)) AS h
    JOIN pg_catalog.pg_roles r ON r.rolname = h.role::pg_catalog.name
    WHERE o.rolname = {{literal .Owner}} AND (h.prefix IS NULL
      OR n.nspname::text ~ {{literal (printf "^%s" .ReleasePattern)}} AND NOT pg_catalog.starts_with(n.nspname::text, h.prefix))
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
      SELECT {{literal .Reader}} AS role, '^{{.ClassesPrefix}}[0-9a-f]+$' AS own
{{- range .Audiences}}
      UNION ALL SELECT {{literal .Head}}, {{literal (printf "^%s" .Summaries)}}
{{- end}}
      UNION ALL SELECT f.role, NULL FROM pg_catalog.unnest(former_firsts) AS f(role)) AS h ON h.role = r.rolname::text
    WHERE o.rolname = {{literal .Owner}} AND c.relnamespace = '{{.CatalogSchema}}'::pg_catalog.regnamespace AND c.relkind = 'v'
      AND c.relname ~ '^{{.ClassesPrefix}}' AND (h.own IS NULL OR c.relname !~ h.own)
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE {{.CatalogSchema}}.%I FROM %I', found.relation, found.role);
  END LOOP;
  RESET ROLE;

  -- What is empty and was an audience's that neither this configuration nor the policy in force has. Views
  -- for what is readable are made again for those that need them.
  SET ROLE {{identifier .Owner}};
  FOR found IN
    SELECT n.oid, n.nspname AS schema FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles o ON o.oid = n.nspowner
    WHERE o.rolname = {{literal .Owner}} AND n.nspname::text ~ {{literal (printf "^%s" .ReleasePattern)}} AND NOT pg_catalog.starts_with(n.nspname::text, {{literal .ReleasePrefix}})
{{- range .Audiences}}
      AND NOT pg_catalog.starts_with(n.nspname::text, {{literal .Prefix}})
{{- end}}
      AND NOT EXISTS (SELECT FROM {{.StoreSchema}}.policy p CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(nullif(p.policy -> 'Audiences', 'null')) AS a(of)
        WHERE p.number = (SELECT pg_catalog.max(l.number) FROM {{.StoreSchema}}.policy l)
          AND pg_catalog.starts_with(n.nspname::text, pg_catalog.format({{literal .AudienceFormat}}, a.of ->> 'Name')))
    ORDER BY 2
  LOOP
    FOR name IN SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_roles o ON o.oid = c.relowner
      WHERE c.relnamespace = found.oid AND c.relkind = 'v' AND o.rolname = {{literal .Owner}} ORDER BY 1 LOOP
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
    WHERE g.rolname::text = ANY (firsts || configured || known || ARRAY[{{literal .Reader}}])
      AND m.rolname::text = ANY (firsts || configured || known || ARRAY[{{literal .Reader}}])
{{- range .Members}}
      AND (g.rolname, m.rolname) <> ({{literal .Head}}, {{literal .Role}})
{{- end}}
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE %I FROM %I', found.role, found.member);
  END LOOP;
  FOR name IN SELECT r.rolname FROM pg_catalog.pg_roles r WHERE r.rolname::text = ANY (known) AND r.rolname::text <> ALL (configured) AND r.rolcanlogin ORDER BY 1 LOOP
    EXECUTE pg_catalog.format('ALTER ROLE %I NOLOGIN', name);
  END LOOP;
END
$kproxy$;
