package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

var roles = []catalog.Role{catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive, catalog.Insensitive}

// columns reads the columns of a table. A column with a mistake keeps its
// place, so that what speaks of it is not called unknown.
func (r *reader) columns(n *yaml.Node, table catalog.Name) []catalog.ColumnPolicy {
	entries, ok := r.entries(n, "columns")
	if !ok {
		return nil
	}
	var columns []catalog.ColumnPolicy
	quasi, unclear := false, false
	for _, e := range entries {
		name, ok := r.columnName(e.key)
		if !ok {
			unclear = true
			continue
		}
		if at, known := r.places.tables[table]; known {
			at.columns[name] = e.key.Line
		}
		column := r.column(name, e.value)
		quasi = quasi || column.Role == catalog.QuasiIdentifying
		unclear = unclear || column.Role == 0
		columns = append(columns, column)
	}
	if !quasi && !unclear {
		r.wrong(r.follow(n), fmt.Sprintf("table %s has no quasi-identifying column", table), "give at least one column the role quasi-identifying and a hierarchy")
	}
	return columns
}

// column reads a role alone, or a mapping with the role and how to generalize.
func (r *reader) column(name string, n *yaml.Node) catalog.ColumnPolicy {
	c := catalog.ColumnPolicy{Name: name}
	what := "column " + name
	if node := r.follow(n); node.Kind == yaml.ScalarNode {
		if isEmpty(node) {
			r.wrong(node, what+" has no role", "write "+name+": identifying, sensitive or insensitive, or {role: quasi-identifying, hierarchy: ...}")
			return c
		}
		c.Role, _ = choose(r, n, "role", roles...)
		if c.Role == catalog.QuasiIdentifying {
			r.wrong(node, what+" is quasi-identifying but has no hierarchy", "write "+name+": {role: quasi-identifying, hierarchy: "+enumerate(kindNames())+"}")
		}
		return c
	}
	var tree, publish *yaml.Node
	treeRead := false
	r.mapping(
		n, what,
		field{key: "role", need: "role: " + enumerate(namesOfRoles()), read: func(n *yaml.Node) { c.Role, _ = choose(r, n, "role", roles...) }},
		field{key: "hierarchy", read: func(n *yaml.Node) {
			tree = r.follow(n)
			c.Kind, c.Taxonomy, treeRead = r.hierarchy(n, what)
		}},
		field{key: "publish", read: func(n *yaml.Node) {
			publish = r.follow(n)
			c.Publish, _ = choose(r, n, "publish", catalog.FormBoth, catalog.FormValue, catalog.FormRange)
		}},
	)
	switch {
	case c.Role == 0:
	case c.Role != catalog.QuasiIdentifying:
		r.onlyQuasi(tree, what, "hierarchy", c.Role)
		r.onlyQuasi(publish, what, "publish", c.Role)
	case tree == nil:
		r.wrong(r.follow(n), what+" is quasi-identifying but has no hierarchy", "write hierarchy: "+enumerate(kindNames()))
	case publish != nil && treeRead && (c.Kind == hierarchy.Categorical || c.Kind == hierarchy.Prefix):
		r.wrong(publish, fmt.Sprintf("%s has a %s hierarchy, which is published as a label only", what, c.Kind), "remove publish; it is for numeric and date hierarchies")
	}
	return c
}

func (r *reader) onlyQuasi(n *yaml.Node, what, key string, role catalog.Role) {
	if n != nil {
		r.wrong(n, fmt.Sprintf("%s is %s but has a %s", what, role, key), "remove "+key+", or make the column quasi-identifying")
	}
}

func namesOfRoles() []string {
	names := make([]string, len(roles))
	for i, role := range roles {
		names[i] = role.String()
	}
	return names
}
