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
  SELECT pg_catalog.array_agg(r.name) INTO known FROM {{.StoreSchema}}.reader r WHERE r.name NOT IN ({{literal .Owner}}, {{literal .Reader}});
  SELECT pg_catalog.array_agg(r.name) INTO former_firsts FROM {{.StoreSchema}}.reader r
    WHERE r.is_first AND r.name <> ALL (firsts || ARRAY[{{literal .Owner}}]);
  DELETE FROM {{.StoreSchema}}.reader r WHERE r.name <> ALL (configured);
  INSERT INTO {{.StoreSchema}}.reader AS r SELECT c.name, c.name = ANY (firsts) FROM pg_catalog.unnest(configured) AS c(name)
    ON CONFLICT ON CONSTRAINT reader_pkey DO UPDATE SET is_first = excluded.is_first WHERE r.is_first <> excluded.is_first;

  -- Who is the first role of an audience now reads what the one before did.
  FOR found IN
    SELECT DISTINCT a.privilege_type AS privilege, n.nspname AS schema, c.relname AS relation, h.role
    FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_roles o ON o.oid = c.relowner AND o.rolname = {{literal .Owner}}
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    JOIN pg_catalog.pg_roles r ON r.oid = a.grantee AND r.rolname::text = ANY (configured || known)
    JOIN (
      SELECT NULL AS role, NULL AS prefix
{{- range .Audiences}}
      UNION ALL SELECT {{literal .Head}}, {{literal .Prefix}}
{{- end}}) AS h ON pg_catalog.starts_with(n.nspname::text, h.prefix) AND h.role <> r.rolname::text
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
