package agglomerative

import (
	"cmp"
	"slices"
)

// labels compares categorical values. Different ones have D = 1; equal ones v
// have the share of pairs that agree in v or in a value not more frequent,
//
//	D = sum over u with f_u <= f_v of f_u (f_u - 1) / (n (n - 1)).
type labels struct {
	axis
	equal     []float64 // half the chi-square of two records with that code
	different float64   // of any two others
}

func compareLabels(x axis, n int) *labels {
	shares := agreements(x.counts, n)
	order := byCount(x.counts)
	l := &labels{axis: x, equal: make([]float64, len(shares))}
	below, last := 0.0, 0.0
	for _, code := range order {
		if d := shares[code]; d > last {
			below, last = last, d
		}
		if last > 0 { // else no two records agree in this value
			l.equal[code] = lancaster(last, below)
		}
	}
	if last < 1 {
		l.different = lancaster(1, last)
	}
	return l
}

func byCount(counts []int) []int {
	order := make([]int, len(counts))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(counts[a], counts[b]) })
	return order
}

// agreements gives for each value the share of pairs of records that agree in
// it or in a value that is not more frequent.
func agreements(counts []int, n int) []float64 {
	shares := make([]float64, len(counts))
	order := byCount(counts)
	agreeing := uint64(0)
	for from := 0; from < len(order); {
		to := from
		for ; to < len(order) && counts[order[to]] == counts[order[from]]; to++ {
			f := uint64(counts[order[to]])
			agreeing += f * (f - 1)
		}
		for _, code := range order[from:to] {
			shares[code] = float64(agreeing) / pairs(n)
		}
		from = to
	}
	return shares
}

func (l *labels) codes() []int32 { return l.axis.codes }

func (l *labels) add(sums []float64, value int32, others []int32) {
	equal, different := l.equal[value], l.different
	sums = sums[:len(others)]
	for i, other := range others {
		if other == value {
			sums[i] += equal
		} else {
			sums[i] += different
		}
	}
}
