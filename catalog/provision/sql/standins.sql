-- Stand-ins for the system catalogs: the columns that the running server's
-- version has, in their order, behind a filter that a client's own conditions
-- cannot look past (security_barrier). Some columns have another type: a pseudo-type,
-- which a view cannot have (pg_attribute.attmissingval, a value of the table), is text.
-- So is regtype, and regproc is oid: they would print the name of any object whose
-- number a client writes beside them. oid is what joins and comparisons need.
DO $kproxy$
DECLARE
  s record;
  columns text;
  own text;
  body text;
BEGIN
  FOR s IN
    SELECT pg_catalog.to_regclass(v.source) AS source, v.stand_in, v.from_clause, v.filter, v.replacements::pg_catalog.jsonb AS replacements,
      v.is_last, NOT v.has_rows AS is_made,
      v.source ~ '^"?information_schema"?\.' AND v.from_clause = '' AS translated
    FROM (VALUES
{{- range $i, $s := .StandIns}}{{if $i}},{{end}}
      ({{literal $s.Of}}, {{literal $s.Name}}, {{literal $s.From}},
       {{literal $s.Filter}},
       {{literal $s.Replace}}, {{$s.Rows}}, {{$s.Last}})
{{- end}}
    ) AS v(source, stand_in, from_clause, filter, replacements, has_rows, is_last)
    WHERE pg_catalog.to_regclass(v.source) IS NOT NULL
  LOOP
    SELECT pg_catalog.string_agg(CASE
             WHEN s.replacements ? l.name THEN (s.replacements ->> l.name) || '::' || l.type
             WHEN s.is_made OR l.pseudo THEN 'NULL::' || l.type
             WHEN s.translated AND l.name ~ '^(.*_)?catalog(_name)?$' THEN
               pg_catalog.format('CASE WHEN %s IS NOT NULL THEN {{.CatalogSchema}}.database_name() END::%s', l.source, l.type)
             WHEN s.translated AND l.name ~ '_schema$' THEN
               pg_catalog.format('CASE WHEN pg_catalog.starts_with(%1$s::text, {{.CatalogSchema}}.release_prefix()) THEN pg_catalog.substr(%1$s::text, pg_catalog.length({{.CatalogSchema}}.release_prefix()) + 1) ELSE %1$s::text END::%2$s', l.source, l.type)
             -- Functions of users are not shown.
             WHEN l.own_type = 'regproc' THEN pg_catalog.format('CASE WHEN %1$s::pg_catalog.oid < 16384 THEN %1$s::pg_catalog.oid ELSE 0::pg_catalog.oid END', l.source)
             WHEN l.type <> l.own_type THEN l.source || '::' || l.type
             ELSE l.source END || ' AS ' || pg_catalog.quote_ident(l.name), ', ' ORDER BY l.number),
           pg_catalog.string_agg(pg_catalog.format('(%1$s IS NULL OR %1$s::text NOT IN (''{{.StoreSchema}}'', ''{{.CatalogSchema}}'')'
                 || ' AND (%1$s::text !~ ''^{{.ReleasePattern}}'' OR pg_catalog.starts_with(%1$s::text, {{.CatalogSchema}}.release_prefix())))', l.source)
               -- In the place of the stand-in for a readable relation, that is shown itself.
               || CASE WHEN l.name IN ('table_schema', 'object_schema')
                       THEN pg_catalog.format(' AND NOT {{.CatalogSchema}}.stands_in(%s::text, c.%I::text)', l.source, pg_catalog.replace(l.name, '_schema', '_name'))
                       ELSE '' END, ' AND ' ORDER BY l.number)
             FILTER (WHERE s.translated AND l.name ~ '_schema$')
      INTO columns, own
      FROM (
        SELECT a.attnum AS number, a.attname::text AS name, 'c.' || pg_catalog.quote_ident(a.attname) AS source,
          t.typtype = 'p' AS pseudo, pg_catalog.format_type(a.atttypid, a.atttypmod) AS own_type,
          CASE WHEN t.typtype = 'p' OR t.typname = '_regtype' THEN 'text[]' WHEN t.typname = 'regtype' THEN 'text' WHEN t.typname = 'regproc' THEN 'oid'
               ELSE pg_catalog.format_type(a.atttypid, a.atttypmod) END AS type
        FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
        WHERE a.attrelid = s.source AND a.attnum > 0 AND NOT a.attisdropped) AS l;
    body := pg_catalog.concat_ws(' UNION ALL ', body, pg_catalog.format('SELECT %s FROM %s WHERE %s', columns,
      CASE s.from_clause WHEN '' THEN s.source::text || ' AS c' ELSE s.from_clause END,
      pg_catalog.concat_ws(' AND ', '(' || coalesce(nullif(s.filter, ''), 'true') || ')', own)));
    CONTINUE WHEN NOT s.is_last;
    -- A view that is a union itself would be taken apart, barrier or not, and a client's
    -- conditions tried on rows before the filter.
    EXECUTE pg_catalog.format('CREATE VIEW %s WITH (security_barrier) AS SELECT * FROM (%s) AS c', s.stand_in, body);
    body := NULL;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM PUBLIC', s.stand_in);
    -- REFERENCES marks them: see visible().
    EXECUTE pg_catalog.format('GRANT SELECT, REFERENCES ON TABLE %s TO ', s.stand_in) || {{literal .Heads}};
  END LOOP;
END
$kproxy$;

RESET ROLE;
