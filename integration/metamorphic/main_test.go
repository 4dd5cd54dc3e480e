package metamorphic

import (
	"context"
	"flag"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = 8 * time.Minute

var (
	each   = flag.String("metamorphic.each", "all", "after what observables are tried: all (mutations), file or mutation")
	sample = flag.Int("metamorphic.sample", 2500, "how many observables are tried; 0 is all")
	seed   = flag.Uint64("metamorphic.seed", 1, "what they are drawn by")
	only   = flag.String("metamorphic.only", "", "try only observables whose name this regular expression matches")
	temps  = flag.Bool("metamorphic.temporary", false, "allow temporary tables, whose numbers come from counters of the whole server (SECURITY.md), and copy all into them")
	open   = flag.String("metamorphic.open", "", "write what differs and is not known into this file")
)

// origin is the database that all worlds are copies of, made by the first test that needs
// it.
var origin struct {
	once sync.Once
	err  error
	dir  string
	*cluster
}

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if origin.dir != "" {
		if err := os.RemoveAll(origin.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// source returns the origin, which is published and has stopped.
func source(t *testing.T) *cluster {
	t.Helper()
	origin.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
		defer cancel()
		origin.err = makeOrigin(ctx)
	})
	if origin.err != nil {
		t.Fatal(origin.err)
	}
	return origin.cluster
}

func makeOrigin(ctx context.Context) (err error) {
	if origin.dir, err = os.MkdirTemp("", "kproxy-metamorphic-"); err != nil {
		return err
	}
	if err := os.Chmod(origin.dir, 0o755); err != nil { // the server's user must get there
		return err
	}
	program, err := rig.Build(origin.dir)
	if err != nil {
		return err
	}
	origin.cluster, err = newCluster(ctx, program, origin.dir)
	return err
}
