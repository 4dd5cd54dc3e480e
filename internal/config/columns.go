package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

var roles = []catalog.Role{catalog.Identifying, catalog.QuasiIdentifying, catalog.Sensitive, catalog.Insensitive}

// columns reads the columns of a table. A column with a mistake keeps its
// place, so that what speaks of it is not called unknown. Nodes is filled.
func (r *reader) columns(n *yaml.Node, table catalog.Name, nodes columnNodes) []catalog.ColumnPolicy {
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
		column, tree := r.column(name, e.value)
		nodes[name] = struct{ at, hierarchy *yaml.Node }{e.key, tree}
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
// Tree is where its hierarchy stands, nil when there is none.
func (r *reader) column(name string, n *yaml.Node) (c catalog.ColumnPolicy, tree *yaml.Node) {
	c.Name = name
	what := "column " + name
	r.either(n, yaml.ScalarNode, func(n *yaml.Node) { c.Role = r.roleAlone(n, name, what) }, func(n *yaml.Node) { tree = r.columnMapping(n, what, &c) })
	return c, tree
}

// roleAlone reads a role without what belongs to it; 0 is none.
func (r *reader) roleAlone(n *yaml.Node, name, what string) catalog.Role {
	if node := r.follow(n); isEmpty(node) {
		r.wrong(node, what+" has no role", "write "+name+": identifying, sensitive or insensitive, or {role: quasi-identifying, hierarchy: ...}")
		return 0
	}
	role, _ := choose(r, n, "role", roles...)
	if role == catalog.QuasiIdentifying {
		r.wrong(r.follow(n), what+" is quasi-identifying but has no hierarchy", "write "+name+": {role: quasi-identifying, hierarchy: "+enumerate(kindNames())+"}")
	}
	return role
}

// columnMapping reads a role with how to generalize, and returns where the hierarchy
// stands, nil when there is none.
func (r *reader) columnMapping(n *yaml.Node, what string, c *catalog.ColumnPolicy) (tree *yaml.Node) {
	var publish *yaml.Node
	r.mapping(
		n, what,
		field{key: "role", doc: "identifying: names a person, never published. quasi-identifying: identifies together with others, published generalized. sensitive: must not be attributed to a person, published as it is. insensitive: tells nothing about a person, published as it is.", need: "role: " + enumerate(namesOfRoles()), read: func(n *yaml.Node) { c.Role, _ = choose(r, n, "role", roles...) }},
		field{key: "hierarchy", doc: "How values are generalized: its kind alone, or a mapping that says more.", read: func(n *yaml.Node) {
			tree = r.follow(n)
			c.Hierarchy = r.hierarchy(n, what)
		}},
		field{key: "publish", doc: "Numbers and dates are published as a value that stands for the class, as the range of the class's values, or both.", read: func(n *yaml.Node) {
			publish = r.follow(n)
			storeChoice(r, &c.Publish, "publish", catalog.FormBoth, catalog.FormValue, catalog.FormRange)(n)
		}},
	)
	switch c.Role {
	case 0:
	case catalog.QuasiIdentifying:
		r.checkQuasi(n, what, *c, tree, publish)
	case catalog.Sensitive:
		r.onlyQuasi(publish, what, "publish", c.Role)
		r.checkSensitive(tree, what, c.Hierarchy)
	default:
		r.onlyQuasi(tree, what, "hierarchy", c.Role)
		r.onlyQuasi(publish, what, "publish", c.Role)
	}
	return tree
}

func (r *reader) checkQuasi(n *yaml.Node, what string, c catalog.ColumnPolicy, tree, publish *yaml.Node) {
	switch {
	case tree == nil:
		r.wrong(r.follow(n), what+" is quasi-identifying but has no hierarchy", "write hierarchy: "+enumerate(kindNames()))
	case publish != nil && c.Hierarchy != nil && c.Hierarchy.Kind != hierarchy.Numeric && c.Hierarchy.Kind != hierarchy.Date:
		r.wrong(publish, fmt.Sprintf("%s has %s hierarchy, which is published as a label only", what, article(c.Hierarchy.Kind.String())),
			"remove publish; it is for numeric and date hierarchies")
	}
}

// checkSensitive admits the hierarchies that say how far values are apart. Numbers
// and dates are ordered by themselves.
func (r *reader) checkSensitive(tree *yaml.Node, what string, spec *hierarchy.Spec) {
	if spec != nil && !arranges(*spec) {
		r.wrong(tree, fmt.Sprintf("%s is sensitive, so it is published as it is, but it has %s hierarchy", what, article(spec.Kind.String())),
			"remove hierarchy, or make the column quasi-identifying")
	}
}

func arranges(spec hierarchy.Spec) bool {
	return spec.Kind == hierarchy.Ordered || spec.Kind == hierarchy.Categorical
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
