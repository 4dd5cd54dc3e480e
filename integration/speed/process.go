package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is a program that serves until it is ended.
type process struct {
	cmd    *exec.Cmd
	log    *record
	exited chan struct{}
}

// record keeps what is written to it.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// starts are the programs to be started, each by a function. One thread calls
// all, and lives as long as this process: a child ends with the thread that made it.
var starts = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for do := range jobs {
			do()
		}
	}()
	return jobs
})

// launch starts a program.
func launch(program string, environment []string, arguments ...string) (*process, error) {
	p := &process{cmd: exec.Command(program, arguments...), log: &record{}, exited: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	p.cmd.Env = append(os.Environ(), environment...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithUs(p.cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- p.cmd.Start() }
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", program, err)
	}
	go func() {
		_ = p.cmd.Wait() // that it ended is all that is asked for
		close(p.exited)
	}()
	return p, nil
}

// end has the program end, within seconds.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
	case <-time.After(10 * time.Second):
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
	}
}

// unprivileged is a user for programs that refuse to run as root; empty for the own one.
func unprivileged() string {
	if os.Getuid() != 0 {
		return ""
	}
	for _, name := range []string{"postgres", "nobody"} {
		if _, err := user.Lookup(name); err == nil {
			return name
		}
	}
	return ""
}
