package verify

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// part is a set of quasi-identifiers that constraints tie together. Its classes divide the
// rows independently of other parts.
type part struct {
	// class is the quoted column with a class's number.
	class string
	// columns are the published columns of the part's quasi-identifiers, and attributes these, hidden ones
	// among them.
	columns    []catalog.PublishedColumn
	attributes []int
}

// partsOf divides the quasi-identifiers into parts, ordered by the first column of each. It does
// not take the parts that the release was made with, which could be wrong.
func partsOf(p catalog.Publication) []part {
	if p.Policy.IsMirrored() {
		return nil // it has no classes
	}
	tied := make([]int, len(p.Attributes)) // the least index that an attribute is tied to
	for a := range tied {
		tied[a] = a
	}
	tie := func(a, b int) {
		from, to := max(tied[a], tied[b]), min(tied[a], tied[b])
		for i := range tied {
			if tied[i] == from {
				tied[i] = to
			}
		}
	}
	sized := false
	for _, c := range p.Policy.Constraints {
		sized = sized || c.Model == privacy.K
		over := attributesOver(p, c)
		for _, a := range over {
			tie(over[0], a)
		}
	}
	if !sized {
		for a := range tied {
			tie(0, a)
		}
	}
	var parts []part
	for first, least := range tied {
		if first != least {
			continue
		}
		of := part{class: catalog.QuoteIdentifier(catalog.ClassColumn(len(parts)))}
		for a, least := range tied {
			if least == first {
				of.attributes = append(of.attributes, a)
			}
		}
		for _, c := range p.Columns {
			if c.Generalized() && tied[c.Attribute] == first {
				of.columns = append(of.columns, c)
			}
		}
		parts = append(parts, of)
	}
	if len(parts) == 0 {
		parts = []part{{class: catalog.QuoteIdentifier(catalog.ClassColumn(0))}}
	}
	return parts
}

// attributesOver are the quasi-identifiers that a constraint is over.
func attributesOver(p catalog.Publication, c privacy.Spec) []int {
	var over []int
	for a, attribute := range p.Attributes {
		if len(c.Over) == 0 || slices.Contains(c.Over, attribute.Column) {
			over = append(over, a)
		}
	}
	return over
}

// sources are the part's quasi-identifying columns.
func (p part) sources() []string {
	var names []string
	for _, c := range p.columns {
		if !slices.Contains(names, c.Source) {
			names = append(names, c.Source)
		}
	}
	return names
}

// listed are the columns behind an alias; a constant if there are none, so that all rows
// are one group.
func listed(columns []catalog.PublishedColumn, alias string) []string {
	if len(columns) == 0 {
		return []string{"NULL::text"}
	}
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = quoted(alias, c.Name)
	}
	return names
}
