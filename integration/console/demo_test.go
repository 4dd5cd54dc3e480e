package console

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// demonstration is `kproxy demo` with its console.
type demonstration struct {
	console  string // URL
	password string // the operator's
	analyst  string // URL of the proxy
	source   string // URL of the source, as a superuser
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

// said is what a demonstration prints: the analyst's URL, the source's, the operator's
// password and the console's URL.
var said = regexp.MustCompile(`(?s)psql '(postgresql://analyst[^']+)'.*psql '(postgres://[^']+)'.*as admin with the password (\S+):\s+(http://\S+)`)

// startDemo builds kproxy and starts a demonstration, which ends with the test.
func startDemo(t *testing.T) *demonstration {
	t.Helper()
	dir, err := os.MkdirTemp("", "kproxy-console-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	// The server's user must get there, whoever it is.
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(dir, "kproxy")
	if output, err := exec.Command("go", "build", "-o", program, "../../cmd/kproxy").CombinedOutput(); err != nil {
		t.Fatalf("building kproxy: %v\n%s", err, output)
	}
	told := &log{}
	cmd := exec.Command(program, "demo", "--patients", "1500", "--listen", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir)
	cmd.Stdout, cmd.Stderr = told, told
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if found := said.FindStringSubmatch(told.String()); found != nil {
			return &demonstration{analyst: found[1], source: found[2], password: found[3], console: found[4]}
		}
	}
	t.Fatalf("the demonstration did not begin:\n%s", told)
	return nil
}
