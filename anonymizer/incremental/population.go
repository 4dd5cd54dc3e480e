package incremental

import (
	"fmt"
	"maps"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// population is the distribution over all records, which must be able to satisfy
// the constraints, and with which some constraints compare every class.
type population struct {
	relative bool // a constraint compares classes with the whole table
	counted  bool // total is there: it can be made from the first record on
	total    privacy.Summary
	drifted  bool // total is no longer what whole was made of
	verdict  verdict
	whole    *privacy.Population // nil unless relative
	drift    drift
}

// count adds a record to the total.
func (p *Partition) count(slot int32) {
	if !p.table.counted {
		p.table.total, p.table.counted = p.newSummary(), true
	}
	p.addTo(&p.table.total, slot)
	p.table.drifted = true
	p.table.verdict.reserve--
}

// discount takes a record away from the total.
func (p *Partition) discount(slot int32) {
	if p.subjects {
		p.table.total.RemoveOf(p.records.subjects[slot], p.codes(slot))
	} else {
		p.table.total.Remove(p.codes(slot))
	}
	p.table.drifted = true
	p.table.verdict.reserve--
}

// Feasible returns nil, or why no division of the records into classes can
// satisfy the constraints; Settle then withholds all of them. A partition without
// records is feasible.
func (p *Partition) Feasible() error {
	if p.Len() == 0 {
		return nil
	}
	if v := &p.table.verdict; v.reserve < 0 || !v.found {
		v.found, v.reserve, v.err = true, 0, p.judge()
		if v.err == nil && p.subjects && p.Len() >= largeTable {
			v.reserve = p.constraints.Reserve(p.table.total)
		}
	}
	return p.table.verdict.err
}

// largeTable is the number of records from which on it is asked once for many changes
// whether a table is feasible: where persons have several values, that costs a look at
// all of them.
const largeTable = 1 << 14

// verdict is whether the table was feasible, and for how many more changes that is known.
type verdict struct {
	found   bool
	reserve int
	err     error
}

func (p *Partition) judge() error {
	if err := p.constraints.Feasible(p.table.total); err != nil {
		return err
	}
	p.follow()
	if p.table.relative && !p.satisfied(p.table.total) {
		return fmt.Errorf("all records together violate %v", p.constraints)
	}
	return nil
}

// follow has the classes compared with the records as they are now. Where the
// distribution has changed, those must be examined that had no more slack than
// that.
func (p *Partition) follow() {
	if !p.table.relative || !p.table.drifted {
		return
	}
	all := privacy.Summary{Records: p.table.total.Records}
	for _, counts := range p.table.total.Sensitive {
		all.Sensitive = append(all.Sensitive, maps.Clone(counts))
	}
	before := p.table.whole
	p.table.whole, p.table.drifted = privacy.NewPopulation(all), false
	known := p.table.drift.move(before, p.table.whole)
	for index := range p.classes.list {
		if !known {
			p.classes.list[index].until = nil // of the sum that has ended
		}
		if !known || p.table.drift.beyond(p.classes.list[index].until) {
			p.examineLater(int32(index))
		}
	}
}

func (p *Partition) satisfied(s privacy.Summary) bool {
	return p.constraints.Satisfied(s, p.table.whole)
}

// passes reports whether a class with the summary satisfies the constraints, and
// remembers for how long it will if it does not change.
func (p *Partition) passes(index int32, s privacy.Summary) bool {
	if !p.satisfied(s) {
		return false
	}
	if p.table.relative {
		p.classes.list[index].until = p.table.drift.until(s, p.table.whole)
	}
	return true
}

// onlySizes reports whether constraints look at nothing but numbers of records.
func onlySizes(constraints privacy.ConstraintSet, subjects bool) bool {
	for _, c := range constraints {
		if _, size := c.(privacy.KAnonymity); !size {
			return false
		}
	}
	return !subjects
}

func (p *Partition) newSummary() privacy.Summary {
	sensitive := max(0, p.records.sensitiveCount())
	if p.subjects {
		return privacy.NewSubjectSummary(sensitive)
	}
	return privacy.NewSummary(sensitive)
}

func (p *Partition) codes(slot int32) []uint32 {
	p.sensitive = p.sensitive[:0]
	for _, column := range p.records.sensitive {
		p.sensitive = append(p.sensitive, column[slot])
	}
	return p.sensitive
}

func (p *Partition) addTo(s *privacy.Summary, slot int32) {
	if p.subjects {
		s.AddOf(p.records.subjects[slot], p.codes(slot))
	} else {
		s.Add(p.codes(slot))
	}
}

// summarize counts records for the constraints, and no more than they ask for.
func (p *Partition) summarize(slots []int32) privacy.Summary {
	if p.sizes {
		return privacy.Summary{Records: len(slots)}
	}
	s := p.newSummary()
	if p.subjects {
		for _, slot := range slots {
			p.addTo(&s, slot)
		}
		return s
	}
	s.Records = len(slots)
	for a, column := range p.records.sensitive {
		for _, slot := range slots {
			s.Sensitive[a][column[slot]]++
		}
	}
	return s
}
