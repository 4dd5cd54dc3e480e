package catalog

import (
	"fmt"

	"github.com/kproxy/kproxy/anonymizer/privacy"
)

const (
	// FewRecords is the number of records below which nothing is said of a column.
	FewRecords = 10
	// categories is the most values that a list of categories has. In a small table, it means nothing
	// that few records have one of them.
	categories = 100
	// Most is the share, 0 to 1, from which a column is nearly unique: that of the majority.
	Most = 0.5
)

// Distinguishing is the share of persons, 0 to 1, who have a value of a column that fewer than so many persons
// have. Persons is the number of persons, or records, for each value, or each value of a sample, without NULL;
// different is the number of values. The most frequent value, which often stands for a missing one, is left out
// as NULL is.
func (t TablePolicy) Distinguishing(persons []int64, different float64) (share float64, fewer int) {
	if share = shareOf(persons, 2); share < Most && different > categories {
		k := t.largestK()
		return shareOf(persons, k), k
	}
	return share, 2
}

// shareOf is the share of persons who have a value that fewer than so many have.
func shareOf(persons []int64, fewer int) float64 {
	var all, frequent, few int64
	for _, n := range persons {
		all, frequent = all+n, max(frequent, n)
		if n < int64(fewer) {
			few += n
		}
	}
	if frequent >= int64(fewer) {
		all -= frequent
	}
	if all < FewRecords {
		return 0
	}
	return float64(few) / float64(all)
}

// largestK is the largest k of the table's constraints, 2 where there is none.
func (t TablePolicy) largestK() int {
	k := 2
	for _, constraint := range t.Constraints {
		if constraint.Model == privacy.K {
			k = max(k, constraint.K)
		}
	}
	return k
}

// NearlyUnique reports that a column that is published as it is tells most persons apart; see Distinguishing.
func (t TablePolicy) NearlyUnique(column string, share float64, fewer int) (what, fix string) {
	who, whose := "records", "a value of their own"
	if t.Subject != "" {
		who = "persons"
	}
	if fewer > 2 {
		whose = fmt.Sprintf("a value that fewer than %d have", fewer)
	}
	return fmt.Sprintf("is published and is nearly unique: %.0f %% of the %s with a value have %s; who knows the value finds the record, whatever k is", 100*share, who, whose),
		fmt.Sprintf("give it the role identifying, or quasi-identifying with a hierarchy; or, if nobody knows it or everybody may, write into the table's policy: acknowledge: {joinable: [%s]}", column)
}
