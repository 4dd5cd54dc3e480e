package privacy_test

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Whether a class with three flus and one gout satisfies two constraints.
func Example() {
	diagnoses := privacy.NewDictionary()
	schema := privacy.Schema{Attributes: []string{"age"}, Sensitive: []privacy.Sensitive{{Name: "diagnosis", Values: diagnoses}}}
	set, err := privacy.NewSet([]privacy.Spec{
		{Model: privacy.K, K: 3},
		{Model: privacy.AlphaK, Alpha: 0.5, Of: "diagnosis"},
	}, schema)
	if err != nil {
		panic(err)
	}
	class := privacy.NewSummary(1)
	for _, diagnosis := range []string{"flu", "flu", "gout", "flu"} {
		class.Add([]uint32{diagnoses.Code(diagnosis)})
	}
	for _, constraint := range set {
		fmt.Println(constraint, constraint.Satisfied(class, nil))
	}
	// Output:
	// 3-anonymity true
	// (0.5,k)-anonymity of diagnosis false
}
