package incremental

import (
	"fmt"
	"maps"
	"slices"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

// population is the distribution over all records, which must be able to satisfy
// the constraints, and with which some constraints compare every class.
type population struct {
	members     *membership
	constraints privacy.ConstraintSet
	sizes       bool // the constraints count nothing but records
	relative    bool // a constraint compares classes with the whole table

	counted bool // total is there: it can be made from the first record on
	total   privacy.Summary
	drifted bool // total is no longer what whole was made of
	verdict verdict
	whole   *privacy.Population // nil unless relative
	drift   drift
}

func newPopulation(members *membership, constraints privacy.ConstraintSet, subjects bool) population {
	return population{
		members: members, constraints: constraints, sizes: !subjects && onlySizes(constraints),
		relative: constraints.Relative(), drift: newDrift(constraints, subjects),
	}
}

// count adds a record to the total.
func (p *population) count(slot int32) {
	if !p.counted {
		p.total, p.counted = p.members.records.newSummary(), true
	}
	p.members.records.addTo(&p.total, slot)
	p.changed()
}

// discount takes a record away from the total.
func (p *population) discount(slot int32) {
	p.members.records.removeFrom(&p.total, slot)
	p.changed()
}

func (p *population) changed() {
	p.drifted = true
	p.verdict.reserve--
}

// feasible returns nil, or why no division of the records satisfies the constraints.
func (p *population) feasible() error {
	records := p.members.records.count()
	if records == 0 {
		return nil
	}
	if v := &p.verdict; v.reserve < 0 || !v.found {
		v.found, v.reserve, v.err = true, 0, p.judge()
		if v.err == nil && p.members.records.subjects != nil && records >= largeTable {
			v.reserve = p.constraints.Reserve(p.total)
		}
	}
	return p.verdict.err
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

func (p *population) judge() error {
	if err := p.constraints.Feasible(p.total); err != nil {
		return err
	}
	p.follow()
	if p.relative && !p.satisfied(p.total) {
		return fmt.Errorf("all records together violate %v", p.constraints)
	}
	return nil
}

// follow has the classes compared with the records as they are now. Where the
// distribution has changed, those must be examined that had no more slack than
// that.
func (p *population) follow() {
	if !p.relative || !p.drifted {
		return
	}
	all := privacy.Summary{Records: p.total.Records}
	for _, counts := range p.total.Sensitive {
		all.Sensitive = append(all.Sensitive, maps.Clone(counts))
	}
	before := p.whole
	p.whole, p.drifted = privacy.NewPopulation(all), false
	known := p.drift.move(before, p.whole)
	for index := range p.members.classes.list {
		if !known {
			p.members.classes.list[index].until = nil // of the sum that has ended
		}
		if !known || p.drift.beyond(p.members.classes.list[index].until) {
			p.members.examineLater(int32(index))
		}
	}
}

func (p *population) satisfied(s privacy.Summary) bool {
	return p.constraints.Satisfied(s, p.whole)
}

// passes reports whether a class with the summary satisfies the constraints, and
// remembers for how long it will if it does not change.
func (p *population) passes(index int32, s privacy.Summary) bool {
	if !p.satisfied(s) {
		return false
	}
	if p.relative {
		p.members.classes.list[index].until = p.drift.until(s, p.whole)
	}
	return true
}

// onlySizes reports whether all constraints are k-anonymity.
func onlySizes(constraints privacy.ConstraintSet) bool {
	return !slices.ContainsFunc(constraints, func(c privacy.Constraint) bool {
		_, size := c.(privacy.KAnonymity)
		return !size
	})
}

// summarize counts records for the constraints, and no more than they ask for.
func (p *population) summarize(slots []int32) privacy.Summary {
	if p.sizes {
		return privacy.Summary{Records: len(slots)}
	}
	return p.members.records.summarize(slots)
}
