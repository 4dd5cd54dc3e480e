package listen

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// listenAll listens and closes with the test.
func listenAll(t *testing.T, o Options, addresses ...string) []net.Listener {
	t.Helper()
	all, err := All(t.Context(), addresses, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = Close(all) }) // a test may have closed them
	return all
}

// folder is a short one: a socket's path has 107 bytes at most.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "listen")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// meets connects to a listener and has a byte pass.
func meets(t *testing.T, ln net.Listener) {
	t.Helper()
	accepted := make(chan error, 1)
	go func() {
		conn, err := ln.Accept()
		if err == nil {
			_, err = conn.Write([]byte{7})
			err = errors.Join(err, conn.Close())
		}
		accepted <- err
	}()
	conn, err := net.Dial(ln.Addr().Network(), ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if got, err := io.ReadAll(conn); err != nil || string(got) != "\x07" {
		t.Errorf("%s: got %q, %v", ln.Addr(), got, err)
	}
	if err := <-accepted; err != nil {
		t.Error(err)
	}
}

func files(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return strings.Join(names, " ")
}

func TestAll(t *testing.T) {
	t.Parallel()
	one, two := folder(t), folder(t)
	all := listenAll(t, Options{UserTimeout: time.Minute}, one, "127.0.0.1:0", "127.0.0.1:0", two)
	if len(all) != 4 {
		t.Fatalf("%d listeners", len(all))
	}
	for _, ln := range all {
		meets(t, ln)
	}
	port := all[0].Addr().(*net.TCPAddr).Port
	socket := fmt.Sprintf(".s.PGSQL.%d", port)
	for _, dir := range []string{one, two} {
		if got, want := files(t, dir), socket+" "+socket+".lock"; got != want {
			t.Errorf("the folder has %q, want %q", got, want)
		}
		info, err := os.Stat(filepath.Join(dir, socket))
		if err != nil || info.Mode().Perm() != anyone {
			t.Errorf("the socket is %v, %v", info.Mode(), err)
		}
	}
	if err := Close(all); err != nil {
		t.Error(err)
	}
	if got := files(t, one) + files(t, two); got != "" {
		t.Errorf("the folders keep %q", got)
	}
	alone := listenAll(t, Options{SocketMode: 0o750}, one)
	meets(t, alone[0])
	if info, err := os.Stat(filepath.Join(one, ".s.PGSQL.5432")); err != nil || info.Mode().Perm() != 0o750 {
		t.Errorf("the socket is %v, %v", info, err)
	}
}

// TestNoneIsLeft has the second address fail.
func TestNoneIsLeft(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	taken := listenAll(t, Options{}, "127.0.0.1:0")[0].Addr().String()
	for name, addresses := range map[string][]string{
		"a taken port":       {"127.0.0.1:0", taken},
		"no folder":          {"127.0.0.1:0", dir, filepath.Join(dir, "none")},
		"a path too long":    {dir, filepath.Join(dir, strings.Repeat("x", 100))},
		"the same one twice": {dir, dir},
	} {
		all, err := All(t.Context(), addresses, Options{})
		if err == nil || all != nil {
			t.Errorf("%s: %v, %v", name, all, err)
		}
		if got := files(t, dir); got != "" {
			t.Errorf("%s: the folder keeps %q", name, got)
		}
	}
}

// TestLock leaves a lock file and a socket behind in all states.
func TestLock(t *testing.T) {
	t.Parallel()
	gone := strconv.Itoa(1 << 30)      // above the largest process number of Linux
	running := strconv.Itoa(initPID()) // of somebody else
	for name, test := range map[string]struct {
		text string
		free bool
	}{
		"none":                         {"", true},
		"of nobody":                    {"nonsense", true},
		"of PostgreSQL, gone":          {gone + "\n/var/lib/postgresql\n1700000000\n5432\n/tmp\n", true},
		"of PostgreSQL, running":       {running + "\n/var/lib/postgresql\n1700000000\n5432\n/tmp\n", false},
		"of PostgreSQL for one user":   {"-" + running + "\n/var/lib/postgresql\n", false},
		"of kproxy, its number reused": {running + "\nkproxy\n1700000000\n5432\n/tmp\n", true},
		"of this process":              {strconv.Itoa(os.Getpid()) + "\n/data\n", true},
	} {
		dir := folder(t)
		path := filepath.Join(dir, ".s.PGSQL.5432")
		leave(t, path)
		if test.text != "" {
			if err := os.WriteFile(path+".lock", []byte(test.text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		all, err := All(t.Context(), []string{dir}, Options{})
		switch {
		case !test.free:
			if !errors.Is(err, errInUse) || !strings.Contains(err.Error(), running) {
				t.Errorf("a lock file %s: %v", name, err)
			}
			if text, err := os.ReadFile(path + ".lock"); err != nil || string(text) != test.text {
				t.Errorf("a lock file %s was changed: %q, %v", name, text, err)
			}
		case err != nil:
			t.Errorf("a lock file %s: %v", name, err)
		default:
			meets(t, all[0])
			text, err := os.ReadFile(path + ".lock")
			if err != nil || !strings.HasPrefix(string(text), strconv.Itoa(os.Getpid())+"\nkproxy\n") || strings.Count(string(text), "\n") != 5 {
				t.Errorf("the lock file is %q, %v", text, err)
			}
			if err := Close(all); err != nil {
				t.Error(err)
			}
		}
	}
}

// initPID is a process that runs for sure and is neither this one nor its parent.
func initPID() int {
	if os.Getppid() == 1 {
		return 2
	}
	return 1
}

// leave makes a socket that nobody listens on.
func leave(t *testing.T, path string) {
	t.Helper()
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	ln.SetUnlinkOnClose(false)
	if err := ln.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestNoOthersSocketIsTaken(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	first := listenAll(t, Options{}, dir)
	if _, err := All(t.Context(), []string{dir}, Options{}); !errors.Is(err, errInUse) {
		t.Errorf("a socket in use: %v", err)
	}
	meets(t, first[0])
	if err := Close(first); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(dir, ".s.PGSQL.5432")
	unlocked, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := All(t.Context(), []string{dir}, Options{}); !errors.Is(err, errInUse) {
		t.Errorf("a socket of a server without lock file: %v", err)
	}
	asked, err := unlocked.Accept() // whether somebody listens
	if err != nil {
		t.Fatal(err)
	}
	_ = asked.Close()
	meets(t, unlocked)
	if err := unlocked.Close(); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := All(t.Context(), []string{dir}, Options{}); err == nil {
		t.Error("a file is in the way, and no error")
	}
	if text, err := os.ReadFile(path); string(text) != "precious" {
		t.Errorf("the file in the way was changed: %v", err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}

	// Nor is a file elsewhere, by a link in place of the lock file.
	precious := filepath.Join(folder(t), "precious")
	if err := errors.Join(os.WriteFile(precious, []byte("precious"), 0o600), os.Symlink(precious, path+".lock")); err != nil {
		t.Fatal(err)
	}
	if _, err := All(t.Context(), []string{dir}, Options{}); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a link in place of the lock file: %v", err)
	}
	if text, err := os.ReadFile(precious); string(text) != "precious" {
		t.Errorf("the file behind the link was changed: %v", err)
	}
}

// TestOneOfMany has many ask for one socket at once, again and again.
func TestOneOfMany(t *testing.T) {
	t.Parallel()
	dir := folder(t)
	for range 20 {
		leave(t, filepath.Join(dir, ".s.PGSQL.5432"))
		got := make(chan net.Listener, 8)
		for range cap(got) {
			go func() {
				all, err := All(t.Context(), []string{dir}, Options{})
				if err != nil {
					if !errors.Is(err, errInUse) {
						t.Error(err)
					}
					got <- nil
					return
				}
				got <- all[0]
			}()
		}
		var won []net.Listener
		for range cap(got) {
			if ln := <-got; ln != nil {
				won = append(won, ln)
			}
		}
		if len(won) != 1 {
			t.Fatalf("%d got the socket", len(won))
		}
		meets(t, won[0])
		if err := Close(won); err != nil {
			t.Fatal(err)
		}
	}
}
