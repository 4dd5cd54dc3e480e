package methods_test

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// The methods that can honor entropy diversity over a number.
func ExampleAccepting() {
	age, err := hierarchy.New(hierarchy.Spec{Kind: hierarchy.Numeric})
	if err != nil {
		panic(err)
	}
	attributes := []anonymizer.Attribute{{Name: "age", Hierarchy: age}}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 5}, privacy.EntropyDiversity{L: 2, Name: "diagnosis"}}
	fmt.Println(methods.Accepting(attributes, constraints))
	// Output:
	// [rounded-partition lookahead-partition mondrian-strict mondrian-relaxed bottom-up hilbert datafly classfly alpha-k-lattice]
}
