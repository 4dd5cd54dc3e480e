{{- if .Functions -}}
-- Functions that analysts may call besides PostgreSQL's own. What may do more than
-- compute from its arguments is not granted; 'kproxy check' says what is wrong with it.
DO $kproxy$
DECLARE
  listed record;
  reader text;
BEGIN
  FOR listed IN
    SELECT f.schema, f.name, n.oid AS namespace, p.oid, p.oid::pg_catalog.regprocedure AS routine,
           p.prokind = 'p' OR p.prosecdef OR p.provolatile = 'v' OR l.lanname NOT IN ('c', 'internal', 'sql') AS unsafe
    FROM (VALUES
{{- range $i, $f := .Functions}}{{if $i}},{{end}}
      ({{literal $f.Schema}}, {{literal $f.Relation}}){{end}}
    ) AS f(schema, name)
    LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = f.schema
    LEFT JOIN pg_catalog.pg_proc p ON p.pronamespace = n.oid AND p.proname = f.name
    LEFT JOIN pg_catalog.pg_language l ON l.oid = p.prolang
    ORDER BY f.schema, f.name, p.oid
  LOOP
    IF listed.oid IS NULL THEN
      RAISE WARNING 'function %.%: there is no such function, and nothing is granted', listed.schema, listed.name
        USING HINT = 'Correct its name, or take it off functions, and run this again.';
      CONTINUE;
    END IF;
    IF listed.unsafe THEN
      RAISE WARNING 'function %: it may do more than compute from its arguments, and is not granted', listed.routine
        USING HINT = 'Take it off functions; ''kproxy check'' says what is wrong with it.';
      CONTINUE;
    END IF;
    FOREACH reader IN ARRAY ARRAY[{{range $i, $r := .HeadNames}}{{if $i}}, {{end}}{{literal $r}}{{end}}] LOOP
      IF NOT pg_catalog.has_schema_privilege(reader, listed.namespace, 'USAGE') THEN
        EXECUTE pg_catalog.format('GRANT USAGE ON SCHEMA %I TO %I', listed.schema, reader);
      END IF;
      IF NOT pg_catalog.has_function_privilege(reader, listed.oid, 'EXECUTE') THEN
        EXECUTE pg_catalog.format('GRANT EXECUTE ON FUNCTION %s TO %I', listed.routine, reader);
      END IF;
    END LOOP;
  END LOOP;
END
$kproxy$;
{{- end}}
