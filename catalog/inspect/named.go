package inspect

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// namedValues are values that one list of a policy names for a column.
type namedValues struct {
	column catalog.Column
	by     string    // what names them, for messages
	texts  []*string // each where it stands in the policy
}

// isText says whether a value's text is what the policy writes, whatever it is.
func isText(column catalog.Column) bool {
	return slices.Contains([]string{"text", "varchar", "name"}, column.BaseType)
}

// isOwn says whether the type, with domains followed, is PostgreSQL's own.
func isOwn(column catalog.Column) bool { return !strings.Contains(column.BaseType, ".") }

// readable says whether values are brought to the server's text by reading them
// as the column's type.
func (n namedValues) readable() bool { return !n.column.Enum && isOwn(n.column) && !isText(n.column) }

// copied makes a policy of its own for naming: what namedIn points to can be
// written without changing the operator's.
func copied(policy catalog.TablePolicy) catalog.TablePolicy {
	policy.Constraints = slices.Clone(policy.Constraints)
	for i := range policy.Constraints {
		policy.Constraints[i].Values = slices.Clone(policy.Constraints[i].Values)
	}
	policy.Columns = slices.Clone(policy.Columns)
	for i, c := range policy.Columns {
		if c.Hierarchy == nil {
			continue
		}
		spec := *c.Hierarchy
		spec.Order, spec.Taxonomy = slices.Clone(spec.Order), copiedNodes(spec.Taxonomy)
		policy.Columns[i].Hierarchy = &spec
	}
	return policy
}

func copiedNodes(nodes []hierarchy.Node) []hierarchy.Node {
	nodes = slices.Clone(nodes)
	for i := range nodes {
		nodes[i].Children = copiedNodes(nodes[i].Children)
	}
	return nodes
}

// namedIn lists the values that the policy names, of columns that exist: those that
// constraints bound, those of orders, and the leaves of taxonomies, whose inner
// nodes are names of the operator's own.
func namedIn(policy catalog.TablePolicy, relation catalog.Relation) []namedValues {
	var lists []namedValues
	add := func(name, by string, texts []*string) {
		if column, exists := relation.Column(name); exists && len(texts) > 0 {
			lists = append(lists, namedValues{column: column, by: by, texts: texts})
		}
	}
	for _, constraint := range policy.Constraints {
		add(constraint.Of, fmt.Sprintf("the constraint %v", constraint), pointers(constraint.Values))
	}
	for _, c := range policy.Columns {
		if c.Hierarchy != nil {
			add(c.Name, "its hierarchy", pointers(c.Hierarchy.Order))
			add(c.Name, "its hierarchy", leaves(c.Hierarchy.Taxonomy))
		}
	}
	return lists
}

func pointers(texts []string) []*string {
	list := make([]*string, len(texts))
	for i := range texts {
		list[i] = &texts[i]
	}
	return list
}

func leaves(nodes []hierarchy.Node) []*string {
	var list []*string
	for i := range nodes {
		if len(nodes[i].Children) == 0 {
			list = append(list, &nodes[i].Label)
		}
		list = append(list, leaves(nodes[i].Children)...)
	}
	return list
}
