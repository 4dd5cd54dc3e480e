package seeded_test

import (
	"context"
	"os"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/seeded"
)

// Ages and incomes of six people, in classes of two at least.
func ExampleAlphaK() {
	const people = "age,income,job\n31,3100,cook\n33,3300,baker\n38,2900,judge\n52,5200,cook\n57,5600,judge\n61,4900,baker\n"
	file, err := csvfile.Read(strings.NewReader(people), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Column: "income", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
	}, "job")
	if err != nil {
		panic(err)
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.AlphaBound{Alpha: 0.5, Name: "job"}}
	release, err := seeded.AlphaK{}.Anonymize(context.Background(), file.Table, constraints, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	if err := file.Write(os.Stdout, release); err != nil {
		panic(err)
	}
	// Output:
	// age,income,job
	// 31..38,2900..3100,cook
	// 31..38,2900..3100,judge
	// 33..61,3300..5600,baker
	// 33..61,3300..5600,baker
	// 33..61,3300..5600,cook
	// 33..61,3300..5600,judge
}
