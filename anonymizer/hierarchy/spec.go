package hierarchy

import (
	"errors"
	"fmt"
	"slices"
)

// Root is the label of a taxonomy's root, which stands for every value.
const Root = "*"

// Node is a node of a taxonomy. A node without children is a leaf value.
type Node struct {
	Label    string
	Children []Node
}

// Spec describes an attribute's hierarchy.
type Spec struct {
	Kind   Kind
	Domain Domain
	// Taxonomy holds the nodes below the root, in the order in which leaves
	// are laid out on the axis; Categorical only. Empty is the flat taxonomy,
	// which learns its leaves in order of first appearance.
	Taxonomy []Node
	// Order lists the values from the least to the greatest; Ordered only. No
	// value is empty, "*", contains ".." or begins or ends with a dot.
	Order []string
	// Steps are the widths of fixed intervals, ascending, each a whole multiple
	// of the one before: classes are published on this grid, as the narrowest
	// interval that holds all members, or hidden where none does. Numeric only; whole
	// over DomainInteger. Empty publishes exactly what a class covers.
	//
	// Counted in units of the last decimal place that steps or origin have, all of
	// these and the values must lie within 10^14; values beyond are off the scale.
	Steps []float64
	// Origin is where one of the fixed intervals of each width begins.
	Origin float64
	// Units are the calendar units to whose bounds dates are published, ascending,
	// as the least unit that holds all members, or hidden where none does. Date only.
	// Empty publishes exactly what a class covers.
	Units []Unit
	// Keep are the numbers of leading characters that may be published,
	// descending, at most 32. Prefix only. Empty allows every number. Where the
	// members share fewer than the least, "*" is published.
	Keep []int
}

var domainsOf = [...][]Domain{
	Numeric:     {DomainInteger, DomainDecimal},
	Date:        {DomainDate, DomainTimestamp, DomainTimestampTZ},
	Categorical: {DomainInteger, DomainDecimal, DomainDate, DomainTimestamp, DomainTimestampTZ, DomainText},
	Prefix:      {DomainInteger, DomainText},
	Ordered:     {DomainInteger, DomainDecimal, DomainDate, DomainTimestamp, DomainTimestampTZ, DomainText},
	Suppression: {DomainInteger, DomainDecimal, DomainDate, DomainTimestamp, DomainTimestampTZ, DomainText},
}

// maxTaxonomyDepth bounds recursion over a configured taxonomy.
const maxTaxonomyDepth = 64

// Validate returns all that is wrong with the specification, joined, with what
// to write instead: an unknown kind, a kind that the domain has no order for,
// options of another kind, labels that are empty, reserved or in more than one
// place, steps and units that do not nest, lengths that do not descend.
func (s Spec) Validate() error {
	if s.Kind < 0 || int(s.Kind) >= len(domainsOf) {
		return fmt.Errorf("unknown kind of hierarchy %v", s.Kind)
	}
	var errs []error
	if !slices.Contains(domainsOf[s.Kind], s.Domain) {
		errs = append(errs, fmt.Errorf("a %v hierarchy cannot stand over a column of %v values", s.Kind, s.Domain))
	}
	if len(s.Taxonomy) > 0 && s.Kind != Categorical {
		errs = append(errs, fmt.Errorf("a %v hierarchy takes no taxonomy", s.Kind))
	}
	seen := map[string]int{}
	errs = append(errs, validateNodes(s.Taxonomy, 1, seen)...)
	for _, label := range repeated(seen) {
		errs = append(errs, fmt.Errorf("taxonomy: label %q stands in %d places", label, seen[label]))
	}
	return errors.Join(append(errs, s.validateOptions()...)...)
}

func validateNodes(nodes []Node, depth int, seen map[string]int) []error {
	if depth > maxTaxonomyDepth {
		return []error{fmt.Errorf("taxonomy: deeper than %d levels", maxTaxonomyDepth)}
	}
	var errs []error
	for _, n := range nodes {
		switch n.Label {
		case "":
			errs = append(errs, fmt.Errorf("taxonomy: empty label at level %d", depth))
		case Root:
			errs = append(errs, fmt.Errorf("taxonomy: label %q is reserved for the root", Root))
		default:
			seen[n.Label]++
		}
		errs = append(errs, validateNodes(n.Children, depth+1, seen)...)
	}
	return errs
}

func repeated(seen map[string]int) []string {
	var labels []string
	for label, times := range seen {
		if times > 1 {
			labels = append(labels, label)
		}
	}
	slices.Sort(labels)
	return labels
}
