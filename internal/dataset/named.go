package dataset

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// inOutputForm returns the policy with the values that it names for columns in the
// form in which PostgreSQL writes them, as records have it: those that constraints
// bound, those of orders, and the leaves of taxonomies. The error lists those that
// are not of their column's type.
func (f *File) inOutputForm(policy catalog.TablePolicy) (catalog.TablePolicy, error) {
	var wrong []error
	form := func(column, by string) func(string) string {
		i := slices.Index(f.Columns, column)
		if i < 0 || sqlTypes[f.Types[i]].output == nil {
			return func(text string) string { return text }
		}
		t := sqlTypes[f.Types[i]]
		return func(text string) string {
			output, ok := t.output(text)
			if !ok {
				wrong = append(wrong, fmt.Errorf("%s names %s, which is %s: column %s is of type %s", by, quote(text), t.not, column, f.Types[i]))
			}
			return output
		}
	}
	policy.Constraints = slices.Clone(policy.Constraints)
	for i, c := range policy.Constraints {
		policy.Constraints[i].Values = formed(c.Values, form(c.Of, fmt.Sprintf("the constraint %v", c)))
	}
	policy.Columns = slices.Clone(policy.Columns)
	for i, c := range policy.Columns {
		if c.Hierarchy == nil {
			continue
		}
		spec, to := *c.Hierarchy, form(c.Name, "the hierarchy of "+c.Name)
		spec.Order, spec.Taxonomy = formed(spec.Order, to), formedLeaves(spec.Taxonomy, to)
		policy.Columns[i].Hierarchy = &spec
	}
	return policy, errors.Join(wrong...)
}

// formed keeps nil, which means every value, or none, apart from empty.
func formed(texts []string, form func(string) string) []string {
	texts = slices.Clone(texts)
	for i, text := range texts {
		texts[i] = form(text)
	}
	return texts
}

func formedLeaves(nodes []hierarchy.Node, form func(string) string) []hierarchy.Node {
	nodes = slices.Clone(nodes)
	for i, n := range nodes {
		if len(n.Children) == 0 {
			nodes[i].Label = form(n.Label)
		}
		nodes[i].Children = formedLeaves(n.Children, form)
	}
	return nodes
}
