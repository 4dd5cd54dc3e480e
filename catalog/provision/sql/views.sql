{{- if .Readable -}}
-- Relations that analysts may read beside the protected tables. kproxy shows them by views
-- of its own, in release schemas, with their ordinary columns alone: the system columns of
-- a row tell of the writes of others. The owner reads them, and what views among them read,
-- for that. Of the relations themselves clients' sessions have REFERENCES alone, with which
-- nothing can be read; by it the stand-ins for the system catalogs know them. A view over
-- protected tables is published from what the tables publish. Whatever else shows rows of protected tables is never granted: materialized views over
-- them, their partitions, what they inherit from and what inherits from them.
DO $kproxy$
DECLARE
  listed record;
  inner_relation record;
  reader text;
  audience record;
BEGIN
  FOR listed IN
    WITH RECURSIVE calls(oid, definer, reading) AS (
      -- Views that call what runs with other rights than the session's, or may read tables.
      SELECT r.ev_class, pg_catalog.bool_or(f.prosecdef), pg_catalog.bool_or(f.oid >= 16384 AND f.provolatile <> 'i' AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend e WHERE e.classid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND e.objid = f.oid
          AND e.refclassid = 'pg_catalog.pg_extension'::pg_catalog.regclass))
      FROM pg_catalog.pg_rewrite r
      JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
      LEFT JOIN pg_catalog.pg_operator o ON d.refclassid = 'pg_catalog.pg_operator'::pg_catalog.regclass AND o.oid = d.refobjid
      JOIN pg_catalog.pg_proc f ON f.oid = o.oprcode OR d.refclassid = 'pg_catalog.pg_proc'::pg_catalog.regclass AND f.oid = d.refobjid
      WHERE r.ev_type = '1'
      GROUP BY r.ev_class
    ), reading(oid) AS (
      SELECT calls.oid FROM calls WHERE calls.reading
      UNION
      SELECT r.ev_class FROM reading
      JOIN pg_catalog.pg_depend d ON d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid = reading.oid
        AND d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      JOIN pg_catalog.pg_rewrite r ON r.oid = d.objid AND r.ev_type = '1'
    ), computed(oid) AS (
      -- What fills a materialized view, also in views under it, ran with its owner's rights.
      SELECT calls.oid FROM calls WHERE calls.definer
      UNION
      SELECT v.oid FROM reading JOIN pg_catalog.pg_class v ON v.oid = reading.oid AND v.relkind = 'm'
    ), shows(oid, how) AS (
{{- if .Protected}}
      SELECT p.protected::pg_catalog.oid, 'protected' FROM (VALUES
{{- range $i, $t := .Protected}}{{if $i}},{{end}}
        ({{literal $t.SQL}}::pg_catalog.regclass){{end}}
      ) AS p(protected)
{{- else}}
      SELECT NULL::pg_catalog.oid, 'protected' WHERE false
{{- end}}
      UNION
      SELECT computed.oid, 'computed' FROM computed
      UNION
      -- Partitions of a protected table, its parents, and what views read.
      SELECT e.target, CASE s.how WHEN 'computed' THEN s.how ELSE e.how END FROM shows s JOIN (
        SELECT i.inhparent, i.inhrelid, 'child' FROM pg_catalog.pg_inherits i
        UNION ALL
        SELECT i.inhrelid, i.inhparent, 'parent' FROM pg_catalog.pg_inherits i
        UNION ALL
        SELECT d.refobjid, r.ev_class, 'view' FROM pg_catalog.pg_rewrite r
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
          AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
        WHERE r.ev_type = '1'
      ) AS e(source, target, how) ON e.source = s.oid AND (e.how = 'view' OR s.how IN ('protected', e.how))
    )
    SELECT l.written, c.oid, c.oid::pg_catalog.regclass AS name, c.relkind AS kind,
           n.nspname AS schema,
           c.oid IS NOT NULL AND c.oid IN (SELECT shows.oid FROM shows) AS shows,
           c.oid IS NOT NULL AND c.relkind = 'v' AND c.oid IN (SELECT shows.oid FROM shows WHERE shows.how <> 'computed') AS derived
    FROM (VALUES
{{- range $i, $t := .Readable}}{{if $i}},{{end}}
      ({{literal $t.String}}, pg_catalog.to_regclass({{literal $t.SQL}})){{end}}
    ) AS l(written, readable)
    LEFT JOIN pg_catalog.pg_class c ON c.oid = l.readable AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    LEFT JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    ORDER BY derived DESC, c.oid, l.written
  LOOP
    IF listed.oid IS NULL THEN
{{- if .Source}}
      RAISE WARNING 'readable %: there is no such relation, and nothing is granted', listed.written
        USING HINT = 'Correct its name, or take it off readable, and run this again.';
{{- else}}
      RAISE NOTICE 'readable %: a view of the source, of which nothing is granted here; or there is none of that name, as kproxy check says then', listed.written;
{{- end}}
      CONTINUE;
    END IF;
    IF listed.shows AND NOT listed.derived THEN
      FOREACH reader IN ARRAY ARRAY[{{range $i, $r := .HeadNames}}{{if $i}}, {{end}}{{literal $r}}{{end}}] LOOP
        IF pg_catalog.has_any_column_privilege(reader, listed.oid, 'SELECT, INSERT, UPDATE, REFERENCES')
           OR pg_catalog.has_table_privilege(reader, listed.oid, 'DELETE, TRUNCATE, TRIGGER') THEN
          EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I', listed.name, reader);
        END IF;
      END LOOP;
      RAISE WARNING 'readable %: it shows rows of protected tables as they are, and is not granted', listed.written
        USING HINT = CASE listed.kind
          WHEN 'm' THEN 'Write it as a view, which is published from what the tables publish, or take it off readable.'
          WHEN 'v' THEN 'It calls a function that runs with other rights than the session''s: write it without, or take it off readable.'
          ELSE 'Take it off readable: analysts read the protected table.' END;
      CONTINUE;
    END IF;
    -- Each audience has stand-ins, and forms of views over protected tables, of its own.
    FOR audience IN
      SELECT a.reader, a.prefix || listed.schema AS release FROM (VALUES
        ({{literal .Reader}}, {{literal .ReleasePrefix}})
{{- range .Audiences}},
        ({{literal .Head}}, {{literal .Prefix}})
{{- end}}
      ) AS a(reader, prefix)
    LOOP
      IF NOT pg_catalog.has_schema_privilege(audience.reader, listed.schema, 'USAGE') THEN
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', listed.schema, audience.reader);
      END IF;
      IF pg_catalog.octet_length(audience.release) > 63 THEN
        RAISE EXCEPTION 'the schema of %: the name of its release schema is longer than 63 bytes', listed.name;
      END IF;
      IF pg_catalog.to_regnamespace(pg_catalog.quote_ident(audience.release)) IS NULL THEN
        EXECUTE pg_catalog.format('CREATE SCHEMA %I AUTHORIZATION %I', audience.release, {{literal .Owner}});
      END IF;
      EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', audience.release, audience.reader);
    END LOOP;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM {{range $i, $r := .Readers}}{{if $i}}, {{end}}%I{{end}}', listed.name{{range .Readers}}, {{literal .}}{{end}});
    IF listed.derived THEN
      CONTINUE;
    END IF;
    EXECUTE pg_catalog.format('GRANT REFERENCES ON TABLE %s TO ', listed.name) || {{literal .Heads}};
    FOR inner_relation IN
      WITH RECURSIVE under(oid) AS (
        SELECT listed.oid
        UNION
        SELECT d.refobjid FROM under u
        JOIN pg_catalog.pg_rewrite r ON r.ev_class = u.oid AND r.ev_type = '1'
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = r.oid
          AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass AND d.refobjid <> r.ev_class
      )
      SELECT c.oid::pg_catalog.regclass AS name, n.nspname AS schema FROM under u
      JOIN pg_catalog.pg_class c ON c.oid = u.oid AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE NOT pg_catalog.has_schema_privilege({{literal .Owner}}, n.oid, 'USAGE') OR NOT pg_catalog.has_table_privilege({{literal .Owner}}, c.oid, 'SELECT')
      ORDER BY c.oid
    LOOP
      EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', inner_relation.schema, {{literal .Owner}});
      EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', inner_relation.name, {{literal .Owner}});
    END LOOP;
  END LOOP;
END
$kproxy$;
{{- end}}
