package partition_test

import (
	"context"
	"os"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// Ages and incomes of six people, in classes of two at least.
func ExampleMondrian() {
	const people = "age,income,job\n31,3100,cook\n33,3300,baker\n38,2900,judge\n52,5200,cook\n57,5600,judge\n61,4900,baker\n"
	file, err := csvfile.Read(strings.NewReader(people), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Column: "income", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
	}, "job")
	if err != nil {
		panic(err)
	}
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}}
	release, err := partition.Mondrian{}.Anonymize(context.Background(), file.Table, constraints, anonymizer.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	if err := file.Write(os.Stdout, release); err != nil {
		panic(err)
	}
	// Output:
	// age,income,job
	// 31..38,2900..3300,baker
	// 31..38,2900..3300,cook
	// 31..38,2900..3300,judge
	// 52..61,4900..5600,baker
	// 52..61,4900..5600,cook
	// 52..61,4900..5600,judge
}
