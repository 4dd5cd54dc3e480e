package sync

import (
	"flag"
	"testing"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestMain has transactions spill early and groups be small, so that tests need not be
// large. What is measured is what runs.
func TestMain(m *testing.M) {
	flag.Parse()
	if flag.Lookup("test.bench").Value.String() == "" {
		spillRows, groupRows = 2000, 100
	}
	pgtest.Main(m)
}
