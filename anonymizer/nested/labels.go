package nested

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// Labels returns what is published for each class of the coarser release, one generalization for
// each attribute: the hierarchy.Union of all that is published for the finer classes that it
// unites. Table.Generalize would reveal more in the cases named there.
func Labels(table *anonymizer.Table, finer, coarser *anonymizer.Release) [][]hierarchy.Generalization {
	classOf := make([]int32, table.Len())
	for i, class := range finer.Classes {
		for _, r := range class {
			classOf[r] = int32(i)
		}
	}
	published := make([][]hierarchy.Generalization, len(coarser.Classes))
	for g := range published {
		published[g] = make([]hierarchy.Generalization, len(table.Attributes()))
	}
	for a, attribute := range table.Attributes() {
		own := labels(table, a, finer.Classes)
		for g, group := range coarser.Classes {
			var parts []hierarchy.Generalization
			last := int32(none)
			for _, r := range group { // the records of a finer class are neighbors
				if classOf[r] != last {
					last = classOf[r]
					parts = append(parts, own[last])
				}
			}
			published[g][a] = hierarchy.Union(attribute.Hierarchy, parts)
		}
	}
	return published
}
