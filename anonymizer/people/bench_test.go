package people_test

import (
	"fmt"
	"testing"

	"github.com/kproxy/kproxy/anonymizer/people"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// BenchmarkAnonymize releases persons with 25 visits each, two conditions and two
// prescriptions a visit.
func BenchmarkAnonymize(b *testing.B) {
	for _, persons := range []int{2000, 20000} {
		for name, knows := range map[string]people.Knows{"one": {}, "all": {All: true}} {
			d := hospital{persons: persons, visits: 25, windows: 3}.data(1)
			rows := 0
			for _, t := range d.Tables {
				rows += t.Rows.Len()
			}
			b.Run(fmt.Sprintf("knows=%s/persons=%d/rows=%d", name, persons, rows), func(b *testing.B) {
				for b.Loop() {
					release(b, d, privacy.ConstraintSet{privacy.KAnonymity{K: 5}}, knows)
				}
			})
		}
	}
}
