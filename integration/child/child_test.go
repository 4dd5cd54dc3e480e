package child

import (
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, script string) *Process {
	t.Helper()
	p, err := Start(exec.Command("sh", "-c", script), filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(0) })
	return p
}

func TestWhatIsSaidIsKept(t *testing.T) {
	t.Parallel()
	p := start(t, "echo begun; echo complaint >&2; exit 3")
	<-p.Exited()
	if said := p.Said(); said != "begun\ncomplaint\n" {
		t.Errorf("it said %q", said)
	}
	if _, err := Start(exec.Command("/no/such/program"), filepath.Join(t.TempDir(), "log")); err == nil {
		t.Error("a program that is not there was started")
	}
}

// A program that is asked to end does so in order, and one that does not is killed.
func TestProgramsEnd(t *testing.T) {
	t.Parallel()
	orderly := start(t, "trap 'echo ended; exit' TERM; echo ready; while :; do sleep 0.01; done")
	for !strings.Contains(orderly.Said(), "ready") {
		time.Sleep(time.Millisecond)
	}
	orderly.End(time.Minute)
	if !strings.Contains(orderly.Said(), "ended") {
		t.Errorf("it was not ended in order: %q", orderly.Said())
	}
	stubborn := start(t, "trap '' TERM; echo ready; while :; do sleep 0.01; done")
	for !strings.Contains(stubborn.Said(), "ready") {
		time.Sleep(time.Millisecond)
	}
	stubborn.End(10 * time.Millisecond)
	select {
	case <-stubborn.Exited():
	default:
		t.Error("it goes on")
	}
}

// An interrupt of this process' group does not reach the program.
func TestProgramsHaveTheirOwnGroup(t *testing.T) {
	t.Parallel()
	p := start(t, "exec sleep 100")
	group, err := syscall.Getpgid(p.PID())
	if err != nil || group != p.PID() {
		t.Errorf("process %d is of the group %d, %v", p.PID(), group, err)
	}
}
