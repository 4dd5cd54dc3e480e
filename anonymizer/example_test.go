package anonymizer_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/lookahead"
	"github.com/kproxy/kproxy/anonymizer/partition"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// From a CSV file to an anonymized one, with two different diagnoses in every class.
func Example() {
	file, err := csvfile.Read(strings.NewReader("name,age,zip,diagnosis\nAnn,23,10115,flu\nBob,27,10117,gout\nCem,51,80331,flu\nDea,58,80333,ulcer\n"), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
		{Column: "zip", Spec: hierarchy.Spec{Kind: hierarchy.Prefix, Domain: hierarchy.DomainText}},
	}, "diagnosis")
	must(err)
	constraints, err := privacy.NewSet([]privacy.Spec{{Model: privacy.K, K: 2}, {Model: privacy.DistinctL, L: 2, Of: "diagnosis"}}, file.Schema)
	must(err)
	parts, err := anonymizer.Anonymize(context.Background(), lookahead.Partition{}, file.Table, constraints, anonymizer.Options{Seed: 1})
	must(err)
	must(file.Write(os.Stdout, parts[0].Release))
	// Output:
	// age,zip,diagnosis
	// 23..27,1011*,flu
	// 23..27,1011*,gout
	// 51..58,8033*,flu
	// 51..58,8033*,ulcer
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

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
