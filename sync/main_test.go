package sync

import (
	"testing"

	"github.com/kproxy/kproxy/pgserver/pgtest"
)

// TestMain has transactions spill early, so that tests need not be large.
func TestMain(m *testing.M) {
	spillRows = 2000
	pgtest.Main(m)
}
