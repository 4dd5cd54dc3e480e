-- What was readable before, and is not listed any more, is marked no more.
DO $kproxy$
DECLARE
  former pg_catalog.regclass;
BEGIN
  FOR former IN
    SELECT DISTINCT c.oid::pg_catalog.regclass FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS a
    WHERE a.grantee = pg_catalog.to_regrole({{literal (identifier .Reader)}}) AND a.privilege_type = 'REFERENCES'
      AND n.nspname NOT IN ({{literal .StoreSchema}}, {{literal .CatalogSchema}}) AND NOT pg_catalog.starts_with(n.nspname, {{literal .ReleasePrefix}})
      AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
{{- if .Readable}}
      AND (n.nspname::text, c.relname::text) NOT IN (VALUES
{{- range $i, $t := .Readable}}{{if $i}},{{end}}
        ({{literal $t.Schema}}, {{literal $t.Relation}}){{end}}
      )
{{- end}}
    ORDER BY 1
  LOOP
    EXECUTE pg_catalog.format('REVOKE REFERENCES ON TABLE %s FROM %I', former, {{literal .Reader}});
  END LOOP;
END
$kproxy$;
