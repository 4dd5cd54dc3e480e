package systemd

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// manager is a socket that stands for the service manager's.
func manager(t *testing.T) *net.UnixConn {
	t.Helper()
	dir, err := os.MkdirTemp("", "systemd")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	path := filepath.Join(dir, "notify")
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	t.Setenv("NOTIFY_SOCKET", path)
	return conn
}

// hears returns the next message.
func hears(t *testing.T, conn *net.UnixConn) string {
	t.Helper()
	if err := conn.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	space := make([]byte, 4096)
	n, err := conn.Read(space)
	if err != nil {
		t.Fatal(err)
	}
	return string(space[:n])
}

func TestStates(t *testing.T) {
	conn := manager(t)
	m := Manager{Failed: func(err error) { t.Error(err) }}
	m.Ready("Serving\n2 tables")
	if got := hears(t, conn); got != "READY=1\nSTATUS=Serving 2 tables" {
		t.Errorf("ready: %q", got)
	}
	m.Reloading()
	if got := hears(t, conn); !regexp.MustCompile(`^RELOADING=1\nMONOTONIC_USEC=[1-9][0-9]+\nSTATUS=[^\n]+$`).MatchString(got) {
		t.Errorf("reloading: %q", got)
	}
	m.Stopping(90*time.Second, "")
	if got := hears(t, conn); got != "STOPPING=1\nEXTEND_TIMEOUT_USEC=90000000\nSTATUS=" {
		t.Errorf("stopping: %q", got)
	}
}

// TestNobody tells nobody, and then somebody who is gone.
func TestNobody(t *testing.T) {
	t.Setenv("NOTIFY_SOCKET", "")
	var failed error
	m := Manager{Failed: func(err error) { failed = err }}
	m.Ready("")
	m.Watch(t.Context(), func(context.Context) error { t.Error("nobody asked"); return nil })
	if failed != nil {
		t.Errorf("without a service manager: %v", failed)
	}
	t.Setenv("NOTIFY_SOCKET", filepath.Join(t.TempDir(), "gone"))
	m.Ready("")
	if failed == nil {
		t.Error("the service manager is gone, and no error")
	}
}

// TestWatch is alive while it is healthy only.
func TestWatch(t *testing.T) {
	conn := manager(t)
	t.Setenv("WATCHDOG_USEC", "40000")
	t.Setenv("WATCHDOG_PID", strconv.Itoa(os.Getpid()))
	ctx, cancel := context.WithCancel(t.Context())
	ill := errors.New("ill")
	asked := 0
	var failed []error
	m := Manager{Failed: func(err error) { failed = append(failed, err) }}
	m.Watch(ctx, func(context.Context) error {
		switch asked++; asked {
		case 1, 4:
			return nil
		case 5:
			cancel()
		}
		return ill
	})
	for range 2 {
		if got := hears(t, conn); got != "WATCHDOG=1" {
			t.Errorf("alive: %q", got)
		}
	}
	if len(failed) != 2 || !errors.Is(failed[0], ill) {
		t.Errorf("told of %v", failed)
	}
	if err := conn.SetReadDeadline(time.Now().Add(50 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 100)); err == nil {
		t.Errorf("%d more bytes were told", n)
	}
}

// childEnv has the test's own program stand for a process that is given sockets.
const childEnv = "KPROXY_TEST_LISTENERS"

// TestListeners passes sockets to another process.
func TestListeners(t *testing.T) {
	if os.Getenv(childEnv) != "" {
		t.Setenv("LISTEN_PID", strconv.Itoa(os.Getpid()))
		all, err := Listeners()
		if err != nil {
			t.Fatal(err)
		}
		for _, ln := range all {
			t.Logf("listens on %s %s", ln.Addr().Network(), ln.Addr())
		}
		return
	}
	tcp, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	one, err := tcp.File()
	if err != nil {
		t.Fatal(err)
	}
	defer one.Close()
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	two, err := udp.(*net.UDPConn).File()
	if err != nil {
		t.Fatal(err)
	}
	defer two.Close()
	child := func(files ...*os.File) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestListeners$", "-test.v")
		cmd.Env = append(os.Environ(), childEnv+"=1", "LISTEN_FDS="+strconv.Itoa(len(files)))
		cmd.ExtraFiles = files
		out, _ := cmd.CombinedOutput() // it fails where an error is expected
		return string(out)
	}
	if out := child(one, one); strings.Count(out, "listens on tcp "+tcp.Addr().String()) != 2 {
		t.Errorf("two sockets: %s", out)
	}
	if out := child(one, two); !strings.Contains(out, "does not listen") {
		t.Errorf("a socket of UDP: %s", out)
	}
	if out := child(); strings.Contains(out, "listens on") || !strings.Contains(out, "PASS") {
		t.Errorf("no sockets: %s", out)
	}
}
