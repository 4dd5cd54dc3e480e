package sync

import (
	"flag"
	"runtime"
	"strconv"
	"testing"

	"github.com/kproxy/kproxy/internal/pgserver/pgtest"
)

// TestMain has transactions spill early and groups be small, so that tests need not be
// large. What is measured is what runs.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		spillRows, groupRows = 2000, 100
	}
	// Tests wait for servers and for time to pass as well. More of them at a time write more
	// WAL on the server that they share, all of which each of their streams decodes.
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		if err := flag.Set("test.parallel", strconv.Itoa(runtime.GOMAXPROCS(0)+1)); err != nil {
			panic(err)
		}
	}
	pgtest.Main(m)
}
