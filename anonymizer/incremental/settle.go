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
// last Settle, which it then forgets. Afterwards all records are in classes, or
// none where the records are not Feasible. Records that a method or a store left
// out are placed like newcomers. The time is that of the changed classes, and of
// one look at each class; where a constraint compares classes with the whole table
// and subjects are counted, all records are counted once more.
func (p *Partition) Settle() Changes {
	changes, _ := p.SettleContext(context.Background())
	return changes
}

// SettleContext is Settle that ends soon after its context does, which is the
// only error. The partition must not be used any more then.
func (p *Partition) SettleContext(ctx context.Context) (Changes, error) {
	p.ctx = ctx
	if p.Feasible() != nil {
		return p.Withhold(), ctx.Err()
	}
	p.scanned = 0
	p.examine()
	p.placeWaiting()
	p.repairDue()
	p.separate()
	if len(p.waiting) > 0 {
		p.uniteAll()
	}
	return p.takeChanges(), ctx.Err()
}

// separate has no two classes look alike, where that matters. What it unites is
// not split before the next Settle, so that it comes to an end.
func (p *Partition) separate() {
	if !p.alike.needed {
		return
	}
	p.whole = true
	for p.ctx.Err() == nil && p.uniteAlike() {
		p.repairDue()
	}
	p.whole = false
}

// Withhold takes the place of Settle where records must not be published for a
// reason that lies outside of the partition: it withholds all of them.
func (p *Partition) Withhold() Changes {
	p.withholdAll()
	p.due = p.due[:0]
	return p.takeChanges()
}

func (p *Partition) withholdAll() {
	ids := make([]ClassID, len(p.classes.list))
	for i := range ids {
		ids[i] = p.classes.list[i].id
	}
	slices.Sort(ids)
	p.withhold(ids)
}

func (p *Partition) withhold(ids []ClassID) {
	for _, id := range ids {
		for _, slot := range p.dissolve(p.classes.index(id)) {
			p.wait(slot)
		}
	}
}

// uniteAll makes one class of all records: they satisfy the constraints together
// whatever has become of a division.
func (p *Partition) uniteAll() {
	p.withholdAll()
	slots := p.waiting
	p.waiting = nil
	p.found(slots)
	p.due = p.due[:0]
}

// examine has every changed class cover exactly its members again and drops the
// empty ones. What is left to examine are classes that violate the constraints
// and large ones. Where so many are broken that finding each a neighbor would
// take too long, their records wait for new classes.
func (p *Partition) examine() {
	due := p.due
	p.due = nil
	var broken []ClassID
	for _, id := range due {
		index := p.classes.index(id)
		if index < 0 {
			continue
		}
		c := &p.classes.list[index]
		c.due = false
		if len(c.members) == 0 {
			p.dissolve(index)
			continue
		}
		if c.stale {
			p.tighten(index)
		}
		switch satisfied := p.passes(index, p.summarize(c.members)); {
		case !satisfied:
			broken = append(broken, id)
			p.examineLater(index)
		case c.altered && len(c.members) >= c.splitAt:
			p.examineLater(index)
		}
	}
	if len(broken)*len(p.classes.list) > p.scanLimit {
		p.withhold(broken)
	}
}

// placeWaiting gives every waiting record its class. Where there are too many to
// look for the most similar class of each, methods make classes of them, at last
// in a way that leaves nobody out.
func (p *Partition) placeWaiting() {
	for _, attempt := range []struct {
		make   func(anonymizer.Method)
		method anonymizer.Method
	}{{p.gather, p.method}, {p.gather, lastResort}, {p.renew, p.method}, {p.renew, lastResort}} {
		tooMany := len(p.waiting)*len(p.classes.list) > p.scanLimit
		if len(p.classes.list) > 0 && !tooMany {
			break
		}
		attempt.make(attempt.method)
	}
	if len(p.classes.list) == 0 {
		return
	}
	waiting := p.waiting
	p.waiting = nil
	for i, slot := range waiting {
		if i%1000 == 0 && p.ctx.Err() != nil {
			return
		}
		p.place(slot)
	}
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

// repairDue brings every class that is due, and those that become so meanwhile,
// into order. A chain of repairs through a large part of the table is cut short
// once by the method, and then by what leaves nothing to repair.
func (p *Partition) repairDue() {
	method := p.method
	for i := 0; i < len(p.due); i++ {
		index := p.classes.index(p.due[i])
		if index < 0 {
			continue
		}
		if i%1000 == 0 && p.ctx.Err() != nil {
			return
		}
		p.classes.list[index].due = false
		if index = p.repair(index); p.scanned > 2*p.scanLimit {
			p.renew(method)
			method = lastResort
			p.placeWaiting()
		} else if index >= 0 && p.classes.list[index].altered {
			p.split(index)
		}
	}
	p.due = p.due[:0]
}

// repair merges a class that violates the constraints with the most similar
// class until they are satisfied (algorithm DEL). It returns the index of the
// class with the records, or -1 if they had to be withheld because no other
// class was left. The larger class keeps its id.
func (p *Partition) repair(index int32) int32 {
	summary := p.summarize(p.classes.list[index].members)
	for !p.passes(index, summary) {
		other := p.neighbor(index)
		if other < 0 {
			for _, slot := range p.dissolve(index) {
				p.wait(slot)
			}
			return -1
		}
		added := p.summarize(p.classes.list[other].members)
		if len(p.classes.list[index].members) <= len(p.classes.list[other].members) {
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
