package incremental

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
)

// divider has methods make classes of records.
type divider struct {
	population *population
	looks      *looks
	method     anonymizer.Method
	seed       uint64
	progress   func(done, total int)
	made       *anonymizer.Release // of all records, by the method, before they were inserted
}

// lastResort divides any set of records into classes that satisfy the
// constraints if the set as one class does. A method need not: it may withhold
// outliers, or honor <QI, K> by projections so that classes are small.
var lastResort anonymizer.Method = partition.RoundedPartition{}

// methods are those that make classes of many records, in the order in which they
// are tried.
func (d *divider) methods() []anonymizer.Method {
	if _, same := d.method.(partition.RoundedPartition); same {
		return []anonymizer.Method{d.method}
	}
	return []anonymizer.Method{d.method, lastResort}
}

// divide has a method make classes of some records. It returns those that satisfy
// the constraints, by their slots, and whether they hold all the records.
func (d *divider) divide(ctx context.Context, method anonymizer.Method, slots []int32, progress func(done, total int)) (parts [][]int32, complete bool) {
	if len(slots) == 0 || !d.population.satisfied(d.population.summarize(slots)) {
		return nil, false // a method cannot do better: a union satisfies what its parts do
	}
	release, err := d.anonymize(ctx, method, slots, progress)
	if err != nil {
		return nil, false
	}
	for _, class := range release.Classes {
		if len(class) > 0 {
			parts = append(parts, pick(slots, class))
		}
	}
	divided := 0
	parts = slices.DeleteFunc(d.looks.combine(parts), func(part []int32) bool {
		satisfied := d.population.satisfied(d.population.summarize(part))
		if satisfied {
			divided += len(part)
		}
		return !satisfied
	})
	return parts, divided == len(slots)
}

// anonymize has a method make a release of some records, unless that was done before the
// partition had them.
func (d *divider) anonymize(ctx context.Context, method anonymizer.Method, slots []int32, progress func(done, total int)) (*anonymizer.Release, error) {
	if made := d.made; made != nil {
		d.made = nil
		return made, nil
	}
	table, err := d.looks.members.records.table(d.looks.members.attributes, slots)
	if err != nil {
		return nil, err
	}
	if d.population.relative {
		table = table.ComparedWith(d.population.whole)
	}
	return method.Anonymize(ctx, table, d.population.constraints, anonymizer.Options{Seed: d.seed, Progress: progress})
}

// nextSplit is the size at which a new class is divided. A class that the method left nearly
// whole has to grow first: otherwise little would be split off again.
func nextSplit(k, size, of int) int {
	if size >= 2*k && size > of-of/4 {
		return size + size/4
	}
	return 2 * k
}
