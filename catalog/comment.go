package catalog

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Comments describe how a table is published, for tools that show comments: the first text is
// for the relation, the others for Publication.Columns, in their order. They describe only the
// policy, without values of the table, even those that the policy names, and without columns
// that are not published. They do not repeat the source's comments, which may contain both.
func (p Publication) Comments() (relation string, columns []string) {
	if p.Policy.IsMirrored() {
		return "Mirrored by kproxy: rows as in the source.", p.commentsOnMirrored()
	}
	relation = "Anonymized by kproxy: " + constraintsInWords(p.Policy.Told()) + "."
	if p.Policy.Subject != "" {
		relation += " Counted in distinct persons."
	}
	if p.Membership != nil {
		relation += " " + p.Membership.Explain()
	}
	if p.Policy.Updates.Mode == Guarded {
		relation += " Changes become visible in batches."
	}
	columns = make([]string, len(p.Columns))
	for i, c := range p.Columns {
		columns[i] = p.commentOn(c)
	}
	return relation, columns
}

// commentsOnMirrored say the same of each column.
func (p Publication) commentsOnMirrored() []string {
	columns := make([]string, len(p.Columns))
	for i := range columns {
		columns[i] = "As in the source."
	}
	return columns
}

func (p Publication) commentOn(c PublishedColumn) string {
	switch c.Part {
	case ClassNumber:
		return "The number of the row's equivalence class."
	case Weight:
		return "The share of the class's rows that stand for somebody: its sum estimates how many records there are."
	case Pseudonym:
		return "A pseudonym for the key, the same in all tables that refer to it; NULL in rows without it."
	case Copy:
		policy, _ := p.Policy.Column(c.Source)
		return fmt.Sprintf("%s: as in the source.", policy.Role)
	}
	return fmt.Sprintf("%s: %s; %s.", QuasiIdentifying, p.formInWords(c), constraintsInWords(p.over(c.Source)))
}

// formInWords is what a published quasi-identifier looks like.
func (p Publication) formInWords(c PublishedColumn) string {
	spec := p.Attributes[c.Attribute].Spec
	switch {
	case c.Part == Representative:
		return "a value that stands for the equivalence class"
	case c.Part == Range:
		grid := ""
		if len(spec.Steps) > 0 || len(spec.Units) > 0 {
			grid = " on fixed bounds"
		}
		return "the range of the equivalence class's values" + grid + ", of the form " + rangeForms[spec.Domain]
	case spec.Kind == hierarchy.Categorical && len(spec.Taxonomy) > 0:
		return "the value, or the label above all values of the equivalence class; * stands for any"
	case spec.Kind == hierarchy.Prefix && p.Policy.Audience != "":
		return "what the values of the equivalence class begin with, of the form 12*, for any length"
	case spec.Kind == hierarchy.Prefix:
		return "what the values of the equivalence class begin with, of the form 12***"
	case spec.Kind == hierarchy.Ordered:
		return "the value, or the least and the greatest of the equivalence class, of the form low..high"
	default:
		return "the value where the equivalence class has only one; else *"
	}
}

// rangeForms are examples of ranges over the domains. None is anybody's.
var rangeForms = map[hierarchy.Domain]string{
	hierarchy.DomainInteger:     "[20,30)",
	hierarchy.DomainDecimal:     "[2.5,3.5]",
	hierarchy.DomainDate:        "[2000-01-01,2001-01-01)",
	hierarchy.DomainTimestamp:   "[2000-01-01 00:00,2001-01-01 00:00]",
	hierarchy.DomainTimestampTZ: "[2000-01-01 00:00+00,2001-01-01 00:00+00]",
}

func constraintsInWords(specs []privacy.Spec) string {
	words := make([]string, len(specs))
	for i, s := range specs {
		words[i] = s.String() // without the values that it may name
		if s.Model == privacy.K {
			words[i] = strings.Replace(words[i], fmt.Sprintf("%d-anonymity", s.K), fmt.Sprintf("k = %d", s.K), 1)
		}
	}
	return strings.Join(words, ", ")
}
