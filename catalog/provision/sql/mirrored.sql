-- The protected tables are in another database. Clients see them in schemas of the same names.
{{- range .ProtectedSchemas}}
CREATE SCHEMA IF NOT EXISTS {{identifier .}};
{{- end}}
