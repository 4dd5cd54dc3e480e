package bi

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	_ "github.com/kproxy/kproxy/catalog/provision" // what kproxy is made of: a change of it is one of the tests
	_ "github.com/kproxy/kproxy/proxy"
	_ "github.com/kproxy/kproxy/rewrite"
	_ "github.com/kproxy/kproxy/sync"
)

var all = flag.Bool("bi.all", false, "also run the tools that npm installs, and the desktop's")

// patience bounds what must happen soon; nothing is measured against it.
const patience = 90 * time.Second

// site is the demonstration that all tools read, started by the first of them.
var site struct {
	once    sync.Once
	err     error
	stop    func()
	analyst *url.URL // of kproxy
	source  string   // URL of the server, as its superuser
}

func TestMain(m *testing.M) {
	code := m.Run()
	if site.stop != nil {
		site.stop()
	}
	os.Exit(code)
}

// start has the demonstration run.
func start(t *testing.T) {
	t.Helper()
	site.once.Do(func() { site.err = launch() })
	if site.err != nil {
		t.Fatal(site.err)
	}
}

// said is what a demonstration prints: the analyst's URL and the source's.
var said = regexp.MustCompile(`(?s)psql '(postgresql://analyst[^']+)'.*psql '(postgres://[^']+)'`)

func launch() error {
	dir, err := os.MkdirTemp("", "kproxy-bi-")
	if err != nil {
		return err
	}
	site.stop = func() { _ = os.RemoveAll(dir) }
	// The server's user must get there, whoever it is.
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		return err
	}
	program := filepath.Join(dir, "kproxy")
	if output, err := exec.Command("go", "build", "-o", program, "../../cmd/kproxy").CombinedOutput(); err != nil {
		return fmt.Errorf("building kproxy: %w\n%s", err, output)
	}
	told := &log{}
	cmd := exec.Command(program, "demo", "--patients", "2000", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = told, told
	if err := cmd.Start(); err != nil {
		return err
	}
	site.stop = func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
		_ = os.RemoveAll(dir)
	}
	found, err := told.await(said)
	if err != nil {
		return fmt.Errorf("the demonstration: %w", err)
	}
	site.source = found[2]
	site.analyst, err = url.Parse(found[1])
	return err
}

// password is the analyst's.
func password() string {
	p, _ := site.analyst.User.Password()
	return p
}

// environment is the way to kproxy as programs with libpq take it.
func environment() []string {
	return append(os.Environ(), "PGHOST="+site.analyst.Hostname(), "PGPORT="+site.analyst.Port(), "PGDATABASE=hospital", "PGUSER=analyst",
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

// log gathers what a process says.
type log struct {
	mutex sync.Mutex
	text  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return l.text.String()
}

// await waits until something is said.
func (l *log) await(what *regexp.Regexp) ([]string, error) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if found := what.FindStringSubmatch(l.String()); found != nil {
			return found, nil
		}
	}
	return nil, errors.New("it does not begin:\n" + l.String())
}

// need skips a test whose tool is not installed, but in continuous integration.
func need(t *testing.T, packages string, installed bool) {
	t.Helper()
	switch {
	case installed:
	case os.Getenv("CI") == "true":
		t.Fatalf("%s is not installed", packages)
	default:
		t.Skipf("install %s", packages)
	}
}

// heavy skips a test that takes a tool of hundreds of megabytes.
func heavy(t *testing.T) {
	t.Helper()
	if !*all {
		t.Skip("run it with make bi")
	}
}

// installed says whether a program is on the path.
func installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}
