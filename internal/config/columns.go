package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// column is the policy of a column as it is written: a role alone, or with how to generalize.
type column struct {
	Name      string        `yaml:",name" what:"a column's name" as:"column"`
	Role      catalog.Role  `yaml:"role" alone:"identifying, sensitive or insensitive, or {role: quasi-identifying, hierarchy: ...}" need:"role: identifying, quasi-identifying, sensitive or insensitive" doc:"identifying: names a person, never published. quasi-identifying: identifies together with others, published generalized. sensitive: must not be attributed to a person, published as it is. insensitive: tells nothing about a person, published as it is."`
	Hierarchy hierarchyTree `yaml:"hierarchy" section:"optional" what:"the hierarchy of %s" doc:"How values are generalized: its kind alone, or a mapping that says more."`
	Publish   catalog.Form  `yaml:"publish" default:"both" doc:"Numbers and dates are published as a value that stands for the class, as the range of the class's values, or both."`
}

func (c *column) check(d *decoder, n *yaml.Node, what string) {
	tree, publish := d.at(&c.Hierarchy), d.at(&c.Publish)
	switch c.Role {
	case 0:
	case catalog.QuasiIdentifying:
		c.checkQuasi(d, n, what)
	case catalog.Sensitive:
		d.onlyQuasi(publish, what, "publish", c.Role)
		// Numbers and dates are ordered by themselves.
		if kind := c.Hierarchy.Kind; c.Hierarchy.known && !c.Hierarchy.arranges() {
			d.wrong(tree, fmt.Sprintf("%s is sensitive, so it is published as it is, but it has %s hierarchy", what, article(kind.String())),
				"remove hierarchy, or make the column quasi-identifying")
		}
	default:
		d.onlyQuasi(tree, what, "hierarchy", c.Role)
		d.onlyQuasi(publish, what, "publish", c.Role)
	}
}

func (c *column) checkQuasi(d *decoder, n *yaml.Node, what string) {
	kind, publish := c.Hierarchy.Kind, d.at(&c.Publish)
	switch {
	case d.at(&c.Hierarchy) == nil && n.Kind == yaml.ScalarNode:
		d.wrong(n, what+" is quasi-identifying but has no hierarchy", "write "+c.Name+": {role: quasi-identifying, hierarchy: "+kinds+"}")
	case d.at(&c.Hierarchy) == nil:
		d.wrong(n, what+" is quasi-identifying but has no hierarchy", "write hierarchy: "+kinds)
	case publish != nil && c.Hierarchy.known && kind != hierarchy.Numeric && kind != hierarchy.Date:
		d.wrong(publish, fmt.Sprintf("%s has %s hierarchy, which is published as a label only", what, article(kind.String())),
			"remove publish; it is for numeric and date hierarchies")
	}
}

func (d *decoder) onlyQuasi(n *yaml.Node, what, key string, role catalog.Role) {
	if n != nil {
		d.wrong(n, fmt.Sprintf("%s is %s but has a %s", what, role, key), "remove "+key+", or make the column quasi-identifying")
	}
}
