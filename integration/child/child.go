// Package child runs programs beside the one that measures them: they end with it, in
// whatever way it ends, and what they write is in a file.
package child

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// Process is a program at work.
type Process struct {
	cmd    *exec.Cmd
	log    string // path
	exited chan struct{}
}

// starts are the programs to be started, each by a function. One thread calls all, and
// lives as long as this process: a child ends with the thread that made it.
var starts = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for start := range jobs {
			start()
		}
	}()
	return jobs
})

// Start starts a program whose output goes to the file log. It is in a process group of its
// own, so that a terminal's Ctrl-C reaches the caller alone, who ends it in order.
func Start(cmd *exec.Cmd, log string) (*Process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithUs(cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &Process{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		_ = file.Close()
		close(p.exited)
	}()
	return p, nil
}

// PID is the program's, also when it has ended.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Exited is closed when the program has ended.
func (p *Process) Exited() <-chan struct{} { return p.exited }

// End has the program end, by force if it takes longer than the patience.
func (p *Process) End(patience time.Duration) {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
	case <-time.After(patience):
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
	}
}

// Said is the end of what the program has written.
func (p *Process) Said() string {
	const most = 4000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
