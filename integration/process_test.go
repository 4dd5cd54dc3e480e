package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// launches are the processes to be started, each with the outcome of its start.
var launches = make(chan struct {
	cmd     *exec.Cmd
	started chan error
})

// launch starts all processes from one thread that lives as long as the tests:
// a child is killed when the thread that made it ends.
func launch() {
	runtime.LockOSThread()
	for l := range launches {
		if l.cmd.SysProcAttr == nil {
			l.cmd.SysProcAttr = &syscall.SysProcAttr{}
		}
		dieWithTests(l.cmd.SysProcAttr)
		l.started <- l.cmd.Start()
	}
}

// process is a started program with everything it has written.
type process struct {
	cmd    *exec.Cmd
	output *recorder // standard output
	log    *recorder // standard error
	exited chan struct{}
}

// recorder keeps what is written to it.
type recorder struct {
	mu    sync.Mutex
	bytes bytes.Buffer
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.Write(p)
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes.String()
}

// start runs a program until it ends, at the latest with the test.
func start(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, output: &recorder{}, log: &recorder{}, exited: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.output, p.log
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	started := make(chan error)
	launches <- struct {
		cmd     *exec.Cmd
		started chan error
	}{cmd, started}
	if err := <-started; err != nil {
		t.Fatalf("starting %s: %v", cmd, err)
	}
	go func() {
		_ = cmd.Wait() // its outcome is in ProcessState
		close(p.exited)
	}()
	t.Cleanup(func() {
		if p.running() {
			p.end(t, syscall.SIGTERM)
		}
	})
	return p
}

func tail(text string) string {
	const most = 4000
	if len(text) > most {
		return "...\n" + text[len(text)-most:]
	}
	return text
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// wait returns the exit code, or the negative signal that ended the process.
func (p *process) wait(t *testing.T) int {
	t.Helper()
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill()
		<-p.exited
		t.Errorf("%s did not end; it wrote:\n%s", p.cmd, tail(p.log.String()))
	}
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		return -int(status.Signal())
	}
	return p.cmd.ProcessState.ExitCode()
}

// end sends a signal and waits.
func (p *process) end(t *testing.T, signal syscall.Signal) int {
	t.Helper()
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("sending %v: %v", signal, err)
	}
	return p.wait(t)
}

// awaitLog waits until the log matches, and reports whether it did before the
// process ended.
func (p *process) awaitLog(t *testing.T, pattern string) bool {
	t.Helper()
	expression := regexp.MustCompile(pattern)
	found := func() bool { return expression.MatchString(p.log.String()) }
	eventually(t, "the log matches "+pattern, func() bool { return found() || !p.running() })
	return found()
}

// outcome is how a program ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// run runs a program to its end.
func run(t *testing.T, stdin string, env []string, program string, arguments ...string) outcome {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), program, arguments...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(stdin)
	p := start(t, cmd)
	return outcome{code: p.wait(t), stdout: p.output.String(), stderr: p.log.String()}
}

// must fails the test unless the program succeeded.
func (o outcome) must(t *testing.T) outcome {
	t.Helper()
	if o.code != 0 {
		t.Fatalf("exit code %d:\n%s%s", o.code, o.stdout, o.stderr)
	}
	return o
}
