package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Description is what readers may know of a published table. It describes only the policy. It
// contains no values of the table, except those that the policy's taxonomies and orders of
// quasi-identifiers name, and no column that is not published.
type Description struct {
	Table Name
	// K is the least k of any quasi-identifying column.
	K           int
	Constraints string // in words
	Updates     UpdateMode
	Columns     []ColumnDescription // the published ones, in their order
	Labels      []LabelDescription
	Keys        []KeyDescription
	// OffBy is by how many rows the sum of all weights can differ from how many rows stand for somebody, but for
	// rounding; Unbounded where nothing bounds it.
	OffBy int
}

// Unbounded says that there is no bound.
const Unbounded = -1

// ColumnDescription describes one published column.
type ColumnDescription struct {
	Name, Type string
	Role       string // as the policy has it; empty for kproxy's own columns
	Form       string // what its values are, in words
	// Hierarchy and Constraints are in words, and K is the greatest k over the column; empty
	// and 0 for what is not Generalized.
	Hierarchy, Constraints string
	K                      int
}

// LabelDescription is a node of a taxonomy or a value of an order.
type LabelDescription struct {
	Column string
	Label  string
	Parent string // empty for the root, hierarchy.Root
	// Leaves is how many values are below, 1 for a value.
	Leaves int
	// First and Beyond delimit the node and all that is below it, in preorder.
	First, Beyond int
	// Ordered says that the labels are an order, of which low..high is a label, too.
	Ordered bool
	// Hidden says that the column's readers see it only by labels above it.
	Hidden bool
}

// Describe is the publication's description.
func (p Publication) Describe() Description {
	d := Description{Table: p.Policy.Table, Updates: p.Policy.Updates.Mode, Constraints: constraintsInWords(p.Policy.Told())}
	if p.Policy.Subject != "" {
		d.Constraints += ", counted in distinct persons"
	}
	if p.Membership != nil {
		d.Constraints += ", counted in distinct persons. " + p.Membership.Explain()
	}
	for _, c := range p.Columns {
		column := p.describe(c)
		d.Columns = append(d.Columns, column)
		if column.K > 0 && (d.K == 0 || column.K < d.K) {
			d.K = column.K
		}
		if c.Part == Label {
			d.Labels = append(d.Labels, labelsOf(c.Name, p.Attributes[c.Attribute])...)
		}
	}
	d.Keys, d.OffBy = p.Membership.keys(d.Table), p.offBy()
	if p.Membership != nil && d.K == 0 { // without quasi-identifiers of its own
		d.K = p.Membership.People.K()
	}
	return d
}

// offBy is Description.OffBy: what is told of a table's ghosts moves by as many persons as the smallest class has
// (anonymizer/lineage DESIGN, "Counts"). Where a person can have several rows, nothing bounds how many these are.
func (p Publication) offBy() int {
	switch {
	case p.Policy.Updates.Mode != Guarded:
		return 0
	case p.Policy.Subject != "":
		return Unbounded
	case p.Membership != nil && p.Membership.Table != people.Root:
		return Unbounded
	case p.Membership != nil:
		return p.Membership.People.K() - 1
	}
	schema, err := p.NewSchema()
	if err != nil {
		return Unbounded
	}
	set, err := p.ConstraintSet(schema)
	if err != nil {
		return Unbounded
	}
	return set.K() - 1
}

func (p Publication) describe(c PublishedColumn) ColumnDescription {
	d := ColumnDescription{Name: c.Name, Type: c.Type}
	switch c.Part {
	case ClassNumber:
		d.Form = "the number of the equivalence class"
		return d
	case Weight:
		d.Form = "the share of the class's rows that stand for somebody; kproxy.counts says how far sums may be off"
		return d
	case Pseudonym:
		d.Form = "a pseudonym for the key, the same in all tables that refer to it; NULL in rows without it"
		return d
	case Copy:
		policy, _ := p.Policy.Column(c.Source)
		d.Role, d.Form = policy.Role.String(), "as in the source"
		return d
	}
	spec, over := p.Attributes[c.Attribute].Spec, p.over(c.Source)
	d.Role, d.Form = QuasiIdentifying.String(), p.formInWords(c)
	d.Hierarchy, d.Constraints = hierarchyInWords(spec)+depthInWords(p.Attributes[c.Attribute].Depth), constraintsInWords(over)
	for _, s := range over {
		if s.Model == privacy.K {
			d.K = max(d.K, s.K)
		}
	}
	return d
}

// over are the constraints that speak of a quasi-identifying column.
func (p Publication) over(column string) []privacy.Spec {
	return slices.DeleteFunc(p.Policy.Told(), func(s privacy.Spec) bool {
		return len(s.Over) > 0 && !slices.Contains(s.Over, column)
	})
}

func depthInWords(depth int) string {
	switch depth {
	case 0:
		return ""
	case 1:
		return ", one level below * at most"
	}
	return fmt.Sprintf(", %d levels below * at most", depth)
}

func hierarchyInWords(spec hierarchy.Spec) string {
	list := func(before string, n int, word func(int) string) string {
		if n == 0 {
			return ""
		}
		words := make([]string, n)
		for i := range words {
			words[i] = word(i)
		}
		return before + strings.Join(words, ", ")
	}
	words := spec.Kind.String()
	switch spec.Kind {
	case hierarchy.Numeric:
		return words + list(" in steps of ", len(spec.Steps), func(i int) string { return fmt.Sprint(spec.Steps[i]) })
	case hierarchy.Date:
		return words + list(" by ", len(spec.Units), func(i int) string { return spec.Units[i].String() })
	case hierarchy.Prefix:
		return words + list(" of at most ", min(1, len(spec.Keep)), func(i int) string { return fmt.Sprintf("%d characters", spec.Keep[i]) })
	case hierarchy.Ordered:
		return words + fmt.Sprintf(", of %d values", len(spec.Order))
	case hierarchy.Categorical:
		if len(spec.Taxonomy) > 0 {
			return words + ", by a taxonomy"
		}
	}
	return words
}

// labelsOf are the labels of a column's hierarchy, which it can show unless they are hidden, besides values
// that the policy does not name: the root first.
func labelsOf(column string, of Attribute) []LabelDescription {
	spec := of.Spec
	nodes, ordered := spec.Taxonomy, false
	if spec.Kind == hierarchy.Ordered {
		ordered = true
		for _, value := range spec.Order {
			nodes = append(nodes, hierarchy.Node{Label: value})
		}
	}
	if len(nodes) == 0 {
		return nil
	}
	labels := []LabelDescription{{Column: column, Label: hierarchy.Root, Ordered: ordered}}
	below := appendLabels(&labels, nodes, LabelDescription{Column: column, Parent: hierarchy.Root, Ordered: ordered, Leaves: 1}, of.Depth)
	labels[0].Leaves, labels[0].Beyond = below, len(labels)
	return labels
}

// appendLabels adds the nodes, each described as a value below the same label, and all that is below them,
// and counts the values. Those are hidden that are deeper than so many levels, unless that is 0.
func appendLabels(labels *[]LabelDescription, nodes []hierarchy.Node, as LabelDescription, depth int) (leaves int) {
	for _, n := range nodes {
		at := len(*labels)
		as.Label, as.First = n.Label, at
		*labels = append(*labels, as)
		if len(n.Children) > 0 {
			below := as
			below.Parent, below.Hidden = n.Label, as.Hidden || depth == 1
			(*labels)[at].Leaves = appendLabels(labels, n.Children, below, depth-1)
		}
		(*labels)[at].Beyond = len(*labels)
		leaves += (*labels)[at].Leaves
	}
	return leaves
}
