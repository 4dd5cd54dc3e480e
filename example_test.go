package kproxy_test

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

// From a CSV file to an anonymized one: every row looks like one other row at least in all
// that others may know, and the diagnoses of such rows differ.
func Example() {
	file, err := csvfile.Read(strings.NewReader(patients), []csvfile.QuasiIdentifier{
		{Column: "born", Spec: hierarchy.Spec{Kind: hierarchy.Date, Domain: hierarchy.DomainDate}},
		{Column: "sex", Spec: hierarchy.Spec{Kind: hierarchy.Categorical, Domain: hierarchy.DomainText}},
	}, "diagnosis")
	check(err)
	constraints := privacy.ConstraintSet{privacy.KAnonymity{K: 2}, privacy.DistinctDiversity{L: 2, Name: "diagnosis"}}
	release, err := partition.RoundedPartition{}.Anonymize(context.Background(), file.Table, constraints, anonymizer.Options{Seed: 1})
	check(err)
	check(file.Write(os.Stdout, release))
	// Output:
	// born,sex,diagnosis
	// 1961-02-11..1996-03-17,f,asthma
	// 1961-02-11..1996-03-17,f,flu
	// 1961-02-11..1996-03-17,f,gout
	// 1963-07-30..1994-12-24,m,asthma
	// 1963-07-30..1994-12-24,m,gout
}

const patients = `name,born,sex,diagnosis
Ada,1961-02-11,f,asthma
Ben,1963-07-30,m,gout
Cleo,1990-05-01,f,flu
Dan,1994-12-24,m,asthma
Eve,1996-03-17,f,gout
`

func check(err error) {
	if err != nil {
		panic(err)
	}
}
