-- {{if .Release}}The owner reads protected tables; the reader has no privilege on them{{else}}The source's role reads protected tables{{end}}.
{{- range .ProtectedSchemas}}
GRANT USAGE ON SCHEMA {{identifier .}} TO {{identifier $.Owner}};
{{- end}}
{{- range .Protected}}
GRANT SELECT ON TABLE {{.SQL}} TO {{identifier $.Owner}};
{{- if $.Readers}}
REVOKE ALL PRIVILEGES ON TABLE {{.SQL}} FROM {{range $i, $r := $.Readers}}{{if $i}}, {{end}}{{identifier $r}}{{end}};
{{- end}}
{{- end}}
