package hierarchy_test

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/hierarchy"
)

// A taxonomy: what is published for several wards is the node above them.
func Example() {
	h, err := hierarchy.New(hierarchy.Spec{
		Kind: hierarchy.Categorical, Domain: hierarchy.DomainText,
		Taxonomy: []hierarchy.Node{
			{Label: "surgery", Children: []hierarchy.Node{{Label: "trauma"}, {Label: "heart"}}},
			{Label: "medicine", Children: []hierarchy.Node{{Label: "lung"}, {Label: "kidney"}}},
		},
	})
	if err != nil {
		panic(err)
	}
	trauma, heart, lung := h.Encode("trauma"), h.Encode("heart"), h.Encode("lung")
	fmt.Println(h.Generalize([]hierarchy.Cell{trauma, heart}).Value)
	fmt.Println(h.Generalize([]hierarchy.Cell{trauma, lung}).Value)
	// Output:
	// surgery
	// *
}

// Fixed intervals: classes are published on a grid.
func ExampleNew_steps() {
	h, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{5, 10, 20}})
	if err != nil {
		panic(err)
	}
	g := h.Generalize([]hierarchy.Cell{h.Encode("31"), h.Encode("38")})
	fmt.Println(g.Lower, g.Upper)
	// Output:
	// 30 39
}
