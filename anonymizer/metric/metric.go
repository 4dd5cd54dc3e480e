// Package metric measures the quality of a release: how much of the table's
// information is left, and how easily somebody is found in it. Every function
// reads a table, a release of it, or both, and changes neither. A table that was
// anonymized in parts is measured part by part (MeanOfParts, HighestOfParts).
package metric

import "github.com/kproxy/kproxy/anonymizer"

// Discernibility returns the discernibility metric (Bayardo and Agrawal 2005), over
// the classes E of a release of n records:
//
//	DM = sum_E |E|^2 + n * |withheld|
//
// It adds up, for each record, how many it cannot be told apart from; a withheld one is
// like all n. The range is 0 to n^2, and at least n*k for a k-anonymous release; lower
// is better.
func Discernibility(r *anonymizer.Release) int64 {
	sum, n := int64(0), int64(len(r.Withheld))
	for _, class := range r.Classes {
		size := int64(len(class))
		sum += size * size
		n += size
	}
	return sum + n*int64(len(r.Withheld))
}

// Classification returns the classification metric (Iyengar 2002), the number of
// records whose label is not the most frequent one of their class E:
//
//	CM = sum_E (|E| - max_label |{r in E with that label}|) + |withheld|
//
// The labels are the table's sensitive attribute of that index. The range is 0 to n;
// lower is better.
func Classification(t *anonymizer.Table, r *anonymizer.Release, sensitive int) int {
	sum := len(r.Withheld)
	labels, counts := t.Sensitive(sensitive), map[uint32]int{}
	for _, class := range r.Classes {
		most := 0
		clear(counts)
		for _, i := range class {
			counts[labels[i]]++
			most = max(most, counts[labels[i]])
		}
		sum += len(class) - most
	}
	return sum
}

// Classes is the number of equivalence classes. Range 0 to floor(n/k); higher
// is better.
func Classes(r *anonymizer.Release) int { return len(r.Classes) }

// AverageClassSize is the mean number of records in a class, 0 without classes.
// Range k to n; lower is better.
func AverageClassSize(r *anonymizer.Release) float64 {
	if len(r.Classes) == 0 {
		return 0
	}
	records := 0
	for _, class := range r.Classes {
		records += len(class)
	}
	return float64(records) / float64(len(r.Classes))
}

// LargestClass is the number of records in the largest class, 0 without
// classes. Range k to n; lower is better.
func LargestClass(r *anonymizer.Release) int {
	most := 0
	for _, class := range r.Classes {
		most = max(most, len(class))
	}
	return most
}
