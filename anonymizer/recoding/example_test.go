package recoding_test

import (
	"context"
	"os"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/recoding"
)

// Datafly raises all ages to the same level of their hierarchy.
func ExampleDatafly() {
	const people = "age,job\n31,cook\n33,baker\n38,judge\n52,cook\n57,judge\n"
	file, err := csvfile.Read(strings.NewReader(people), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric, Steps: []float64{5, 10}}},
	}, "job")
	if err != nil {
		panic(err)
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	release, err := recoding.Datafly{}.Anonymize(context.Background(), file.Table, constraints, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	if err := file.Write(os.Stdout, release); err != nil {
		panic(err)
	}
	// Output:
	// age,job
	// 30..39,baker
	// 30..39,cook
	// 30..39,judge
	// 50..59,cook
	// 50..59,judge
}
