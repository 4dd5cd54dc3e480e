package config

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// maxTaxonomyDepth is as deep as a taxonomy that people read can be.
const maxTaxonomyDepth = 32

const taxonomyExample = "write Label: [value, value], nested as deep as needed"

// taxonomy reads the nodes on one level: a mapping's keys with what is below
// them, or a list's values; a value in a list may itself be a mapping. Lines
// has the labels met so far.
func (r *reader) taxonomy(n *yaml.Node, depth int, lines map[string]int) []hierarchy.Node {
	at := r.follow(n)
	if depth > maxTaxonomyDepth {
		r.wrong(at, fmt.Sprintf("the taxonomy is deeper than %d levels", maxTaxonomyDepth), "flatten it")
		return nil
	}
	var nodes []hierarchy.Node
	if at.Kind != yaml.MappingNode && at.Kind != yaml.SequenceNode && !r.describing() {
		r.wrong(at, "a taxonomy must be a mapping or a list, not "+shape(at), taxonomyExample)
		return nil
	}
	if r.again(n, "taxonomy") {
		return nil
	}
	below := func(n *yaml.Node) { nodes = append(nodes, r.branches(n, depth, lines)...) }
	r.either(at, yaml.MappingNode, below, func(n *yaml.Node) {
		for _, item := range r.items(n, "a taxonomy", taxonomyExample) {
			if r.exhausted() {
				return
			}
			r.either(item, yaml.MappingNode, below, func(n *yaml.Node) {
				if label, ok := r.label(n, lines); ok {
					nodes = append(nodes, hierarchy.Node{Label: label})
				}
			})
		}
	})
	if len(at.Content) == 0 {
		r.wrong(at, "a part of the taxonomy is empty", taxonomyExample)
	}
	return nodes
}

// branches reads a mapping's keys, each with what is below it; a key with
// nothing after it is a value.
func (r *reader) branches(n *yaml.Node, depth int, lines map[string]int) []hierarchy.Node {
	entries, _ := r.entries(n, "the taxonomy")
	var nodes []hierarchy.Node
	for _, e := range entries {
		label, ok := r.label(e.key, lines)
		node := hierarchy.Node{Label: label}
		if !r.absent(e.value) {
			node.Children = r.taxonomy(e.value, depth+1, lines)
		}
		if ok {
			nodes = append(nodes, node)
		}
	}
	return nodes
}

// label reads a label, which stands in one place of the taxonomy only.
func (r *reader) label(n *yaml.Node, lines map[string]int) (string, bool) {
	label, ok := r.literal(n, "a label of the taxonomy")
	if !ok {
		return "", false
	}
	n = r.follow(n)
	if label == hierarchy.Root {
		r.wrong(n, fmt.Sprintf("label %q is reserved for the top of the taxonomy", hierarchy.Root), "remove it: what it holds belongs one level up")
		return "", false
	}
	if line, twice := lines[label]; twice {
		r.wrong(n, fmt.Sprintf("label %s stands twice in the taxonomy, first on line %d", quote(label), line), "remove one of them, or give them different labels")
		return "", false
	}
	lines[label] = n.Line
	return label, true
}
