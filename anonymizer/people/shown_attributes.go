package people

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// shownAttributes are those of each table, the root's first, as a coarser release shows them: limited ones of the finer
// release's (hierarchy.Coarser), or these.
type shownAttributes [][]anonymizer.Attribute

// attributesOf are those that the tables have.
func attributesOf(of *source) shownAttributes {
	all := shownAttributes{of.root.attributes}
	for i := range of.tables {
		all = append(all, of.tables[i].attributes)
	}
	return all
}

// shown are the attributes that the options say, and those of the finer release where they say none.
func (o *CoarserOptions) shown(finer shownAttributes) shownAttributes {
	all := make(shownAttributes, len(finer))
	for i, attributes := range finer {
		all[i] = anonymizer.Following(attributes)
	}
	for i, own := range slices.Insert(slices.Clone(o.Tables), 0, o.Root) {
		if own != nil {
			all[i] = own
		}
	}
	return all
}

// of are the attributes of a table, or of Root.
func (s shownAttributes) of(table int) []anonymizer.Attribute { return s[table+1] }

// seen is what may be shown of what a cell of a table shows in the finer release. All else is made of it.
func (s shownAttributes) seen(table int, finer []hierarchy.Generalization) []hierarchy.Generalization {
	shown := make([]hierarchy.Generalization, len(finer))
	for i, g := range finer {
		shown[i] = hierarchy.Show(s.of(table)[i].Hierarchy, g)
	}
	return shown
}

// union is what stands for all that n cells of a table show, of what may be shown of each.
func (s shownAttributes) union(table, n int, values func(int) []hierarchy.Generalization) []hierarchy.Generalization {
	united, parts := make([]hierarchy.Generalization, len(s.of(table))), make([]hierarchy.Generalization, n)
	for i, attribute := range s.of(table) {
		for j := range parts {
			parts[j] = values(j)[i]
		}
		united[i] = hierarchy.Union(attribute.Hierarchy, parts)
	}
	return united
}
