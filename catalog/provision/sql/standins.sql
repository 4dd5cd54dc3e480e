-- Stand-ins for the system catalogs: the columns that the running server's
-- version has, in their order, behind a filter that a client's own conditions
-- cannot look past (security_barrier). A column of a pseudo-type, which a view
-- cannot have, is NULL: it is pg_attribute.attmissingval, a value of the table.
DO $kproxy$
DECLARE
  s record;
  columns text;
BEGIN
  FOR s IN
    SELECT c.oid::pg_catalog.regclass AS name FROM pg_catalog.pg_class c
    WHERE c.relkind = 'v' AND c.relnamespace = '{{.CatalogSchema}}'::pg_catalog.regnamespace
  LOOP
    EXECUTE 'DROP VIEW ' || s.name::text;
  END LOOP;

  FOR s IN
    SELECT v.source::pg_catalog.regclass AS source, v.stand_in, v.filter, v.replacements::pg_catalog.jsonb AS replacements
    FROM (VALUES
{{- range $i, $s := .StandIns}}{{if $i}},{{end}}
      ({{literal $s.Of}}, {{literal $s.Name}},
       {{literal $s.Filter}},
       {{literal $s.Replace}})
{{- end}}
    ) AS v(source, stand_in, filter, replacements)
  LOOP
    SELECT pg_catalog.string_agg(
             CASE WHEN s.replacements ? a.attname::text THEN s.replacements ->> a.attname::text
                  WHEN t.typtype = 'p' THEN 'NULL::pg_catalog.text[]'
                  ELSE 'c.' || pg_catalog.quote_ident(a.attname) END ||
             ' AS ' || pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum)
      INTO columns
      FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
      WHERE a.attrelid = s.source AND a.attnum > 0 AND NOT a.attisdropped;
    EXECUTE pg_catalog.format('CREATE VIEW %s WITH (security_barrier) AS SELECT %s FROM %s AS c WHERE %s',
      s.stand_in, columns, s.source, s.filter);
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM PUBLIC', s.stand_in);
    EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', s.stand_in, {{literal .Reader}});
  END LOOP;
END
$kproxy$;

RESET ROLE;
