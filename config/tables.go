package config

import (
	"fmt"
	"math"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/catalog"
)

func (r *reader) tables(to *[]catalog.TablePolicy) func(*yaml.Node) {
	return func(n *yaml.Node) {
		entries, ok := r.entries(n, "tables")
		if ok && len(r.follow(n).Content) == 0 {
			r.wrong(r.follow(n), "tables is empty", "name a table to protect")
		}
		for _, e := range entries {
			name, ok := r.relation(e.key, asProtected)
			if !ok {
				// What else is wrong with it is worth knowing now.
				name = catalog.ParseName(e.key.Value)
			}
			policy := r.table(name, e.value)
			if ok {
				*to = append(*to, policy)
			}
		}
	}
}

func (r *reader) readable(to *[]catalog.Name) func(*yaml.Node) {
	return func(n *yaml.Node) {
		for _, item := range r.items(n, "readable", "a list: [public.wards, public.icd10]") {
			if r.exhausted() {
				return
			}
			if name, ok := r.relation(item, asReadable); ok {
				*to = append(*to, name)
			}
		}
	}
}

func (r *reader) table(name catalog.Name, n *yaml.Node) catalog.TablePolicy {
	what := "table " + name.String()
	policy := catalog.TablePolicy{Table: name, Method: methods.Names()[0]}
	var of []diversityColumn
	r.mapping(
		n, what,
		field{key: "method", read: func(n *yaml.Node) {
			if method, ok := choose(r, n, "method", words(methods.Names())...); ok {
				policy.Method = method.String()
			}
		}},
		field{
			key: "constraints", need: "constraints: [{k: 5}] or what else every class must satisfy",
			read: func(n *yaml.Node) { policy.Constraints, of = r.constraints(n, what) },
		},
		field{key: "unpublishable", read: func(n *yaml.Node) {
			if choice, ok := choose(r, n, "unpublishable", catalog.Withhold, catalog.Refuse); ok {
				policy.Unpublishable = choice
			}
		}},
		field{
			key: "columns", need: "columns: with each column to publish and its role",
			read: func(n *yaml.Node) { policy.Columns = r.columns(n, name) },
		},
	)
	r.checkDiversity(policy, of)
	return policy
}

// diversityColumn is the column that a diversity constraint speaks of, and where.
type diversityColumn struct {
	name string
	at   *yaml.Node
}

// constraints reads a set of constraints. Each stands once, and one says k.
func (r *reader) constraints(n *yaml.Node, table string) ([]catalog.ConstraintSpec, []diversityColumn) {
	const example = "a list: [{k: 5}, {l: 2, of: diagnosis}]"
	items := r.items(n, "constraints", example)
	n = r.follow(n)
	if n.Kind != yaml.SequenceNode {
		return nil, nil
	}
	var specs []catalog.ConstraintSpec
	var of []diversityColumn
	seen := make(map[string]int)
	someK := false
	for _, item := range items {
		if r.exhausted() {
			return nil, nil
		}
		spec, column, saysK := r.constraint(item)
		someK = someK || saysK
		about := "k"
		if column != nil {
			of = append(of, diversityColumn{spec.Of, column})
			about = "l of " + spec.Of
		} else if !saysK {
			continue
		}
		if line, twice := seen[about]; twice {
			r.wrong(r.follow(item), fmt.Sprintf("%s states %s twice, first on line %d", table, about, line), "keep the stricter one")
			continue
		}
		seen[about] = r.follow(item).Line
		specs = append(specs, spec)
	}
	if !someK {
		r.wrong(n, "the constraints of "+table+" have no k", "add {k: 5}, or how many records no one may be told apart from")
	}
	return specs, of
}

// constraint reads {k: 5} or {l: 2, of: column}. SaysK is true also where k is
// there but wrong; column is where a column is named, nil when none is.
func (r *reader) constraint(n *yaml.Node) (spec catalog.ConstraintSpec, column *yaml.Node, saysK bool) {
	const most = math.MaxInt32
	saysL := false
	var of string
	var ofNode *yaml.Node
	r.mapping(
		n, "a constraint",
		field{key: "k", read: func(n *yaml.Node) {
			saysK = true
			r.storeInteger(&spec.K, "k", 2, most)(n)
		}},
		field{key: "l", read: func(n *yaml.Node) {
			saysL = true
			r.storeInteger(&spec.L, "l", 2, most)(n)
		}},
		field{key: "of", read: func(n *yaml.Node) {
			ofNode = r.follow(n)
			r.storeName(&of, "of")(n)
		}},
	)
	n = r.follow(n)
	if n.Kind != yaml.MappingNode {
		return spec, nil, false
	}
	switch {
	case saysK && saysL:
		r.wrong(n, "a constraint says both k and l", "write two: {k: 5} and {l: 2, of: diagnosis}")
		spec.L = 0
		return spec, nil, true
	case saysL && ofNode == nil:
		r.wrong(n, "an l constraint does not say of which column", "write {l: 2, of: diagnosis} with a sensitive column")
	case saysL && of != "":
		spec.Of = of
		return spec, ofNode, false
	case saysK && ofNode != nil:
		r.wrong(ofNode, "of does not belong to a k constraint", "remove it, or write l in place of k")
	case !saysK && !saysL:
		r.wrong(n, "a constraint says neither k nor l", "write {k: 5} or {l: 2, of: diagnosis}")
	}
	return spec, nil, saysK
}

// checkDiversity sees to it that diversity constraints speak of sensitive columns.
func (r *reader) checkDiversity(policy catalog.TablePolicy, of []diversityColumn) {
	for _, d := range of {
		column, named := policy.Column(d.name)
		switch {
		case !named:
			r.wrong(d.at, fmt.Sprintf("an l constraint is of column %s, which table %s does not name", quote(d.name), policy.Table),
				suggestion(d.name, namesOf(policy.ByRole(catalog.Sensitive)), "name a sensitive column:"))
		case column.Role != catalog.Sensitive && column.Role != 0: // 0: already reported
			r.wrong(d.at, fmt.Sprintf("an l constraint is of column %s, which is %s", quote(d.name), column.Role), "give the column the role sensitive, or name another")
		}
	}
}

func namesOf(columns []catalog.ColumnPolicy) []string {
	var names []string
	for _, c := range columns {
		names = append(names, c.Name)
	}
	return names
}
