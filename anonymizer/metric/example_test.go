package metric_test

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/csvfile"
	"github.com/kproxy/kproxy/anonymizer/hierarchy"
	"github.com/kproxy/kproxy/anonymizer/metric"
)

// What a release of four ages in two classes loses, and what risk remains.
func Example() {
	file, err := csvfile.Read(strings.NewReader("age\n20\n24\n50\n60\n"), []csvfile.QuasiIdentifier{
		{Column: "age", Spec: hierarchy.Spec{Kind: hierarchy.Numeric}},
	})
	if err != nil {
		panic(err)
	}
	release := &anonymizer.Release{Classes: []anonymizer.EquivalenceClass{{0, 1}, {2, 3}}}
	fmt.Printf("information loss %.3f\n", metric.PublishedLoss(file.Table, release))
	fmt.Printf("discernibility %d\n", metric.Discernibility(release))
	fmt.Printf("highest risk %.1f\n", metric.Prosecutor(file.Table, release).Highest)
	// Output:
	// information loss 0.175
	// discernibility 8
	// highest risk 0.5
}
