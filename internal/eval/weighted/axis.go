package weighted

import (
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/internal/dataset"
)

// axis is a quasi-identifier with its records' values.
type axis struct {
	hierarchy hierarchy.Hierarchy
	// positions are the records' places; of codes and labels, labels are their texts.
	positions []float64
	labels    []string
	// sorted are the positions in order, of numbers and dates alone.
	sorted   []float64
	discrete bool // whole numbers and days: values are counted, not measured
	prefix   bool
	taxonomy taxonomy
}

// cell is what a class publishes of an axis.
type cell struct {
	hidden           bool
	low, high, value float64 // of numbers and dates
	label            string
}

func newAxes(t *dataset.Table) []axis {
	var axes []axis
	for i, attribute := range t.Records.Attributes() {
		spec := t.Publication.Attributes[i].Spec
		a := axis{hierarchy: attribute.Hierarchy, discrete: spec.Domain == hierarchy.DomainInteger || spec.Domain == hierarchy.DomainDate}
		for _, c := range t.Records.Cells(i) {
			a.positions = append(a.positions, attribute.Hierarchy.Position(c))
		}
		if spec.Kind == hierarchy.Numeric || spec.Kind == hierarchy.Date {
			a.sorted = slices.Sorted(slices.Values(a.positions))
		} else {
			for _, c := range t.Records.Cells(i) {
				a.labels = append(a.labels, attribute.Hierarchy.Generalize([]hierarchy.Cell{c}).Value)
			}
			a.prefix = spec.Kind == hierarchy.Prefix
			if !a.prefix {
				a.taxonomy = newTaxonomy(spec.Taxonomy, a.labels)
			}
		}
		axes = append(axes, a)
	}
	return axes
}

// read is what is published, as places.
func (a axis) read(g hierarchy.Generalization) cell {
	c := cell{hidden: g.Hidden, label: g.Value}
	if a.sorted != nil && !g.Hidden {
		at := func(text string) float64 { return a.hierarchy.Position(a.hierarchy.Encode(text)) }
		c.low, c.high, c.value = at(g.Lower), at(g.Upper), at(g.Value)
	}
	return c
}

// taxonomy is a tree of labels: what is below each one, and how many values that is.
type taxonomy struct {
	above  map[string]string
	leaves map[string]int
}

// newTaxonomy adds the values that the nodes do not name below the root.
func newTaxonomy(nodes []hierarchy.Node, values []string) taxonomy {
	t := taxonomy{above: make(map[string]string), leaves: make(map[string]int)}
	t.leaves[hierarchy.Root] = t.add(nodes, hierarchy.Root)
	for _, value := range values {
		if _, known := t.leaves[value]; !known {
			t.above[value], t.leaves[value] = hierarchy.Root, 1
			t.leaves[hierarchy.Root]++
		}
	}
	return t
}

func (t taxonomy) add(nodes []hierarchy.Node, above string) (leaves int) {
	for _, n := range nodes {
		t.above[n.Label], t.leaves[n.Label] = above, 1
		if len(n.Children) > 0 {
			t.leaves[n.Label] = t.add(n.Children, n.Label)
		}
		leaves += t.leaves[n.Label]
	}
	return leaves
}

// below says whether a label is another one or below it.
func (t taxonomy) below(label, other string) bool {
	for label != other {
		if label == hierarchy.Root {
			return false
		}
		label = t.above[label]
	}
	return true
}

// kept is the beginning of a code that is published.
func kept(label string) string { return strings.TrimRight(label, "*") }
