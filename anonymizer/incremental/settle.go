package incremental

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer"
)

// defaultScanLimit is how many classes one Settle may compare with records or
// other classes, one by one. What would take more is done by the method, in
// O(n log n): 2^27 comparisons take about a second with eight attributes.
const defaultScanLimit = 1 << 27

// Settle restores the constraint set and returns what has changed since the
// last Settle, which it then forgets.
func (p *Partition) Settle() Changes {
	p.scanned = 0
	p.tightenQueued()
	p.placeWaiting()
	p.repairQueued()
	if len(p.classes.list) == 0 {
		p.releaseWaiting()
	}
	return p.takeChanges()
}

// tightenQueued has every class cover exactly its members again and drops the
// empty ones. Where so many classes are broken that finding each a neighbor
// would take too long, their records wait for new classes.
func (p *Partition) tightenQueued() {
	var broken []ClassID
	for _, id := range p.queue {
		index := p.classes.index(id)
		if index < 0 {
			continue
		}
		members := p.classes.list[index].members
		if len(members) == 0 {
			p.dissolve(index)
			continue
		}
		if p.classes.list[index].stale {
			p.tighten(index)
		}
		if !p.constraints.Satisfied(p.summarize(members), p.whole) {
			broken = append(broken, id)
		}
	}
	if len(broken)*len(p.classes.list) > p.scanLimit {
		p.withholdAll(broken)
	}
}

func (p *Partition) withholdAll(ids []ClassID) {
	for _, id := range ids {
		for _, slot := range p.dissolve(p.classes.index(id)) {
			p.wait(slot)
		}
	}
}

// placeWaiting gives every waiting record its class, as far as there are
// classes.
func (p *Partition) placeWaiting() {
	tooMany := func() bool { return len(p.waiting)*len(p.classes.list) > p.scanLimit }
	if len(p.classes.list) == 0 || tooMany() {
		p.releaseWaiting()
	}
	if tooMany() {
		p.renew()
	}
	if len(p.classes.list) == 0 || tooMany() {
		return
	}
	waiting := p.waiting
	p.waiting = nil
	for _, slot := range waiting {
		p.place(slot)
	}
}

// releaseWaiting has the method make classes of the waiting records alone.
func (p *Partition) releaseWaiting() {
	slots := p.waiting
	if len(slots) == 0 || p.constraints.Feasible(p.summarize(slots)) != nil {
		return
	}
	release, ok := p.anonymize(slots)
	if !ok {
		return
	}
	p.waiting = nil
	for _, part := range release {
		p.found(part)
	}
	for _, slot := range slots {
		if p.records.class[slot] < 0 {
			p.wait(slot)
		}
	}
}

// anonymize runs the method on some records and returns the slots of each
// class; ok says that there are classes and that all satisfy the constraints.
func (p *Partition) anonymize(slots []int32) (parts [][]int32, ok bool) {
	cells, sensitive := p.records.gather(slots)
	table, err := anonymizer.NewTable(p.attributes, cells, sensitive)
	if err != nil {
		return nil, false
	}
	release, err := p.method.Anonymize(context.Background(), table, p.constraints, anonymizer.Options{Seed: p.seed})
	if err != nil {
		return nil, false
	}
	for _, e := range release.Classes {
		part := pick(slots, e)
		if !p.constraints.Satisfied(p.summarize(part), p.whole) {
			return nil, false
		}
		parts = append(parts, part)
	}
	return parts, len(parts) > 0
}

// place adds a record without class to the class most similar to it (algorithm
// INS).
func (p *Partition) place(slot int32) {
	for a := range p.attributes {
		p.scratch[a] = p.position(a, slot)
	}
	index := p.nearestTo(p.scratch)
	p.join(slot, index)
	p.change(index)
	p.split(index)
}

// split divides a large class, if all parts satisfy the constraints, and gives
// each part a new id. Where they do not, the next attempt waits until the class
// has grown by a quarter, so that attempts stay cheap for each newcomer.
func (p *Partition) split(index int32) {
	c := &p.classes.list[index]
	if len(c.members) < c.splitAt {
		return
	}
	parts, ok := p.anonymize(c.members)
	records := 0
	for _, part := range parts {
		records += len(part)
	}
	if !ok || len(parts) < 2 || records < len(c.members) {
		c.splitAt = len(c.members) + max(1, len(c.members)/4)
		return
	}
	p.dissolve(index)
	for _, part := range parts {
		p.found(part)
	}
}

// repairQueued brings every class in the queue, which grows meanwhile, into
// order.
func (p *Partition) repairQueued() {
	for i := 0; i < len(p.queue); i++ {
		index := p.classes.index(p.queue[i])
		if index < 0 {
			continue
		}
		if index = p.repair(index); index >= 0 {
			p.split(index)
		}
		if p.scanned > 2*p.scanLimit {
			p.renew()
		}
	}
}

// repair merges a class that violates the constraints with the most similar
// class until they are satisfied (algorithm DEL). It returns the index of the
// class with the records, or -1 if they had to be withheld because no other
// class was left. The larger class keeps its id.
func (p *Partition) repair(index int32) int32 {
	summary := p.summarize(p.classes.list[index].members)
	for !p.constraints.Satisfied(summary, p.whole) {
		other := p.neighbor(index)
		if other < 0 {
			for _, slot := range p.dissolve(index) {
				p.wait(slot)
			}
			return -1
		}
		added := p.summarize(p.classes.list[other].members)
		if summary.Records <= added.Records {
			index, other = other, index
			summary, added = added, summary
		}
		summary.Merge(added)
		index = p.merge(index, other)
		if p.scanned > 2*p.scanLimit {
			return index
		}
	}
	return index
}

// merge moves all records of a class into another, whose index it returns.
func (p *Partition) merge(into, from int32) int32 {
	id := p.classes.list[into].id
	members := p.dissolve(from)
	into = p.classes.index(id)
	for _, slot := range members {
		p.join(slot, into)
	}
	p.change(into)
	return into
}

// renew makes all classes anew: the way out when repairs chain through a large
// part of the table, or when very many newcomers cannot form classes without
// the others.
func (p *Partition) renew() {
	ids := make([]ClassID, len(p.classes.list))
	for i := range ids {
		ids[i] = p.classes.list[i].id
	}
	slices.Sort(ids)
	p.withholdAll(ids)
	p.releaseWaiting()
	p.scanned = 0
}
