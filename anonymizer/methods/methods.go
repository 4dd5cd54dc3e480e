// Package methods lists the anonymization methods by the names that
// configurations use.
package methods

import (
	"fmt"
	"strings"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
)

// all holds every method, the recommended one first.
var all = []anonymizer.Method{
	partition.RoundedPartition{},
}

// Names lists the names of all methods, the recommended one first.
func Names() []string {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.Name()
	}
	return names
}

// Named returns the method with the name; the error lists the known ones.
func Named(name string) (anonymizer.Method, error) {
	for _, m := range all {
		if m.Name() == name {
			return m, nil
		}
	}
	return nil, fmt.Errorf("unknown anonymization method %q: known are %s", name, strings.Join(Names(), ", "))
}
