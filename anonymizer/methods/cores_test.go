package methods_test

import (
	"context"
	"reflect"
	"runtime"
	"testing"

	"github.com/kproxy/kproxy/anonymizer"
	"github.com/kproxy/kproxy/anonymizer/methods"
	"github.com/kproxy/kproxy/anonymizer/privacy"
	"github.com/kproxy/kproxy/anonymizer/workload"
)

// TestSameOnAnyCores runs every method on a table that is large enough to be
// shared out among cores: the release is the same on one and on four. Under the
// race detector it is the test of their goroutines, and one core has none.
func TestSameOnAnyCores(t *testing.T) {
	large, small := workload.AdultLike(1, 17_000), workload.AdultLike(1, 3000)
	c := privacy.ConstraintSet{privacy.KAnonymity{K: 5}}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	same := func(name string, effort anonymizer.Effort, table *anonymizer.Table) {
		t.Helper()
		m, err := methods.Trying(name, effort)
		if err != nil {
			t.Fatal(err)
		}
		runtime.GOMAXPROCS(4)
		shared := run(context.Background(), t, m, table, c, anonymizer.Options{Seed: 1})
		if raceDetector {
			return
		}
		runtime.GOMAXPROCS(1)
		if alone := run(context.Background(), t, m, table, c, anonymizer.Options{Seed: 1}); !reflect.DeepEqual(alone, shared) {
			t.Errorf("%s, effort %v: another release on four cores than on one", name, effort)
		}
	}
	for _, name := range methods.Names() {
		same(name, anonymizer.Fast, large)
		if methods.Varies(name) {
			same(name, anonymizer.Good, large)
			same(name, anonymizer.Best, small)
		}
	}
}
