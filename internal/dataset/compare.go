package dataset

import (
	"cmp"
	"slices"
)

// Compare gives an order of records by a column's fields as texts. Column is an index of Columns.
func (f *File) Compare(column int) func(a, b int32) int {
	of := f.fields[column]
	if !of.isNumbered() {
		return func(a, b int32) int { return cmp.Compare(of.at(int(a)), of.at(int(b))) }
	}
	sorted := make([]int, len(of.different))
	for i := range sorted {
		sorted[i] = i
	}
	slices.SortFunc(sorted, func(a, b int) int { return cmp.Compare(of.different[a], of.different[b]) })
	rank := make([]uint16, len(sorted))
	for i, number := range sorted {
		if rank[number] = uint16(i); i > 0 && of.different[number] == of.different[sorted[i-1]] {
			rank[number] = rank[sorted[i-1]]
		}
	}
	return func(a, b int32) int { return cmp.Compare(rank[of.numbers[a]], rank[of.numbers[b]]) }
}
