-- The owner reads protected tables; the reader has no privilege on them.
{{- range .ProtectedSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Owner}};
{{- end}}
{{- range .Protected}}
GRANT SELECT ON TABLE {{.SQL}} TO {{identifier $.Owner}};
REVOKE ALL PRIVILEGES ON TABLE {{.SQL}} FROM {{identifier $.Reader}};
{{- end}}
{{- if .Readable}}

-- Unprotected relations that analysts may read as they are.
{{- range .ReadableSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Reader}};
{{- end}}
{{- range .Readable}}
GRANT SELECT ON TABLE {{.SQL}} TO {{identifier $.Reader}};
{{- end}}
{{- end}}
