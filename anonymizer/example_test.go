package anonymizer_test

import (
	"context"
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Four ages in classes of two.
func ExampleAnonymize() {
	age, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	if err != nil {
		panic(err)
	}
	var cells []hierarchy.Cell
	for _, years := range []string{"23", "61", "27", "58"} {
		cells = append(cells, age.Encode(years))
	}
	table, err := anonymizer.NewTable([]anonymizer.Attribute{{Name: "age", Hierarchy: age}}, [][]hierarchy.Cell{cells}, nil)
	if err != nil {
		panic(err)
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	parts, err := anonymizer.Anonymize(context.Background(), partition.RoundedPartition{}, table, constraints, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	for _, class := range parts[0].Release.Classes {
		g := table.Generalize(class)[0]
		fmt.Printf("%d records of ages %s to %s\n", len(class), g.Lower, g.Upper)
	}
	// Output:
	// 2 records of ages 23 to 27
	// 2 records of ages 58 to 61
}
