package config

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// constraint is a constraint as it is written: the key of a model, with what belongs to it.
type constraint struct {
	K          int              `yaml:"k" range:"2..2147483647" doc:"At least so many records, or persons, that are alike in all quasi-identifying columns."`
	L          int              `yaml:"l" range:"2..2147483647" doc:"At least so many different values of a sensitive column."`
	EntropyL   float64          `yaml:"entropy_l" range:"1<..<2147483647" doc:"Values of a sensitive column as even as so many equally frequent ones."`
	RecursiveL int              `yaml:"recursive_l" range:"2..2147483647" doc:"The most frequent value in less than c times as many records as this one in the order of frequency and those after it together."`
	Alpha      float64          `yaml:"alpha" range:"0<..<1" doc:"No value in more than this share of a class."`
	T          float64          `yaml:"t" range:"0<..<1" doc:"Values distributed as in the whole table, but for this share of the records."`
	Beta       float64          `yaml:"beta" range:"0<..<2147483647" doc:"No value more than 1 + beta times as frequent as in the whole table."`
	Delta      float64          `yaml:"delta" range:"0<..<2147483647" doc:"No value more than e^delta times as frequent as in the whole table, or as rare."`
	Of         string           `yaml:"of" as:"name" doc:"The sensitive column that the constraint bounds."`
	Over       []string         `yaml:"over" as:"column" each:"column" fix:"a list of quasi-identifying columns: [sex, birth_date], or remove over: the constraint then is over all of them" empty:"the constraint is over nothing" doc:"The quasi-identifying columns that the constraint is over. Without it: all."`
	C          float64          `yaml:"c" range:"0<..<2147483647" doc:"Of recursive_l: the factor."`
	Values     []string         `yaml:"values" each:"a value" as:"literal" fix:"a list: [HIV, hepatitis]" empty:"the constraint bounds nothing" doc:"Of alpha: the values it bounds. Without it: all."`
	Distance   privacy.Distance `yaml:"distance" doc:"Of t: how far values are apart. equal: all alike; ordered: by their rank; hierarchical: by the taxonomy. Without it: equal."`
	Enhanced   bool             `yaml:"enhanced" default:"false" doc:"Of beta: stricter with frequent values."`

	model model
	spec  privacy.Spec
	// complete says that the constraint names all the columns that it is about.
	complete bool
}

// model is a way to state a constraint.
type model struct {
	key     string // that of its bound
	model   privacy.Model
	example string
	bound   func(*constraint) any // the address of the bound
}

var models = []model{
	{"k", privacy.K, "{k: 5}", func(c *constraint) any { return &c.K }},
	{"l", privacy.DistinctL, "{l: 2, of: diagnosis}", func(c *constraint) any { return &c.L }},
	{"entropy_l", privacy.EntropyL, "{entropy_l: 2.5, of: diagnosis}", func(c *constraint) any { return &c.EntropyL }},
	{"recursive_l", privacy.RecursiveCL, "{recursive_l: 3, c: 2, of: diagnosis}", func(c *constraint) any { return &c.RecursiveL }},
	{"alpha", privacy.AlphaK, "{alpha: 0.4, of: diagnosis}", func(c *constraint) any { return &c.Alpha }},
	{"t", privacy.TClose, "{t: 0.2, of: cost, distance: ordered}", func(c *constraint) any { return &c.T }},
	{"beta", privacy.BetaLike, "{beta: 1.5, of: diagnosis}", func(c *constraint) any { return &c.Beta }},
	{"delta", privacy.DeltaDisclosure, "{delta: 1, of: diagnosis}", func(c *constraint) any { return &c.Delta }},
}

func (c *constraint) check(d *decoder, n *yaml.Node, _ string) {
	if n.Kind != yaml.MappingNode {
		return
	}
	var stated []model
	var keys []string
	for _, m := range models {
		keys = append(keys, m.key)
		if d.at(m.bound(c)) != nil {
			stated = append(stated, m)
		}
	}
	switch len(stated) {
	case 0:
		d.wrong(n, "a constraint does not say which: none of "+enumerate(keys)+" is there", "write {k: 5} or {l: 2, of: diagnosis}")
	case 1:
		c.model = stated[0]
		c.spec = privacy.Spec{
			Model: c.model.model, K: c.K, L: c.EntropyL + float64(c.L+c.RecursiveL), C: c.C, Alpha: c.Alpha, T: c.T, Beta: c.Beta, Delta: c.Delta,
			Enhanced: c.Enhanced, Of: c.Of, Over: c.Over, Values: c.Values, Distance: c.Distance,
		}
		c.complete = c.checkParts(d, n)
	default:
		c.model = stated[0] // k, if it is among them
		d.wrong(n, fmt.Sprintf("a constraint says both %s and %s", stated[0].key, stated[1].key),
			fmt.Sprintf("write two: %s and %s", stated[0].example, stated[1].example))
	}
}

// checkParts sees to it that the keys other than a model's belong to it, and are complete. It
// is true when the constraint names all the columns that it is about.
func (c *constraint) checkParts(d *decoder, n *yaml.Node) bool {
	m := c.model
	for _, part := range []struct {
		key, model string
		at         *yaml.Node
	}{
		{"c", "recursive_l", d.at(&c.C)},
		{"values", "alpha", d.at(&c.Values)},
		{"distance", "t", d.at(&c.Distance)},
		{"enhanced", "beta", d.at(&c.Enhanced)},
	} {
		if part.at != nil && part.model != m.key {
			d.wrong(part.at, fmt.Sprintf("%s does not belong to %s constraint", part.key, article(m.key)), "remove it; it goes with "+part.model)
			return false
		}
	}
	named := d.at(&c.Over) == nil || len(c.Over) > 0
	if m.model == privacy.K {
		if of := d.at(&c.Of); of != nil {
			d.wrong(of, "of does not belong to a k constraint", "remove it; to restrict k to some quasi-identifying columns, write over: [column, column]")
			return false
		}
		return named
	}
	if m.model == privacy.RecursiveCL && d.at(&c.C) == nil {
		d.wrong(n, "a recursive_l constraint has no c", "write "+m.example)
	}
	if d.at(&c.Of) == nil {
		d.wrong(n, article(m.key)+" constraint does not say of which column", "write "+m.example+" with a sensitive column")
	}
	return named && c.Of != ""
}

// about tells what a constraint bounds, without the bound.
func (c *constraint) about() string {
	spec, about := c.spec, c.model.key
	switch {
	case len(spec.Values) > 0:
		about += fmt.Sprintf(" of %s for %s", spec.Of, quote(strings.Join(slices.Sorted(slices.Values(spec.Values)), ", ")))
	case spec.Distance != privacy.EqualDistance:
		about += fmt.Sprintf(" of %s by the %s distance", spec.Of, spec.Distance)
	case spec.Model != privacy.K:
		about += " of " + spec.Of
	}
	if len(spec.Over) > 0 {
		about += " over " + strings.Join(slices.Sorted(slices.Values(spec.Over)), ", ")
	}
	return about
}

func article(key string) string {
	if strings.ContainsAny(key[:1], "aelo") {
		return "an " + key
	}
	return "a " + key
}
