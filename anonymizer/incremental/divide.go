package incremental

import (
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/partition"
)

// lastResort divides any set of records into classes that satisfy the
// constraints if the set as one class does. A method need not: it may withhold
// outliers, or honor <QI, K> by projections so that classes are small.
var lastResort anonymizer.Method = partition.RoundedPartition{}

// methods are those that make classes of many records, in the order in which they
// are tried.
func (p *Partition) methods() []anonymizer.Method {
	if _, same := p.method.(partition.RoundedPartition); same {
		return []anonymizer.Method{p.method}
	}
	return []anonymizer.Method{p.method, lastResort}
}

// divide has a method make classes of some records. It returns those that satisfy
// the constraints, by their slots, and whether they hold all the records.
func (p *Partition) divide(method anonymizer.Method, slots []int32, progress func(done, total int)) (parts [][]int32, complete bool) {
	if len(slots) == 0 || !p.satisfied(p.summarize(slots)) {
		return nil, false // a method cannot do better: a union satisfies what its parts do
	}
	release, err := p.anonymize(method, slots, progress)
	if err != nil {
		return nil, false
	}
	for _, class := range release.Classes {
		if len(class) > 0 {
			parts = append(parts, pick(slots, class))
		}
	}
	divided := 0
	parts = slices.DeleteFunc(p.combineAlike(parts), func(part []int32) bool {
		satisfied := p.satisfied(p.summarize(part))
		if satisfied {
			divided += len(part)
		}
		return !satisfied
	})
	return parts, divided == len(slots)
}

// anonymize has a method make a release of some records, unless that was done before the
// partition had them.
func (p *Partition) anonymize(method anonymizer.Method, slots []int32, progress func(done, total int)) (*anonymizer.Release, error) {
	if made := p.made; made != nil {
		p.made = nil
		return made, nil
	}
	table, err := p.records.table(p.attributes, slots)
	if err != nil {
		return nil, err
	}
	if p.table.relative {
		table = table.ComparedWith(p.table.whole)
	}
	return method.Anonymize(p.ctx, table, p.constraints, anonymizer.Options{Seed: p.seed, Progress: progress})
}

// split divides a large class, if the table's method can, and gives each part a
// new id. Where it cannot, the next attempt waits until the class has grown by a
// quarter, so that attempts stay cheap for each newcomer.
func (p *Partition) split(index int32) {
	c := &p.classes.list[index]
	if len(c.members) < int(c.splitAt) || p.whole {
		return
	}
	parts, complete := p.divide(p.method, c.members, nil)
	if !complete || len(parts) < 2 {
		c.splitAt = int32(len(c.members) + max(1, len(c.members)/4))
		return
	}
	whole := len(p.dissolve(index))
	for _, part := range parts {
		p.found(part, p.nextSplit(len(part), whole))
	}
}

// nextSplit is the size at which a new class is divided. What the method left nearly
// whole waits for newcomers: it would only be divided by a little again.
func (p *Partition) nextSplit(size, of int) int {
	if size >= 2*p.k && size > of-of/4 {
		return size + size/4
	}
	return 2 * p.k
}

// gather has a method make classes of the waiting records alone. Those that it
// leaves out, or puts into a class that violates the constraints, go on waiting.
func (p *Partition) gather(method anonymizer.Method) {
	slots := p.waiting
	parts, _ := p.divide(method, slots, p.progress)
	if len(parts) == 0 {
		return
	}
	p.waiting = nil
	for _, part := range parts {
		p.found(part, p.nextSplit(len(part), len(slots)))
	}
	for _, slot := range slots {
		if p.records.at[slot].class < 0 {
			p.wait(slot)
		}
	}
}
