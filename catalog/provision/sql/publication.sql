-- Once a table is published, PostgreSQL refuses to UPDATE and DELETE its rows where
-- it could not say which row changed. So such tables are not published.
DO $kproxy$
DECLARE
  refused text;
BEGIN
  SELECT pg_catalog.string_agg(pg_catalog.format('ALTER TABLE %I.%I REPLICA IDENTITY ...', n.nspname, c.relname), '; ' ORDER BY n.nspname, c.relname)
    INTO refused
    FROM (VALUES
{{- range $i, $t := .Protected}}{{if $i}},{{end}}
      ({{literal $t.SQL}}::pg_catalog.regclass){{end}}
    ) AS p(protected)
    CROSS JOIN LATERAL (
      SELECT p.protected::pg_catalog.oid UNION
      SELECT t.relid::pg_catalog.oid FROM pg_catalog.pg_partition_tree(p.protected) t) AS l(oid)
    JOIN pg_catalog.pg_class c ON c.oid = l.oid AND c.relkind = 'r'
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    -- The index that identifies rows; PostgreSQL takes no deferrable one for it.
    LEFT JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisvalid AND i.indimmediate
      AND CASE c.relreplident WHEN 'd' THEN i.indisprimary WHEN 'i' THEN i.indisreplident ELSE false END
    WHERE c.relreplident <> 'f' AND i.indexrelid IS NULL
       -- From PostgreSQL 18 on, neither by a generated column that is not published.
       OR pg_catalog.current_setting('server_version_num')::integer >= 180000 AND EXISTS (
            SELECT FROM pg_catalog.pg_attribute a
            WHERE a.attrelid = c.oid AND a.attgenerated <> '' AND NOT a.attisdropped
              AND (c.relreplident = 'f' OR a.attnum = ANY (i.indkey::smallint[]))
              AND NOT (a.attgenerated = 's' AND EXISTS (SELECT FROM pg_catalog.pg_publication b
                WHERE b.pubname = {{literal .Publication}} AND pg_catalog.to_jsonb(b) ->> 'pubgencols' = 's')));
  IF refused IS NOT NULL THEN
    RAISE EXCEPTION 'publishing these tables would make UPDATE and DELETE of their rows fail: they have no usable replica identity'
      USING HINT = 'Give each a primary key and REPLICA IDENTITY DEFAULT, or REPLICA IDENTITY USING INDEX or FULL: ' || refused;
  END IF;
END
$kproxy$;

-- What the owner receives of the write-ahead log. Partitions are published by their
-- own names: else TRUNCATE of one would be left out, and nobody could tell in which
-- of them a row lies, so that DETACH and DROP could not be followed. (ONLY leaves
-- out tables that inherit; partitions come along all the same.)
{{- if not .Release}}
-- From PostgreSQL 15 on, only the columns that the policy needs leave this database, and those that
-- tell rows apart. PostgreSQL allows no list for partitioned tables, nor where whole rows identify.
{{- end}}
DO $kproxy$
DECLARE
  tables text;
BEGIN
{{- if .Release}}
  tables := pg_catalog.concat_ws(', '
{{- range .Protected}},
    {{literal (printf "ONLY %s" .SQL)}}{{end}});
{{- else}}
  SELECT pg_catalog.string_agg(pg_catalog.format('ONLY %I.%I', n.nspname, c.relname) || coalesce(sent.columns, ''), ', ' ORDER BY n.nspname, c.relname)
    INTO tables
    FROM (VALUES
{{- range $i, $t := .Sent}}{{if $i}},{{end}}
      ({{literal $t.Table.SQL}}::pg_catalog.regclass, ARRAY[{{range $j, $c := $t.Columns}}{{if $j}}, {{end}}{{literal $c}}{{end}}]::text[]){{end}}
    ) AS p(protected, needed)
    JOIN pg_catalog.pg_class c ON c.oid = p.protected
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    CROSS JOIN LATERAL (
      SELECT ' (' || pg_catalog.string_agg(pg_catalog.quote_ident(a.attname), ', ' ORDER BY a.attnum) || ')' AS columns
      FROM pg_catalog.pg_attribute a
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
        AND c.relkind = 'r' AND c.relreplident IN ('d', 'i') AND pg_catalog.current_setting('server_version_num')::integer >= 150000
        AND (a.attname::text = ANY (p.needed) OR EXISTS (
          SELECT FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid AND a.attnum = ANY (i.indkey::smallint[])
            AND CASE c.relreplident WHEN 'd' THEN i.indisprimary ELSE i.indisreplident END))) AS sent;
{{- end}}
  IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = {{literal .Publication}}) THEN
    EXECUTE pg_catalog.format('ALTER PUBLICATION %I SET TABLE ', {{literal .Publication}}) || tables;
    -- A publication that changes has kproxy compare its tables with their sources.
    IF EXISTS (SELECT FROM pg_catalog.pg_publication WHERE pubname = {{literal .Publication}}
      AND NOT (pubinsert AND pubupdate AND pubdelete AND pubtruncate AND NOT pubviaroot)) THEN
      ALTER PUBLICATION {{identifier .Publication}} SET (publish = 'insert, update, delete, truncate', publish_via_partition_root = false);
    END IF;
  ELSE
    EXECUTE pg_catalog.format('CREATE PUBLICATION %I FOR TABLE ', {{literal .Publication}}) || tables
      || ' WITH (publish = ''insert, update, delete, truncate'', publish_via_partition_root = false)';
  END IF;
  -- Whose it is. A comment of somebody else stays.
  IF (SELECT d.text IS NULL OR pg_catalog.starts_with(d.text, '{{.MarkPrefix}}{')
      FROM pg_catalog.pg_publication p CROSS JOIN LATERAL (SELECT pg_catalog.obj_description(p.oid, 'pg_publication')) AS d(text)
      WHERE p.pubname = {{literal .Publication}}) THEN
    COMMENT ON PUBLICATION {{identifier .Publication}} IS {{literal .Mark}};
  END IF;
END
$kproxy$;
