package privacy

import "math"

// Reserve is a number of records that may come or go before a table that satisfies the set may
// violate it, as far as it is easily computed; 0 if it is not, or if the table does not satisfy the
// set. A record that changes both comes and goes.
func (cs ConstraintSet) Reserve(table Summary) int {
	if !cs.Satisfied(table, nil) {
		return 0
	}
	reserve := table.Records
	for _, c := range cs {
		switch c := bare(c).(type) {
		case KAnonymity:
			reserve = min(reserve, table.Records-c.MinRecords())
		case AlphaBound:
			counts, _ := table.counts(c.Attribute)
			reserve = min(reserve, (c.Most(table.Records)-c.mostFrequent(counts))/2)
		case interface{ endures(Summary, int) bool }:
			share := table.Records / reserveShare
			if share > 0 && !c.endures(table, share) {
				share = 0
			}
			reserve = min(reserve, share)
		default:
			return 0
		}
	}
	return max(0, reserve)
}

// reserveShare is how many times as many persons a table has as changes it is asked to
// endure.
const reserveShare = 64

func (c DistinctDiversity) endures(table Summary, changes int) bool {
	return !table.holdings(c.Attribute).covered(c.MinRecords()-1, changes)
}

func (c RecursiveDiversity) endures(table Summary, changes int) bool {
	return !c.exceeded(table.holdings(c.Attribute), changes)
}

// endures adds what the entropy of a choice can change at the most if that of some persons
// does (Audenaert 2007).
func (c EntropyDiversity) endures(table Summary, changes int) bool {
	n, moved := float64(table.Records+changes), float64(changes)/float64(table.Records)
	change := moved*math.Log(n) - moved*math.Log(moved) - (1-moved)*math.Log(1-moved)
	least := math.Log(c.l()) + change
	holds := func(counts []int) bool { return entropy(counts) > least+entropyTolerance }
	return holds(table.descending(c.Attribute)) || table.subjects != nil && !table.holdings(c.Attribute).undercut(holds, least)
}
