package pgserver

import (
	"context"
	"errors"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// paused runs a server with a session on it and pauses it.
func paused(t *testing.T) (*Server, *pgx.Conn) {
	t.Helper()
	s := start(t, Options{})
	conn, err := pgx.Connect(t.Context(), s.DSN("postgres"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	err = s.Pause()
	if runtime.GOOS != "linux" {
		if !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("pausing without knowing the processes: %v", err)
		}
		t.Skip("the server's processes are known under Linux only")
	}
	if err != nil {
		t.Fatal(err)
	}
	return s, conn
}

func TestPausedServerStandsStill(t *testing.T) {
	t.Parallel()
	s, conn := paused(t)
	if err := s.Pause(); err != nil {
		t.Errorf("a second time: %v", err)
	}
	family := append(childrenOf(s.PID()), s.PID())
	for _, pid := range family {
		if !halted(pid) {
			t.Errorf("process %d runs", pid)
		}
	}
	answered := make(chan error, 1)
	go func() { answered <- conn.Ping(context.Background()) }()
	select {
	case err := <-answered:
		t.Errorf("a paused server answered: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	for range 2 {
		if err := s.Resume(); err != nil {
			t.Fatal(err)
		}
	}
	if err := <-answered; err != nil {
		t.Errorf("the session did not survive: %v", err)
	}
	// Others may have ended on their own: the sessions that asked whether the server
	// is ready lie there as ended until the postmaster goes on. One of the lasting
	// processes that dies takes the session with it.
	for _, pid := range []int{s.PID(), int(conn.PgConn().PID())} {
		if !alive(pid) {
			t.Errorf("process %d did not survive", pid)
		}
	}
}

// TestPausedServerIsStopped ends a paused server in each way there is.
func TestPausedServerIsStopped(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*Server) error{
		"stop":    (*Server).Stop,
		"kill":    (*Server).Kill,
		"restart": func(s *Server) error { return s.Restart(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := paused(t)
			family := append(childrenOf(s.PID()), s.PID())
			if err := end(s); err != nil {
				t.Fatal(err)
			}
			expectDead(t, family)
			if name == "stop" && !strings.Contains(s.log.String(), "database system is shut down") {
				t.Errorf("the server was not stopped in order%s", s.log)
			}
			if name == "restart" {
				query(t, s, "SELECT 'it runs'")
			} else if s.Pause() == nil || s.Resume() == nil {
				t.Error("a server that does not run was paused or resumed")
			}
		})
	}
}

func TestBackupLeavesAPausedServerPaused(t *testing.T) {
	t.Parallel()
	s, _ := paused(t)
	if _, err := s.Backup(t.Context(), t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if !halted(s.PID()) {
		t.Error("the server goes on")
	}
}

// TestAwaitHaltTellsTheRunning asks about a process that nobody has halted.
func TestAwaitHaltTellsTheRunning(t *testing.T) {
	t.Parallel()
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()
	defer func() { _ = cmd.Process.Kill() }()
	if runtime.GOOS == "linux" && halted(cmd.Process.Pid) {
		t.Error("a sleeping process counts as halted")
	}
}
