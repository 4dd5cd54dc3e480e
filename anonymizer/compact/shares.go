package compact

import (
	"runtime"
	"sync"
)

const (
	// fewForShares are so few that dividing the work takes longer than doing it.
	fewForShares = 10_000
	// mostShares bounds how many goroutines share the work.
	mostShares = 4
)

// InShares has work on so many things that lie far apart done by several goroutines, each
// of which does its share of all: the time is that of waiting for memory, which they can do
// at once. It returns one of the errors.
func InShares(things int, do func(share, shares int) error) error {
	shares := min(mostShares, runtime.GOMAXPROCS(0))
	if things < fewForShares {
		shares = 1
	}
	failures := make([]error, shares)
	var running sync.WaitGroup
	for share := range shares {
		running.Go(func() { failures[share] = do(share, shares) })
	}
	running.Wait()
	for _, err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}
