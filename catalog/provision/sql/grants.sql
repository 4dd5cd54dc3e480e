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
    WHERE r.rolname::text = ANY (ARRAY[{{range $i, $r := .HeadNames}}{{if $i}}, {{end}}{{literal $r}}{{end}}]) AND a.privilege_type = 'REFERENCES'
      AND n.nspname NOT IN ({{literal .StoreSchema}}, {{literal .CatalogSchema}}) AND n.nspname::text !~ {{literal (printf "^%s" .ReleasePattern)}}
      AND pg_catalog.pg_has_role(c.relowner, 'USAGE')
{{- if .Readable}}
      AND (n.nspname::text, c.relname::text) NOT IN (VALUES
{{- range $i, $t := .Readable}}{{if $i}},{{end}}
        ({{literal $t.Schema}}, {{literal $t.Relation}}){{end}}
      )
{{- end}}
    ORDER BY 1, 2
  LOOP
    EXECUTE pg_catalog.format('REVOKE REFERENCES ON TABLE %s FROM %I', former, reader);
  END LOOP;
END
$kproxy$;
