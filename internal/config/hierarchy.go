package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

const kinds = "numeric, date, categorical, prefix, ordered or suppression"

// domainOf is a domain that every hierarchy of the kind can stand over: whether
// it fits the column's type is the database's to say.
var domainOf = map[hierarchy.Kind]hierarchy.Domain{
	hierarchy.Numeric:     hierarchy.DomainDecimal,
	hierarchy.Date:        hierarchy.DomainDate,
	hierarchy.Categorical: hierarchy.DomainText,
	hierarchy.Prefix:      hierarchy.DomainText,
	hierarchy.Ordered:     hierarchy.DomainText,
	hierarchy.Suppression: hierarchy.DomainText,
}

// hierarchyTree is a hierarchy as it is written: a kind alone, or with its levels. The bounds
// are as wide as intervals, and as long as codes, that people read can be.
type hierarchyTree struct {
	Kind     hierarchy.Kind   `yaml:"kind" what:"hierarchy" alone:"numeric, date, categorical, prefix, ordered or suppression" need:"kind: numeric, date, categorical, prefix, ordered or suppression" doc:"numeric, date, categorical, prefix, ordered (a range of given values) or suppression (nothing but what all have in common)."`
	Taxonomy []hierarchy.Node `yaml:"taxonomy" as:"taxonomy" doc:"Of categorical: labels with what is below them, as mappings and lists nested as deep as needed; neighbors should be similar. Without it: different labels become *."`
	File     string           `yaml:"file" as:"path" doc:"Of categorical: a file with the taxonomy, in lines such as nurse;care and teaching;*."`
	Steps    []float64        `yaml:"steps" each:"a step" range:"0<..<1000000000000000" order:"ascending" fix:"a list of widths: [5, 10, 50]" empty:"no interval has a width" doc:"Of numeric: the widths of intervals, from the narrowest to the widest. Without it: the least and the greatest value of a class."`
	Origin   float64          `yaml:"origin" doc:"Of numeric: where an interval of steps begins."`
	Units    []hierarchy.Unit `yaml:"units" each:"a unit" order:"ascending" fix:"a list of units: [month, year, decade]" empty:"no period has a length" doc:"Of date: the calendar's units, from the shortest to the longest. Without it: the first and the last day of a class."`
	Keep     []int            `yaml:"keep" each:"a number of leading characters" range:"1..1000" order:"descending" fix:"a list of numbers of leading characters: [3, 2]" empty:"no level keeps anything" doc:"Of prefix: numbers of leading characters, from the greatest to the least. Without it: the common beginning."`
	Values   []string         `yaml:"values" each:"a value" as:"literal" fix:"a list from the least to the greatest: [low, middle, high]" empty:"there is nothing to order" doc:"Of ordered: the values from the least to the greatest."`

	known bool // Kind is one
}

func (h *hierarchyTree) check(d *decoder, n *yaml.Node, _ string) {
	h.known = d.got(&h.Kind)
	before := len(d.problems)
	var first *yaml.Node
	for _, level := range []struct {
		key  string
		of   any
		kind hierarchy.Kind
	}{
		{"taxonomy", &h.Taxonomy, hierarchy.Categorical},
		{"file", &h.File, hierarchy.Categorical},
		{"steps", &h.Steps, hierarchy.Numeric},
		{"origin", &h.Origin, hierarchy.Numeric},
		{"units", &h.Units, hierarchy.Date},
		{"keep", &h.Keep, hierarchy.Prefix},
		{"values", &h.Values, hierarchy.Ordered},
	} {
		at := d.at(level.of)
		if at != nil && h.known && h.Kind != level.kind {
			d.wrong(at, fmt.Sprintf("a %s hierarchy has no %s", h.Kind, level.key), fmt.Sprintf("remove %s, or write kind: %s", level.key, level.kind))
		}
		if first == nil {
			first = at
		}
	}
	file := d.at(&h.File)
	switch {
	case h.known && h.Kind == hierarchy.Ordered && d.at(&h.Values) == nil:
		d.wrong(n, "an ordered hierarchy does not say in which order", "write {kind: ordered, values: [low, middle, high]}")
	case d.at(&h.Origin) != nil && d.at(&h.Steps) == nil && h.known && h.Kind == hierarchy.Numeric:
		d.wrong(d.at(&h.Origin), "origin is where a step begins, and there are no steps", "write steps: [5, 10, 50], or remove origin")
	case file != nil && d.at(&h.Taxonomy) != nil && (!h.known || h.Kind == hierarchy.Categorical):
		d.wrong(file, "a hierarchy has both a taxonomy and a file", "keep one of them")
	case h.File != "" && (!h.known || h.Kind == hierarchy.Categorical):
		h.Taxonomy = d.taxonomyFile(file, h.File)
	}
	if !h.known || len(d.problems) > before || d.flawed[h] {
		return
	}
	spec := h.policy()
	spec.Domain = domainOf[spec.Kind]
	if err := spec.Validate(); err != nil {
		if first == nil {
			first = n
		}
		d.wrong(first, strings.ReplaceAll(err.Error(), "\n", "; "), "correct the hierarchy")
	}
}

// policy is nil where there is no hierarchy.
func (h *hierarchyTree) policy() *hierarchy.Spec {
	if !h.known {
		return nil
	}
	return &hierarchy.Spec{Kind: h.Kind, Taxonomy: h.Taxonomy, Steps: h.Steps, Origin: h.Origin, Units: h.Units, Keep: h.Keep, Order: h.Values}
}

// arranges says whether the hierarchy says how far values are apart.
func (h *hierarchyTree) arranges() bool {
	return h.known && (h.Kind == hierarchy.Ordered || h.Kind == hierarchy.Categorical)
}
