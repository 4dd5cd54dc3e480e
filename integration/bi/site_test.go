package bi

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/kproxy/kproxy/integration/rig"
)

var all = flag.Bool("bi.all", false, "also run the tools that npm installs, and the desktop's")

// patience bounds what must happen soon; nothing is measured against it.
const patience = 90 * time.Second

// site is the demonstration that all tools read, started by the first of them.
var site struct {
	once sync.Once
	err  error
	*rig.Demonstration
}

func TestMain(m *testing.M) {
	code := m.Run()
	if site.Demonstration != nil {
		site.Stop()
	}
	os.Exit(code)
}

// start has the demonstration run.
func start(t *testing.T) {
	t.Helper()
	site.once.Do(func() { site.Demonstration, site.err = rig.StartDemonstration(2000) })
	if site.err != nil {
		t.Fatal(site.err)
	}
}

// password is the analyst's.
func password() string {
	p, _ := site.Analyst.User.Password()
	return p
}

// environment is the way to kproxy as programs with libpq take it.
func environment() []string {
	return append(os.Environ(), "PGHOST="+site.Analyst.Hostname(), "PGPORT="+site.Analyst.Port(), "PGDATABASE=hospital", "PGUSER=analyst",
		"PGPASSWORD="+password(), "LC_ALL=C.UTF-8", "TZ=UTC")
}

// run runs a program to its end and returns what it prints.
func run(t *testing.T, dir string, environment []string, name string, arguments ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, arguments...)
	cmd.Dir, cmd.Env = dir, environment
	// Programs that start others end with them.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var failure bytes.Buffer
	cmd.Stderr = &failure
	output, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s fails: %v\n%s%s", name, err, output, failure.String())
	}
	return output
}

// heavy skips a test that takes a tool of hundreds of megabytes.
func heavy(t *testing.T) {
	t.Helper()
	if !*all {
		t.Skip("run it with make bi")
	}
}
