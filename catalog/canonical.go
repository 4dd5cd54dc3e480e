package catalog

import (
	"strings"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Canonical returns one text, in PostgreSQL's output form, for all values of a base type that
// are equal in SQL. It does not change values of types that constraints cannot be on.
func Canonical(baseType, text string) string {
	switch baseType {
	case "numeric":
		if whole, fraction, ok := strings.Cut(text, "."); ok {
			return strings.TrimSuffix(whole+"."+strings.TrimRight(fraction, "0"), ".")
		}
	case "float4", "float8":
		if text == "-0" {
			return "0"
		}
	case "bpchar":
		return strings.TrimRight(text, " ")
	case "bool":
		switch text {
		case "true":
			return "t"
		case "false":
			return "f"
		}
	}
	return text
}

func canonicalAll(baseType string, texts []string) []string {
	if texts == nil {
		return nil
	}
	canonical := make([]string, len(texts))
	for i, text := range texts {
		canonical[i] = Canonical(baseType, text)
	}
	return canonical
}

func canonicalNodes(baseType string, nodes []hierarchy.Node) []hierarchy.Node {
	if nodes == nil {
		return nil
	}
	canonical := make([]hierarchy.Node, len(nodes))
	for i, n := range nodes {
		canonical[i] = hierarchy.Node{Label: n.Label, Children: canonicalNodes(baseType, n.Children)}
		if len(n.Children) == 0 {
			canonical[i].Label = Canonical(baseType, n.Label)
		}
	}
	return canonical
}
