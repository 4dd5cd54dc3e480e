package people_test

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Four patients have visits. An outsider who knows a birth year and all visits of a
// patient is left with two patients.
func Example() {
	number, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Domain: hierarchy.DomainInteger})
	if err != nil {
		panic(err)
	}
	patients, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: "born", Hierarchy: number}}, [][]hierarchy.Cell{{1950, 1990, 1992, 1955}}, nil)
	if err != nil {
		panic(err)
	}
	visits, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: "day", Hierarchy: number}}, [][]hierarchy.Cell{{3, 40, 7, 44, 8, 5}}, nil)
	if err != nil {
		panic(err)
	}
	data := &people.Data{Root: patients, Tables: []people.Table{
		{Name: "visits", Rows: visits, Parent: people.Root, Of: []int32{0, 0, 1, 3, 2, 3}, Order: 0},
	}}
	two := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	release, err := people.Anonymize(context.Background(), data, two, people.Knows{All: true}, people.Options{Method: partition.RoundedPartition{}})
	if err != nil {
		panic(err)
	}
	for i, class := range release.Classes {
		born := patients.Generalize(class)[0]
		fmt.Printf("%d patients born %s to %s\n", len(class), born.Lower, born.Upper)
		for _, cell := range release.Tables[0].Cells {
			if cell.Class == int32(i) {
				day := visits.Generalize(cell.Rows)[0]
				fmt.Printf("  each with a visit on day %s to %s\n", day.Lower, day.Upper)
			}
		}
	}
	// Unordered output:
	// 2 patients born 1950 to 1955
	//   each with a visit on day 3 to 5
	//   each with a visit on day 40 to 44
	// 2 patients born 1990 to 1992
	//   each with a visit on day 7 to 8
}
