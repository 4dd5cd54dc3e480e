package pgserver

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// asCommand is set in the environment of a copy of the test binary that plays
// a program which starts a server and does not stop it; "pause" has it pause
// the server.
const asCommand = "PGSERVER_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		startAndWait()
	}
	code, err := runConfined(m)
	if err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error())
		code = 1
	}
	os.Exit(code)
}

// runConfined runs the tests with a folder for temporary files of their own:
// sweep, were it broken, would otherwise take the folders of other processes'
// servers away.
func runConfined(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "pgserver-test-")
	if err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.Chmod(dir, os.ModeSticky|0o777); err != nil {
		return 1, err
	}
	if err := os.Setenv("TMPDIR", dir); err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// startAndWait is the program that starts a server and does not stop it.
func startAndWait() {
	s, err := Start(context.Background(), Options{})
	if err == nil && os.Getenv(asCommand) == "pause" {
		err = s.Pause()
	}
	if err != nil {
		_, _ = io.WriteString(os.Stderr, err.Error())
		os.Exit(1)
	}
	_, _ = io.WriteString(os.Stdout, strconv.Itoa(s.PID())+" "+s.folder.root+"\n")
	select {}
}

// TestServerDiesWithItsParent starts a server from another process, as this
// user and, if this is root, as nobody, and kills that process.
func TestServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	credentials := map[string]*syscall.Credential{"caller": nil}
	if os.Geteuid() == 0 {
		credentials["nobody"] = &syscall.Credential{Uid: 65534, Gid: 65534}
	}
	for name, credential := range credentials {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pid, root := startElsewhere(t, credential, "wait")
			eventually(t, "the server died with its parent", func() bool { return !alive(pid) })
			if own := ownedBy(t, root); credential != nil && own != credential.Uid {
				t.Errorf("the folder belongs to uid %d", own)
			}
			if os.Geteuid() == 0 && credential != nil {
				t.Cleanup(func() { _ = os.RemoveAll(root) }) // another user's folder is not swept
				return
			}
			sweep(filepath.Dir(root))
			if _, err := os.Stat(root); !os.IsNotExist(err) {
				t.Errorf("the folder of a dead process was not swept: %v", err)
			}
		})
	}
}

// TestPausedServerDiesWithItsParent counts on the kernel, which has the members
// of an orphaned process group go on that are halted (setpgid(2)).
func TestPausedServerDiesWithItsParent(t *testing.T) {
	t.Parallel()
	if !listsChildren {
		t.Skip("no server can be paused on this system")
	}
	pid, root := startElsewhere(t, nil, "pause")
	eventually(t, "the paused server died with its parent", func() bool { return !alive(pid) })
	sweep(filepath.Dir(root))
}

// startElsewhere has a copy of this binary start a server and wait, or pause
// the server before, kills the copy and returns the postmaster's process id and
// the server's folder.
func startElsewhere(t *testing.T, credential *syscall.Credential, command string) (pid int, root string) {
	t.Helper()
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(reachableDir(t), "starter")
	if err := os.WriteFile(program, self, 0o755); err != nil {
		t.Fatal(err)
	}
	binaries, err := Find(t.Context(), "") // another user has another cache folder
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program)
	cmd.Env = append(os.Environ(), asCommand+"="+command, BinDirVariable+"="+binaries.Dir)
	cmd.Dir = filepath.Dir(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: credential}
	cmd.Stderr = os.Stderr
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 4096)
	n, _ := output.Read(buffer)
	fields := strings.Fields(string(buffer[:n]))
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if len(fields) != 2 {
		t.Fatalf("the server was not started: %q", fields)
	}
	pid, err = strconv.Atoi(fields[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid, fields[1]
}

func ownedBy(t *testing.T, path string) uint32 {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}

func TestLiveFolderIsNotSwept(t *testing.T) {
	t.Parallel()
	s := start(t, Options{})
	sweep(filepath.Dir(s.folder.root))
	if _, err := os.Stat(s.DataDir()); err != nil {
		t.Fatal(err)
	}
}
