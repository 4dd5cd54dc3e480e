package ranking

import (
	"context"
	"slices"
	"sync"
)

// sortLeast is the number of values below which one goroutine sorts them at once.
const sortLeast = 1 << 15

// Sort sorts by halves, which is done at the same time on several cores and
// ends soon after the context does, with the values in any order. The result
// depends on the order given alone, also among values that compare as equal.
func Sort[T any](ctx context.Context, values []T, compare func(a, b T) int) {
	if ctx.Err() != nil {
		return
	}
	if len(values) < sortLeast {
		slices.SortFunc(values, compare)
		return
	}
	middle := len(values) / 2
	var half sync.WaitGroup
	half.Go(func() { Sort(ctx, values[:middle], compare) })
	Sort(ctx, values[middle:], compare)
	half.Wait()
	if ctx.Err() == nil && compare(values[middle-1], values[middle]) > 0 {
		merge(values, middle, compare)
	}
}

// merge unites two sorted parts.
func merge[T any](values []T, middle int, compare func(a, b T) int) {
	left, right := slices.Clone(values[:middle]), values[middle:]
	for i := range values {
		if len(right) == 0 || compare(left[0], right[0]) <= 0 {
			values[i], left = left[0], left[1:]
		} else {
			values[i], right = right[0], right[1:]
		}
		if len(left) == 0 {
			return
		}
	}
}
