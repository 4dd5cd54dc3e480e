package dataset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/catalog"
)

// checkBounded checks that every value that an alpha constraint bounds occurs. One that does not
// is most likely misspelled, and the intended value is not protected.
func (f *File) checkBounded(p catalog.Publication) error {
	var wrong []error
	for _, c := range p.Policy.Constraints {
		if c.Model != privacy.AlphaK || len(c.Values) == 0 {
			continue
		}
		column, _ := p.Relation.Column(c.Of)
		values := f.values(p, c.Of).tally()
		for _, v := range c.Values {
			if values[catalog.Canonical(column.BaseType, v)] == 0 {
				wrong = append(wrong, fmt.Errorf("the constraint %v names the value %s, which never occurs in %s%s", c, quote(v), c.Of, similar(v, values)))
			}
		}
	}
	return errors.Join(wrong...)
}

// similar asks about a value that differs in case and spaces alone.
func similar(value string, values map[string]int) string {
	for _, v := range sortedKeys(values) {
		if strings.EqualFold(strings.TrimSpace(v), strings.TrimSpace(value)) {
			return ": is " + quote(v) + " meant?"
		}
	}
	return ": correct it, or remove it"
}

// warnings compares the values that orders and taxonomies name with those of the
// file, and tells of sensitive columns that few fields make texts.
func (f *File) warnings(p catalog.Publication) []string {
	var warnings []string
	for _, a := range p.Attributes {
		warnings = append(warnings, compare(a.Column, a.Spec, f.named(a.Column).tally(), true)...)
	}
	for _, s := range p.Sensitive {
		if name, line, misfits, nearly := f.Nearly(slices.Index(f.Columns, s.Column)); nearly {
			warnings = append(warnings, fmt.Sprintf("%s is a text because of %s, the first on line %d, else %s: its values are told apart by how they are written",
				s.Column, counted(misfits, "field"), line, name))
		}
		if s.Spec != nil {
			warnings = append(warnings, compare(s.Column, *s.Spec, f.values(p, s.Column).tally(), false)...)
		}
	}
	return warnings
}

// compare compares the values of one column, which is generalized, or else
// measured by its hierarchy.
func compare(column string, spec hierarchy.Spec, values map[string]int, generalized bool) []string {
	var what, fate string
	named, inner := spec.Order, map[string]bool{}
	switch {
	case spec.Kind == hierarchy.Ordered:
		what, fate = "order", "classes with one of them show nothing of it"
	case spec.Kind == hierarchy.Categorical && len(spec.Taxonomy) > 0:
		what, fate = "taxonomy", "published as * beside other values"
		named = leaves(spec.Taxonomy, inner)
	default:
		return nil
	}
	switch {
	case !generalized && spec.Kind == hierarchy.Ordered:
		fate = "counted as greater than all others"
	case !generalized:
		fate = "counted as far from all others"
	}
	var warnings, absent []string
	known := make(map[string]bool, len(named))
	for _, v := range named {
		known[v] = true
		if values[v] == 0 {
			absent = append(absent, v)
		}
	}
	if len(absent) > 0 {
		warnings = append(warnings, fmt.Sprintf("the %s of %s names values that never occur: %s", what, column, listed(absent)))
	}
	unknown, records := 0, 0
	for v, n := range values {
		if !known[v] && !inner[v] {
			unknown++
			records += n
		}
	}
	if flat := what == "taxonomy" && len(inner) == 0; unknown > 0 && !flat {
		are := "are"
		if unknown == 1 {
			are = "is"
		}
		warnings = append(warnings, fmt.Sprintf("%s of %s, in %s, %s not in its %s: %s", counted(unknown, "value"), column, counted(records, "record"), are, what, fate))
	}
	return warnings
}

// leaves are the values of a taxonomy; inner takes the labels above them.
func leaves(nodes []hierarchy.Node, inner map[string]bool) []string {
	var values []string
	for _, n := range nodes {
		if len(n.Children) == 0 {
			values = append(values, n.Label)
			continue
		}
		inner[n.Label] = true
		values = append(values, leaves(n.Children, inner)...)
	}
	return values
}

func sortedKeys(values map[string]int) []string {
	var keys []string
	for v := range values {
		keys = append(keys, v)
	}
	slices.Sort(keys)
	return keys
}

func listed(values []string) string {
	var quoted []string
	for _, v := range values[:min(len(values), maxShown)] {
		quoted = append(quoted, quote(v))
	}
	text := strings.Join(quoted, ", ")
	if more := len(values) - len(quoted); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}
