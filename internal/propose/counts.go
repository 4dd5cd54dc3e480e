package propose

import (
	"slices"
	"strings"
)

// counts are the statistics of a column from which its role is decided.
type counts struct {
	present, distinct, length int
	// longest is the length of the longest text, in bytes.
	longest int
	// frequency is in how many records a value is, persons in how many persons' records.
	frequency, persons map[string]int
}

// count counts a column's values; subjects, if not nil, are the persons of the records.
func count(values, subjects []string) counts {
	c := counts{frequency: map[string]int{}}
	for _, v := range values {
		if v == "" {
			continue
		}
		c.present++
		c.length += len(v)
		c.longest = max(c.longest, len(v))
		c.frequency[v]++
	}
	c.distinct = len(c.frequency)
	c.persons = c.frequency
	if subjects != nil {
		c.persons = make(map[string]int, c.distinct)
		seen := make(map[[2]string]bool, len(values))
		for i, v := range values {
			if pair := [2]string{v, subjects[i]}; v != "" && !seen[pair] {
				seen[pair] = true
				c.persons[v]++
			}
		}
	}
	return c
}

const (
	// nearlyUnique is the share of distinct values from which a column picks out
	// single records.
	nearlyUnique = 0.9
	// fewValues is how many distinct values a list of categories has at most.
	fewValues = 100
	// longText is the mean length in bytes from which a text is taken for prose.
	longText = 40
	// rare is the number of persons below which a value is not repeated in a policy: at
	// least that many stand for themselves, whatever k is.
	rare = 10
	// visits is how many records a person has on average, at most, in a column
	// that is taken for one of persons.
	visits = 20
	// looked is the number of distinct values whose meaning is examined.
	looked = 1000
)

// nearlyUnique reports whether nearly all values are distinct.
func (n counts) nearlyUnique() bool {
	return n.present >= rare && float64(n.distinct) >= nearlyUnique*float64(n.present)
}

// mostlyUnique reports whether few records share a value.
func (n counts) mostlyUnique() bool { return n.present >= rare && 2*n.distinct > n.present }

// meanLength is that of the values there are, in bytes.
func (n counts) meanLength() int { return n.length / max(1, n.present) }

// values are different values in the order of their texts, a thousand at most, from all
// over that order.
func (n counts) values() []string {
	all := make([]string, 0, len(n.frequency))
	for v := range n.frequency {
		all = append(all, v)
	}
	slices.Sort(all)
	if len(all) <= looked {
		return all
	}
	some := make([]string, looked)
	for i := range some {
		some[i] = all[i*len(all)/looked]
	}
	return some
}

// frequent are the values that are not rare, most frequent first, none where
// there are too many to arrange; all says that no value is rare.
func (n counts) frequent(k int) (labels []string, all bool) {
	if n.distinct > fewValues {
		return nil, false
	}
	all = true
	for v, persons := range n.persons {
		if persons >= max(rare, k) {
			labels = append(labels, v)
		} else {
			all = false
		}
	}
	slices.SortFunc(labels, func(a, b string) int {
		if d := n.frequency[b] - n.frequency[a]; d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	return labels, all
}

// highest is the share of the persons who have the most frequent value.
func (n counts) highest() float64 {
	most, total := 0, 0
	for _, persons := range n.persons {
		most = max(most, persons)
		total += persons
	}
	return float64(most) / float64(max(1, total))
}
