package linked

import (
	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/people"
)

// singletons is a release that changes nothing.
func singletons(d *people.Data) *people.Release {
	r := &people.Release{Aliases: [][]int32{all(d.Root.Len())}}
	for _, person := range all(d.Root.Len()) {
		r.Classes = append(r.Classes, anonymizer.EquivalenceClass{person})
	}
	for i := range d.Tables {
		var table people.TableRelease
		for row, person := range personsOf(d, i) {
			table.Cells = append(table.Cells, people.Cell{Rows: anonymizer.EquivalenceClass{int32(row)}, Class: person})
		}
		r.Tables = append(r.Tables, table)
	}
	return r
}
