package torture

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a child with what it has said. Its methods may be called concurrently.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{}
	job    job

	mu       sync.Mutex
	state    string // the Syncer's
	log      []byte // the end of its standard error
	expected bool   // its end is wanted
}

// mostLog bounds what is kept of a child's log.
const mostLog = 60000

// start runs the test binary as a child.
func start(j job) (*process, error) {
	executable, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(executable), exited: make(chan struct{}), job: j}
	p.cmd.Env = append(os.Environ(), jobVariable+"="+string(text), "GOMAXPROCS=2")
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithTests(p.cmd.SysProcAttr)
	output, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.cmd.Stderr = p
	// A child is killed when the thread that made it ends, so that thread waits for it.
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			p.listen(output)
			_ = p.cmd.Wait() // its outcome is in ProcessState
			close(p.exited)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting a child: %w", err)
	}
	return p, nil
}

// listen takes note of the child's states.
func (p *process) listen(output io.Reader) {
	for lines := bufio.NewScanner(output); lines.Scan(); {
		if state, ok := strings.CutPrefix(lines.Text(), "state "); ok {
			p.mu.Lock()
			p.state = state
			p.mu.Unlock()
		}
	}
}

// Write keeps the end of the log.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, text...)
	if surplus := len(p.log) - mostLog; surplus > 0 {
		p.log = append([]byte(nil), p.log[surplus:]...)
	}
	return len(text), nil
}

func (p *process) logged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.log)
}

func (p *process) applies() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state == applying && p.running()
}

func (p *process) running() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends the process as a crash would.
func (p *process) kill() {
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	_ = p.cmd.Process.Kill() // it may have killed itself
	<-p.exited
}

// dump has the process write its goroutines to its log and end.
func (p *process) dump() {
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	_ = p.signal(syscall.SIGCONT) // it may sleep
	if p.signal(syscall.SIGQUIT) != nil {
		return
	}
	select {
	case <-p.exited:
	case <-time.After(5 * time.Second):
	}
}

func (p *process) signal(s syscall.Signal) error { return p.cmd.Process.Signal(s) }

// terminate asks the process to end, which must take it a short time.
func (p *process) terminate() error {
	p.mu.Lock()
	p.expected = true
	p.mu.Unlock()
	if err := p.signal(syscall.SIGTERM); err != nil && p.running() {
		return err
	}
	select {
	case <-p.exited:
	case <-time.After(time.Minute):
		_ = p.signal(syscall.SIGQUIT) // the goroutines go to the log
		<-p.exited
		return &mistake{"a child did not end within a minute of SIGTERM:\n" + p.logged()}
	}
	if code := p.cmd.ProcessState.ExitCode(); code > 0 {
		return &mistake{fmt.Sprintf("a child ended with %d at SIGTERM:\n%s", code, p.logged())}
	}
	return nil
}

// died says how a process ended that should not have.
func (p *process) died() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running() || p.expected {
		return nil
	}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL && p.job.Failpoint != "" {
		return nil
	}
	return &mistake{fmt.Sprintf("a child ended by itself (%s):\n%s", p.cmd.ProcessState, p.log)}
}
