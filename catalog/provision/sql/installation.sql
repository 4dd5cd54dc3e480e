{{define "tables"}}ARRAY[{{range $i, $t := .Named}}{{if $i}}, {{end}}pg_catalog.format('%I.%I', {{literal $t.Schema}}, {{literal $t.Relation}}){{end}}]::text[]{{end}}{{define "readers"}}ARRAY[{{range $i, $r := .Readers}}{{if $i}}, {{end}}{{literal $r}}{{end}}]::text[]{{end -}}
-- The store is that of one configuration, which may change: where it was set up from, or where its
-- policy was accepted from, or as far as it takes nothing away. Another one would take its roles,
-- publication and slot away from it.
DO $kproxy$
DECLARE
  kept text;
  found record;
BEGIN
  SET ROLE {{identifier .Owner}};
  IF pg_catalog.to_regclass('{{.StoreSchema}}.policy') IS NOT NULL THEN
    kept := {{literal .Noted}};
    IF pg_catalog.to_regclass('{{.StoreSchema}}.installation') IS NULL THEN
      -- An earlier version made it.
      kept := {{literal .Shown}};
    END IF;
    EXECUTE 'WITH kept AS (' || kept || ') ' || $elsewhere$
{{.Elsewhere}}$elsewhere$
      INTO found USING {{literal .Place}}, {{literal .Fingerprint}}, {{literal .Slot}}, {{literal .Publication}}, {{template "tables" .}}, {{template "readers" .}};
  ELSE
    SELECT NULL::text AS place, NULL::text AS differs, NULL::text AS lacking INTO found;
  END IF;
  RESET ROLE;
  IF found.differs IS NOT NULL THEN
    RAISE EXCEPTION 'database % has the store of another configuration, which was set up from %: that one %', pg_catalog.current_database(), found.place, found.differs
      USING ERRCODE = 'object_in_use', HINT = {{literal .Beside}};
  ELSIF found.lacking IS NOT NULL THEN
    RAISE EXCEPTION 'database % was set up from %: this configuration, from %, lacks its %', pg_catalog.current_database(), found.place, {{literal .Place}}, found.lacking
      USING ERRCODE = 'object_in_use', HINT = {{literal .Beside}} || ' ' || {{literal .InForceFirst}};
  ELSIF found.place IS NOT NULL THEN
    RAISE WARNING 'database % was set up from % before, and is the one of % from now on', pg_catalog.current_database(), found.place, {{literal .Place}}
      USING HINT = 'If both files are in use, keep one: what one of them takes away later, the other has to accept first.';
  END IF;
END
$kproxy$;
