package agglomerative_test

import (
	"math"

	"github.com/kproxy/kproxy/anonymizer"
)

// naiveBottomUp is the bottom-up method of Xu et al. 2006 for k alone, over the
// whole table. Unions of 2k records or more are
// divided around the two records that are farthest apart, as in the paper's
// top-down method: each record goes to the part whose NCP grows less, as long as
// the other one can still have k.
func naiveBottomUp(t *anonymizer.Table, k int) *anonymizer.Release {
	var classes [][]int
	for r := range t.Len() {
		classes = append(classes, []int{r})
	}
	x := newExtents(t)
	for open := true; open; {
		open = false
		for i := range classes {
			if len(classes[i]) == 0 || len(classes[i]) >= k {
				continue
			}
			best, least := -1, math.Inf(1)
			own := x.of(classes[i])
			for j := range classes {
				if loss := x.union(own, classes[j]); j != i && len(classes[j]) > 0 && loss < least {
					best, least = j, loss
				}
			}
			union := append(append([]int(nil), classes[i]...), classes[best]...)
			classes[i], classes[best] = union, nil
			if len(union) >= 2*k {
				classes[i], classes[best] = x.divide(union, k)
			}
			open = open || len(classes[i]) < k
		}
	}
	r := &anonymizer.Release{}
	for _, c := range classes {
		if len(c) > 0 {
			class := make(anonymizer.EquivalenceClass, len(c))
			for i, record := range c {
				class[i] = int32(record)
			}
			r.Classes = append(r.Classes, class)
		}
	}
	return r
}

// extents gives the NCP of sets of records. The extents of a set are kept, for
// the comparison of all with all.
type extents struct {
	columns [][]float64
	widths  []float64
	kept    map[*int][]float64
	sizes   map[*int]int
}

func newExtents(t *anonymizer.Table) *extents {
	x := &extents{kept: map[*int][]float64{}, sizes: map[*int]int{}}
	for a, attribute := range t.Attributes() {
		column := make([]float64, t.Len())
		low, high := math.Inf(1), math.Inf(-1)
		for i, c := range t.Cells(a) {
			column[i] = attribute.Hierarchy.Position(c)
			if !math.IsNaN(column[i]) {
				low, high = math.Min(low, column[i]), math.Max(high, column[i])
			}
		}
		x.columns, x.widths = append(x.columns, column), append(x.widths, high-low)
	}
	return x
}

// of is low, high and the number off the scale, attribute by attribute.
func (x *extents) of(records []int) []float64 {
	key := &records[0]
	if e, ok := x.kept[key]; ok && x.sizes[key] == len(records) {
		return e
	}
	var e []float64
	for _, column := range x.columns {
		low, high, off := math.Inf(1), math.Inf(-1), 0.0
		for _, r := range records {
			if v := column[r]; math.IsNaN(v) {
				off++
			} else {
				low, high = math.Min(low, v), math.Max(high, v)
			}
		}
		e = append(e, low, high, off)
	}
	x.kept[key], x.sizes[key] = e, len(records)
	return e
}

func (x *extents) union(own []float64, records []int) float64 {
	if len(records) == 0 {
		return math.Inf(1)
	}
	other, sum := x.of(records), 0.0
	for a := range x.columns {
		low, high := math.Min(own[3*a], other[3*a]), math.Max(own[3*a+1], other[3*a+1])
		off := own[3*a+2]+other[3*a+2] > 0
		switch {
		case off && low <= high:
			sum++
		case low < high:
			sum += (high - low) / x.widths[a]
		}
	}
	return sum
}

func (x *extents) divide(union []int, k int) (one, other []int) {
	var u, v int
	most := -1.0
	for i := range union {
		for j := range i {
			if loss := x.union(x.of(union[i:i+1]), union[j:j+1]); loss > most {
				u, v, most = i, j, loss
			}
		}
	}
	one, other = []int{union[u]}, []int{union[v]}
	left := len(union) - 2
	for i, r := range union {
		if i == u || i == v {
			continue
		}
		single := []int{r}
		toOne := x.union(x.of(one), single) < x.union(x.of(other), single)
		if len(one)+left <= k {
			toOne = true
		} else if len(other)+left <= k {
			toOne = false
		}
		left--
		if toOne {
			one = append([]int(nil), append(one, r)...)
		} else {
			other = append([]int(nil), append(other, r)...)
		}
	}
	return one, other
}
