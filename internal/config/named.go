package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// checkNamed sees to it that constraints speak of sensitive columns, and are
// over quasi-identifying ones.
func (t *table) checkNamed(d *decoder, stated []*constraint) {
	for _, c := range stated {
		if at := d.at(&c.Of); at != nil {
			t.checkRole(d, article(c.model.key)+" constraint is of column", c.Of, at, catalog.Sensitive)
		}
		for i, name := range c.Over {
			t.checkRole(d, article(c.model.key)+" constraint is over column", name, d.at(&c.Over[i]), catalog.QuasiIdentifying)
		}
	}
}

func (t *table) checkRole(d *decoder, what, name string, at *yaml.Node, role catalog.Role) {
	column, named := t.policy.Column(name)
	switch {
	case !named:
		d.wrong(at, fmt.Sprintf("%s %s, which table %s does not name", what, quote(name), t.Table),
			suggestion(name, namesOf(t.policy.ByRole(role)), fmt.Sprintf("name a %s column:", role)))
	case column.Role != role && column.Role != 0: // 0: already reported
		d.wrong(at, fmt.Sprintf("%s %s, which is %s", what, quote(name), column.Role),
			fmt.Sprintf("give the column the role %s, or name another", role))
	}
}

// checkCovered sees to it that a k constraint is over every quasi-identifying
// column.
func (t *table) checkCovered(d *decoder, stated []*constraint) {
	for i := range t.Columns {
		name := t.Columns[i].Name
		if t.Columns[i].Role == catalog.QuasiIdentifying && !slices.ContainsFunc(stated, func(c *constraint) bool {
			return c.spec.Model == privacy.K && (len(c.Over) == 0 || slices.Contains(c.Over, name))
		}) {
			d.wrong(d.keys[&t.Columns[i]], fmt.Sprintf("column %s is quasi-identifying, but no k constraint is over it", name),
				"name it in the over of one, or add a k constraint without over")
		}
	}
}

// checkArranged sees to it that the distances of t-closeness have an order or a
// taxonomy to go by, and that a sensitive column has a hierarchy for nothing else.
func (t *table) checkArranged(d *decoder, stated []*constraint) {
	used := make(map[string]bool)
	for _, c := range stated {
		if c.Distance == privacy.EqualDistance {
			continue
		}
		used[c.Of] = true
		i := slices.IndexFunc(t.Columns, func(column column) bool { return column.Name == c.Of })
		if i < 0 || t.Columns[i].Role != catalog.Sensitive {
			continue // already reported
		}
		tree := &t.Columns[i].Hierarchy
		if d.at(tree) != nil && !tree.known { // already reported
			continue
		}
		switch categorical := tree.known && tree.Kind == hierarchy.Categorical; {
		case c.Distance == privacy.HierarchicalDistance && !categorical:
			d.wrong(d.at(c), fmt.Sprintf("the hierarchical distance goes by a taxonomy, and column %s has none", c.Of),
				"write "+c.Of+": {role: sensitive, hierarchy: {kind: categorical, taxonomy: ...}}, or use another distance")
		case c.Distance == privacy.OrderedDistance && categorical:
			d.wrong(d.at(c), fmt.Sprintf("the ordered distance goes by an order, and column %s has a taxonomy", c.Of),
				"write distance: hierarchical, or give the column a hierarchy of kind ordered")
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Role == catalog.Sensitive && c.Hierarchy.arranges() && !used[c.Name] {
			d.wrong(d.at(&c.Hierarchy), fmt.Sprintf("column %s is sensitive, so it is published as it is, but it has a hierarchy", c.Name),
				"remove hierarchy, or make the column quasi-identifying; here it serves only {t: 0.2, of: "+c.Name+", distance: ordered} or hierarchical")
		}
	}
}
