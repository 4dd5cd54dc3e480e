package incremental

import (
	"context"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// defaultScanLimit is how many boxes of the index one Settle may compare with records
// or classes, one by one. What would take more is done by the method, in O(n log n):
// 2^27 comparisons take about a second with eight attributes.
const defaultScanLimit = 1 << 27

// usualSearch is how many boxes of the index a search compares at the most, as long
// as the classes do not all lie at a few places.
const usualSearch = 1 << 8

// Settle restores the constraint set and returns what has changed since the
// last Settle, which it then forgets. Afterwards all records are in classes, or
// none where the records are not Feasible. Records that a method or a store left
// out are placed like newcomers. The time is that of the changed classes. Where a
// constraint compares classes with the whole table, it is also that of one look at
// each class, and where subjects are counted then, of counting all records once more.
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
	p.examine()
	p.restore()
	return p.takeChanges(), ctx.Err()
}

// restore has all records in classes that satisfy the constraints and, where that
// matters, do not look alike: by mending what stands; if that is too much work, by
// mending what the table's method makes of all records anew, then what rounded
// partition makes of them; at last by uniting neighbors.
//
// It comes to an end, and soon. Each of these is tried once. Mending stops when it
// has compared more than its limit, and without a limit it would stop as well: each
// waiting record is placed once; a repair makes one class that violates the
// constraints, and one class altogether, less; a split makes only classes that
// satisfy them, so that repairs are never more than there were such classes; and while
// classes that look alike are united nothing is split, so that each step makes one
// class less. Uniting neighbors takes a fixed number of rounds, each once through the
// classes, and then makes one class of all, which satisfies the constraints.
func (p *Partition) restore() {
	if p.mend() {
		return
	}
	for _, method := range p.methods() {
		if p.ctx.Err() != nil {
			return
		}
		p.withholdAll()
		p.gather(method)
		if p.mend() {
			return
		}
	}
	if p.ctx.Err() == nil {
		p.uniteNeighbors()
	}
}

// mend places the waiting records, repairs the classes that are due and separates
// those that look alike. It returns false where that is too much work one by one;
// some records may then wait, and some classes violate the constraints.
func (p *Partition) mend() bool {
	p.compared = 0
	return p.placeWaiting() && p.repairDue() && p.separate()
}

func (p *Partition) exhausted() bool { return p.compared > 2*p.scanLimit }

// separate has no two classes look alike, where that matters, and returns false
// where that is too much work.
func (p *Partition) separate() bool {
	if !p.alike.needed {
		return true
	}
	p.whole = true
	defer func() { p.whole = false }()
	for p.ctx.Err() == nil && p.uniteAlike() {
		if p.exhausted() || !p.repairDue() {
			return false
		}
	}
	return true
}

// Withhold takes the place of Settle where records must not be published for a
// reason that lies outside of the partition: it withholds all of them.
func (p *Partition) Withhold() Changes {
	p.withholdAll()
	return p.takeChanges()
}

func (p *Partition) withholdAll() {
	ids := make([]ClassID, len(p.classes.list))
	for i := range ids {
		ids[i] = p.classes.list[i].id
	}
	slices.Sort(ids)
	p.withhold(ids)
	p.due = p.due[:0]
}

func (p *Partition) withhold(ids []ClassID) {
	for _, id := range ids {
		for _, slot := range p.dissolve(p.classes.index(id)) {
			p.wait(slot)
		}
	}
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
		case c.altered && len(c.members) >= int(c.splitAt):
			p.examineLater(index)
		}
	}
	if len(broken)*p.searchCost() > p.scanLimit {
		p.withhold(broken)
	}
}

// placeWaiting gives every waiting record its class. Where there are too many to
// look for the most similar class of each, or that takes too long, methods make
// classes of them; false where that does not help either.
func (p *Partition) placeWaiting() bool {
	if !p.tooManyWait() {
		p.placeEach(p.scanLimit)
	}
	for _, method := range p.methods() {
		if p.tooManyWait() || p.compared > p.scanLimit {
			p.gather(method)
		}
	}
	if p.tooManyWait() {
		return false
	}
	p.placeEach(2 * p.scanLimit)
	return len(p.waiting) == 0
}

// placeEach places waiting records one by one, until so many boxes have been compared.
func (p *Partition) placeEach(limit int) {
	waiting := p.waiting
	p.waiting = nil
	for i, slot := range waiting {
		if p.compared > limit || i%1000 == 0 && p.ctx.Err() != nil || !p.place(slot) {
			for _, slot := range waiting[i:] {
				p.wait(slot)
			}
			return
		}
	}
}

func (p *Partition) tooManyWait() bool {
	return len(p.waiting) > 0 && (len(p.classes.list) == 0 || len(p.waiting)*p.searchCost() > p.scanLimit)
}

// searchCost is about how many boxes the search for a class compares.
func (p *Partition) searchCost() int { return min(len(p.classes.list), usualSearch) }

// place adds a record without class to the class most similar to it (algorithm
// INS), and returns false only where the context has ended.
func (p *Partition) place(slot int32) bool {
	index := p.nearestTo(p.positionsOf(slot))
	if index < 0 {
		return false
	}
	p.join(slot, index)
	p.change(index)
	p.split(index)
	return true
}

// repairDue brings every class that is due, and those that become so meanwhile,
// into order, and returns false where that is too much work.
func (p *Partition) repairDue() bool {
	for i := 0; i < len(p.due); i++ {
		index := p.classes.index(p.due[i])
		if index < 0 {
			continue
		}
		if i%1000 == 0 && p.ctx.Err() != nil {
			return false
		}
		p.classes.list[index].due = false
		index, repaired := p.repair(index)
		if !repaired {
			return false
		}
		if p.classes.list[index].altered {
			p.split(index)
		}
	}
	p.due = p.due[:0]
	return true
}

// repair merges a class that violates the constraints with the most similar
// class until they are satisfied (algorithm DEL), and returns the index of the
// class with the records. It returns false where that is too much work, or where no
// other class is left beside waiting records.
func (p *Partition) repair(index int32) (int32, bool) {
	summary := p.summarize(p.classes.list[index].members)
	for !p.passes(index, summary) {
		other := p.neighbor(index)
		if other < 0 || p.exhausted() {
			return index, false
		}
		members := p.classes.list[other].members
		p.compared += len(members)
		index = p.unite(index, other, &summary, p.summarize(members))
	}
	return index, true
}

// unite merges two classes, of which the larger one keeps its id, and returns the
// index of the union. The summary is the first one's and becomes the union's.
func (p *Partition) unite(index, other int32, summary *privacy.Summary, added privacy.Summary) int32 {
	if len(p.classes.list[index].members) <= len(p.classes.list[other].members) {
		index, other = other, index
		*summary, added = added, *summary
	}
	summary.Merge(added)
	return p.merge(index, other)
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
