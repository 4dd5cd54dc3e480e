package pgserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
)

const (
	// fastLimit is the patience with a fast shutdown. A logical walsender
	// whose client has stopped reading can hold one up for as long as
	// wal_sender_timeout.
	fastLimit = 20 * time.Second
	// immediateLimit is the patience with an immediate shutdown, whose
	// children the postmaster itself kills after five seconds.
	immediateLimit = 10 * time.Second
	// killLimit bounds the wait for killed processes to be gone.
	killLimit = 30 * time.Second
	// haltLimit bounds the wait for a process to be halted, haltPoll is the
	// pause between two looks.
	haltLimit = 10 * time.Second
	haltPoll  = time.Millisecond
)

// process is a postmaster with its children.
type process struct {
	cmd *exec.Cmd
	// done is closed when the postmaster has been waited for and the pipe
	// that all its children inherit as stderr has no writer left.
	done chan struct{}
	// paused says that all are halted; the server's lock guards it.
	paused bool
}

// launch starts a command that dies with this process.
//
// The kernel sends the parent-death signal when the *thread* that forked ends,
// so the fork happens on a thread that a goroutine holds until the child is
// gone.
func launch(cmd *exec.Cmd) (*process, error) {
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait() // how it ended is in the log
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, err
	}
	return p, nil
}

func (p *process) pid() int { return p.cmd.Process.Pid }

// stop asks for a fast shutdown and grows impatient in steps.
func (p *process) stop() error {
	if p.resume() == nil &&
		(p.end(syscall.SIGINT, fastLimit) || p.end(syscall.SIGQUIT, immediateLimit)) {
		return nil
	}
	return p.kill()
}

// end sends a signal to the postmaster and reports whether everything was gone
// in time.
func (p *process) end(signal syscall.Signal, patience time.Duration) bool {
	if err := p.cmd.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return false
	}
	return p.gone(patience)
}

// gone waits for the last process.
func (p *process) gone(patience time.Duration) bool {
	select {
	case <-p.done:
		return true
	case <-time.After(patience):
		return false
	}
}

// kill ends the postmaster and its children with SIGKILL. The postmaster is
// halted first: it then neither forks a child nor reaps one, so that the list
// of its children is complete and no id on it can have passed to a stranger.
func (p *process) kill() error {
	var children []int
	if p.cmd.Process.Signal(syscall.SIGSTOP) == nil {
		_ = awaitHalt(p.pid()) // it is killed in any case
		children = childrenOf(p.pid())
	}
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGKILL) // it may have ended by itself
	}
	if !p.end(syscall.SIGKILL, killLimit) {
		return fmt.Errorf("killing PostgreSQL: processes of postmaster %d are left after %v", p.pid(), killLimit)
	}
	return nil
}

// pause halts all processes, the postmaster first for the reason that kill has,
// and returns when none of them runs any more.
func (p *process) pause() error {
	switch {
	case p.paused:
		return nil
	case !listsChildren:
		return fmt.Errorf("pausing PostgreSQL: finding the server's processes: %w", errors.ErrUnsupported)
	}
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return fmt.Errorf("pausing PostgreSQL: %w", err)
	}
	p.paused = true
	err := awaitHalt(p.pid())
	children := childrenOf(p.pid())
	for _, child := range children {
		_ = syscall.Kill(child, syscall.SIGSTOP) // it may have ended by itself
	}
	for _, child := range children {
		err = errors.Join(err, awaitHalt(child))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("pausing PostgreSQL: %w", err), p.resume())
	}
	return nil
}

// resume has all processes go on, the postmaster last: until then no id of a
// child can pass to a stranger.
func (p *process) resume() error {
	if !p.paused {
		return nil
	}
	p.paused = false
	for _, child := range childrenOf(p.pid()) {
		_ = syscall.Kill(child, syscall.SIGCONT) // it may have been killed
	}
	if err := p.cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("resuming PostgreSQL: %w", err)
	}
	return nil
}

// awaitHalt returns when a process that was sent SIGSTOP is halted or dead. A
// process in the middle of a system call finishes that first.
func awaitHalt(pid int) error {
	for range int(haltLimit / haltPoll) {
		if halted(pid) {
			return nil
		}
		time.Sleep(haltPoll)
	}
	return fmt.Errorf("process %d was not halted after %v", pid, haltLimit)
}

// command prepares one of the server's programs to run as the unprivileged
// user, in its own process group so that a terminal's Ctrl-C reaches only the
// caller, who then stops the server in order.
func (s *Server) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.binaries.Dir, program), args...)
	cmd.Dir = s.folder.data
	cmd.Env = environment(s.folder.data)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: s.owner.credential()}
	dieWithParent(cmd.SysProcAttr)
	return cmd
}

// environment is the caller's without what would steer PostgreSQL or point
// into folders that the unprivileged user cannot enter.
func environment(home string) []string {
	var env []string
	for _, entry := range os.Environ() {
		name, _, _ := strings.Cut(entry, "=")
		switch {
		case strings.HasPrefix(name, "PG"), strings.HasPrefix(name, "LC_"):
		case name == "HOME", name == "TMPDIR", name == "LANG", name == "LANGUAGE", name == "USER", name == "LOGNAME":
		default:
			env = append(env, entry)
		}
	}
	return append(env, "HOME="+home, "TMPDIR="+home, "LC_ALL=C")
}
