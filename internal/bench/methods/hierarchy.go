package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// writeHierarchies writes a file NAME.csv for each attribute: a line for each value, with what
// is published of it in turn, from itself to "*". They are the nodes of a taxonomy, and of
// numbers two neighbors among the column's values, four, eight and so on.
func writeHierarchies(folder string, t *anonymizer.Table) error {
	for a, attribute := range t.Attributes() {
		var text strings.Builder
		values := distinct(t.Cells(a), attribute.Hierarchy)
		for place, c := range values {
			fmt.Fprintf(&text, "%g", attribute.Hierarchy.Position(c))
			for _, group := range groups(attribute.Hierarchy, values, place) {
				fmt.Fprintf(&text, ";%g~%g", attribute.Hierarchy.Position(group[0]), attribute.Hierarchy.Position(group[len(group)-1]))
			}
			fmt.Fprintf(&text, ";%s\n", anything)
		}
		if err := os.WriteFile(filepath.Join(folder, attribute.Name+".csv"), []byte(text.String()), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// distinct are the column's values in the order of their positions.
func distinct(column []hierarchy.Cell, h hierarchy.Hierarchy) []hierarchy.Cell {
	seen := map[hierarchy.Cell]bool{}
	for _, c := range column {
		seen[c] = true
	}
	var values []hierarchy.Cell
	for c := range seen {
		values = append(values, c)
	}
	slices.SortFunc(values, func(a, b hierarchy.Cell) int { return cmp.Compare(h.Position(a), h.Position(b)) })
	return values
}

// groups are the runs of the values that hold the one at the place, without itself and all.
func groups(h hierarchy.Hierarchy, values []hierarchy.Cell, place int) (runs [][]hierarchy.Cell) {
	if h.Kind() == hierarchy.Numeric {
		for size := 2; size < len(values); size *= 2 {
			first := place / size * size
			runs = append(runs, values[first:min(first+size, len(values))])
		}
		return runs
	}
	levels := hierarchy.LevelsOf(h, values)
	for level := 1; level < levels.Height(); level++ {
		first, beyond := place, place+1
		for first > 0 && levels.Node(values[first-1], level) == levels.Node(values[place], level) {
			first--
		}
		for beyond < len(values) && levels.Node(values[beyond], level) == levels.Node(values[place], level) {
			beyond++
		}
		runs = append(runs, values[first:beyond])
	}
	return runs
}
