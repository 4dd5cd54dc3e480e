package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// statement is a constraint and where it names columns.
type statement struct {
	spec privacy.Spec
	at   *yaml.Node
	of   *yaml.Node   // nil for k
	over []*yaml.Node // as many as spec.Over
}

// constraints reads a set of constraints. Each stands once, and one says k.
// Complete says that none was left out for a mistake.
func (r *reader) constraints(n *yaml.Node, table string) (stated []statement, complete bool) {
	items := r.items(n, "constraints", "a list: [{k: 5}, {l: 2, of: diagnosis}]")
	r.nonEmpty(n)
	n = r.follow(n)
	if n.Kind != yaml.SequenceNode && !r.describing() {
		return nil, false
	}
	seen := make(map[string]int)
	someK := false
	for _, item := range items {
		if r.exhausted() {
			return nil, false
		}
		s, key, ok := r.constraint(item)
		someK = someK || key == "k"
		if !ok {
			continue
		}
		about := s.about(key)
		if line, twice := seen[about]; twice {
			r.wrong(s.at, fmt.Sprintf("%s states %s twice, first on line %d", table, about, line), "keep the stricter one")
			continue
		}
		seen[about] = s.at.Line
		stated = append(stated, s)
	}
	if !someK {
		r.wrong(n, "the constraints of "+table+" have no k", "add {k: 5}, or how many records no one may be told apart from")
	}
	return stated, someK && len(stated) == len(items)
}

// about tells what a constraint bounds, without the bound.
func (s statement) about(key string) string {
	spec := s.spec
	switch {
	case len(spec.Values) > 0:
		values := slices.Clone(spec.Values)
		slices.Sort(values)
		key += fmt.Sprintf(" of %s for %s", spec.Of, quote(strings.Join(values, ", ")))
	case spec.Distance != privacy.EqualDistance:
		key += fmt.Sprintf(" of %s by the %s distance", spec.Of, spec.Distance)
	case spec.Model != privacy.K:
		key += " of " + spec.Of
	}
	if len(spec.Over) > 0 {
		over := slices.Clone(spec.Over)
		slices.Sort(over)
		key += " over " + strings.Join(over, ", ")
	}
	return key
}

// model is a way to state a constraint: the key that says its bound.
type model struct {
	key     string
	model   privacy.Model
	example string
	doc     string
	read    func(r *reader, n *yaml.Node, key string, spec *privacy.Spec)
}

const maxCount = 1<<31 - 1

// bound reads a number above a least one, and below a greatest one.
func bound(to func(*privacy.Spec) *float64, above, below float64) func(*reader, *yaml.Node, string, *privacy.Spec) {
	return func(r *reader, n *yaml.Node, key string, spec *privacy.Spec) {
		if value, ok := r.number(n, key); ok && r.between(n, key, value, above, below) {
			*to(spec) = value
		}
	}
}

// diversity reads a whole l.
func diversity(r *reader, n *yaml.Node, key string, spec *privacy.Spec) {
	if l, ok := r.integer(n, key, 2, maxCount); ok {
		spec.L = float64(l)
	}
}

var models = []model{
	{"k", privacy.K, "{k: 5}", "At least so many records, or persons, that are alike in all quasi-identifying columns.", func(r *reader, n *yaml.Node, key string, spec *privacy.Spec) {
		r.storeInteger(&spec.K, key, 2, maxCount)(n)
	}},
	{"l", privacy.DistinctL, "{l: 2, of: diagnosis}", "At least so many different values of a sensitive column.", diversity},
	{"entropy_l", privacy.EntropyL, "{entropy_l: 2.5, of: diagnosis}", "Values of a sensitive column as even as so many equally frequent ones.", bound(func(s *privacy.Spec) *float64 { return &s.L }, 1, maxCount)},
	{"recursive_l", privacy.RecursiveCL, "{recursive_l: 3, c: 2, of: diagnosis}", "The most frequent value in less than c times as many records as this one in the order of frequency and those after it together.", diversity},
	{"alpha", privacy.AlphaK, "{alpha: 0.4, of: diagnosis}", "No value in more than this share of a class.", bound(func(s *privacy.Spec) *float64 { return &s.Alpha }, 0, 1)},
	{"t", privacy.TClose, "{t: 0.2, of: cost, distance: ordered}", "Values distributed as in the whole table, but for this share of the records.", bound(func(s *privacy.Spec) *float64 { return &s.T }, 0, 1)},
	{"beta", privacy.BetaLike, "{beta: 1.5, of: diagnosis}", "No value more than 1 + beta times as frequent as in the whole table.", bound(func(s *privacy.Spec) *float64 { return &s.Beta }, 0, maxCount)},
	{"delta", privacy.DeltaDisclosure, "{delta: 1, of: diagnosis}", "No value more than e^delta times as frequent as in the whole table, or as rare.", bound(func(s *privacy.Spec) *float64 { return &s.Delta }, 0, maxCount)},
}

// companions are the keys that stand beside the key of one model.
var companions = map[string]string{"c": "recursive_l", "values": "alpha", "distance": "t", "enhanced": "beta"}

