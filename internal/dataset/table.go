package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/catalog"
	"github.com/kproxy/kproxy/internal/config"
)

// CheckColumns reports every column of the policy that the file does not have,
// and the fields that keep a column from having the numbers or dates that its
// hierarchy stands over.
func CheckColumns(f *File, policy *config.PolicyFile) error {
	var found []error
	table := policy.Table
	for _, c := range table.Columns {
		if c.Name != policy.CSV.Key && !slices.Contains(f.Columns, c.Name) {
			found = append(found, fmt.Errorf("%s: the file has no column %q; it has %s",
				policy.Locate(table.Table, c.Name), c.Name, strings.Join(f.Columns, ", ")))
		}
	}
	if slices.Contains(f.Columns, policy.CSV.Key) {
		found = append(found, fmt.Errorf("the file has a column %q of its own; set another name for csv.key", policy.CSV.Key))
	}
	for i, name := range f.Columns {
		if c, named := table.Column(name); named && c.Role != catalog.Identifying && f.unreadable[name] != "" {
			found = append(found, fmt.Errorf("%s: column %s is %s, which no policy can protect: give it the role identifying, which drops it",
				policy.Locate(table.Table, name), name, f.unreadable[name]))
		}
		if !f.undecided(i) {
			continue
		}
		if kind, wanted := f.arrangedBy(table, i); wanted {
			found = append(found, f.checkValues(i, kind, policy.Locate(table.Table, name)))
		}
	}
	return errors.Join(found...)
}

// CheckEveryColumn reports every column of the file that the policy does not name, nor people as a key:
// whoever releases a file says of each column what becomes of it. It reports the generated key, too, if that
// were published: it numbers the records, so that it would tell their order in the file.
func CheckEveryColumn(f *File, policy *config.PolicyFile, keys []string) error {
	table := policy.Table.Table
	var found []error
	if c, named := policy.Table.Column(policy.CSV.Key); named && c.Role != catalog.Identifying || slices.Contains(keys, policy.CSV.Key) {
		found = append(found, fmt.Errorf("%s: %s is the generated key, which numbers the records of the file and would tell their order: give it the role identifying, or leave it out",
			policy.Locate(table, policy.CSV.Key), policy.CSV.Key))
	}
	var unnamed []string
	for _, name := range f.Columns {
		if _, named := policy.Table.Column(name); !named && !slices.Contains(keys, name) {
			unnamed = append(unnamed, name)
		}
	}
	if len(unnamed) > 0 {
		found = append(found, fmt.Errorf("%s: the policy gives no role to %s: name each under columns of %s: identifying drops it, insensitive publishes it as it is",
			policy.Locate(table, ""), strings.Join(unnamed, ", "), table))
	}
	return errors.Join(found...)
}

// Relation describes the table that the file becomes in PostgreSQL: the generated
// key and the file's columns.
func (f *File) Relation(policy *config.PolicyFile) catalog.Relation {
	r := catalog.Relation{Name: policy.Table.Table, Kind: catalog.KindTable, ReplicaIdentity: 'd', Key: []string{policy.CSV.Key}}
	add := func(name, typeName string) {
		t := sqlTypes[typeName]
		r.Columns = append(r.Columns, catalog.Column{
			Name: name, Number: int16(len(r.Columns) + 1), Type: t.format, BaseFormat: t.format, BaseType: t.base,
			Modifier: -1, Deterministic: true, NotNull: name == policy.CSV.Key,
		})
	}
	add(policy.CSV.Key, "bigint")
	for i, name := range f.Columns {
		add(name, f.Types[i])
	}
	return r
}
