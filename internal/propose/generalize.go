package propose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/catalog"
)

// generalize proposes the hierarchy of a quasi-identifying column.
func (choice *Choice) generalize(c Column, n counts, k int) {
	textual := c.Enum || isText(c.Type)
	choice.Spec.Kind = kindOf(c.Type)
	switch {
	case textual:
		choice.Spec.Kind = textKind(n)
	case isWhole(c.Type) && isCode(c.Name):
		choice.Spec.Kind = hierarchy.Prefix
	case refersByNumber(c) && c.References == catalog.Name{}:
		choice.Spec.Kind = hierarchy.Categorical
		choice.Note = strings.TrimPrefix(choice.Note+"; published as text: concepts are numbers without an order", "; ")
	case refersByNumber(c):
		choice.Spec.Kind = hierarchy.Categorical
		choice.Note = strings.TrimPrefix(choice.Note+"; published as text: to join, cast the column of "+c.References.String()+" to text", "; ")
	}
	choice.Option = option(choice.Spec.Kind, n)
	if choice.Spec.Kind != hierarchy.Categorical || c.Type == "boolean" {
		return
	}
	labels, all := n.frequent(k)
	if refersByNumber(c) {
		choice.Labels = labels
		return
	}
	if spec, arranged := arrange(labels, all); arranged {
		choice.Spec = spec
		return
	}
	choice.Labels = labels
}

// refersByNumber says that values are numbers of another table's rows, or of concepts, whose
// order means nothing.
func refersByNumber(c Column) bool {
	return isWhole(c.Type) && (c.References != catalog.Name{} && !isCode(c.Name) || strings.HasSuffix(strings.ToLower(c.Name), "_concept_id"))
}

// textKind takes many codes of one length with a digit each, such as postcodes,
// for prefixes, all else for categories.
func textKind(n counts) hierarchy.Kind {
	length := -1
	for v := range n.frequency {
		if !strings.ContainsAny(v, "0123456789") || length >= 0 && len(v) != length {
			return hierarchy.Categorical
		}
		length = len(v)
	}
	if n.distinct > 1 && length > 2 {
		return hierarchy.Prefix
	}
	return hierarchy.Categorical
}

// arrange gives labels an order or a taxonomy that everybody knows; false where there is
// none. An order needs all labels of the column, a taxonomy most of them.
func arrange(labels []string, all bool) (spec hierarchy.Spec, arranged bool) {
	if len(labels) < 3 {
		return spec, false
	}
	if order := inOrder(labels); all && order != nil {
		spec = hierarchy.Spec{Kind: hierarchy.Ordered, Domain: hierarchy.DomainText, Order: order}
	} else if nodes := inGroups(labels); nodes != nil {
		spec = hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText, Taxonomy: nodes}
	} else {
		return spec, false
	}
	return spec, spec.Validate() == nil
}

// inOrder puts labels into the order of a scale, or of the numbers that they begin with;
// nil where they have neither.
func inOrder(labels []string) []string {
	for _, scale := range scales {
		place := func(label string) int { return slices.Index(scale, bare(label)) }
		if !slices.ContainsFunc(labels, func(label string) bool { return place(label) < 0 }) {
			return sortedBy(labels, func(label string) float64 { return float64(place(label)) })
		}
	}
	numbers := make(map[string]float64, len(labels))
	seen := make(map[float64]bool, len(labels))
	for _, label := range labels {
		number, ok := leading(label)
		if !ok || seen[number] {
			return nil
		}
		numbers[label], seen[number] = number, true
	}
	return sortedBy(labels, func(label string) float64 { return numbers[label] })
}

func sortedBy(labels []string, place func(string) float64) []string {
	sorted := slices.Clone(labels)
	slices.SortFunc(sorted, func(a, b string) int {
		switch {
		case place(a) < place(b):
			return -1
		case place(a) > place(b):
			return 1
		default:
			return strings.Compare(a, b)
		}
	})
	return sorted
}

// signs stand before a number that is a bound; the first of them say that the values are
// below it.
var signs = []string{"<=", "<", "under ", "below ", "unter ", "up to ", "bis ", ">=", ">", "over ", "ueber ", "über ", "ab ", "from "}

const belows = 7

// leading is the number with which a label such as 18-25, <5, 65+ or 1000 to 2000 begins;
// something below a number comes before it.
func leading(label string) (number float64, ok bool) {
	text := strings.ToLower(strings.TrimSpace(label))
	below := false
	for i, sign := range signs {
		if rest, found := strings.CutPrefix(text, sign); found {
			text, below = strings.TrimSpace(rest), i < belows
			break
		}
	}
	end := strings.IndexFunc(text, func(c rune) bool { return (c < '0' || c > '9') && c != '.' })
	if end < 0 {
		end = len(text)
	}
	number, err := strconv.ParseFloat(strings.TrimRight(text[:end], "."), 64)
	if below {
		number -= 0.5
	}
	return number, err == nil && end > 0
}

// inGroups puts labels below those of a taxonomy that has most of them, in two groups at
// least; nil where there is none.
func inGroups(labels []string) []hierarchy.Node {
	for _, taxonomy := range taxonomies {
		var nodes []hierarchy.Node
		known := 0
		for _, group := range taxonomy {
			node := hierarchy.Node{Label: group.label}
			for _, label := range labels {
				if slices.Contains(group.values, bare(label)) {
					node.Children = append(node.Children, hierarchy.Node{Label: label})
				}
			}
			known += len(node.Children)
			if len(node.Children) > 0 {
				nodes = append(nodes, node)
			}
		}
		if 5*known < 4*len(labels) || len(nodes) < 2 || known <= len(nodes) {
			continue
		}
		for _, label := range labels {
			if !holds(nodes, label) {
				nodes = append(nodes, hierarchy.Node{Label: label})
			}
		}
		return nodes
	}
	return nil
}

func holds(nodes []hierarchy.Node, label string) bool {
	return slices.ContainsFunc(nodes, func(n hierarchy.Node) bool { return n.Label == label || holds(n.Children, label) })
}

// bare is a label folded, without signs and spaces: United-States and United States are
// one.
func bare(label string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, fold(label))
}