// constraint reads one constraint. Key is that of its model, empty when there is
// none; ok says that the constraint names all that it speaks of.
func (r *reader) constraint(n *yaml.Node) (s statement, key string, ok bool) {
	s.at = r.follow(n)
	beside := make(map[string]*yaml.Node)
	note := func(key, doc string, read func(*yaml.Node)) field {
		return field{key: key, doc: doc, read: func(n *yaml.Node) { beside[key] = r.follow(n); read(n) }}
	}
	var stated []model
	var fields []field
	for _, m := range models {
		fields = append(fields, field{key: m.key, doc: m.doc, read: func(n *yaml.Node) {
			stated = append(stated, m)
			m.read(r, n, m.key, &s.spec)
		}})
	}
	r.mapping(n, "a constraint", append(
		fields,
		note("of", "The sensitive column that the constraint bounds.", r.storeName(&s.spec.Of, "of")),
		note("over", "The quasi-identifying columns of which it speaks. Without it: all.", func(n *yaml.Node) { s.spec.Over, s.over = r.over(n) }),
		note("c", "Of recursive_l: the factor.", func(n *yaml.Node) {
			bound(func(s *privacy.Spec) *float64 { return &s.C }, 0, maxCount)(r, n, "c", &s.spec)
		}),
		note("values", "Of alpha: the values it bounds. Without it: all.", func(n *yaml.Node) { s.spec.Values = r.distinct(n, "values", "a list: [HIV, hepatitis]") }),
		note("distance", "Of t: how far values are apart. equal: all alike; ordered: by their rank; hierarchical: by the taxonomy. Without it: equal.", func(n *yaml.Node) {
			s.spec.Distance, _ = choose(r, n, "distance", privacy.EqualDistance, privacy.OrderedDistance, privacy.HierarchicalDistance)
		}),
		note("enhanced", "Of beta: stricter with frequent values.", r.storeBool(&s.spec.Enhanced, "enhanced")),
	)...)
	if s.at.Kind != yaml.MappingNode {
		return s, "", false
	}
	switch len(stated) {
	case 0:
		r.wrong(s.at, "a constraint does not say which: none of "+enumerate(modelKeys())+" is there", "write {k: 5} or {l: 2, of: diagnosis}")
		return s, "", false
	case 1:
		s.spec.Model, s.of = stated[0].model, beside["of"]
		return s, stated[0].key, r.checkParts(s, stated[0], beside)
	}
	r.wrong(s.at, fmt.Sprintf("a constraint says both %s and %s", stated[0].key, stated[1].key),
		fmt.Sprintf("write two: %s and %s", stated[0].example, stated[1].example))
	for _, m := range stated {
		if m.model == privacy.K {
			return s, "k", false
		}
	}
	return s, stated[0].key, false
}

// checkParts sees to it that what stands beside a model's key belongs there, and
// is complete. It is true when the constraint names all that it speaks of.
func (r *reader) checkParts(s statement, m model, beside map[string]*yaml.Node) bool {
	for _, key := range []string{"c", "values", "distance", "enhanced"} {
		if at := beside[key]; at != nil && companions[key] != m.key {
			r.wrong(at, fmt.Sprintf("%s does not belong to %s constraint", key, article(m.key)), "remove it; it goes with "+companions[key])
			return false
		}
	}
	named := beside["over"] == nil || len(s.over) > 0
	if m.model == privacy.K {
		if s.of != nil {
			r.wrong(s.of, "of does not belong to a k constraint", "remove it; to restrict k to some quasi-identifying columns, write over: [column, column]")
			return false
		}
		return named
	}
	if m.model == privacy.RecursiveCL && beside["c"] == nil {
		r.wrong(s.at, "a recursive_l constraint has no c", "write "+m.example)
	}
	if s.of == nil {
		r.wrong(s.at, article(m.key)+" constraint does not say of which column", "write "+m.example+" with a sensitive column")
	}
	return named && s.spec.Of != ""
}

func modelKeys() []string {
	keys := make([]string, len(models))
	for i, m := range models {
		keys[i] = m.key
	}
	return keys
}

func article(key string) string {
	if strings.ContainsAny(key[:1], "aelo") {
		return "an " + key
	}
	return "a " + key
}

// over reads the columns that a constraint is over, each once.
func (r *reader) over(n *yaml.Node) (names []string, at []*yaml.Node) {
	items := r.items(n, "over", "a list of quasi-identifying columns: [sex, birth_date]")
	r.nonEmpty(n)
	if list := r.follow(n); list.Kind == yaml.SequenceNode && len(items) == 0 {
		r.wrong(list, "over is empty", "name quasi-identifying columns, or remove over: the constraint then is over all of them")
	}
	for _, item := range items {
		if r.exhausted() {
			return nil, nil
		}
		name, ok := r.columnName(item)
		if !ok {
			continue
		}
		if slices.Contains(names, name) {
			r.wrong(r.follow(item), fmt.Sprintf("column %s stands twice in over", quote(name)), "remove one of them")
			continue
		}
		names, at = append(names, name), append(at, r.follow(item))
	}
	return names, at
}
