package config

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

var kinds = []hierarchy.Kind{
	hierarchy.Numeric, hierarchy.Date, hierarchy.Categorical, hierarchy.Prefix, hierarchy.Ordered, hierarchy.Suppression,
}

func kindNames() []string {
	names := make([]string, len(kinds))
	for i, kind := range kinds {
		names[i] = kind.String()
	}
	return names
}

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

// levelKeys are the keys of a hierarchy beside its kind, and the kind that each
// belongs to.
var levelKeys = []struct {
	key  string
	kind hierarchy.Kind
	doc  string
}{
	{"taxonomy", hierarchy.Categorical, "Of categorical: labels with what is below them, as mappings and lists nested as deep as needed; neighbors should be similar. Without it: different labels become *."},
	{"file", hierarchy.Categorical, "Of categorical: a file with the taxonomy, in lines such as nurse;care and teaching;*."},
	{"steps", hierarchy.Numeric, "Of numeric: the widths of intervals, from the narrowest to the widest. Without it: the least and the greatest value of a class."},
	{"origin", hierarchy.Numeric, "Of numeric: where an interval of steps begins."},
	{"units", hierarchy.Date, "Of date: the calendar's units, from the shortest to the longest. Without it: the first and the last day of a class."},
	{"keep", hierarchy.Prefix, "Of prefix: numbers of leading characters, from the greatest to the least. Without it: the common beginning."},
	{"values", hierarchy.Ordered, "Of ordered: the values from the least to the greatest."},
}

// hierarchy reads a kind alone, or a mapping with the kind and its levels. Nil is
// a hierarchy whose kind is not known.
func (r *reader) hierarchy(n *yaml.Node, what string) *hierarchy.Spec {
	spec := &hierarchy.Spec{}
	known := false
	given := make(map[string]*yaml.Node)
	readKind := func(n *yaml.Node) { spec.Kind, known = choose(r, n, "hierarchy", kinds...) }
	alone := func(n *yaml.Node) {
		readKind(n)
		given["kind"] = r.follow(n)
	}
	r.either(n, yaml.ScalarNode, alone, func(n *yaml.Node) {
		fields := []field{{key: "kind", doc: "numeric, date, categorical, prefix, ordered (a range of given values) or suppression (nothing but what all have in common).", need: "kind: " + enumerate(kindNames()), read: readKind}}
		for _, l := range levelKeys {
			fields = append(fields, field{key: l.key, doc: l.doc, read: func(n *yaml.Node) { given[l.key] = n }})
		}
		r.mapping(n, "the hierarchy of "+what, fields...)
	})
	before := len(r.problems)
	for _, l := range levelKeys {
		at := given[l.key]
		switch {
		case at == nil:
		case known && spec.Kind != l.kind:
			r.wrong(r.follow(at), fmt.Sprintf("a %s hierarchy has no %s", spec.Kind, l.key), fmt.Sprintf("remove %s, or write kind: %s", l.key, l.kind))
		default:
			r.levels(l.key, at, spec)
		}
	}
	if !known {
		return nil
	}
	r.checkComplete(n, spec.Kind, given)
	if len(r.problems) == before {
		r.validate(n, *spec, given)
	}
	return spec
}

// levels reads what stands at one of levelKeys.
func (r *reader) levels(key string, n *yaml.Node, spec *hierarchy.Spec) {
	switch key {
	case "taxonomy":
		spec.Taxonomy = r.taxonomy(n, 1, make(map[string]int))
	case "file":
		spec.Taxonomy = r.taxonomyFile(n)
	case "steps":
		spec.Steps = r.steps(n)
	case "origin":
		spec.Origin, _ = r.number(n, "origin")
	case "units":
		spec.Units = r.units(n)
	case "keep":
		spec.Keep = r.keep(n)
	case "values":
		spec.Order = r.distinct(n, "values", "a list from the least to the greatest: [low, middle, high]")
	}
}

