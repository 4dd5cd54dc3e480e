package hierarchy

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// maxTaxonomyBytes bounds what ReadTaxonomy reads.
const maxTaxonomyBytes = 16 << 20

// maxReadErrors is how many errors of a file are reported at once.
const maxReadErrors = 10

// ReadTaxonomy reads the form in which ARX and others keep a taxonomy: a line for
// each value, first the value itself, then its ancestors, separated by
// semicolons; usually the last is "*", which stands for the root and is left
// out of the result.
//
//	Private;Non-Government;*
//	State-gov;Government;*
//
// Fields may be quoted as in RFC 4180; lines end in LF or CRLF; a byte order
// mark, empty lines and an empty last column are passed over. Labels are taken
// as they are, with the spaces around them. A label repeated on the next level is
// one node, and "*" on several levels one root, so values may hang at different
// depths. Nodes are in order of first appearance.
//
// Errors name the line: a line with more or fewer fields than the first, a value
// on two lines, a label with two parents, an empty label, "*" below another label,
// more than 64 levels; and more than 16 MiB, or no values at all.
func ReadTaxonomy(r io.Reader) ([]Node, error) {
	limited := &io.LimitedReader{R: r, N: maxTaxonomyBytes + 1}
	buffered := bufio.NewReader(limited)
	if mark, err := buffered.Peek(3); err == nil && string(mark) == "\ufeff" {
		_, _ = buffered.Discard(3) // they are in the buffer
	}
	lines := csv.NewReader(buffered)
	lines.Comma, lines.FieldsPerRecord, lines.ReuseRecord = ';', -1, true

	g := growth{values: map[string]int{}, parents: map[string]link{}, children: map[string][]string{}}
	var errs []error
	for len(errs) < maxReadErrors {
		fields, err := lines.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("taxonomy: %w", err))
			break
		}
		line, _ := lines.FieldPos(0)
		if err := g.add(fields, line); err != nil {
			errs = append(errs, fmt.Errorf("taxonomy: line %d: %w", line, err))
		}
	}
	if limited.N <= 0 {
		return nil, fmt.Errorf("taxonomy: larger than %d bytes", maxTaxonomyBytes)
	}
	if len(errs) == 0 && len(g.parents) == 0 {
		errs = append(errs, errors.New("taxonomy: no values"))
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return g.nodes(Root), nil
}

// growth is a taxonomy of which some lines have been read.
type growth struct {
	fields   int             // of each line
	values   map[string]int  // line of each value
	parents  map[string]link // by label
	children map[string][]string
}

// link is a node's parent and the line that said so first.
type link struct {
	parent string
	line   int
}

func (g *growth) add(fields []string, line int) error {
	if n := len(fields); n > 1 && fields[n-1] == "" {
		fields = fields[:n-1]
	}
	if g.fields == 0 {
		g.fields = len(fields)
	}
	if len(fields) != g.fields {
		return fmt.Errorf("%d fields, %d as on the first line expected", len(fields), g.fields)
	}
	if at := slices.Index(fields, ""); at >= 0 {
		return fmt.Errorf("the label of level %d is empty", at)
	}
	path := slices.Compact(slices.Clone(fields))
	if n := len(path); path[n-1] == Root {
		path = path[:n-1]
	}
	if slices.Contains(path, Root) {
		return fmt.Errorf("%q stands for every value and can have nothing above it", Root)
	}
	if len(path) > maxTaxonomyDepth {
		return fmt.Errorf("more than %d levels", maxTaxonomyDepth)
	}
	if first, twice := g.values[fields[0]]; twice {
		return fmt.Errorf("value %q stands on line %d already", fields[0], first)
	}
	g.values[strings.Clone(fields[0])] = line
	return g.grow(path, line)
}

// grow adds the labels of a path from a value to below the root.
func (g *growth) grow(path []string, line int) error {
	for i, label := range path {
		parent := Root
		if i+1 < len(path) {
			parent = path[i+1]
		}
		known, exists := g.parents[label]
		if exists && known.parent != parent {
			return fmt.Errorf("%q lies below %q, but below %q on line %d", label, parent, known.parent, known.line)
		}
		if !exists {
			// A field is part of the text of its line, which need not be kept.
			label, parent = strings.Clone(label), strings.Clone(parent)
			g.parents[label] = link{parent: parent, line: line}
			g.children[parent] = append(g.children[parent], label)
		}
	}
	return nil
}

// nodes gives what is below a label. Each label has one parent and each path
// has ended at the root, so there is no circle and the depth is bounded.
func (g *growth) nodes(label string) []Node {
	var nodes []Node
	for _, child := range g.children[label] {
		nodes = append(nodes, Node{Label: child, Children: g.nodes(child)})
	}
	return nodes
}
