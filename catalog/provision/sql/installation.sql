{{define "tables"}}ARRAY[{{range $i, $t := .Named}}{{if $i}}, {{end}}pg_catalog.format('%I.%I', {{literal $t.Schema}}, {{literal $t.Relation}}){{end}}]::text[]{{end}}{{define "readers"}}ARRAY[{{range $i, $r := .Readers}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[]{{end -}}
-- The store is that of one configuration, which may change: where it was set up from, or where its
-- policy was accepted from, or as far as it takes nothing away. Another one would take its roles,
-- publication and slot away from it.
DO $kproxy$
DECLARE
  kept record;
  accepted boolean := false;
  lacking text;
BEGIN
  SET ROLE {{identifier .Owner}};
  SELECT NULL::text AS place, NULL::text AS slot, NULL::text AS publication, NULL::text[] AS tables, NULL::text[] AS readers INTO kept;
  IF pg_catalog.to_regclass('{{.StoreSchema}}.installation') IS NOT NULL THEN
    SELECT i.place, i.slot, i.publication, i.tables, i.readers INTO kept FROM {{.StoreSchema}}.installation i;
  ELSIF pg_catalog.to_regclass('{{.StoreSchema}}.policy') IS NOT NULL THEN
    -- An earlier version made it.
    SELECT pg_catalog.max(p.place) AS place, (SELECT pg_catalog.max(s.slot) FROM {{.StoreSchema}}.position s) AS slot, NULL AS publication,
      (SELECT pg_catalog.array_agg(pg_catalog.format('%I.%I', t.of -> 'Table' ->> 'Schema', t.of -> 'Table' ->> 'Relation'))
       FROM {{.StoreSchema}}.policy l CROSS JOIN LATERAL pg_catalog.jsonb_array_elements(l.policy -> 'Tables') AS t(of)
       WHERE l.number = (SELECT pg_catalog.max(o.number) FROM {{.StoreSchema}}.policy o)) AS tables,
      (SELECT pg_catalog.array_agg(r.name) FROM {{.StoreSchema}}.reader r) AS readers
      INTO kept FROM {{.StoreSchema}}.policy p WHERE p.number = (SELECT pg_catalog.max(l.number) FROM {{.StoreSchema}}.policy l);
  END IF;
  IF kept.place <> {{literal .Place}} AND pg_catalog.to_regclass('{{.StoreSchema}}.policy') IS NOT NULL THEN
    SELECT p.place = {{literal .Place}} OR p.fingerprint = {{literal .Fingerprint}} INTO accepted FROM {{.StoreSchema}}.policy p ORDER BY p.number DESC LIMIT 1;
    IF accepted IS NOT TRUE THEN
      SELECT pg_catalog.string_agg(l.what, ', ') INTO lacking FROM (
        SELECT 'replication slot ' || kept.slot AS what WHERE kept.slot <> {{literal .Slot}}
        UNION ALL
        SELECT 'publication ' || pg_catalog.quote_ident(kept.publication) WHERE kept.publication <> {{literal .Publication}}
        UNION ALL
        SELECT 'table ' || t.name FROM pg_catalog.unnest(kept.tables) AS t(name)
        WHERE t.name <> ALL ({{template "tables" .}})
        UNION ALL
        SELECT 'reader role ' || pg_catalog.quote_ident(r.name) FROM pg_catalog.unnest(kept.readers) AS r(name)
        WHERE r.name <> ALL ({{template "readers" .}})) AS l;
    END IF;
  END IF;
  RESET ROLE;
  IF lacking IS NOT NULL THEN
    RAISE EXCEPTION 'database % has the store of another configuration, which was set up from %: this one, from %, does without its %', pg_catalog.current_database(), kept.place, {{literal .Place}}, lacking
      USING ERRCODE = 'object_in_use', HINT = {{literal .Beside}} || ' If this is the same configuration, without these: run ''kproxy reload'' or ''kproxy accept'' first, which put it in force.';
  END IF;
END
$kproxy$;
