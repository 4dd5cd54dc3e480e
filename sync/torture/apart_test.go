package torture

import (
	"flag"
	"testing"
)

var (
	apartSeed  = flag.Uint64("torture.apart.seed", 0, "run this seed alone, of the runs in which both servers fail")
	apartRuns  = flag.Int("torture.apart.runs", 0, "run so many of these seeds and print a line for each")
	apartFirst = flag.Uint64("torture.apart.first", 1, "the first of these seeds")
)

// usualApart is how many seeds run where none are asked for.
const usualApart = 2

// TestServersFailApart has source and release, on a server each, fail apart: killed, cut off, restored from backups, promoted.
func TestServersFailApart(t *testing.T) {
	chosen := selection{one: *apartSeed, runs: *apartRuns, first: *apartFirst, usual: usualApart, flag: "torture.apart"}
	tortureAll(t, chosen, newApartPlan)
}
