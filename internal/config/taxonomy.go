package config

import (
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// maxTaxonomyDepth is as deep as a taxonomy that people read can be.
const maxTaxonomyDepth = 32

const taxonomyExample = "write Label: [value, value], nested as deep as needed"

// taxonomy is a tree of labels. Each stands in one place only.
type taxonomy struct{}

func (taxonomy) read(d *decoder, n *yaml.Node, _ string, to reflect.Value) bool {
	nodes := d.taxonomy(n, 1, make(map[string]int))
	to.Set(reflect.ValueOf(nodes))
	return len(nodes) > 0
}

// shape contains itself: a mapping of labels to what is below them, or a list of labels and of
// such mappings.
func (taxonomy) shape() *Shape {
	again := func(optional bool) *Shape { return &Shape{Kind: ShapeSame, Name: "taxonomy", Optional: optional} }
	below := func() *Shape { return &Shape{Kind: ShapeNames, Values: again(true)} }
	entry := &Shape{Kind: ShapeEither, Either: []*Shape{below(), {Kind: ShapeLiteral}}}
	return &Shape{Kind: ShapeEither, Name: "taxonomy", Either: []*Shape{below(), {Kind: ShapeList, Values: entry}}}
}

// taxonomy reads the nodes on one level: a mapping's keys with what is below
// them, or a list's values; a value in a list may itself be a mapping. Lines
// has the labels met so far.
func (d *decoder) taxonomy(n *yaml.Node, depth int, lines map[string]int) []hierarchy.Node {
	at := d.follow(n)
	switch {
	case depth > maxTaxonomyDepth:
		d.wrong(at, fmt.Sprintf("the taxonomy is deeper than %d levels", maxTaxonomyDepth), "flatten it")
		return nil
	case at.Kind != yaml.MappingNode && at.Kind != yaml.SequenceNode:
		d.wrong(at, "a taxonomy must be a mapping or a list, not "+kindOf(at), taxonomyExample)
		return nil
	case len(at.Content) == 0:
		d.wrong(at, "a part of the taxonomy is empty", taxonomyExample)
		return nil
	case at.Kind == yaml.MappingNode:
		return d.branches(at, depth, lines)
	}
	var nodes []hierarchy.Node
	d.untagged(at)
	for _, item := range at.Content {
		if d.exhausted() {
			break
		}
		if below := d.follow(item); below.Kind == yaml.MappingNode {
			nodes = append(nodes, d.branches(below, depth, lines)...)
		} else if label, ok := d.label(item, lines); ok {
			nodes = append(nodes, hierarchy.Node{Label: label})
		}
	}
	return nodes
}

// branches reads a mapping's keys, each with what is below it; a key with
// nothing after it is a value.
func (d *decoder) branches(n *yaml.Node, depth int, lines map[string]int) []hierarchy.Node {
	entries, _ := d.entries(n, "the taxonomy")
	var nodes []hierarchy.Node
	for _, e := range entries {
		label, ok := d.label(e.key, lines)
		node := hierarchy.Node{Label: label}
		if !isEmpty(d.follow(e.value)) {
			node.Children = d.taxonomy(e.value, depth+1, lines)
		}
		if ok {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// label reads a label, which stands in one place of the taxonomy only.
func (d *decoder) label(n *yaml.Node, lines map[string]int) (string, bool) {
	label, ok := d.scalar(n, "a label of the taxonomy", ShapeLiteral)
	if !ok {
		return "", false
	}
	n = d.follow(n)
	if label == hierarchy.Root {
		d.wrong(n, fmt.Sprintf("label %q is reserved for the top of the taxonomy", hierarchy.Root), "remove it: what it holds belongs one level up")
		return "", false
	}
	if line, twice := lines[label]; twice {
		d.wrong(n, fmt.Sprintf("label %s stands twice in the taxonomy, first on line %d", quote(label), line), "remove one of them, or give them different labels")
		return "", false
	}
	lines[label] = n.Line
	return label, true
}
