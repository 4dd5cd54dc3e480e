package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// process is kproxy at work, with a file for what it says.
type process struct {
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

// launch starts a program whose output goes to the file log.
func launch(cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	cmd.Stdout, cmd.Stderr = file, file
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithUs(cmd.SysProcAttr)
	started := make(chan error)
	starts() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("starting %s: %w", cmd.Path, err)
	}
	p := &process{cmd: cmd, log: log, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in its log
		_ = file.Close()
		close(p.exited)
	}()
	return p, nil
}

// end has the program end, within a minute.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM) // it may have ended
	select {
	case <-p.exited:
	case <-time.After(time.Minute):
		_ = p.cmd.Process.Kill() // it may have ended
		<-p.exited
	}
}

// said is the end of what the program has written.
func (p *process) said() string {
	const most = 4000
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
