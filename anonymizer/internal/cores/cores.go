// Package cores shares independent pieces of work out among the processor's cores.
package cores

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Each calls a function for every number below n, several at a time, and returns when all calls
// have.
func Each(n int, do func(i int)) {
	EachWith(n, func() func(int) { return do })
}

// EachWith is Each with a function for each goroutine, which start makes: it can own memory.
func EachWith(n int, start func() func(i int)) {
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			do := start()
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	workers.Wait()
}
