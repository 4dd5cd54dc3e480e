-- Roles, slots and publications have names that others of the server, or of the database, may have
-- taken: another kproxy above all, which would stop if they were changed. Nothing is taken over.
DO $kproxy$
DECLARE
  taken record;
BEGIN
  -- A role that has rights in another database, itself or as a member, and none here.
  WITH RECURSIVE configured(name) AS (VALUES
{{- range $i, $r := .Roles}}{{if $i}},{{end}}
    ({{literal $r}})
{{- end}}
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
    WHERE u.database NOT IN (pg_catalog.current_database(){{range .Besides}}, {{literal .}}{{end}})
{{- if .Release}}
      AND NOT (EXISTS (SELECT FROM used here WHERE here.name = u.name AND here.database = pg_catalog.current_database())
        AND pg_catalog.to_regnamespace('{{.StoreSchema}}') IS NOT NULL)
{{- else}}
      AND NOT EXISTS (SELECT FROM used here WHERE here.name = u.name AND here.database = pg_catalog.current_database())
{{- end}}
    GROUP BY u.name ORDER BY u.name LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'role % has rights in database % of this server, and this configuration would change what it may do there', pg_catalog.quote_ident(taken.name), taken.databases
      USING ERRCODE = 'object_in_use', HINT = 'Leave it as it is, and give this configuration roles of its own (upstream.owner, upstream.reader, upstream.readers, source): setup creates them.';
  END IF;

  -- The store of another owner.
  SELECT r.rolname::text AS owner INTO taken FROM pg_catalog.pg_namespace n JOIN pg_catalog.pg_roles r ON r.oid = n.nspowner
    WHERE n.nspname = '{{.StoreSchema}}' AND {{if .Release}}r.rolname <> {{literal .Owner}}{{else}}r.rolname = {{literal .Owner}}{{end}};
  IF FOUND THEN
    RAISE EXCEPTION 'database % has the store of another configuration, whose owner is role %', pg_catalog.current_database(), pg_catalog.quote_ident(taken.owner)
      USING ERRCODE = 'object_in_use', HINT = {{if .Release}}{{literal .Beside}}{{else}}'Leave it as it is, and give source another user: setup creates it.'{{end}};
  END IF;
{{- if .Source}}

  -- A slot of another database, or of something else.
  SELECT s.slot_name::text AS name, s.plugin::text AS plugin, coalesce(s.database::text, 'none') AS database INTO taken FROM pg_catalog.pg_replication_slots s
    WHERE s.slot_name = {{literal .Slot}}::pg_catalog.name AND (s.database IS DISTINCT FROM pg_catalog.current_database() OR s.plugin IS DISTINCT FROM 'pgoutput');
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
    CROSS JOIN LATERAL (SELECT CASE WHEN pg_catalog.starts_with(d.text, '{{.MarkPrefix}}{') THEN pg_catalog.substr(d.text, {{len .MarkPrefix}} + 1)::pg_catalog.jsonb END) AS m(mark)
    WHERE m.mark IS NOT NULL
{{- if not .Release}}
    UNION ALL
    SELECT p.pubname::text, {{literal .Slot}}, '', 'this database' FROM pg_catalog.pg_publication p
    WHERE p.pubname = {{literal .Publication}}::pg_catalog.name AND pg_catalog.obj_description(p.oid, 'pg_publication') IS NULL AND pg_catalog.to_regnamespace('{{.StoreSchema}}') IS NOT NULL
{{- end}}
  )
  SELECT m.publication, m.slot, m.place INTO taken FROM marked m
    WHERE (m.publication = {{literal .Publication}} OR m.slot = {{literal .Slot}}) AND m.place <> {{literal .Place}}
      AND (m.publication, m.slot, m.release) <> ({{literal .Publication}}, {{literal .Slot}}, {{literal .ReleaseDatabase}})
    ORDER BY 1 LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'publication % and replication slot % are of another configuration, which was set up from %', pg_catalog.quote_ident(taken.publication), taken.slot, taken.place
      USING ERRCODE = 'object_in_use', HINT = 'Leave them as they are, and name others in this configuration (publication, slot).';
  END IF;
{{- end}}
END
$kproxy$;
