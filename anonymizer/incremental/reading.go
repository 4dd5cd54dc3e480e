package incremental

import "github.com/kproxy/kproxy/anonymizer/privacy"

// Package nested, which unites classes, reads them by the following functions.

// Summarize counts the records of a class for constraints; none of an unknown class.
func (p *Partition) Summarize(class ClassID) privacy.Summary {
	index := p.members.classes.index(class)
	if index < 0 {
		return p.members.records.newSummary()
	}
	return p.members.records.summarize(p.members.classes.list[index].members)
}

// Size is the number of records of a class.
func (p *Partition) Size(class ClassID) int {
	index := p.members.classes.index(class)
	if index < 0 {
		return 0
	}
	return len(p.members.classes.list[index].members)
}

// Whole counts all records, withheld ones included. It must not be changed, and is good
// until the next operation.
func (p *Partition) Whole() privacy.Summary {
	if !p.population.counted {
		return p.members.records.newSummary()
	}
	return p.population.total
}

// In returns a copy of the record in a slot that is in use.
func (p *Partition) In(slot int32) Record { return p.members.records.get(slot) }
