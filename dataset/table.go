package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/config"
)

// CheckColumns reports every column of the policy that the file does not have.
func CheckColumns(f *File, policy *config.PolicyFile) error {
	var mistakes []error
	table := policy.Table
	for _, c := range table.Columns {
		if c.Name != policy.CSV.Key && !slices.Contains(f.Columns, c.Name) {
			mistakes = append(mistakes, fmt.Errorf("%s: the file has no column %q; it has %s",
				policy.Locate(table.Table, c.Name), c.Name, strings.Join(f.Columns, ", ")))
		}
	}
	if slices.Contains(f.Columns, policy.CSV.Key) {
		mistakes = append(mistakes, fmt.Errorf("the file has a column %q of its own; set another name for csv.key", policy.CSV.Key))
	}
	return errors.Join(mistakes...)
}

// Relation describes the table that the file becomes in PostgreSQL: the generated
// key and the file's columns.
func (f *File) Relation(policy *config.PolicyFile) catalog.Relation {
	r := catalog.Relation{Name: policy.Table.Table, Kind: catalog.KindTable, ReplicaIdentity: 'd', Key: []string{policy.CSV.Key}}
	add := func(name, sqlType string) {
		format, base := sqlType, baseTypes[sqlType]
		if base.format != "" {
			format = base.format
		}
		r.Columns = append(r.Columns, catalog.Column{
			Name: name, Number: int16(len(r.Columns) + 1), Type: format, BaseFormat: format, BaseType: base.name,
			Modifier: -1, Deterministic: true, NotNull: name == policy.CSV.Key,
		})
	}
	add(policy.CSV.Key, "bigint")
	for i, name := range f.Columns {
		add(name, f.Types[i])
	}
	return r
}

// baseTypes gives for each of config.CSVTypes the name in pg_type and, where it
// is another, what format_type says.
var baseTypes = map[string]struct{ name, format string }{
	"text":        {"text", ""},
	"integer":     {"int4", ""},
	"bigint":      {"int8", ""},
	"numeric":     {"numeric", ""},
	"date":        {"date", ""},
	"timestamp":   {"timestamp", "timestamp without time zone"},
	"timestamptz": {"timestamptz", "timestamp with time zone"},
	"boolean":     {"bool", ""},
}