func (r *reader) checkComplete(n *yaml.Node, kind hierarchy.Kind, given map[string]*yaml.Node) {
	switch {
	case kind == hierarchy.Ordered && given["values"] == nil:
		r.wrong(r.follow(n), "an ordered hierarchy does not say in which order", "write {kind: ordered, values: [low, middle, high]}")
	case given["origin"] != nil && given["steps"] == nil && kind == hierarchy.Numeric:
		r.wrong(r.follow(given["origin"]), "origin is where a step begins, and there are no steps", "write steps: [5, 10, 50], or remove origin")
	case given["file"] != nil && given["taxonomy"] != nil:
		r.wrong(r.follow(given["file"]), "a hierarchy has both a taxonomy and a file", "keep one of them")
	}
}

// validate reports what only the whole hierarchy tells, at the key it is about.
func (r *reader) validate(n *yaml.Node, spec hierarchy.Spec, given map[string]*yaml.Node) {
	spec.Domain = domainOf[spec.Kind]
	err := spec.Validate()
	if err == nil {
		return
	}
	for _, l := range levelKeys {
		if given[l.key] != nil {
			n = given[l.key]
			break
		}
	}
	r.wrong(r.follow(n), strings.ReplaceAll(err.Error(), "\n", "; "), "correct the hierarchy")
}

func (r *reader) steps(n *yaml.Node) []float64 {
	var steps []float64
	for _, item := range r.filled(n, "steps", "a list of widths: [5, 10, 50]") {
		if r.exhausted() {
			return nil
		}
		step, ok := r.number(item, "a step")
		switch {
		case !ok || !r.between(item, "a step", step, 0, maxStep):
		case len(steps) > 0 && step <= steps[len(steps)-1]:
			r.wrong(r.follow(item), "a step is not wider than the one before", "write the steps from the narrowest to the widest")
		default:
			steps = append(steps, step)
		}
	}
	return steps
}

// maxStep is as wide as intervals that people read can be.
const maxStep = 1e15

var calendarUnits = []hierarchy.Unit{
	hierarchy.Day, hierarchy.Month, hierarchy.Quarter, hierarchy.Year, hierarchy.Decade, hierarchy.Century,
}

func (r *reader) units(n *yaml.Node) []hierarchy.Unit {
	var units []hierarchy.Unit
	for _, item := range r.filled(n, "units", "a list of units: [month, year, decade]") {
		if r.exhausted() {
			return nil
		}
		unit, ok := choose(r, item, "unit", calendarUnits...)
		switch {
		case !ok:
		case len(units) > 0 && unit <= units[len(units)-1]:
			r.wrong(r.follow(item), "a unit is not longer than the one before", "write the units from the shortest to the longest")
		default:
			units = append(units, unit)
		}
	}
	return units
}

// maxKeep is as long as codes that people read can be, in characters.
const maxKeep = 1000

func (r *reader) keep(n *yaml.Node) []int {
	var keep []int
	for _, item := range r.filled(n, "keep", "a list of numbers of leading characters: [3, 2]") {
		if r.exhausted() {
			return nil
		}
		length, ok := r.integer(item, "a number of leading characters", 1, maxKeep)
		switch {
		case !ok:
		case len(keep) > 0 && length >= keep[len(keep)-1]:
			r.wrong(r.follow(item), "a number of leading characters is not below the one before", "write them from the greatest to the least: [3, 2]")
		default:
			keep = append(keep, length)
		}
	}
	return keep
}

// filled lists the entries of a sequence that has some.
func (r *reader) filled(n *yaml.Node, what, example string) []*yaml.Node {
	items := r.items(n, what, example)
	r.nonEmpty(n)
	if list := r.follow(n); list.Kind == yaml.SequenceNode && len(items) == 0 {
		r.wrong(list, what+" is empty", "write "+example)
	}
	return items
}

// distinct reads a list of texts, each once and none empty.
func (r *reader) distinct(n *yaml.Node, what, example string) []string {
	var texts []string
	lines := make(map[string]int)
	for _, item := range r.filled(n, what, example) {
		if r.exhausted() {
			return nil
		}
		text, ok := r.literal(item, "a value in "+what)
		if !ok {
			continue
		}
		if line, twice := lines[text]; twice {
			r.wrong(r.follow(item), fmt.Sprintf("value %s stands twice in %s, first on line %d", quote(text), what, line), "remove one of them")
			continue
		}
		lines[text] = r.follow(item).Line
		texts = append(texts, text)
	}
	return texts
}
