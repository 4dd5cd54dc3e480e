package incremental_test

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/incremental"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// A class follows its records.
func Example() {
	age, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	if err != nil {
		panic(err)
	}
	p := incremental.New([]anonymizer.Attribute{{Name: "age", Hierarchy: age}},
		privacy.ConstraintSet{privacy.KAnonymity{K: 2}}, partition.RoundedPartition{}, incremental.Options{Seed: 1})
	insert := func(id incremental.RecordID, years string) {
		if err := p.Insert(incremental.Record{ID: id, Cells: []hierarchy.Cell{age.Encode(years)}}); err != nil {
			panic(err)
		}
	}
	insert(1, "23")
	insert(2, "27")
	p.Settle()
	insert(3, "31")
	for _, class := range p.Settle().Rewrite {
		g := p.Generalize(class)[0]
		fmt.Printf("class %d: records %v, ages %s to %s\n", class, p.Members(class), g.Lower, g.Upper)
	}
	// Output:
	// class 1: records [1 2 3], ages 23 to 31
}
