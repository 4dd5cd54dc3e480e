package config

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// columnNodes are the places of a table's columns and of their hierarchies, nil
// where there is none.
type columnNodes map[string]struct{ at, hierarchy *yaml.Node }

// checkNamed sees to it that constraints speak of sensitive columns, and are
// over quasi-identifying ones.
func (r *reader) checkNamed(policy catalog.TablePolicy, stated []statement) {
	for _, s := range stated {
		key := models[slices.IndexFunc(models, func(m model) bool { return m.model == s.spec.Model })].key
		if s.of != nil {
			r.checkRole(policy, article(key)+" constraint is of column", s.spec.Of, s.of, catalog.Sensitive)
		}
		for i, at := range s.over {
			r.checkRole(policy, article(key)+" constraint is over column", s.spec.Over[i], at, catalog.QuasiIdentifying)
		}
	}
}

func (r *reader) checkRole(policy catalog.TablePolicy, what, name string, at *yaml.Node, role catalog.Role) {
	column, named := policy.Column(name)
	switch {
	case !named:
		r.wrong(at, fmt.Sprintf("%s %s, which table %s does not name", what, quote(name), policy.Table),
			suggestion(name, namesOf(policy.ByRole(role)), fmt.Sprintf("name a %s column:", role)))
	case column.Role != role && column.Role != 0: // 0: already reported
		r.wrong(at, fmt.Sprintf("%s %s, which is %s", what, quote(name), column.Role),
			fmt.Sprintf("give the column the role %s, or name another", role))
	}
}

// checkCovered sees to it that a k constraint is over every quasi-identifying
// column.
func (r *reader) checkCovered(policy catalog.TablePolicy, stated []statement, columns columnNodes) {
	for _, c := range policy.ByRole(catalog.QuasiIdentifying) {
		if !slices.ContainsFunc(stated, func(s statement) bool {
			return s.spec.Model == privacy.K && (len(s.spec.Over) == 0 || slices.Contains(s.spec.Over, c.Name))
		}) {
			r.wrong(columns[c.Name].at, fmt.Sprintf("column %s is quasi-identifying, but no k constraint is over it", c.Name),
				"name it in the over of one, or add a k constraint without over")
		}
	}
}

// checkArranged sees to it that the distances of t-closeness have an order or a
// taxonomy to go by, and that a sensitive column has a hierarchy for nothing else.
func (r *reader) checkArranged(policy catalog.TablePolicy, stated []statement, columns columnNodes) {
	used := make(map[string]bool)
	for _, s := range stated {
		if s.spec.Distance == privacy.EqualDistance {
			continue
		}
		used[s.spec.Of] = true
		column, _ := policy.Column(s.spec.Of)
		arrangement := column.Hierarchy
		if column.Role != catalog.Sensitive || arrangement == nil && columns[column.Name].hierarchy != nil { // already reported
			continue
		}
		switch categorical := arrangement != nil && arrangement.Kind == hierarchy.Categorical; {
		case s.spec.Distance == privacy.HierarchicalDistance && !categorical:
			r.wrong(s.at, fmt.Sprintf("the hierarchical distance goes by a taxonomy, and column %s has none", column.Name),
				"write "+column.Name+": {role: sensitive, hierarchy: {kind: categorical, taxonomy: ...}}, or use another distance")
		case s.spec.Distance == privacy.OrderedDistance && categorical:
			r.wrong(s.at, fmt.Sprintf("the ordered distance goes by an order, and column %s has a taxonomy", column.Name),
				"write distance: hierarchical, or give the column a hierarchy of kind ordered")
		}
	}
	for _, c := range policy.ByRole(catalog.Sensitive) {
		at := columns[c.Name].hierarchy
		if at != nil && c.Hierarchy != nil && arranges(*c.Hierarchy) && !used[c.Name] {
			r.wrong(at, fmt.Sprintf("column %s is sensitive, so it is published as it is, but it has a hierarchy", c.Name),
				"remove hierarchy, or make the column quasi-identifying; here it serves only {t: 0.2, of: "+c.Name+", distance: ordered} or hierarchical")
		}
	}
}
