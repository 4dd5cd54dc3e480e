package incremental

import (
	"context"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// defaultScanLimit is how many boxes of the index one Settle may compare with records
// or classes, one by one. What would take more is done by the method, in O(n log n):
// 2^27 comparisons take about a second with eight attributes.
const defaultScanLimit = 1 << 27

// usualSearch is how many boxes of the index a search compares at the most, as long
// as the classes do not all lie at a few places.
const usualSearch = 1 << 8

// settling is one Settle at work.
type settling struct {
	ctx        context.Context
	members    *membership
	population *population
	looks      *looks
	nearest    *nearest
	divider    *divider
	scanLimit  int
	whole      bool // classes are not split
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
func (s *settling) restore() {
	if s.mend() {
		return
	}
	for _, method := range s.divider.methods() {
		if s.ctx.Err() != nil {
			return
		}
		s.members.withholdAll()
		s.gather(method)
		if s.mend() {
			return
		}
	}
	if s.ctx.Err() == nil {
		s.uniteNeighbors()
	}
}

// mend places the waiting records, repairs the classes that are due and separates
// those that look alike. It returns false where that is too much work one by one;
// some records may then wait, and some classes violate the constraints.
func (s *settling) mend() bool {
	s.nearest.compared = 0
	return s.placeWaiting() && s.repairDue() && s.separate()
}

func (s *settling) exhausted() bool { return s.nearest.compared > 2*s.scanLimit }

// separate has no two classes look alike, where that matters, and returns false
// where that is too much work.
func (s *settling) separate() bool {
	if !s.members.distinct {
		return true
	}
	s.whole = true
	defer func() { s.whole = false }()
	for s.ctx.Err() == nil && s.looks.unite(&s.nearest.compared) {
		if s.exhausted() || !s.repairDue() {
			return false
		}
	}
	return true
}

// examine has every changed class cover exactly its members again and drops the
// empty ones. What is left to examine are classes that violate the constraints
// and large ones. Where so many are broken that finding each a neighbor would
// take too long, their records wait for new classes.
func (s *settling) examine() {
	due := s.members.due
	s.members.due = nil
	var broken []ClassID
	for _, id := range due {
		index := s.members.classes.index(id)
		if index < 0 {
			continue
		}
		c := &s.members.classes.list[index]
		c.due = false
		if len(c.members) == 0 {
			s.members.dissolve(index)
			continue
		}
		if c.stale {
			s.members.tighten(index)
		}
		switch satisfied := s.population.passes(index, s.population.summarize(c.members)); {
		case !satisfied:
			broken = append(broken, id)
			s.members.examineLater(index)
		case c.altered && len(c.members) >= int(c.splitAt):
			s.members.examineLater(index)
		}
	}
	if len(broken)*s.searchCost() > s.scanLimit {
		s.members.withhold(broken)
	}
}

// placeWaiting gives every waiting record its class. Where there are too many to
// look for the most similar class of each, or that takes too long, methods make
// classes of them; false where that does not help either.
func (s *settling) placeWaiting() bool {
	if !s.tooManyWait() {
		s.placeEach(s.scanLimit)
	}
	for _, method := range s.divider.methods() {
		if s.tooManyWait() || s.nearest.compared > s.scanLimit {
			s.gather(method)
		}
	}
	if s.tooManyWait() {
		return false
	}
	s.placeEach(2 * s.scanLimit)
	return len(s.members.waiting) == 0
}

// placeEach places waiting records one by one, until so many boxes have been compared.
func (s *settling) placeEach(limit int) {
	waiting := s.members.waiting
	s.members.waiting = nil
	for i, slot := range waiting {
		if s.nearest.compared > limit || i%1000 == 0 && s.ctx.Err() != nil || !s.place(slot) {
			for _, slot := range waiting[i:] {
				s.members.wait(slot)
			}
			return
		}
	}
}

func (s *settling) tooManyWait() bool {
	return len(s.members.waiting) > 0 && (len(s.members.classes.list) == 0 || len(s.members.waiting)*s.searchCost() > s.scanLimit)
}

// searchCost is about how many boxes the search for a class compares.
func (s *settling) searchCost() int { return min(len(s.members.classes.list), usualSearch) }

// place adds a record without class to the class most similar to it (algorithm
// INS), and returns false only where the context has ended.
func (s *settling) place(slot int32) bool {
	index := s.nearest.toRecord(s.ctx, s.nearest.positionsOf(slot))
	if index < 0 {
		return false
	}
	s.members.join(slot, index)
	s.members.change(index)
	s.split(index)
	return true
}

// repairDue brings every class that is due, and those that become so meanwhile,
// into order, and returns false where that is too much work.
func (s *settling) repairDue() bool {
	for i := 0; i < len(s.members.due); i++ {
		index := s.members.classes.index(s.members.due[i])
		if index < 0 {
			continue
		}
		if i%1000 == 0 && s.ctx.Err() != nil {
			return false
		}
		s.members.classes.list[index].due = false
		index, repaired := s.repair(index)
		if !repaired {
			return false
		}
		if s.members.classes.list[index].altered {
			s.split(index)
		}
	}
	s.members.due = s.members.due[:0]
	return true
}

// repair merges a class that violates the constraints with the most similar
// class until they are satisfied (algorithm DEL), and returns the index of the
// class with the records. It returns false where that is too much work, or where no
// other class is left.
func (s *settling) repair(index int32) (int32, bool) {
	summary := s.population.summarize(s.members.classes.list[index].members)
	for !s.population.passes(index, summary) {
		other := s.nearest.toClass(s.ctx, index)
		if other < 0 || s.exhausted() {
			return index, false
		}
		members := s.members.classes.list[other].members
		s.nearest.compared += len(members)
		index = s.unite(index, other, &summary, s.population.summarize(members))
	}
	return index, true
}

// unite merges two classes and returns the index of the union, which has the id of the
// larger one. The summary is the first one's and becomes the union's.
func (s *settling) unite(index, other int32, summary *privacy.Summary, added privacy.Summary) int32 {
	if len(s.members.classes.list[index].members) <= len(s.members.classes.list[other].members) {
		index, other = other, index
		*summary, added = added, *summary
	}
	summary.Merge(added)
	return s.members.merge(index, other)
}

// split divides a large class, if the table's method can, and gives each part a
// new id. Where it cannot, the next attempt waits until the class has grown by a
// quarter, so that attempts stay cheap for each new record.
func (s *settling) split(index int32) {
	c := &s.members.classes.list[index]
	if len(c.members) < int(c.splitAt) || s.whole {
		return
	}
	parts, complete := s.divider.divide(s.ctx, s.divider.method, c.members, nil)
	if !complete || len(parts) < 2 {
		c.splitAt = int32(len(c.members) + max(1, len(c.members)/4))
		return
	}
	whole := len(s.members.dissolve(index))
	for _, part := range parts {
		s.members.found(part, nextSplit(s.members.k, len(part), whole))
	}
}

// gather makes a method form classes of only the waiting records. Those that it leaves out, or puts
// into a class that violates the constraints, continue to wait.
func (s *settling) gather(method anonymizer.Method) {
	slots := s.members.waiting
	parts, _ := s.divider.divide(s.ctx, method, slots, s.divider.progress)
	if len(parts) == 0 {
		return
	}
	s.members.waiting = nil
	for _, part := range parts {
		s.members.found(part, nextSplit(s.members.k, len(part), len(slots)))
	}
	for _, slot := range slots {
		if s.members.records.at[slot].class < 0 {
			s.members.wait(slot)
		}
	}
}
