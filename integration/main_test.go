package integration

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
	"github.com/kproxy/kproxy/internal/pgserver"
)

// patience bounds what must happen soon; nothing is measured against it.
const patience = 8 * time.Minute

// program is the path of the kproxy that is tested.
var program string

// shared is the server of the tests that need none of their own, started at the
// first use.
var shared struct {
	once   sync.Once
	server *pgserver.Server
	err    error
}

func TestMain(m *testing.M) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given {
		// Tests wait for servers, for processes and for time to pass more than they compute.
		if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
			panic(err)
		}
	}
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

// buildAndRun builds kproxy into a folder that any user can enter.
func buildAndRun(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "kproxy-integration-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, 0o755); err != nil {
		return 1, err
	}
	if program, err = rig.Build(dir); err != nil {
		return 1, err
	}
	go launch()
	defer func() {
		if shared.server != nil {
			err = errors.Join(err, shared.server.Stop())
		}
	}()
	return m.Run(), nil
}

func sharedServer(t *testing.T) *pgserver.Server {
	t.Helper()
	shared.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		shared.server, shared.err = pgserver.Start(ctx, pgserver.Options{})
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// ownServer starts a server for one test.
func ownServer(t *testing.T, o pgserver.Options) *pgserver.Server {
	t.Helper()
	s, err := pgserver.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(); err != nil {
			t.Errorf("stopping the test's server: %v", err)
		}
	})
	return s
}

// scratch makes a folder that any user can enter and write to, and that is
// removed when the test ends.
func scratch(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "kproxy-integration-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	return dir
}

// eventually waits until a condition holds. It rests longer than it looks: some conditions run a
// program, and would keep a processor from what they wait for.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for {
		began := time.Now()
		switch {
		case condition():
			return
		case time.Now().After(deadline):
			t.Fatalf("it did not come about: %s", what)
		}
		time.Sleep(max(20*time.Millisecond, 2*time.Since(began)))
	}
}
