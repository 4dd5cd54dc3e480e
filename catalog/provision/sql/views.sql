{{- if .Readable -}}
-- Relations that analysts may read beside the protected tables. An unprotected one is
-- granted as it is. A view over protected tables is not: kproxy publishes it in a schema
-- of its own, from what the tables publish. For that, the owner names the other relations,
-- and before PostgreSQL 15, where views read with their owner's rights, reads them.
{{- range .ReadableSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Reader}};
{{- end}}
DO $kproxy$
DECLARE
  listed record;
  views boolean := false;
BEGIN
  FOR listed IN
    WITH RECURSIVE shows(oid, how) AS (
      SELECT p.protected::pg_catalog.oid, 'protected' FROM (VALUES
{{- range $i, $t := .Protected}}{{if $i}},{{end}}
        ({{literal $t.SQL}}::pg_catalog.regclass){{end}}
      ) AS p(protected)
      UNION
      -- Partitions of a protected table, its parents, and what views read.
      SELECT e.target, e.how FROM shows s JOIN (
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
    SELECT c.oid::pg_catalog.regclass AS name, n.nspname AS schema, '{{.ReleasePrefix}}' || n.nspname AS release,
           c.relkind = 'v' AND c.oid IN (SELECT shows.oid FROM shows) AS derived
    FROM (VALUES
{{- range $i, $t := .Readable}}{{if $i}},{{end}}
      ({{literal $t.SQL}}::pg_catalog.regclass){{end}}
    ) AS l(readable)
    JOIN pg_catalog.pg_class c ON c.oid = l.readable
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    ORDER BY derived DESC, c.oid
  LOOP
    IF NOT listed.derived THEN
      EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', listed.name, {{literal .Reader}});
      IF views THEN
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', listed.schema, {{literal .Owner}});
        IF pg_catalog.current_setting('server_version_num')::integer < 150000 THEN
          EXECUTE pg_catalog.format('GRANT SELECT ON TABLE %s TO %I', listed.name, {{literal .Owner}});
        END IF;
      END IF;
      CONTINUE;
    END IF;
    views := true;
    EXECUTE pg_catalog.format('REVOKE ALL PRIVILEGES ON TABLE %s FROM %I', listed.name, {{literal .Reader}});
    IF pg_catalog.octet_length(listed.release) > 63 THEN
      RAISE EXCEPTION 'the schema of view %: the name of its release schema is longer than 63 bytes', listed.name;
    END IF;
    IF pg_catalog.to_regnamespace(pg_catalog.quote_ident(listed.release)) IS NULL THEN
      EXECUTE pg_catalog.format('CREATE SCHEMA %I AUTHORIZATION %I', listed.release, {{literal .Owner}});
    END IF;
    EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', listed.release, {{literal .Reader}});
  END LOOP;
END
$kproxy$;
{{- end}}
